"""Whose work a commit does: the commit id of a job, and back from a commit id to the job.

    JOB         every attempt of a job, whatever the engine retries
    JOB.r2      every attempt after the job, an instance of a task, was run again by a person or a report
    JOB.r2~2    the same work after its commit was abandoned (`spark_jobs.commit.state.commits_of`)

What an earlier run of an instance has published has another id, so it is never taken for done: running an
instance again publishes again.
"""

import re

from tidegate.domain.value import Value
from tidegate.scheduler.model.job import Job, JobState

_ID = re.compile(r"(?P<job>.*?)(\.r(?P<number>[0-9]+))?(~.*)?", re.DOTALL)

_SUCCESSOR = re.compile(r"~[0-9]{1,4}$")
"""Ends the id of each commit of a work but the first; other texts behind a "~" tell works of a run apart."""

_STOPPED = frozenset({JobState.PAUSED, JobState.DISCARDED})


class WorkOfJob(Value, frozen=True, kw_only=True):
    """The work that a commit id names.

    Attributes:
        job: id of the job; for the commit of an external run the id of no job.
        number: 1 for its first work, 2 after it was run again.
    """

    job: str
    number: int = 1


def commit_id(job: str, number: int) -> str:
    """Return the commit id of a job.

    Args:
        number: see `Job.commit`.
    """
    return job if number == 1 else f"{job}.r{number}"


def work_of_commit(commit: str) -> WorkOfJob:
    """Return the work of a commit id."""
    found = _ID.fullmatch(commit)
    assert found is not None, "it fits any text"
    return WorkOfJob(job=found["job"], number=int(found["number"] or 1))


def is_over(work: WorkOfJob, number: int, state: JobState) -> bool:
    """Return whether the job of some work was stopped since, or is run again.

    Args:
        number, state: of the job, as it is now.
    """
    return number != work.number or state in _STOPPED


def is_work_of(job: Job, commit: str) -> bool:
    """Return whether a commit is what the job does now, and not what it did before it was run again."""
    return work_of_commit(commit) == WorkOfJob(job=job.id, number=job.commit)


def is_work_before(commit: str, later: str) -> bool:
    """Return whether a commit is the work of a later one, or an earlier work of the same job."""
    before, after = work_of_commit(commit), work_of_commit(later)
    if before.job != after.job:
        return False
    return before.number < after.number or _SUCCESSOR.sub("", commit) == _SUCCESSOR.sub("", later)
