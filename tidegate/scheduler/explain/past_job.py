"""What one journal entry says of its job: the job before it, and the job after it.

The counterpart of all that writes jobs, read back from what was noted about it. What only keeps the
books of the engine (when it looks next, how often it has offered, whether a job is full) is not here.
"""

from datetime import datetime
from typing import Any

import msgspec

from tidegate.scheduler.decision.hold import release
from tidegate.scheduler.launch.dead_letter import queued
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import FINISHED, ByHand, Job, JobState, LaunchPlan
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import RunStatus

_OF_THE_TRIGGER = (Reason.W_TRIGGER, Reason.W_QUIET)

_ENDS = {
    RunStatus.SUCCEEDED: (JobState.SUCCEEDED, None),
    RunStatus.FAILED: (JobState.FAILED, Reason.F_RUN),
    RunStatus.CANCELLED: (JobState.FAILED, Reason.F_CANCELLED),
}


def opened(entry: Entry, state: ScheduleState) -> Job:
    """The job that an entry opens: an event did, or a person."""
    return Job(
        id=entry.job or "",
        schedule=state.ref,
        key=entry.data.get("key", ""),
        fingerprint=state.fingerprint,
        priority=state.spec.priority,
        opened_at=entry.at,
        held_at=entry.at if state.holding and entry.kind is EntryKind.JOB_OPENED else None,
    )


def after_entry(job: Job, entry: Entry, state: ScheduleState) -> Job:
    """The job after one of its entries; those about events are not for here.

    Args:
        state: its schedule as it was then.
    """
    match entry.kind:
        case EntryKind.SATISFIED:
            return _with(job, satisfied_at=datetime.fromisoformat(entry.data["since"]))
        case EntryKind.WAITING:
            return _waiting(job, entry)
        case EntryKind.LAUNCH:
            return _with(job, state=JobState.PENDING_LAUNCH, reason=None, launch=_plan(entry))
        case EntryKind.CLAIM:
            launched = job.launched_at or entry.at
            return _with(job, state=JobState.LAUNCHED, run_id=entry.run_id, launched_at=launched)
        case EntryKind.RUN:
            return _run(job, entry)
        case EntryKind.DISCARDED:
            reason = Reason(entry.reason) if entry.reason is not None else None
            return _with(job, state=JobState.DISCARDED, reason=reason, ended_at=entry.at)
        case EntryKind.LAUNCH_FAILED:
            return _launch_failed(job, entry)
        case EntryKind.MANUAL:
            return _by_hand(job, entry, state)
        case _:
            return job


def _with(job: Job, **changes: Any) -> Job:
    return msgspec.structs.replace(job, **changes)


def _waiting(job: Job, entry: Entry) -> Job:
    if "error" in entry.data:
        return _with(job, detail=entry.data["error"])
    reason = Reason(entry.reason) if entry.reason is not None else Reason.W_TRIGGER
    state = JobState.PENDING_TRIGGER if reason in _OF_THE_TRIGGER else JobState.PENDING_CONSTRAINT
    return _with(job, state=state, reason=reason)


def _plan(entry: Entry) -> LaunchPlan:
    return LaunchPlan(
        program=entry.data["program"].rpartition("/")[2],
        partitions=tuple(entry.data["partitions"]),
        manifest={dataset: tuple(keys) for dataset, keys in entry.data["manifest"].items()},
        args=entry.data["args"],
    )


def _run(job: Job, entry: Entry) -> Job:
    if job.state in FINISHED:
        return job
    at, status = datetime.fromisoformat(entry.data["at"]), RunStatus(entry.data["status"])
    launched = _with(job, run_id=entry.run_id, launched_at=job.launched_at or at)
    if status not in _ENDS:
        return _with(launched, state=JobState.LAUNCHED)
    state, reason = _ENDS[status]
    return _with(launched, state=state, reason=reason, ended_at=at)


def _launch_failed(job: Job, entry: Entry) -> Job:
    if entry.reason is None:
        return _with(job, detail=entry.data["message"])
    return _with(
        job,
        state=JobState.FAILED,
        reason=Reason.F_LAUNCH,
        ended_at=entry.at,
        detail=entry.data["message"],
    )


def _by_hand(job: Job, entry: Entry, state: ScheduleState) -> Job:
    match entry.data["action"]:
        case "requeue":
            return queued(job, state, entry.at)
        case action:
            hand = ByHand.FORCE if action == "force" else ByHand.TRIGGER
            satisfied = job.satisfied_at or entry.at
            return _with(release(job, state.spec, entry.at), by_hand=hand, satisfied_at=satisfied)
