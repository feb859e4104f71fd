"""Past entries: what single entries of the journal say, as values of the engine."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidegate.compiler.plan.renames import Renames
from tidegate.scheduler.decision.fold import maintenance
from tidegate.scheduler.intake.observe import RunObservation
from tidegate.scheduler.model.event import Event, EventKind
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.answers import Numbered
from tidegate.scheduler.store.renamed import renamed_operation, renamed_resource


def later_names(renames: Sequence[Numbered]) -> list[tuple[int, Renames]]:
    """Return the renames after each number of a rename, as one; those of schedules the journal has already.

    Args:
        renames: the entries of renames, in order.

    Returns:
        A number, and the renames of that number and later ones, in order.
    """
    found: list[tuple[int, Renames]] = []
    names = Renames()
    for row in reversed(renames):
        names = Renames(
            apps=_joined(row.entry.data["apps"], names.apps),
            datasets=_joined(row.entry.data["datasets"], names.datasets),
        )
        found.append((row.number, names))
    return found[::-1]


def names_after(number: int, later: Sequence[tuple[int, Renames]]) -> Renames:
    """Return the renames after an entry, as one.

    Args:
        number: of the entry.
        later: see `later_names`.
    """
    return next((names for renamed, names in later if renamed > number), Renames())


def _joined(renamed: Mapping[str, str], later: Mapping[str, str]) -> dict[str, str]:
    """Return renames with those that came later, which may give a name again that had become free."""
    return {**later, **{old: later.get(new, new) for old, new in renamed.items()}}


def under_present_names(entry: Entry, names: Renames) -> Entry:
    """Return an entry with the present names of its app, and of the table of its operation.

    Args:
        names: the renames after it.
    """
    if not names:
        return entry
    data: dict[str, Any] = {}
    if entry.kind is EntryKind.SPEC and entry.schedule is None:
        app, spec = names.app(entry.data["app"]), entry.data["spec"]
        data = {"app": app, "spec": None if spec is None else {**spec, "name": app}}
    elif entry.kind is EntryKind.OVERRIDE and entry.schedule is None:
        data = {"app": names.app(entry.data["app"])}
    elif maintenance.opens(entry):
        job = maintenance.opened(entry)
        renamed = renamed_operation(job, names)
        data = {"key": renamed.key, "maintenance": msgspec.to_builtins(renamed.work)}
    elif entry.kind is EntryKind.LAUNCH:
        data = {"resources": [renamed_resource(each, names) for each in entry.data["resources"]]}
    return msgspec.structs.replace(entry, data={**entry.data, **data})


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
        day=entry.data.get("day"),
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
