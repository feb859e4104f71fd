"""Limits: the slots of pools and the bytes of an hour, counted again from all runs.

A pool never has more holders than slots when an operation is started, also by hand. The bytes of an hour pass
the limit only by runs that ran when it was reached. Where a pool lets one operation run at a time, that is
the one whose end has reached it.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from tests.simulation.maintenance.notes import Notes
from tidegate.domain.model import App
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.maintenance import OperationRun

HOUR = timedelta(hours=1)
ONE_SLOT = {"spark": 1}


def over_pool(
    run: OperationRun, runs: Sequence[OperationRun], jobs: Sequence[Job], notes: Notes, app: App
) -> Iterator[str]:
    """What is wrong with a start, also by hand, if this app was deployed then.

    Args:
        runs: all runs, this one included.
        jobs: those of pipelines.
    """
    at = run.started_at
    for pool, most in pools_of(app).items():
        operations = [each.job for each in runs if _runs_at(each, at) and _holds(each, pool, notes)]
        pipelines = [job.id for job in jobs if f"group:{pool}" in job.resources and _is_at_work(job, at)]
        if len(operations) + len(pipelines) > most:
            yield f"{operations} and {pipelines} hold {most} slots of {pool}"


def pools_of(app: App) -> dict[str, int]:
    """The slots of each pool."""
    assert app.maintenance is not None
    return app.maintenance.auto_pools


def _runs_at(run: OperationRun, at: datetime) -> bool:
    return run.started_at <= at and (run.ended_at is None or run.ended_at > at)


def _holds(run: OperationRun, pool: str, notes: Notes) -> bool:
    """Whether a run holds a slot for certain: the pool was there when it began."""
    return all(pool in pools_of(app) for app in notes.apps_at(run.started_at))


def _is_at_work(job: Job, at: datetime) -> bool:
    """Whether the run of a job was seen before, and has not ended."""
    launched = job.launched_at is not None and job.launched_at < at
    return launched and (job.ended_at is None or job.ended_at > at)


def judge_hours(runs: Sequence[OperationRun], notes: Notes) -> int:
    """Judge the bytes of each hour; return how many hours have reached their limit."""
    ended = sorted((run for run in runs if run.ended_at is not None), key=_end_of)
    hours = sorted({_end_of(run).replace(minute=0, second=0, microsecond=0) for run in ended})
    return sum(_judge_hour(hour, ended, runs, notes) for hour in hours)


def _judge_hour(
    hour: datetime, ended: Sequence[OperationRun], runs: Sequence[OperationRun], notes: Notes
) -> bool:
    limits = {_bytes_of(app) for app in notes.apps_between(hour, hour + HOUR)}
    (limit, *others) = limits
    if others or not limit:
        return False
    mine = [run for run in ended if hour <= _end_of(run) < hour + HOUR]
    reached = _reached(mine, limit, notes)
    if reached is None:
        return False
    late = [run for run in runs if reached < run.started_at < hour + HOUR and not run.by_hand]
    assert not late, f"{limit} bytes were rewritten at {reached}, and these began in that hour: {late}"
    beyond = [run for run in mine if _end_of(run) > reached and not run.by_hand]
    if beyond:
        first = min(run.started_at for run in mine)
        alone = all(pools_of(app) == ONE_SLOT for app in notes.apps_between(first, hour + HOUR))
        assert not alone, f"more than one operation has run over the limit at {reached}: {beyond}"
    return True


def _reached(mine: Sequence[OperationRun], limit: int, notes: Notes) -> datetime | None:
    """When the runs of an hour have reached its limit, by what they have said at their end."""
    total = 0
    for run in mine:
        # What was said after a timeout was not known then.
        total += 0 if run.job in notes.late else run.bytes
        if total >= limit:
            return _end_of(run)
    return None


def _bytes_of(app: App) -> int:
    assert app.maintenance is not None
    return app.maintenance.budget.bytes_per_hour


def _end_of(run: OperationRun) -> datetime:
    assert run.ended_at is not None
    return run.ended_at
