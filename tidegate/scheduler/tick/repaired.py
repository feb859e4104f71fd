"""Repaired: a job gets no further attempt once another one was launched that repairs it (rule 30).

    it waits for an attempt, or for the run of one ──► it ends as its last run did, or is discarded
    its run fails later                            ──► no further attempt follows
    a person asks for one                          ──► refused
    its first run begins after that of the repair  ──► it is refused, and the job ends

The repair has the events of both, so that attempt would replace newer rows. A run that works goes on, and the
later publish stays.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from tidegate.scheduler.decision.repairs import repaired_entry
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.records.last_launch import LAST_LAUNCHES
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.engine_rows import record
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.end_jobs import end_jobs

REPLACING = frozenset(JobState) - {JobState.DISCARDED}
"""States of jobs that replace the result of the job before them, once they are launched."""


def end_repaired(transaction: EngineTransaction, repaired: Sequence[tuple[Job, str]], now: datetime) -> None:
    """End jobs that await a further attempt, each with the launched job (id) that repairs it."""
    endings = [(job, repaired_entry(job, by, now)) for job, by in repaired]
    transaction.add_journal([entry for _, entry in endings])
    end_jobs(transaction, endings)


def repaired_by(reader: EngineReader, job: Job) -> str | None:
    """Return the job (id) that was launched with the events of a job, and replaces its result; None for none.

    One that was discarded before its run replaces nothing.
    """
    return next((each.id for each in _repairs(reader, job)), None)


def repair_begun(reader: EngineReader, job: Job) -> str | None:
    """Return the job (id) that repairs a job, and whose run works or has succeeded; None for none."""
    last = record(reader, LAST_LAUNCHES, schedule=job.schedule, key=job.key) if job.key else None
    if last is None or last.job == job.id:
        return None
    begun = (JobState.LAUNCHED, JobState.SUCCEEDED)
    return next((each.id for each in _repairs(reader, job) if each.state in begun), None)


def _repairs(reader: EngineReader, job: Job) -> Iterator[Job]:
    """Yield the launched jobs that saw the events of a job too, and were not discarded."""
    if not job.key or job.instance is not None or job.maintenance is not None:
        return
    last = record(reader, LAST_LAUNCHES, schedule=job.schedule, key=job.key)
    if last is not None and job.id in last.jobs:
        after = last.jobs[last.jobs.index(job.id) + 1 :]
        later = reader.jobs(ids=after) if after else ()
    elif job.state is JobState.SUCCEEDED:
        # It gets no further attempt anyway: the jobs since then are not looked through for it.
        return
    else:
        # A later job of the key that repairs nothing was launched since: the record is of that one.
        later = reader.jobs(schedules=(job.schedule,), states=REPLACING, repairs=True, since=job.opened_at)
    for each in later:
        if (
            each.launch is not None
            and each.state in REPLACING
            and each.repairs
            and job.id in each.repairs.jobs
        ):
            yield each
