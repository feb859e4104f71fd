"""The timeline: journal entries as moments, for people and for expectations.

Pure. Events that a suspended schedule ignores are left out: they would add one moment for each
event, and the summary counts them.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.simulation.moment import Moment, MomentKind
from tidegate.scheduler.tick.due import MICROSECOND


def moments_of(
    entries: Sequence[Entry],
    jobs: Mapping[str, Job],
    name_of: Callable[[str], str],
    subject_of: Callable[[Job], tuple[str, str]],
) -> list[Moment]:
    """Return the moments of some entries: first the dropped events, then the others in their order.

    Args:
        jobs: the jobs of the entries, by id.
        name_of: returns the name of a schedule ("app/name") in the scenario.
        subject_of: returns what a job is about, and its key.
    """
    found = _dropped(entries, name_of)
    for entry in entries:
        if entry.kind in (EntryKind.LATE, EntryKind.LANDED):
            found.append(_deadline(entry, jobs.get(entry.job or ""), name_of))
            continue
        kind = _kind(entry)
        job = jobs.get(entry.job or "")
        if kind is None or job is None:
            continue
        name, key = subject_of(job)
        found.append(
            Moment(
                when=entry.at,
                kind=kind,
                schedule=name,
                key=key,
                job=job.id,
                reason=entry.reason,
                next_check=_instant(entry, "next_check"),
                discarded_at=_instant(entry, "discarded_at"),
                work=job.maintenance,
                text=_text(entry),
            )
        )
    return found


def _instant(entry: Entry, name: str) -> datetime | None:
    found = entry.data.get(name)
    return None if found is None else datetime.fromisoformat(found)


def _deadline(entry: Entry, job: Job | None, name_of: Callable[[str], str]) -> Moment:
    """Return the moment of a missed deadline, at that deadline, or of a late period that landed after all."""
    is_late = entry.kind is EntryKind.LATE
    missing: list[str] = entry.data.get("missing", [])
    return Moment(
        when=_missed_at(entry) if is_late else entry.at,
        kind="late" if is_late else "landed",
        schedule=name_of(entry.data["dataset"] if job is None else job.schedule),
        key=entry.data["key"],
        job=entry.job,
        reason=entry.reason,
        text=f"missing {', '.join(missing)}" if missing else "",
    )


def _missed_at(entry: Entry) -> datetime:
    """Return the deadline; later, when it was noted, of a job that was opened after it, or in a downtime."""
    due = datetime.fromisoformat(entry.data["due"])
    # A job is in time at its deadline, and late right after it.
    return due if entry.at <= due + MICROSECOND else entry.at


def _text(entry: Entry) -> str:
    if entry.kind is EntryKind.OPERATION:
        return str(entry.data["ending"])
    return str(entry.data.get("error") or entry.data.get("message") or "")


def _kind(entry: Entry) -> MomentKind | None:
    match entry.kind:
        case EntryKind.WAITING:
            return "waiting"
        case EntryKind.DISCARDED:
            return "discarded"
        case EntryKind.REPAIRED if entry.reason == str(Reason.D_REPAIRED):
            return "discarded"
        case EntryKind.OPERATION:
            return "ended"
        case EntryKind.LAUNCH_FAILED:
            return "discarded" if entry.reason == str(Reason.F_LAUNCH) else "launch-failed"
        case _:
            return None


def _dropped(entries: Sequence[Entry], name_of: Callable[[str], str]) -> list[Moment]:
    """Return one moment for the dropped events of each instant, schedule and reason."""
    groups: dict[tuple[datetime, str, str], list[Entry]] = {}
    for entry in entries:
        if entry.kind is EntryKind.EVENT_DISCARDED and entry.reason != str(Reason.D_SUSPENDED):
            groups.setdefault((entry.at, entry.schedule or "", entry.reason or ""), []).append(entry)
    return [
        Moment(when=when, kind="dropped", schedule=name_of(schedule), reason=reason, text=_events(group))
        for (when, schedule, reason), group in groups.items()
    ]


def _events(group: Sequence[Entry]) -> str:
    number = sum(entry.data.get("number", 1) for entry in group)
    if number > 1:
        return f"{number:,} events"
    data = group[0].data
    return str(data.get("scheduled_for") or data.get("partition") or "1 event")
