"""Set back: a tick finds the clock far before the engine's clock, so an earlier one saw a wrong time.

What the store remembers as past and that now lies ahead counts as of now (`model.set_back`); next fires,
checks, polls and deadlines are computed again. What the wrong tick has decided stays, and so do its jobs:
their fires do not happen again. A fire that was only recorded as expired does, so its discard is taken back.
Part of the shell.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from tidegate.scheduler.decision.fires import next_fire
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import UNFINISHED, Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.set_back import job_set_back, not_ahead, schedule_set_back
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.due import MICROSECOND
from tidegate.scheduler.tick.expected import set_expected_back
from tidegate.scheduler.tick.generate import RETURNED, day_made, next_generation
from tidegate.scheduler.tick.maintenance.poll import set_polls_back
from tidegate.scheduler.tick.missed import MISSED, spans_of


def set_back(transaction: EngineTransaction, clock: datetime, now: datetime) -> None:
    """Let everything that lies ahead count as of now.

    Args:
        clock: the engine's clock, which was ahead.
    """
    ahead = transaction.events(after=now, limit=None)[::-1]
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
    set_polls_back(transaction, now)
    set_expected_back(transaction, ahead, now)
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
