"""After: the job after an entry of its journal, defined in this one place.

    job before ── entry ──► job after

Code that changes a job writes an entry and stores the job that `record` returns; `why --at` folds the
same entries with `after`. So the reconstructed past cannot differ from what happened. Bookkeeping of
the engine (the next check, whether a job accepts events) is in no entry: writers pass it to `record`.

An entry about a whole schedule has no effect here: see `scheduler.decision.changes.fate`. Pure. It reads
the entries of every released version of the journal.

By hand: the job after a person triggers it, or queues a failed one again (rule 17). Pure;
`scheduler.commands.by_hand.manual` and `scheduler.launch.dead_letter` write the result.
"""

from datetime import datetime
from typing import Any

import msgspec

from tidegate.domain.launch_input import MissingMember, UpstreamRun
from tidegate.domain.model import Schedule
from tidegate.scheduler.decision.fold import instances, retry
from tidegate.scheduler.decision.fold import maintenance as operations
from tidegate.scheduler.decision.fold.recovered import recovered, succeeded
from tidegate.scheduler.decision.fold.retry import next_attempt
from tidegate.scheduler.decision.timeout import release
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import (
    FINISHED,
    TRANSITIONS,
    ByHand,
    IllegalTransition,
    Job,
    JobState,
    LaunchPlan,
)
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.last_launch import Repairs
from tidegate.scheduler.model.run import RunStatus


def triggered(job: Job, schedule: Schedule, now: datetime, *, force: bool) -> Job:
    """Return the waiting job with its trigger satisfied, no longer held, and without a pause before it."""
    return msgspec.structs.replace(
        release(job, schedule, now),
        by_hand=ByHand.FORCE if force else ByHand.TRIGGER,
        satisfied_at=job.satisfied_at or now,
        retry_at=None,
    )


def queued(job: Job, state: ScheduleState, now: datetime) -> Job:
    """Return the dead letter with its next attempt, waiting for its constraints.

    Its launch is planned again, unless an earlier attempt had a run.
    """
    launch = None if job.failed_run is None else job.launch
    return msgspec.structs.replace(retried(job, state, now), launch=launch)


def retried(job: Job, state: ScheduleState, now: datetime) -> Job:
    """Return the failed job with its next attempt and the same launch plan, waiting for its constraints.

    The engine's own attempts are counted from here again.
    """
    return msgspec.structs.replace(
        next_attempt(job, state, now, now), by_hand=job.by_hand or ByHand.TRIGGER, retried=0, retry_at=None
    )


_ENDS = {
    RunStatus.SUCCEEDED: (JobState.SUCCEEDED, None),
    RunStatus.FAILED: (JobState.FAILED, Reason.F_RUN),
    RunStatus.CANCELLED: (JobState.FAILED, Reason.F_CANCELLED),
}


def opened(entry: Entry, state: ScheduleState | None) -> Job:
    """Return the job that an entry opens, for an event or a person, or as an instance of a task.

    Args:
        state: its schedule; None for an operation on a table.
    """
    if state is None:
        return operations.opened(entry)
    instance = instances.instance_of(entry)
    if instance is not None:
        return instance_job(state, entry.job or "", instance, entry.at)
    return Job(
        id=entry.job or "",
        schedule=state.ref,
        key=entry.data.get("key", ""),
        fingerprint=state.fingerprint,
        priority=state.spec.priority,
        opened_at=entry.at,
        held_at=entry.at if state.holding and entry.kind is EntryKind.JOB_OPENED else None,
    )


def all_opened(entry: Entry, state: ScheduleState | None) -> list[Job]:
    """Return the jobs that an entry opens: one, or the instances of a task that were made together."""
    made = instances.made_together(entry)
    if state is None or not made:
        return [opened(entry, state)]
    return [instance_job(state, *each, entry.at) for each in made]


def instance_job(
    state: ScheduleState, id: str, instance: Instance, at: datetime, next_check_at: datetime | None = None
) -> Job:
    """Return the job of an instance that is made at an instant."""
    return Job(
        id=id,
        schedule=state.ref,
        key=instance.key,
        fingerprint=state.fingerprint,
        priority=state.spec.priority,
        opened_at=at,
        next_check_at=next_check_at,
        # A task holds what it makes while it is suspended.
        held_at=None if state.active else at,
        reason=Reason.W_TIME if instance.start > at else None,
        # No event joins what a backfill runs again.
        closed=instance.keyed,
        instance=instance,
    )


def record(job: Job, entry: Entry, state: ScheduleState | None = None, **bookkeeping: Any) -> Job:
    """Return the job after a new entry, with the engine's bookkeeping.

    Args:
        state: see `after`.
        bookkeeping: fields that are in no entry.

    Raises:
        IllegalTransition: `TRANSITIONS` does not allow it.
    """
    changed = after(job, entry, state)
    if changed.state not in TRANSITIONS[job.state]:
        raise IllegalTransition(f"job {job.id}: {job.state} -> {changed.state}")
    return _with(changed, **bookkeeping)


def after(job: Job, entry: Entry, state: ScheduleState | None = None) -> Job:
    """Return the job after one of its entries.

    It checks no transition: a journal may be incomplete, or written while a clock went back.

    Args:
        state: the schedule at that instant; needed for manual actions and further attempts only.
    """
    match entry.kind:
        case EntryKind.EVENT:
            arrived = datetime.fromisoformat(entry.data["arrived"])
            return _repairing(_dated(joined(job, arrived), entry), entry)
        case EntryKind.SATISFIED:
            since = datetime.fromisoformat(entry.data["since"])
            return instances.left_not_run(_dated(_with(job, satisfied_at=since), entry), entry)
        case EntryKind.WAITING:
            return instances.begun(_waiting(job, entry), entry)
        case EntryKind.LAUNCH:
            return _launch(job, entry)
        case EntryKind.OFFERED:
            return _with(job, offers=entry.data["offer"], offered_at=entry.at)
        case EntryKind.SLOTS_TAKEN:
            return _with(job, gave_back=False)
        case EntryKind.CLAIM:
            launched = job.launched_at or entry.at
            launch = {"run_id": entry.run_id, "launched_at": launched, "gave_back": False}
            return _with(job, state=JobState.LAUNCHED, **launch)
        case EntryKind.RUN:
            return _run(job, entry)
        case EntryKind.DISCARDED:
            return _discarded(job, entry)
        case EntryKind.LAUNCH_FAILED:
            return _launch_failed(job, entry)
        case EntryKind.FAILURE:
            return _with(job, detail=entry.data["message"], raised=not entry.data.get("died"))
        case EntryKind.RETRY if state is not None:
            again = retry.retried(job, state, entry.at, datetime.fromisoformat(entry.data["starts_at"]))
            return _with(again, instance=instances.attempted_again(job.instance))
        case EntryKind.REPAIRED:
            return _repaired(job, entry)
        case EntryKind.OPERATION:
            return operations.ended(job, entry)
        case EntryKind.LATE:
            return _with(job, late_at=entry.at)
        case EntryKind.RECOVERED:
            return recovered(job, entry)
        case EntryKind.MANUAL if state is not None:
            return _by_hand(job, entry, state)
        case kind if kind in instances.KINDS:
            return instances.after(job, entry)
        case _:
            return job


def joined(job: Job, arrived: datetime) -> Job:
    """Return the job with one more event, which arrived at an instant."""
    first = arrived if job.first_event_at is None else min(arrived, job.first_event_at)
    return _with(job, first_event_at=first)


def _dated(job: Job, entry: Entry) -> Job:
    """Return the job with the date that an entry gives it: a date is its key (`batching: date`)."""
    return _with(job, key=entry.data.get("date", job.key))


def _repairing(job: Job, entry: Entry) -> Job:
    """Return the job as what an entry makes it a repair of."""
    found = entry.data.get("repairs")
    return job if found is None else _with(job, repairs=msgspec.convert(found, Repairs))


def _with(job: Job, **changes: Any) -> Job:
    return msgspec.structs.replace(job, **changes)


def _waiting(job: Job, entry: Entry) -> Job:
    if "error" in entry.data:
        return _with(job, detail=entry.data["error"])
    reason = Reason(entry.reason) if entry.reason is not None else Reason.W_TRIGGER
    return _with(job, state=JobState(entry.data["state"]), reason=reason)


def _launch(job: Job, entry: Entry) -> Job:
    dates = tuple(entry.data.get("business_dates", ()))
    plan = LaunchPlan(
        program=entry.data["program"].rpartition("/")[2],
        partitions=tuple(entry.data["partitions"]),
        manifest={dataset: tuple(keys) for dataset, keys in entry.data["manifest"].items()},
        args=entry.data["args"],
        business_date=dates[-1] if dates else None,
        business_dates=dates,
        provisional=msgspec.convert(entry.data.get("provisional", ()), tuple[MissingMember, ...]),
        repairs=entry.data.get("repairs"),
    )
    return _with(
        job,
        state=JobState.PENDING_LAUNCH,
        reason=None,
        launch=plan,
        resources=tuple(entry.data["resources"]),
        decided_at=entry.at,
        # The polls before have judged an operation; nothing of it waits for a trigger.
        satisfied_at=job.satisfied_at if job.maintenance is None else entry.at,
        retry_at=None,
        detail="",
        instance=instances.launched(job.instance),
        maintenance=operations.launched(job.maintenance, entry),
    )


def _discarded(job: Job, entry: Entry) -> Job:
    """Return the job without a further run: one that has had a run has failed, others have not run at all.

    An instance that a timeout or a constraint ends has failed too: it goes on gating its consumers.
    """
    fails = instances.fails(entry) if job.instance is not None else job.failed_run is not None
    state = JobState.FAILED if fails else JobState.DISCARDED
    reason = Reason(entry.reason) if entry.reason is not None else None
    ended = {"retry_at": None, "gave_back": False, "decided_at": entry.at, "ended_at": entry.at}
    return _with(job, state=state, reason=reason, **ended)


def _repaired(job: Job, entry: Entry) -> Job:
    """Return the job without a further attempt or a first run: a job that repairs it was launched."""
    reason = Reason(entry.reason or Reason.F_RUN)
    state = JobState.DISCARDED if reason is Reason.D_REPAIRED else JobState.FAILED
    return _with(job, state=state, reason=reason, retry_at=None, gave_back=False, ended_at=entry.at)


def _run(job: Job, entry: Entry) -> Job:
    if job.state in FINISHED:
        return job
    at, status = datetime.fromisoformat(entry.data["at"]), RunStatus(entry.data["status"])
    if job.maintenance is not None and status in _ENDS:
        # The entry of the operation's end follows, or came before it.
        return job
    launched = _with(job, run_id=entry.run_id, launched_at=job.launched_at or at, gave_back=False)
    if status not in _ENDS:
        return _with(launched, state=JobState.LAUNCHED)
    state, reason = _ENDS[status]
    failed = entry.data.get("failed_run")
    failed_run = None if failed is None else msgspec.convert(failed, UpstreamRun)
    raised = job.raised or not entry.data.get("died")
    ended = _with(
        launched,
        state=state,
        reason=reason,
        ended_at=at,
        failed_run=failed_run,
        raised=failed_run is not None and raised,
    )
    withheld = entry.data.get("withheld")
    if withheld is not None and reason is Reason.F_RUN:
        ended = _with(ended, reason=Reason.F_CHECK, detail=job.detail if job.raised else withheld["text"])
    return succeeded(ended, entry.run_id or "", at) if job.recovered and reason is Reason.F_RUN else ended


def _launch_failed(job: Job, entry: Entry) -> Job:
    if "lost" in entry.data and entry.reason is None and job.launch is not None:
        # Its run never began: it gives back its slots, and another run of the same attempt is created.
        launch = msgspec.structs.replace(job.launch, lost=entry.data["lost"])
        again = {"run_id": None, "launched_at": None, "offers": 0, "rejected": 0, "gave_back": True}
        detail = entry.data["message"]
        return _with(job, state=JobState.PENDING_LAUNCH, launch=launch, detail=detail, **again)
    rejected = entry.data.get("rejected", 0)
    failed = _with(job, detail=entry.data["message"], rejected=rejected)
    if "offers" in entry.data:
        # Postponed: what it met would meet every launch, so its last offer does not count.
        offers: int = entry.data["offers"]
        return _with(failed, offers=offers, gave_back=job.maintenance is None and offers == rejected)
    if entry.reason is None:
        # An operation keeps its table: another one must not start on it meanwhile.
        return _with(failed, gave_back=job.maintenance is None and 0 < job.offers == rejected)
    return _with(failed, gave_back=False, state=JobState.FAILED, reason=Reason.F_LAUNCH, ended_at=entry.at)


def _by_hand(job: Job, entry: Entry, state: ScheduleState) -> Job:
    match entry.data["action"]:
        case "requeue":
            return queued(job, state, entry.at)
        case "retry":
            return retried(job, state, entry.at)
        case action:
            keyed = _repairing(_with(job, key=job.key or entry.data.get("key", "")), entry)
            return triggered(keyed, state.spec, entry.at, force=action == "force")
