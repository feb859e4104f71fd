"""The claim: the first act of a run, which ensures that only one run works on an attempt.

Two runs of one attempt can exist (a launcher crashed and requested the run again). The first one to
claim (job, attempt) in the store does the work; any other run ends without effect. A job that was
discarded in the meantime cannot be claimed.
"""

from datetime import datetime

from tidegate.domain.value import Value
from tidegate.scheduler.decision.fold.after import record
from tidegate.scheduler.model.job import ACTIVE, Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.take_again import take_again


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
        if holder is None:
            transaction.claim(job_id, attempt, run_id, now)
            entry = Entry(at=now, kind=EntryKind.CLAIM, schedule=job.schedule, job=job.id, run_id=run_id)
            take_again(transaction, job, now)
            job = record(job, entry, next_check_at=None)
            transaction.put_jobs([job])
            transaction.add_journal([entry])
        return Claim(won=True, job=job)
