"""Observe: fold observations of runs into jobs, slots and events.

Observations come from an event log that may repeat, delay and reorder them. Folding is idempotent: a
run only moves forward, an event has an id made from run and status, and a slot is released once.
Only the run that holds its job's claim changes the job. An external run counts in every limit
and triggers other schedules like any run.

An observation takes effect at the instant at which it happened: earlier instants are replayed first.
One that is older than the engine's clock takes effect at the clock, since past decisions do not change.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, assert_never

import msgspec

from tidegate.domain.upstream_run import UpstreamRun
from tidegate.domain.value import Value
from tidegate.scheduler.decision.after import record
from tidegate.scheduler.decision.job_view import groups_of_program
from tidegate.scheduler.model.event import Event, EventKind, run_event_key
from tidegate.scheduler.model.job import FINISHED, Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.run import (
    ALL_RUNS,
    ENDED,
    Run,
    RunStatus,
    group_resource,
    program_resource,
)
from tidegate.scheduler.store.protocol import Launched, Transaction
from tidegate.scheduler.tick.end_jobs import end_jobs
from tidegate.scheduler.tick.load import load_apps, load_whole_app
from tidegate.scheduler.tick.tick import advance_before, effective_at

RANK = {status: rank for rank, status in enumerate((RunStatus.QUEUED, RunStatus.STARTED))}
"""Statuses in the order in which a run passes through them; every end comes after them."""


class RunObservation(Value, kw_only=True):
    """One observed status of one run.

    Attributes:
        program: "app/program".
        job, attempt: from the run's tags; None for an external run.
        at: when it happened, by the source's clock.
        args, outputs: of an external run, if known; see `UpstreamRun`.
    """

    run_id: str
    program: str
    job: str | None = None
    attempt: int | None = None
    status: RunStatus
    at: datetime
    args: dict[str, Any] = {}
    outputs: dict[str, tuple[str, ...]] = {}


def observe_runs(transaction: Transaction, observations: Sequence[RunObservation], now: datetime) -> None:
    """Fold observations into the store, in the order in which they happened."""
    known = {run.run_id: run for run in transaction.runs(ids={seen.run_id for seen in observations})}
    for seen in sorted(observations, key=lambda each: each.at):
        advance_before(transaction, min(seen.at, now))
        _fold(transaction, seen, known, effective_at(transaction, seen.at, now))


def _fold(transaction: Transaction, seen: RunObservation, known: dict[str, Run], now: datetime) -> None:
    """Fold one observation that takes effect at `now`."""
    before = known.get(seen.run_id)
    job = _job_of(transaction, seen)
    lost = seen.job is not None and job is None
    run = merge(before, _without_effect(seen) if lost else seen, now)
    known[seen.run_id] = run
    transaction.put_runs([run])
    if lost:
        return
    if run != before:
        # A repeated observation takes no further slots, even if a deploy has added groups since.
        counted = _count(transaction, run, job, now)
        transaction.add_journal([_entry(seen, job, counted, now)])
    if job is not None:
        _advance(transaction, job, seen, now)
    words = _words(seen.status)
    if words and (seen.status not in ENDED or seen.status is run.status):
        transaction.add_events(_events(seen, words, _upstream(transaction, seen, job), now))


def _without_effect(seen: RunObservation) -> RunObservation:
    """Return the observation of a run without a claim: it did no work, so its success counts as cancelled."""
    if seen.status is RunStatus.SUCCEEDED:
        return msgspec.structs.replace(seen, status=RunStatus.CANCELLED)
    return seen


def merge(before: Run | None, seen: RunObservation, now: datetime) -> Run:
    """Return the run after an observation; a run never goes back, and its first end counts."""
    run = before or Run(
        run_id=seen.run_id,
        program=seen.program,
        job=seen.job,
        attempt=seen.attempt,
        status=seen.status,
        seen_at=now,
    )
    if seen.status is RunStatus.STARTED and run.started_at is None:
        run = msgspec.structs.replace(run, started_at=seen.at)
    if seen.status in ENDED and run.ended_at is None:
        return msgspec.structs.replace(run, status=seen.status, ended_at=seen.at)
    if run.status in RANK and seen.status in RANK and RANK[seen.status] > RANK[run.status]:
        return msgspec.structs.replace(run, status=seen.status)
    return run


def _job_of(transaction: Transaction, seen: RunObservation) -> Job | None:
    """Return the job that this run works on.

    None for an external run, for a run that lost its claim, and for a run whose job was discarded before
    it could claim it.
    """
    if seen.job is None:
        return None
    job = next(iter(transaction.jobs(ids=(seen.job,))), None)
    if job is None or job.attempt != seen.attempt:
        return None
    holder = transaction.claim_of(job.id, job.attempt) or job.run_id
    if holder is None:
        return None if job.state in FINISHED else job
    return job if holder == seen.run_id else None


def _count(transaction: Transaction, run: Run, job: Job | None, now: datetime) -> tuple[str, ...]:
    """Take or release the slots of an external run; a job takes its slots when its launch is decided.

    Returns:
        The resources of which the external run took or released slots.
    """
    if job is not None:
        return ()
    if not run.active:
        released = transaction.release_slots(run.run_id)
        transaction.wake(released, now)
        return released
    resources = _resources_of_manual_run(transaction, run.program)
    transaction.take_slots({run.run_id: resources})
    transaction.add_launches(
        [Launched(program=run.program, holder=run.run_id, at=run.started_at or run.seen_at)]
    )
    return resources


def _resources_of_manual_run(transaction: Transaction, program: str) -> tuple[str, ...]:
    """Return the resources of an external run: all runs, the program, and its schedules' groups (rule 21)."""
    app_name, _, name = program.partition("/")
    app = load_whole_app(transaction, app_name)
    groups = () if app is None else groups_of_program(app, name)
    return (ALL_RUNS, program_resource(program), *(group_resource(group) for group in groups))


def _advance(transaction: Transaction, job: Job, seen: RunObservation, now: datetime) -> None:
    """Move the job to the status of its run."""
    if job.state in FINISHED:
        return
    entry = _entry(seen, job, (), now)
    if seen.status in ENDED:
        end_jobs(transaction, [(job, entry)])
    else:
        transaction.put_jobs([record(job, entry, next_check_at=None)])


def _upstream(transaction: Transaction, seen: RunObservation, job: Job | None) -> UpstreamRun:
    """Return the facts of a run that the runs it triggers may refer to."""
    args, outputs = seen.args, seen.outputs
    if job is not None and job.launch is not None:
        app = load_apps(transaction, {job.app}).get(job.app)
        program = None if app is None else app.programs.get(job.launch.program)
        args = job.launch.args
        outputs = dict.fromkeys(() if program is None else program.writes, job.launch.partitions)
    return UpstreamRun(id=seen.run_id, program=seen.program, status=seen.status, args=args, outputs=outputs)


def _words(status: RunStatus) -> tuple[str, ...]:
    """Return the words for a run's new status in `run` triggers."""
    match status:
        case RunStatus.QUEUED:
            return ()
        case RunStatus.STARTED:
            return ("started",)
        case RunStatus.SUCCEEDED:
            return ("succeeded", "completed")
        case RunStatus.FAILED:
            return ("failed", "completed")
        case RunStatus.CANCELLED:
            return ("completed",)
        case _:
            assert_never(status)


def _events(
    seen: RunObservation, words: tuple[str, ...], upstream: UpstreamRun, now: datetime
) -> list[Event]:
    """Return the events of a run's new status."""
    # A source whose clock is ahead must not delay its events.
    arrived = min(seen.at, now)
    app, _, program = seen.program.partition("/")
    return [
        Event(
            id=f"run:{seen.run_id}:{word}",
            kind=EventKind.RUN,
            key=run_event_key(app, program, word),
            time=seen.at,
            arrived=arrived,
            run_id=seen.run_id,
            status=seen.status,
            run=upstream,
        )
        for word in words
    ]


def _entry(seen: RunObservation, job: Job | None, counted: tuple[str, ...], now: datetime) -> Entry:
    return Entry(
        at=now,
        kind=EntryKind.RUN,
        schedule=None if job is None else job.schedule,
        job=None if job is None else job.id,
        run_id=seen.run_id,
        data={
            "program": seen.program,
            "status": seen.status,
            "at": seen.at.isoformat(),
            "resources": list(counted),
        },
    )
