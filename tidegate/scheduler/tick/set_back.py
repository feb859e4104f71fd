"""Set back: a tick finds the clock far before the engine's clock, so an earlier one saw a wrong time.

What the store remembers as past and that now lies ahead counts as of now (`decision.set_back`); next fires,
checks, polls and deadlines are computed again. What the wrong tick has decided stays, and so do its jobs:
their fires do not happen again. A fire that was only recorded as expired does, so its discard is taken back.
Part of the shell.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from tidegate.scheduler.decision.expected.judgement import first_expected
from tidegate.scheduler.decision.expected.periods import period_in
from tidegate.scheduler.decision.fires import next_fire
from tidegate.scheduler.decision.maintenance import times
from tidegate.scheduler.decision.set_back import job_set_back, not_ahead, schedule_set_back
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import PARTITION_KEY, Event
from tidegate.scheduler.model.job import UNFINISHED, Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.maintenance import OperationRun, Record
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.store.wanted import LateWanted
from tidegate.scheduler.tick.due import MICROSECOND
from tidegate.scheduler.tick.expected import note_known
from tidegate.scheduler.tick.generate import RETURNED, day_made, next_generation
from tidegate.scheduler.tick.maintenance.policies import POLLS, Policies, load_policies, polls_noted
from tidegate.scheduler.tick.missed import MISSED, spans_of

LATE_AHEAD = 100_000
"""More late periods than retention keeps."""


def set_back(transaction: EngineTransaction, clock: datetime, now: datetime) -> None:
    """Let everything that lies ahead count as of now.

    Args:
        clock: the engine's clock, which was ahead.
    """
    ahead = transaction.events_ahead(now)
    again = _take_back_expired(transaction, ahead, now)
    jobs = transaction.jobs(states=UNFINISHED)
    failed = {job.failed_run.id for job in jobs if job.failed_run is not None}
    ended = {run.run_id: run.ended_at for run in transaction.runs(ids=failed) if run.ended_at is not None}
    transaction.set_back(now)
    transaction.put_schedules(
        [_schedule(state, again.get(state.ref), now) for state in transaction.schedules()]
    )
    transaction.delete_tallies([job.id for job in jobs if job.waiting])
    # What it has written of jobs beyond that is done by `set_back`.
    transaction.put_jobs([_job(job, now, ended) for job in jobs])
    _missed(transaction, now)
    _tables(transaction, now)
    _expected(transaction, now)
    _landed(transaction, ahead, now)
    transaction.set_cursor(RETURNED, now.isoformat())
    data = {"clock": clock.isoformat()}
    transaction.add_journal([Entry(at=now, kind=EntryKind.SET_BACK, data=data)])


# --- fires ------------------------------------------------------------------------------


def _take_back_expired(
    transaction: EngineTransaction, ahead: Sequence[Event], now: datetime
) -> dict[str, datetime]:
    """Take back the fires that were recorded as expired, and that lie ahead, at least the last of a row.

    Returns:
        The first fires of rows that began before now, by schedule: these happen again, too.
    """
    expired = [event for event in ahead if event.expired]
    if not expired:
        return {}
    firsts = {event.id: event.first_at for event in expired}
    found: dict[str, datetime] = {}
    for each in transaction.deliveries_of_events(list(firsts)):
        first = firsts[each.event.id]
        if first is not None and first <= now:
            found[each.schedule] = min(first, found.get(each.schedule, first))
    transaction.take_back_events(list(firsts))
    return found


def _missed(transaction: EngineTransaction, now: datetime) -> None:
    """Let missed fires that lie ahead get no job: they come."""
    spans = spans_of(transaction)
    if not spans:
        return
    kept = {
        ref: {
            path: [not_ahead(span, now) for span in each if span.after < now] for path, each in leaves.items()
        }
        for ref, leaves in spans.items()
    }
    transaction.set_cursor(MISSED, msgspec.to_builtins(kept))


# --- schedules and jobs -----------------------------------------------------------------


def _schedule(state: ScheduleState, again: datetime | None, now: datetime) -> ScheduleState:
    """Return the schedule with its next fire.

    Args:
        again: its first fire that happens again.
    """
    found = schedule_set_back(state, now)
    if again is not None and found.fires_after is not None:
        # Not those of before it was created or changed.
        begun = max(again, found.active_since or again)
        found = msgspec.structs.replace(found, fires_after=min(found.fires_after, begun - MICROSECOND))
    task = found.spec.task
    if task is not None:
        following = next_generation(task, day_made(task, found.fires_after or now))
        return msgspec.structs.replace(found, next_fire_at=following)
    if not found.fires or found.fires_after is None:
        return found
    return msgspec.structs.replace(found, next_fire_at=next_fire(found, found.fires_after))


def _job(job: Job, now: datetime, ended: Mapping[str, datetime]) -> Job:
    found = job_set_back(job, now, ended)
    return msgspec.structs.replace(found, next_check_at=now) if found.decided_when_due else found


# --- maintenance ------------------------------------------------------------------------


def _tables(transaction: EngineTransaction, now: datetime) -> None:
    noted: dict[str, str] | None = transaction.cursor(POLLS)
    if noted is None:
        return
    before = load_policies(transaction, now)
    policies = not_ahead_polls(before, now)
    transaction.set_cursor(POLLS, polls_noted(policies, policies.last))
    transaction.put_tables([not_ahead(table, now) for table in transaction.tables()])
    runs = {run.job: run for run in transaction.operation_runs(started_since=now)}
    runs |= {run.job: run for run in transaction.operation_runs(running=True)}
    transaction.put_operation_runs([_operation(run, now) for run in runs.values()])
    records = transaction.records(tables={table.name for table in transaction.tables()})
    transaction.put_records([_record(policies, record, now) for record in records])


def not_ahead_polls(policies: Policies, now: datetime) -> Policies:
    """Return the policies with polls that count as of now; the grid stays."""
    last = policies.last
    if last is not None and last > now:
        last = times.last_poll(policies.origin, policies.settings.poll, now)
    return msgspec.structs.replace(policies, origin=min(policies.origin, now), last=last)


def _operation(run: OperationRun, now: datetime) -> OperationRun:
    started = min(run.started_at, now)
    ended = not_ahead(run.ended_at, now)
    closes = run.closes_at - (run.started_at - started)
    return msgspec.structs.replace(run, started_at=started, closes_at=closes, ended_at=ended)


def _record(policies: Policies, record: Record, now: datetime) -> Record:
    found = msgspec.structs.replace(
        record,
        seen_at=min(record.seen_at, now),
        due_since=not_ahead(record.due_since, now),
        last_start=not_ahead(record.last_start, now),
    )
    if record.last_start is not None and record.last_start > now:
        following = times.next_run(policies.plan_of(record), now)
        found = msgspec.structs.replace(found, next_run=following)
    looks = record.counts and record.next_look is not None
    return msgspec.structs.replace(found, next_look=policies.poll_from(now)) if looks else found


# --- data that is expected --------------------------------------------------------------


def _expected(transaction: EngineTransaction, now: datetime) -> None:
    """Let the deadlines that were judged ahead be judged when they come."""
    before = transaction.expected_data()
    after = [first_expected(data, now) for data in before]
    transaction.put_expected_data(after)
    late = transaction.late_periods(LateWanted(), LATE_AHEAD)
    ahead: dict[str, list[str]] = {}
    for each in late:
        if each.due_at is not None and each.due_at > now:
            ahead.setdefault(each.dataset, []).append(each.period)
    for dataset, periods in ahead.items():
        transaction.drop_expected_periods(dataset, periods)
    kept = [each for each in late if each.due_at is None or each.due_at <= now]
    transaction.put_expected_periods([not_ahead(each, now) for each in kept if not_ahead(each, now) != each])
    for known, data in zip(before, after, strict=True):
        if known.period != data.period:
            # What had landed of these periods went when they were judged.
            note_known(transaction, data, now)


def _landed(transaction: EngineTransaction, ahead: Sequence[Event], now: datetime) -> None:
    """Let what has landed ahead, of periods that are not judged yet, have landed now."""
    keys: dict[str, list[str]] = {}
    for event in ahead:
        if event.partition is not None and event.key.startswith(PARTITION_KEY):
            keys.setdefault(event.key.removeprefix(PARTITION_KEY), []).append(event.partition)
    for data in transaction.expected_data(keys):
        periods = {period_in(data, key) for key in keys[data.dataset]} - {None}
        kept = transaction.expected_periods(data.dataset, [key for key in periods if key is not None])
        transaction.put_expected_periods([not_ahead(each, now) for each in kept])
