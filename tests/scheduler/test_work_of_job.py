"""Whose work a commit does: commit ids of jobs, and back."""

import pytest

from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.work_of_job import WorkOfJob, commit_id, is_over, work_of_commit

JOB = "a.nightly-0123456789ab"


@pytest.mark.parametrize("number", [1, 2, 17])
@pytest.mark.parametrize("abandoned", ["", "~2", "~a.r9"])
def test_a_commit_id_names_the_work_that_it_was_made_for(number: int, abandoned: str) -> None:
    assert work_of_commit(commit_id(JOB, number) + abandoned) == WorkOfJob(job=JOB, number=number)


@pytest.mark.parametrize("commit", ["", "run-1.a.p", "x.r", "x.r2x", "x\ny"])
def test_any_other_text_is_the_first_work_of_its_own(commit: str) -> None:
    assert work_of_commit(commit) == WorkOfJob(job=commit)


@pytest.mark.parametrize(
    ("number", "state", "over"),
    [
        (2, JobState.LAUNCHED, False),
        (2, JobState.SUCCEEDED, False),
        (2, JobState.PAUSED, True),
        (2, JobState.DISCARDED, True),
        (3, JobState.LAUNCHED, True),
    ],
)
def test_work_is_over_once_its_job_was_stopped_or_is_run_again(
    number: int, state: JobState, over: bool
) -> None:
    assert is_over(WorkOfJob(job=JOB, number=2), number, state) is over
