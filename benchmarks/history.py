"""A store with a past: finished jobs, each with its event, delivery, launch, run and journal entries."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from benchmarks.deployed import HOT, SCHEDULES_PER_APP, event
from tidegate.domain.value import Value
from tidegate.scheduler.model.event import Delivery, Event
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import Launched, Run, RunStatus
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.tick import tick

SPAN = timedelta(days=14)
"""The jobs were opened within this time, unless another is given."""

ENDS: Sequence[tuple[JobState, Reason | None]] = (
    (JobState.SUCCEEDED, None),
    (JobState.SUCCEEDED, None),
    (JobState.FAILED, Reason.F_RUN),
    (JobState.DISCARDED, Reason.D_TIMEOUT),
)
"""Of the finished jobs in turn."""

STATUSES = {JobState.SUCCEEDED: RunStatus.SUCCEEDED, JobState.FAILED: RunStatus.FAILED}
PAGE = 5_000


class Past(Value, kw_only=True):
    """One finished job and what belongs to it; a discarded one was never launched."""

    job: Job
    event: Event
    delivery: Delivery
    run: Run | None
    entries: tuple[Entry, ...]


def fill(store: Store, schedules: int, jobs: int, span: timedelta = SPAN) -> str:
    """Write jobs, of which those of the first events wait, and return one that waits.

    Args:
        schedules: how many are deployed; half of them are on data and have jobs.
        span: they were opened within this time before now.
    """
    now = datetime.now(UTC)
    with store.transaction() as transaction:
        transaction.add_events([event(number, now) for number in range(HOT)])
    tick(store, now)
    with store.reading() as reader:
        waiting = reader.jobs()
    finished = jobs - len(waiting)
    every = span / finished
    for first in range(0, finished, PAGE):
        numbers = range(first, min(first + PAGE, finished))
        _write(
            store, [_past(waiting[0], each, schedules // 2, now - span + each * every) for each in numbers]
        )
    return waiting[0].id


def _write(store: Store, past: Sequence[Past]) -> None:
    runs = [each.run for each in past if each.run is not None]
    events = [each.event for each in past]
    with store.transaction() as transaction:
        transaction.add_events(events)
        transaction.mark_routed([each.id for each in events])
        transaction.put_jobs([each.job for each in past])
        transaction.add_deliveries([each.delivery for each in past])
        transaction.add_launches(
            [Launched(program=run.program, holder=f"{run.job}", at=run.seen_at) for run in runs]
        )
        transaction.put_runs(runs)
        transaction.add_journal([entry for each in past for entry in each.entries])


def _past(sample: Job, number: int, schedules: int, at: datetime) -> Past:
    state, reason = ENDS[number % len(ENDS)]
    app, name = divmod(number * 7 % schedules, SCHEDULES_PER_APP // 2)
    ref = f"app_{app}/by_data_{name}"
    id = f"app_{app}.by_data_{name}-{number:012x}"
    ended = at + timedelta(seconds=30)
    heard = msgspec.structs.replace(
        event(number, at),
        id=f"past{number}",
        key=f"partition:app_{app}/raw_{name}",
        partition=f"{at:%Y-%m-%d}",
    )
    run = None
    if state in STATUSES:
        run = Run(
            run_id=f"run-{number}",
            program=f"app_{app}/clean",
            job=id,
            attempt=1,
            status=STATUSES[state],
            seen_at=at + timedelta(seconds=1),
            started_at=at + timedelta(seconds=2),
            ended_at=ended,
        )
    job = msgspec.structs.replace(
        sample,
        id=id,
        schedule=ref,
        state=state,
        reason=reason,
        opened_at=at,
        ended_at=ended,
        next_check_at=None,
    )
    return Past(
        job=job,
        event=heard,
        delivery=Delivery(event=heard, schedule=ref, leaf="trigger", job=id, at=at),
        run=run,
        entries=tuple(_entries(job, heard, run)),
    )


def _entries(job: Job, heard: Event, run: Run | None) -> Iterator[Entry]:
    about = Entry(at=job.opened_at, kind=EntryKind.JOB_OPENED, schedule=job.schedule, job=job.id)
    replace, ended = msgspec.structs.replace, job.ended_at
    yield about
    yield replace(about, kind=EntryKind.EVENT, event=heard.id, data={"leaf": "trigger"})
    if run is None:
        yield replace(about, kind=EntryKind.DISCARDED, at=ended, reason=job.reason)
        return
    yield replace(about, kind=EntryKind.LAUNCH, at=run.seen_at, run_id=run.run_id)
    yield replace(about, kind=EntryKind.RUN, at=ended, run_id=run.run_id, data={"status": str(run.status)})
