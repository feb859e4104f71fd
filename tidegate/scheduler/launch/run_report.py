"""What a run tells the engine: its claim, its failure, and the end of an operation on a table.

The claim: the first act of a run, which ensures that only one run works on an attempt. Two runs of one
attempt can exist (a launcher crashed and requested the run again). The first one to claim (job, attempt) in
the store does the work; any other run ends without effect. A job that was discarded in the meantime cannot
be claimed.

The failure that a run has met, noted at its job while the run can still say it. Dagster's event log says
that a run failed, not why. The run notes it before it ends, so `tidegate why` and `tidegate jobs show` have
it without Dagster. The state of the job follows from the run, as ever.
"""

from datetime import datetime

import msgspec

from tidegate.domain.model import Priority
from tidegate.domain.value import Value
from tidegate.scheduler.decision.fold.after import record
from tidegate.scheduler.model.job import ACTIVE, Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.maintenance import Ended
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction, Store
from tidegate.scheduler.tick.clock import effective_at
from tidegate.scheduler.tick.end_jobs import take_again
from tidegate.scheduler.tick.maintenance.end import end_operation_job
from tidegate.scheduler.tick.repaired import end_repaired, repair_begun
from tidegate.scheduler.tick.tick import advance_before


class Claim(Value, kw_only=True):
    """The answer to a claim.

    Attributes:
        won: whether the run may do the work; True again when the same run repeats its claim.
        refusal: why it may not, for the run's log.
        job: the job as it is now; None if the store does not have it.
    """

    won: bool
    refusal: str = ""
    job: Job | None = None


def claim(store: Store, job_id: str, attempt: int, run_id: str, now: datetime) -> Claim:
    """Claim one attempt of a job for a run.

    A PENDING_LAUNCH job becomes LAUNCHED: the claim proves that the run exists.
    """
    with store.transaction() as transaction:
        job = next(iter(transaction.jobs(ids=(job_id,))), None)
        if job is None:
            return Claim(won=False, refusal=f"the schedule store has no job {job_id}")
        if job.attempt != attempt:
            refusal = f"attempt {attempt} is over, the job is at attempt {job.attempt}"
            return Claim(won=False, refusal=refusal, job=job)
        holder = transaction.claim_of(job_id, attempt)
        if holder is not None and holder != run_id:
            return Claim(won=False, refusal=f"run {holder} has claimed this attempt", job=job)
        if job.state not in ACTIVE:
            return Claim(won=False, refusal=f"the job is {job.state} ({job.reason})", job=job)
        overtaken = None if holder is not None else repair_begun(transaction, job)
        if overtaken is not None:
            # Its run would begin later than that of its repair, and so replace newer rows.
            end_repaired(transaction, [(job, overtaken)], now)
            return Claim(won=False, refusal=f"job {overtaken} has begun, which repairs it", job=job)
        if holder is None:
            transaction.claim(job_id, attempt, run_id, now)
            entry = Entry(at=now, kind=EntryKind.CLAIM, schedule=job.schedule, job=job.id, run_id=run_id)
            take_again(transaction, job, now)
            job = record(job, entry, next_check_at=None)
            transaction.put_jobs([job])
            transaction.add_journal([entry])
        return Claim(won=True, job=job)


def note_failure(
    store: Store,
    job_id: str,
    attempt: int,
    run_id: str,
    message: str,
    now: datetime,
    *,
    died: bool = False,
    claims: bool = True,
    withheld: str = "",
) -> bool:
    """Note why the run of an attempt fails.

    Args:
        claims: whether a run claims its attempt; that of an existing job does not, and is the one of its id.
        died: its process has ended, as another process notes, or it has lost its JVM or its store, so the
            program did not fail by itself.
        withheld: the commit that it has left withheld; "" for none.

    Returns:
        Whether the run is that of a launched job, by its claim; nothing is noted for another one.
    """
    with store.transaction() as transaction:
        job = next(iter(transaction.jobs(ids=(job_id,), states=(JobState.LAUNCHED,))), None)
        if job is None or job.attempt != attempt:
            return False
        if (transaction.claim_of(job_id, attempt) if claims else job.run_id) != run_id:
            return False
        entry = Entry(
            at=now,
            kind=EntryKind.FAILURE,
            schedule=job.schedule,
            job=job.id,
            run_id=run_id,
            data={
                "message": message,
                **({"died": True} if died else {}),
                **({"withheld": withheld} if withheld else {}),
            },
        )
        transaction.put_jobs([record(job, entry)])
        transaction.add_journal([entry])
        return True


LACKS_A_SLOT = (Reason.W_CONCURRENCY, Reason.W_LOAD)
"""Reasons of a job that waits for a slot which a run of an operation may hold: of a group, or of all runs."""


def end_operation(
    transaction: EngineTransaction, job_id: str, attempt: int, ended: Ended, now: datetime
) -> bool:
    """Take in the end of a run of an operation.

    Of a run whose timeout was over before it could stop, what it has done is kept: its bytes count, and the
    history shows its figures.

    Returns:
        Whether it counts: not if its job has ended already, by its timeout or an earlier report.
    """
    advance_before(transaction, now)
    for job in transaction.jobs(ids=(job_id,)):
        if job.maintenance is None or job.attempt != attempt:
            continue
        if job.state in ACTIVE:
            end_operation_job(transaction, job, ended, effective_at(transaction, now, now))
            return True
        if job.reason is Reason.F_TIMEOUT:
            _keep_figures(transaction, job_id, ended)
    return False


def _keep_figures(transaction: EngineTransaction, job_id: str, ended: Ended) -> None:
    """Keep all that a late report says but how the run has ended, and why."""
    said = msgspec.structs.asdict(ended)
    figures = {name: value for name, value in said.items() if name not in ("ending", "detail")}
    runs = transaction.operation_runs(jobs=(job_id,))
    transaction.put_operation_runs([msgspec.structs.replace(run, **figures) for run in runs])


def goes_on(reader: EngineReader, job_id: str, attempt: int) -> bool:
    """Return whether a run of an operation may go on: its job has not ended, for example by its timeout."""
    jobs = reader.jobs(ids=(job_id,))
    return any(job.attempt == attempt and job.state in ACTIVE for job in jobs)


def should_yield(reader: EngineReader, job_id: str) -> bool:
    """Return whether a ready job of high priority lacks a slot that a running operation holds."""
    held = {resource for job in reader.jobs(ids=(job_id,)) for resource in job.resources}
    return any(
        job.launch_priority is Priority.HIGH
        and job.state is JobState.PENDING_CONSTRAINT
        and job.reason in LACKS_A_SLOT
        and job.maintenance is None
        for job in reader.jobs(blocked_on=held)
    )
