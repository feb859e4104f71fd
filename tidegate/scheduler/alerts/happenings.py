"""Happenings: what of the journal people may want to hear of.

    RUN failed, without a further attempt    ─┐
    DISCARDED, REPORTED, and the job FAILED   ├─► failed        LAUNCH_FAILED as F-LAUNCH ─► dead_letter
    OPERATION failed                         ─┘
    LATE, of a job or of a dataset           ───► late
    LANDED: the period of a dataset has landed after all ─► the dataset is well
    RUN succeeded, RECOVERED, MARKED, PASSED, REPORTED, OPERATION succeeded ─► the job is well

A run that a person cancelled has not failed. A commit is blocked or not without an entry: see `collect`.
"""

from collections.abc import Sequence

from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.maintenance import Ending
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.alert import AlertKind, Happening
from tidegate.scheduler.model.run import RunStatus

KINDS = frozenset(
    {
        EntryKind.RUN,
        EntryKind.LAUNCH_FAILED,
        EntryKind.DISCARDED,
        EntryKind.REPAIRED,
        EntryKind.REPORTED,
        EntryKind.OPERATION,
        EntryKind.LATE,
        EntryKind.LANDED,
        EntryKind.RECOVERED,
        EntryKind.MARKED,
        EntryKind.PASSED,
    }
)
"""The kinds of entries that matter."""

OF_HISTORY = frozenset(EntryKind) - {EntryKind.EVENT}
"""The kinds of entries that `happening_of` reads of a job, which may have collected very many events."""

_ALWAYS_WELL = (EntryKind.RECOVERED, EntryKind.MARKED, EntryKind.PASSED)


def happening_of(entry: Entry, job: Job, history: Sequence[Entry]) -> Happening | None:
    """Return what an entry lets people hear of.

    Args:
        job: the entry's job, as it is now.
        history: the entries of the job, of the kinds `OF_HISTORY`.
    """
    place = next((n for n, each in enumerate(history) if each == entry), len(history))
    kind, reason = _trouble(entry, job, history[place + 1 :])
    if kind is None:
        return None
    return Happening(
        kind=kind,
        subject=job.schedule,
        cause=cause_of(job),
        at=entry.at,
        key=job.key,
        job=job.id,
        run=entry.run_id or "",
        reason="" if reason is None else reason.value,
        text=_text(entry, job, history, reason),
    )


def is_of_data(entry: Entry) -> bool:
    """Return whether an entry says that the data of a dataset is late, or has landed after all."""
    return entry.job is None and entry.kind in (EntryKind.LATE, EntryKind.LANDED)


def late_data(entry: Entry) -> Happening:
    """Return what the entry of a late period of a dataset lets people hear of."""
    missing: list[str] = entry.data.get("missing", [])
    more = entry.data.get("of", 0) - len(missing)
    left = f"; missing: {', '.join(missing)}" + (f", and {more} more" if more > 0 else "") if missing else ""
    return Happening(
        kind=AlertKind.LATE,
        subject=entry.data["dataset"],
        cause=entry.data["key"],
        at=entry.at,
        key=entry.data["key"],
        reason=entry.reason or "",
        text=f"not landed by {entry.data['due']} (deadline {entry.data['deadline']}){left}",
        data=True,
    )


def is_well(entry: Entry) -> bool:
    """Return whether an entry says that its job is well."""
    match entry.kind:
        case EntryKind.RUN:
            return entry.data.get("status") == RunStatus.SUCCEEDED
        case EntryKind.REPORTED:
            return entry.data.get("status") == "successful"
        case EntryKind.OPERATION:
            return entry.data.get("ending") == Ending.SUCCEEDED
        case kind:
            return kind in _ALWAYS_WELL


def cause_of(job: Job) -> str:
    """Return what has to become well: the key of the job, so that a later job of that key counts.

    Without keys any later job of the schedule counts.
    """
    return job.key


def _trouble(entry: Entry, job: Job, later: Sequence[Entry]) -> tuple[AlertKind | None, Reason | None]:
    match entry.kind:
        case EntryKind.LATE:
            return AlertKind.LATE, Reason.L_DEADLINE
        case EntryKind.LAUNCH_FAILED if entry.reason == Reason.F_LAUNCH.value:
            return AlertKind.DEAD_LETTER, Reason.F_LAUNCH
        case EntryKind.RUN if entry.data.get("status") == RunStatus.FAILED and job.maintenance is None:
            if "withheld" in entry.data:
                return AlertKind.FAILED, Reason.F_CHECK
            goes_on = any(each.kind in (EntryKind.RETRY, EntryKind.RECOVERED) for each in _next_of(later))
            return (None, None) if goes_on else (AlertKind.FAILED, Reason.F_RUN)
        case EntryKind.DISCARDED | EntryKind.REPAIRED if job.state is JobState.FAILED and entry.reason:
            return AlertKind.FAILED, Reason(entry.reason)
        case EntryKind.REPORTED if entry.data.get("status") == "failed":
            return AlertKind.FAILED, Reason.F_REPORTED
        case EntryKind.OPERATION if entry.data.get("ending") == Ending.FAILED:
            return AlertKind.FAILED, Reason.F_RUN if entry.reason is None else Reason(entry.reason)
        case _:
            return None, None


def _next_of(later: Sequence[Entry]) -> list[Entry]:
    """Return the entries up to what a person did, or to the next run: a retry by hand comes after them."""
    found: list[Entry] = []
    for entry in later:
        if entry.kind in (EntryKind.MANUAL, EntryKind.RERUN, EntryKind.RUN):
            break
        found.append(entry)
    return found


def _text(entry: Entry, job: Job, history: Sequence[Entry], reason: Reason | None) -> str:
    """Return one line: what the run, or the launcher, has said; else what the reason means."""
    noted = [
        each.data["message"]
        for each in history
        if each.kind is EntryKind.FAILURE and entry.run_id is not None and each.run_id == entry.run_id
    ]
    if entry.kind is EntryKind.LATE:
        return f"not successful by {entry.data['due']} (deadline {entry.data['deadline']})"
    said = entry.data.get("message") or entry.data.get("detail") or next(reversed(noted), "") or job.detail
    return str(said) if said else ("" if reason is None else reason.summary)
