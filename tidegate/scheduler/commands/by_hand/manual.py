"""Manual: actions of people on schedules and jobs, from the CLI or the Dagster UI.

Each action is one journaled change inside the caller's transaction. None of them launches:
`trigger` makes a job due, and the next tick decides about it like about any other job.
"""

from datetime import datetime
from typing import Any

import msgspec

from tidegate.domain.model import App, PartitionScheme, Schedule, leaves
from tidegate.domain.nearest_key import WrongKey, read_key
from tidegate.domain.partition_key import WrittenKey, first_key, latest_keys, not_begun, written_key
from tidegate.domain.schedule_keys import dates_written, output_scheme
from tidegate.domain.time.expiry import Until
from tidegate.scheduler.commands.by_hand.statuses import schedule_state, switch
from tidegate.scheduler.commands.existing_events import bring_too_late
from tidegate.scheduler.decision.fold.after import opened, record
from tidegate.scheduler.decision.fold.end_job import discard_entry
from tidegate.scheduler.decision.launch.dates import date_of_moment
from tidegate.scheduler.decision.launch.plan import plan_launch
from tidegate.scheduler.decision.repairs import judged_spec, repairs_by_hand
from tidegate.scheduler.decision.route import is_full
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import WAITING, Job, JobState, job_id
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.last_launch import LAST_LAUNCHES, LastLaunch
from tidegate.scheduler.model.refused import Refused, UnknownName, refuse_instance, refuse_operation
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.engine_rows import record as record_of
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.end_jobs import end_jobs
from tidegate.scheduler.tick.load import AllEvents, load_apps
from tidegate.scheduler.tick.tick import advance_before, route_before

EARLIEST_PERIOD = "1900-01-01"
"""Start of periods in key checks: a coarser period may begin before its dataset's first partition."""


def suspend(
    transaction: EngineTransaction, ref: str, now: datetime, by: By, until: Until | None = None
) -> bool:
    """Suspend a schedule. Its `on_suspend` decides about waiting jobs and new events (rule 10).

    Args:
        until: when it becomes active again by itself; given for a schedule that was suspended by hand
            already, it changes when.

    Returns:
        Whether anything has changed.

    Raises:
        Refused: the schedule is not deployed, or it would not become active again.
    """
    route_before(transaction, now, (ref,))
    return switch(transaction, ref, "suspended", now, by, until)


def resume(
    transaction: EngineTransaction, ref: str, now: datetime, by: By, until: Until | None = None
) -> bool:
    """Make a schedule active.

    Events and fires from `now` on count. A schedule that held its jobs releases them, and continues as if
    it had never been suspended.

    Args:
        until: when it is suspended again by itself.

    Returns:
        Whether anything has changed.

    Raises:
        Refused: the schedule is not deployed, or it would not be suspended again.
    """
    route_before(transaction, now, (ref,))
    return switch(transaction, ref, "active", now, by, until)


def check_suspend(_reader: EngineReader, state: ScheduleState, _now: datetime) -> None:
    """Refuse to suspend a schedule for which nothing would change.

    Raises:
        Refused: it is suspended.
    """
    if not state.active:
        raise Refused(f"{state.ref} is suspended already", f"`tidegate schedules resume {state.ref}`")


def check_resume(_reader: EngineReader, state: ScheduleState, _now: datetime) -> None:
    """Refuse to resume a schedule for which nothing would change.

    Raises:
        Refused: it is active.
    """
    if state.active:
        raise Refused(f"{state.ref} is active already", f"`tidegate schedules suspend {state.ref}`")


def check_trigger(
    _reader: EngineReader, state: ScheduleState, _now: datetime, *, force: bool = False
) -> None:
    """Refuse to trigger what has no trigger, whatever the key.

    Raises:
        Refused: it is a task.
    """
    if state.spec.task is not None:
        hint = "`tidegate instances rerun` runs an instance again, `tidegate backfill start` makes more"
        raise Refused(f"{state.ref} is a task, which is not {'forced' if force else 'triggered'}", hint)


def trigger(
    transaction: EngineTransaction,
    ref: str,
    now: datetime,
    key: WrittenKey = "",
    force: bool = False,
    *,
    by: By,
) -> Job:
    """Count a schedule's trigger as satisfied (rule 17).

    It triggers the waiting job with its events so far, or opens an empty one. The constraints still
    apply unless `force` is set, which overrides all of them but concurrency. A suspended schedule does
    not hold a job that was triggered by hand.

    Args:
        key: the key of the job, for a schedule with `for_each`; for others, the partition to write. Its
            text, or a mapping of its dimensions.

    Raises:
        Refused: the schedule is not deployed, the key is missing, not valid for it or of a period that has
            not begun, or the run would write no partition.
    """
    advance_before(transaction, now)
    state = schedule_state(transaction, ref)
    check_trigger(transaction, state, now)
    app = load_apps(transaction, [state])[state.app]
    if state.spec.for_each is not None and not key:
        example = _example(_schemes(state.spec, app)[0], now)
        raise Refused(
            f"schedule {ref} runs for each {state.spec.for_each}, and no key was given",
            f"name the key, for example --key '{example}'",
        )
    dated, written = state.spec.keyed_by_date, key
    key = date_of_moment(app, state.spec, now) if dated and not key else written_key(key)
    named = bool(key) and state.spec.for_each is None and not dated
    if named and output_scheme(app, state.spec.program) is None:
        raise Refused(f"schedule {ref} has no for_each, got key {key!r}", "leave the key out")
    wrong = _wrong_key(state.spec, app, written or key, now)
    if wrong is not None:
        # What is wrong with a text names the text; a mapping may be one of too many dimensions.
        shown = "" if isinstance(written, str) else f", {msgspec.json.encode(written).decode()}"
        raise Refused(f"schedule {ref} has no such key{shown}: {wrong.summary}", wrong.hint)
    every = transaction.jobs(schedules=[ref], states=WAITING)
    waiting = [job for job in every if job.key == key and job.instance is None]
    # A job that still collects comes before full jobs that wait for their constraints.
    found = min(waiting, key=lambda job: job.closed, default=None)
    new_id = job_id(ref, key, f"manual:{now.isoformat()}")
    if found is None and transaction.jobs(ids=[new_id]):
        raise Refused(f"schedule {ref} was triggered at this instant already", "trigger it once more")
    last = _repaired(transaction, state, key)
    facts = {"action": "force" if force else "trigger", "key": key, **_repairing(found, last), **by.noted}
    id = new_id if found is None else found.id
    entry = Entry(at=now, kind=EntryKind.MANUAL, schedule=ref, job=id, data=facts)
    _refuse_before_its_period(state.spec, app, key, now)
    job = found or opened(entry, state)
    full = is_full(state.spec, view_of(transaction, state, app, job, now).events)
    job = record(job, entry, state, closed=job.closed or full or named, next_check_at=now)
    refuse_without_partition(view_of(transaction, state, app, job, now))
    transaction.put_jobs([job])
    transaction.add_journal([entry])
    if last is not None:
        bring_too_late(transaction, state, app, last, now, by)
    return job


def view_of(reader: EngineReader, state: ScheduleState, app: App, job: Job, now: datetime) -> JobView:
    """Return the view of a waiting job with its events, without what its constraints need."""
    events = AllEvents(reader)
    events.prepare([job])
    return events.view(JobView(app=app, schedule=judged_spec(state.spec, job), job=job), now)


def _repaired(reader: EngineReader, state: ScheduleState, key: str) -> LastLaunch | None:
    """Return the last launch of a key if it is provisional and may be repaired."""
    if state.spec.for_each is None:
        return None
    last = record_of(reader, LAST_LAUNCHES, schedule=state.ref, key=key)
    return last if last is not None and last.awaits_repair else None


def _repairing(found: Job | None, last: LastLaunch | None) -> dict[str, Any]:
    """Return what makes the job of a key a repair, if the last one is provisional."""
    repairs = None if found is not None and found.repairs is not None else repairs_by_hand(last)
    return {} if repairs is None else {"repairs": msgspec.to_builtins(repairs)}


def refuse_without_partition(view: JobView) -> None:
    """Refuse a job whose run must write partitions, if none follows from its events."""
    scheme = output_scheme(view.app, view.schedule.program)
    if scheme is None:
        return
    if not plan_launch(view, view.job.satisfied_at).partitions:
        raise Refused(
            f"schedule {view.job.schedule} has collected nothing that says which partition its run writes",
            f"name the partition, for example --key '{first_key(scheme)}'",
        )


def _refuse_before_its_period(schedule: Schedule, app: App, key: str, now: datetime) -> None:
    """Refuse a key of a period that has not begun: it has no data yet, and Dagster has no such partition."""
    if any(not_begun(scheme, key, now) for scheme in _schemes(schedule, app)):
        raise Refused(
            f"the period of {key} has not begun, so schedule {app.name}/{schedule.name} cannot run for it",
            "name a key whose period has begun, or wait for its begin",
        )


def _wrong_key(schedule: Schedule, app: App, key: WrittenKey, now: datetime) -> WrongKey | None:
    """Return what is wrong with a key of a schedule's jobs; None for a valid key.

    With `for_each` it is valid if it is a key of one member.
    """
    if not key:
        return None
    read = [read_key(scheme, key, _example(scheme, now)) for scheme in _schemes(schedule, app)]
    wrong = [each for each in read if isinstance(each, WrongKey)]
    return wrong[0] if wrong and len(wrong) == len(read) else None


def _example(scheme: PartitionScheme, now: datetime) -> str:
    """Return the key of the running period: the first one may be far away."""
    return next(iter(latest_keys(scheme, now, 1)), first_key(scheme))


def _schemes(schedule: Schedule, app: App) -> list[PartitionScheme]:
    """Return the partitions whose keys jobs may have: those of the members, of the outputs, or dates."""
    if schedule.keyed_by_date:
        return [dates_written(app, schedule)]
    if schedule.for_each is None:
        outputs = output_scheme(app, schedule.program)
        return [] if outputs is None else [outputs]
    found: list[PartitionScheme] = []
    for leaf in leaves(schedule.trigger):
        dataset = app.datasets.get(leaf.trigger.dataset_collected or "")
        scheme = None if dataset is None else dataset.partitions
        if scheme is None:
            continue
        if schedule.for_each != "partition" and scheme.time is not None:
            period = msgspec.structs.replace(scheme.time, cycle=schedule.for_each, start=EARLIEST_PERIOD)
            scheme = PartitionScheme(time=period)
        found.append(scheme)
    return found


def cancel(transaction: EngineTransaction, job: str, now: datetime, by: By) -> Job:
    """Discard a waiting job, or a job whose launch is decided and that has no run yet.

    A launch request may already be on its way; its run then fails to claim the job. Of operations on tables
    only a waiting one that a person asked for is discarded: a policy would ask for the others again.

    Raises:
        UnknownName: the job does not exist.
        Refused: it has a run, or has ended; or a policy asks for it.
    """
    advance_before(transaction, now)
    found = next(iter(transaction.jobs(ids=[job])), None)
    if found is None:
        raise UnknownName(f"there is no job {job}", "`tidegate jobs list` shows the jobs")
    check_cancel(transaction, found, now)
    entry = discard_entry(found, Reason.D_CANCELLED, now, by)
    transaction.add_journal([entry])
    (discarded,) = end_jobs(transaction, [(found, entry)])
    return discarded


def check_cancel(_reader: EngineReader, job: Job, _now: datetime) -> None:
    """Refuse to discard a job that `cancel` would refuse.

    Raises:
        Refused: it has a run, or has ended; it is an instance; or a policy asks for it.
    """
    refuse_instance(job, "tidegate instances pause")
    if job.maintenance is not None and not (job.maintenance.by_hand and job.waiting):
        refuse_operation(job)
    if not job.waiting and job.state is not JobState.PENDING_LAUNCH:
        raise Refused(
            f"job {job.id} is {job.state} and cannot be discarded",
            "to stop a launched job, terminate its run in the Dagster UI",
        )
