"""Fold: what the journal of an operation on a table says of its job (`decision.fold.after`). Pure."""

from typing import Any

import msgspec

from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.maintenance import Ending, Work
from tidegate.scheduler.model.reason import Reason

_STATES: dict[Ending, tuple[JobState, Reason | None]] = {
    Ending.SUCCEEDED: (JobState.SUCCEEDED, None),
    Ending.FAILED: (JobState.FAILED, Reason.F_RUN),
    Ending.CONFLICT: (JobState.FAILED, Reason.F_CONFLICT),
    Ending.STOPPED: (JobState.FAILED, Reason.F_YIELDED),
}


def opens(entry: Entry) -> bool:
    """Return whether an entry opens the job of an operation."""
    return entry.kind is EntryKind.JOB_OPENED and "maintenance" in entry.data


def opened(entry: Entry) -> Job:
    """Return the job of an operation that an entry opens."""
    return Job(
        id=entry.job or "",
        schedule=entry.schedule or "",
        key=entry.data["key"],
        state=JobState.PENDING_CONSTRAINT,
        opened_at=entry.at,
        satisfied_at=entry.at,
        maintenance=msgspec.convert(entry.data["maintenance"], Work),
    )


def launched(work: Work | None, entry: Entry) -> Work | None:
    """Return what makes a job an operation after the entry of its launch."""
    if work is None:
        return None
    started: dict[str, Any] = entry.data.get("operation", {})
    return msgspec.structs.replace(
        work,
        probe=bool(started.get("probe")),
        forced=bool(started.get("forced")),
        excluded=tuple(started.get("excluded", ())),
    )


def ended(job: Job, entry: Entry) -> Job:
    """Return the job after the end of its run; one that has ended stays as it is."""
    if job.state in FINISHED:
        return job
    state, reason = _STATES[Ending(entry.data["ending"])]
    return msgspec.structs.replace(
        job,
        state=state,
        reason=reason if entry.reason is None else Reason(entry.reason),
        ended_at=entry.at,
        detail=str(entry.data.get("detail", "")),
        gave_back=False,
    )
