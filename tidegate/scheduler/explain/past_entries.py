"""Past entries: what single entries of the journal say, as values of the engine."""

from collections.abc import Iterable
from datetime import datetime

from tidegate.scheduler.intake.observe import RunObservation
from tidegate.scheduler.model.event import Event, EventKind
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.run import RunStatus


def present_names(journal: Iterable[Entry]) -> dict[str, str]:
    """Return the present name of each renamed app: schedules in the journal have it already."""
    present: dict[str, str] = {}
    for entry in journal:
        renamed: dict[str, str] = entry.data["apps"] if entry.kind is EntryKind.RENAME else {}
        present = {old: renamed.get(new, new) for old, new in present.items()} | renamed
    return present


def event_of(entry: Entry) -> Event:
    """Return the event that a job has collected."""
    arrived, scheduled = datetime.fromisoformat(entry.data["arrived"]), entry.data.get("scheduled_for")
    return Event(
        id=entry.event or "",
        kind=EventKind(entry.data["kind"]),
        key=entry.data["key"],
        time=arrived,
        arrived=arrived,
        partition=entry.data.get("partition"),
        bytes=entry.data.get("bytes"),
        rows=entry.data.get("rows"),
        scheduled_for=None if scheduled is None else datetime.fromisoformat(scheduled),
    )


def observation_of(entry: Entry) -> RunObservation:
    """Return what was observed of a run."""
    return RunObservation(
        run_id=entry.run_id or "",
        program=entry.data["program"],
        job=entry.job,
        status=RunStatus(entry.data["status"]),
        at=datetime.fromisoformat(entry.data["at"]),
    )
