"""Observe: fold observations of runs into jobs, slots and events.

Observations come from an event log that may repeat, delay and reorder them. Folding is idempotent: a
run only moves forward, an event has an id made from run and status, and a slot is released once.
Only the run that holds its job's claim changes the job. An external run counts in every limit
and triggers other schedules like any run.

A job whose run has failed may get a further attempt (`scheduler.decision.fold.retry`), in the same
transaction. Then `run` triggers hear nothing of the failure yet. If another process has finished the run's
publish, the job has succeeded, and they hear of a success (`scheduler.decision.fold.recovered`). A run whose
publish is withheld has failed with F-CHECK (`withheld`).

An observation takes effect at the instant at which it happened: earlier instants are replayed first.
One that is older than the engine's clock takes effect at the clock, since past decisions do not change.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from itertools import groupby
from typing import Any

import msgspec

from tidegate.domain.launch_input import UpstreamRun
from tidegate.domain.model import App
from tidegate.domain.value import Value
from tidegate.scheduler.decision.fold.after import record
from tidegate.scheduler.decision.fold.recovered import as_success
from tidegate.scheduler.decision.fold.retry import retry_at
from tidegate.scheduler.decision.fold.run_events import event_of_job, run_events
from tidegate.scheduler.intake.external_runs import count_external
from tidegate.scheduler.intake.lost_starts import start_again
from tidegate.scheduler.intake.withheld import LeftWithheld, withheld_by
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import ACTIVE, FINISHED, Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.maintenance import Ended, Ending
from tidegate.scheduler.model.retention import PrunedKind
from tidegate.scheduler.model.run import ENDED, Run, RunStatus
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.clock import effective_at
from tidegate.scheduler.tick.end_jobs import end_jobs, take_again
from tidegate.scheduler.tick.load import load_app
from tidegate.scheduler.tick.maintenance.end import end_operation_job
from tidegate.scheduler.tick.repaired import repaired_by
from tidegate.scheduler.tick.tick import advance_before

RANK = {status: rank for rank, status in enumerate(status for status in RunStatus if status not in ENDED)}
"""Statuses in the order in which a run passes through them; every end comes after them."""

UNSUCCESSFUL = (RunStatus.FAILED, RunStatus.CANCELLED)


class RunObservation(Value, kw_only=True):
    """One observed status of one run.

    Attributes:
        program: "app/program".
        job, attempt: from the run's tags; None for an external run.
        at: when it happened, by the source's clock.
        died: of a failed run: the source does not know why it failed, so it died unless it has noted a
            failure (`scheduler.launch.run_report`).
        lost: of a run of an existing job: how many runs of its attempt before it never began.
        never_began: of a failed run of an existing job: it ended before its first step could start.
        error: of a failed run of an existing job: its first step failure, as Dagster's log has it.
        args, outputs: of an external run, if known; see `UpstreamRun`.
    """

    run_id: str
    program: str
    job: str | None = None
    attempt: int | None = None
    status: RunStatus
    at: datetime
    died: bool = False
    lost: int = 0
    never_began: bool = False
    error: str = ""
    args: dict[str, Any] = {}
    outputs: dict[str, tuple[str, ...]] = {}


def observe_runs(
    transaction: EngineTransaction, observations: Sequence[RunObservation], now: datetime
) -> None:
    """Fold observations into the store, in the order in which they happened."""
    known = {run.run_id: run for run in transaction.runs(ids={seen.run_id for seen in observations})}
    pruned = transaction.pruned(PrunedKind.RUN, {seen.run_id for seen in observations} - known.keys())
    for at, together in groupby(sorted(observations, key=_happened), key=lambda seen: min(seen.at, now)):
        # Once for all of an instant: what one of them makes due is due at that instant, and not before it.
        advance_before(transaction, at)
        effective = effective_at(transaction, at, now)
        counting = [seen for seen in together if seen.run_id not in pruned]
        for begins, alike in groupby(counting, key=_is_of_a_job_that_goes_on):
            if begins:
                _fold_together(transaction, list(alike), known, effective)
            else:
                for seen in alike:
                    _fold(transaction, seen, known, effective)


def _happened(seen: RunObservation) -> datetime:
    return seen.at


def _is_of_a_job_that_goes_on(seen: RunObservation) -> bool:
    return seen.job is not None and seen.status not in ENDED


def _fold_together(
    transaction: EngineTransaction, observed: Sequence[RunObservation], known: dict[str, Run], now: datetime
) -> None:
    """Fold observations of runs of jobs that have not ended: they release nothing and wake no job.

    So what is written of one is not read for another one, but its run and its job. A host creates a hundred
    runs at one instant.
    """
    jobs = _jobs_of(transaction, observed)
    runs, changed = dict[str, Run](), dict[str, Job]()
    entries, events = list[Entry](), list[Event]()
    apps = cache(partial(load_app, transaction))
    for seen in observed:
        before, job = known.get(seen.run_id), _job_of(transaction, seen, jobs)
        known[seen.run_id] = runs[seen.run_id] = run = merge(before, seen, now)
        if job is None:
            continue
        upstream = _upstream(apps, seen, job)
        entry = _entry(seen, job, (), upstream, None, now)
        if run != before:
            entries.append(entry)
        if job.state not in FINISHED:
            take_again(transaction, job, now)
            jobs[job.id] = changed[job.id] = record(job, entry, next_check_at=None)
        if job.maintenance is None:
            events += run_events(upstream, seen.at, min(seen.at, now), job)
    transaction.put_runs(list(runs.values()))
    transaction.add_journal(entries)
    transaction.put_jobs(list(changed.values()))
    transaction.add_events(events)


def _fold(transaction: EngineTransaction, seen: RunObservation, known: dict[str, Run], now: datetime) -> None:
    """Fold one observation that takes effect at `now`."""
    before = known.get(seen.run_id)
    job = _job_of(transaction, seen, _jobs_of(transaction, [seen]))
    lost = seen.job is not None and job is None
    withheld = (
        None if job is None or seen.status not in UNSUCCESSFUL else withheld_by(transaction, job, seen.run_id)
    )
    if job is not None and (job.raised or withheld is not None) and seen.status is RunStatus.CANCELLED:
        # It had failed before it was terminated.
        seen = msgspec.structs.replace(seen, status=RunStatus.FAILED)
    run = merge(before, _without_effect(seen) if lost else seen, now)
    known[seen.run_id] = run
    transaction.put_runs([run])
    if lost:
        return
    if job is not None and seen.never_began and job.state in ACTIVE:
        start_again(transaction, job, seen.run_id, seen.error, now)
        return
    if job is not None and seen.error and not job.raised and job.state in ACTIVE:
        job = _with_error(transaction, job, seen, now)
    upstream = _upstream(partial(load_app, transaction), seen, job)
    counted: tuple[str, ...] = ()
    if run != before:
        # A repeated observation takes no further slots, even if a deploy has added groups since.
        counted = () if job is not None else count_external(transaction, before, run, now)
    entry = _entry(seen, job, counted, upstream, withheld, now)
    if run != before:
        transaction.add_journal([entry])
    if job is not None and _advance(transaction, job, entry, seen.at, now):
        return
    if job is not None and job.maintenance is not None:
        # No trigger can name what runs.
        return
    if job is not None and job.recovered and seen.status is RunStatus.FAILED:
        upstream = as_success(upstream)
    if seen.status not in ENDED or seen.status is run.status:
        # A source whose clock is ahead must not delay its events.
        transaction.add_events(run_events(upstream, seen.at, min(seen.at, now), job))


def heard_of_runs(
    reader: EngineReader, events: Sequence[Event], observed: Sequence[RunObservation] = ()
) -> list[Event]:
    """Return what runs have made with what it repairs, and who hears of it.

    That of a quiet backfill starts no schedule.

    Args:
        observed: observations that are not folded yet: a run may be known by them alone.
    """
    ids = {event.run_id for event in events if event.run_id is not None}
    job_of = {run.run_id: run.job for run in reader.runs(ids=ids)} if ids else {}
    job_of |= {seen.run_id: seen.job for seen in observed if seen.run_id in ids}
    jobs = {job for job in job_of.values() if job is not None}
    known = {job.id: job for job in reader.jobs(ids=jobs)} if jobs else {}
    found = [(event, known.get(job_of.get(event.run_id or "") or "")) for event in events]
    return [event if job is None else event_of_job(event, job) for event, job in found]


def _with_error(transaction: EngineTransaction, job: Job, seen: RunObservation, now: datetime) -> Job:
    """Note at the job why its run failed; a run of ours has noted that itself."""
    entry = Entry(
        at=now,
        kind=EntryKind.FAILURE,
        schedule=job.schedule,
        job=job.id,
        run_id=seen.run_id,
        data={"message": seen.error},
    )
    transaction.add_journal([entry])
    return record(job, entry)


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
    earlier = run.started_at is None or seen.at < run.started_at
    if seen.status is RunStatus.STARTED and earlier:
        run = msgspec.structs.replace(run, started_at=seen.at)
    if seen.status is RunStatus.SUCCEEDED and run.ended_at is None and run.started_at is None:
        # Its start was not seen; it was at the latest when it ended.
        run = msgspec.structs.replace(run, started_at=seen.at)
    if seen.status in ENDED and run.ended_at is None:
        return msgspec.structs.replace(run, status=seen.status, ended_at=seen.at)
    if run.status in RANK and seen.status in RANK and RANK[seen.status] > RANK[run.status]:
        return msgspec.structs.replace(run, status=seen.status)
    return run


def _jobs_of(transaction: EngineTransaction, observed: Sequence[RunObservation]) -> dict[str, Job]:
    """Return the jobs that observed runs name, by id."""
    named = {seen.job for seen in observed if seen.job is not None}
    return {job.id: job for job in transaction.jobs(ids=named)} if named else {}


def _job_of(transaction: EngineTransaction, seen: RunObservation, jobs: Mapping[str, Job]) -> Job | None:
    """Return the job that this run works on.

    None for an external run, for a run that lost its claim, and for a run whose job was discarded before
    it could claim it.
    """
    job = None if seen.job is None else jobs.get(seen.job)
    if job is None or job.attempt != seen.attempt:
        return None
    if seen.lost != (0 if job.launch is None else job.launch.lost):
        return None  # a run of the same attempt that never began, and was followed by another one
    holder = transaction.claim_of(job.id, job.attempt) or job.run_id
    if holder is None:
        return None if job.state in FINISHED else job
    return job if holder == seen.run_id else None


def _advance(transaction: EngineTransaction, job: Job, entry: Entry, ended: datetime, now: datetime) -> bool:
    """Move the job to the status of its run; return whether a further attempt follows the run."""
    if job.state in FINISHED:
        return False
    if job.maintenance is not None:
        _end_lost(transaction, job, entry, now)
        return False
    take_again(transaction, job, now)
    (job,) = end_jobs(transaction, [(job, entry)])
    state = next(iter(transaction.schedules(refs=[job.schedule])), None)
    starts_at = retry_at(job, state, ended)
    if starts_at is None or repaired_by(transaction, job) is not None:
        return False
    again = Entry(
        at=now,
        kind=EntryKind.RETRY,
        schedule=job.schedule,
        job=job.id,
        data={"attempt": job.attempt + 1, "starts_at": starts_at.isoformat()},
    )
    transaction.put_jobs([record(job, again, state)])
    transaction.add_journal([again])
    return True


def _end_lost(transaction: EngineTransaction, job: Job, entry: Entry, now: datetime) -> None:
    """End an operation on a table whose run ended without a report: it has died, or was terminated."""
    detail = job.detail or f"its run ended as {entry.data['status']} without a report"
    end_operation_job(transaction, job, Ended(ending=Ending.FAILED, detail=detail), now)


def _upstream(apps: Callable[[str], App | None], seen: RunObservation, job: Job | None) -> UpstreamRun:
    """Return the facts of a run that the runs it triggers may refer to."""
    args, outputs = seen.args, seen.outputs
    if job is not None and job.launch is not None:
        app = apps(job.app)
        program = None if app is None else app.programs.get(job.launch.program)
        args = job.launch.args
        outputs = dict.fromkeys(() if program is None else program.writes, job.launch.partitions)
    return UpstreamRun(id=seen.run_id, program=seen.program, status=seen.status, args=args, outputs=outputs)


def _entry(
    seen: RunObservation,
    job: Job | None,
    counted: tuple[str, ...],
    upstream: UpstreamRun,
    withheld: LeftWithheld | None,
    now: datetime,
) -> Entry:
    failed = job is not None and seen.status in UNSUCCESSFUL
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
            **({"failed_run": msgspec.to_builtins(upstream)} if failed else {}),
            **({"died": True} if failed and seen.died else {}),
            **({"withheld": msgspec.to_builtins(withheld)} if withheld is not None else {}),
        },
    )
