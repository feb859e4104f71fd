"""Operations that a person asked for: how far they are, from the first job to the last one.

Each operation opens the job of the next one when it ends; a stopped one opens its own again. The id of a job
follows from the one before it, so the whole row is found from its first job.
"""

from enum import StrEnum

from tidegate.domain.value import Value
from tidegate.scheduler.model.job import Job, job_id
from tidegate.scheduler.model.maintenance import Ending, OperationRun, policy_ref
from tidegate.scheduler.store.engine_reader import EngineReader


class Progress(StrEnum):
    """How far the operations of one request are.

    FAILED: all of them have failed.
    """

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"
    FAILED = "failed"


class AskedFor(Value, kw_only=True):
    """The operations of one request.

    Attributes:
        jobs: in the order in which they were opened.
        runs: of those that have started, in the same order.
    """

    jobs: tuple[Job, ...]
    runs: tuple[OperationRun, ...]
    progress: Progress


def asked_for(reader: EngineReader, job: str) -> AskedFor:
    """Return the operations of a request.

    Args:
        job: id of its first job, which is in the store.
    """
    jobs = list(reader.jobs(ids=[job]))
    while following := _following(reader, jobs[-1]):
        jobs.append(following)
    started = {run.job: run for run in reader.operation_runs(jobs=[each.id for each in jobs])}
    runs = tuple(started[each.id] for each in jobs if each.id in started)
    return AskedFor(jobs=tuple(jobs), runs=runs, progress=_progress(jobs[-1], runs))


def _following(reader: EngineReader, job: Job) -> Job | None:
    """Return the job that the end of one has opened."""
    work = job.work
    options = ((work.operation, work.policy), *work.then)
    ids = [job_id(policy_ref(policy), f"{work.table} {operation}", job.id) for operation, policy in options]
    return next(iter(reader.jobs(ids=ids)), None)


def _progress(last: Job, runs: tuple[OperationRun, ...]) -> Progress:
    if last.waiting:
        return Progress.WAITING
    if any(run.ending is None for run in runs):
        return Progress.RUNNING
    failed = bool(runs) and all(run.ending is Ending.FAILED for run in runs)
    return Progress.FAILED if failed else Progress.ENDED
