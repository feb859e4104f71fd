"""The state of a dataset, and of an app whose datasets are folded into one card. Pure.

failed    of a schedule that writes it the newest job that has ended has failed, or any in the last 24 hours
late      a period of it is past its deadline, or a job that writes it
running   a job that writes it runs, or is about to
waiting   a job that writes it waits, other than for the start time of an instance
fresh     nothing of that, and something has landed
never     nothing has landed
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from tidegate.domain.value import Value
from tidegate.scheduler.explain.work import RECENTLY, RUNNING, WAITING
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.store.answers import JobCount, Landing, NewestJob


class State(StrEnum):
    """What a dataset is like, the worst first."""

    FAILED = "failed"
    LATE = "late"
    RUNNING = "running"
    WAITING = "waiting"
    FRESH = "fresh"
    NEVER = "never"


RANK = {state: place for place, state in enumerate(State)}


class Condition(Value, kw_only=True):
    """The state of a dataset in words."""

    state: State
    says: str


class AppCondition(Value, kw_only=True):
    """The state of an app in words.

    Attributes:
        state: None where no job of it has failed, is late or is open; its datasets are not looked at.
    """

    state: State | None
    says: str


def condition_of(
    jobs: Iterable[NewestJob],
    late_periods: Sequence[str],
    late_jobs: int,
    landing: Landing | None,
    now: datetime,
) -> Condition:
    """Return the state of a dataset.

    Args:
        jobs: of the schedules that write it.
        late_periods: its periods that are past their deadline.
        late_jobs: how many jobs that write it are.
    """
    newest = {(job.schedule, job.state): job for job in jobs}
    failed = [
        job
        for (schedule, state), job in newest.items()
        if state is JobState.FAILED and _counts(job, newest.get((schedule, JobState.SUCCEEDED)), now)
    ]
    if failed:
        return Condition(state=State.FAILED, says=_of_newest(failed, "failed", "its last job failed"))
    if late_periods:
        more = f", and {len(late_periods) - 1} more" if len(late_periods) > 1 else ""
        return Condition(state=State.LATE, says=f"{late_periods[0]} is late{more}")
    if late_jobs:
        jobs_are = "a job is" if late_jobs == 1 else f"{late_jobs} jobs are"
        return Condition(state=State.LATE, says=f"{jobs_are} late")
    for state, states, verb in ((State.RUNNING, RUNNING, "runs"), (State.WAITING, WAITING, "waits")):
        open_ = [job for job in newest.values() if job.state in states]
        if open_:
            return Condition(state=state, says=_of_newest(open_, verb, f"a job {verb}"))
    if landing is None:
        return Condition(state=State.NEVER, says="nothing has landed")
    return Condition(
        state=State.FRESH, says=f"{landing.partition} landed" if landing.partition else "has landed"
    )


def condition_of_app(
    datasets: int, jobs: Iterable[JobCount], failed: Iterable[JobCount], late: int
) -> AppCondition:
    """Return the state of an app whose datasets are folded.

    Args:
        datasets: how many it has.
        jobs: its jobs that are open, without operations on tables.
        failed: those that ended as failed in the last 24 hours.
        late: its jobs and periods that are past their deadline.
    """
    open_ = tuple(jobs)
    numbers: Mapping[State, int] = {
        State.FAILED: sum(count.jobs for count in failed),
        State.LATE: late,
        State.RUNNING: sum(count.jobs for count in open_ if count.state in RUNNING),
        State.WAITING: sum(count.jobs for count in open_ if count.state in WAITING),
    }
    said = [f"{number} {state}" for state, number in numbers.items() if number]
    return AppCondition(
        state=next((state for state, number in numbers.items() if number), None),
        says=", ".join([count_text(datasets), *said[:2]]),
    )


def count_text(datasets: int) -> str:
    """Return how many datasets there are, in words."""
    return "1 dataset" if datasets == 1 else f"{datasets:,} datasets"


def _counts(failed: NewestJob, succeeded: NewestJob | None, now: datetime) -> bool:
    recent = failed.ended_at is not None and failed.ended_at >= now - RECENTLY
    return recent or succeeded is None or succeeded.opened_at < failed.opened_at


def _of_newest(jobs: Sequence[NewestJob], verb: str, without_key: str) -> str:
    newest = max(jobs, key=lambda job: (job.opened_at, job.schedule))
    return f"{newest.key} {verb}" if newest.key else without_key
