"""The last runs of a schedule as bars: their height is the duration, their colour the result."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median

from tidegate.domain.value import Value
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.store.engine_reader import EngineReader

RUNS_SHOWN = 50
STATES = (JobState.LAUNCHED, JobState.SUCCEEDED, JobState.FAILED)
"""The states of jobs that have, or had, a run."""

HEIGHT = 120
"""Of the picture; the longest run is so high."""

STEP, BAR = 20, 17
"""Of a bar: from one to the next, and how wide it is."""

LOWEST = 3
"""The least height of a bar, so that the shortest run is seen."""


class Bar(Value, kw_only=True):
    """One run.

    Attributes:
        took: from its launch to its end, or to now.
        waited: from the opening of its job to its launch.
        x, y, height: of its bar.
    """

    job: str
    key: str
    state: str
    started: datetime
    took: timedelta
    waited: timedelta
    x: int
    y: int
    height: int


class Runs(Value, kw_only=True):
    """The last runs, the oldest first.

    Attributes:
        succeeded, ended: how many of them have succeeded, and ended.
        median, longest: of the durations of those that have ended; None without any.
        waited: the median of the waits.
        width, height: of the picture.
        middle: where the line of the median is.
    """

    bars: tuple[Bar, ...] = ()
    succeeded: int = 0
    ended: int = 0
    median: timedelta | None = None
    longest: timedelta | None = None
    waited: timedelta | None = None
    width: int = 0
    height: int = HEIGHT
    middle: int = HEIGHT


def sign_of(job: Job) -> str:
    """Return what the sign of a job is of: a held or late job has another one than one that only waits."""
    if job.held_at is not None and job.waiting:
        return "held"
    return "late" if job.late_at is not None and job.waiting else job.state.lower()


def last_runs(reader: EngineReader, schedule: str, now: datetime) -> Runs:
    """Return the last runs of a schedule or task."""
    jobs = newest_jobs(reader, schedule, STATES, RUNS_SHOWN)
    return drawn([job for job in reversed(jobs) if job.launched_at is not None], now)


def newest_jobs(reader: EngineReader, schedule: str, states: Sequence[JobState], most: int) -> list[Job]:
    """Return the newest jobs of a schedule in some states, the newest first.

    Each state is asked for alone: an index has its jobs in order, so that no more are read than are wanted.
    """
    found = [
        job for state in states for job in reader.jobs(schedules=(schedule,), states=(state,), limit=most)
    ]
    return sorted(found, key=lambda job: (job.opened_at, job.id), reverse=True)[:most]


def drawn(jobs: Sequence[Job], now: datetime) -> Runs:
    """Return runs as bars, in the order of their jobs."""
    if not jobs:
        return Runs()
    took = [max((job.ended_at or now) - _launch(job), timedelta()) for job in jobs]
    top = max(*took, timedelta(seconds=1))
    ended = [each for job, each in zip(jobs, took, strict=True) if job.ended_at is not None]
    middle = _seconds_median(ended)
    bars = tuple(
        Bar(
            job=job.id,
            key=job.key,
            state=job.state,
            started=_launch(job),
            took=each,
            waited=_launch(job) - job.opened_at,
            x=at * STEP,
            y=HEIGHT - _height(each, top),
            height=_height(each, top),
        )
        for at, (job, each) in enumerate(zip(jobs, took, strict=True))
    )
    return Runs(
        bars=bars,
        succeeded=sum(job.state is JobState.SUCCEEDED for job in jobs),
        ended=len(ended),
        median=middle,
        longest=max(ended, default=None),
        waited=_seconds_median([each.waited for each in bars]),
        width=max(len(bars), RUNS_SHOWN // 2) * STEP - (STEP - BAR),
        middle=HEIGHT if middle is None else HEIGHT - _height(middle, top),
    )


def _launch(job: Job) -> datetime:
    return job.launched_at or job.opened_at


def _height(took: timedelta, top: timedelta) -> int:
    return max(round(took / top * HEIGHT), LOWEST)


def _seconds_median(spans: Sequence[timedelta]) -> timedelta | None:
    return timedelta(seconds=median(each.total_seconds() for each in spans)) if spans else None
