"""The buttons of a job: exactly those that would be carried out, in every state."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from tests.server.board.board import DAYS, job_of, shown
from tests.server.serving import Served
from tests.server.shop import THIRTEEN, shop
from tests.worlds.samples import operation_job
from tidegate.listings.instances import INSTANCES
from tidegate.listings.jobs import JOBS
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.model.reason import Reason

pytestmark = pytest.mark.slow  # a server on a real store

EVERY = tuple(each.name for each in (*JOBS.actions, *INSTANCES.actions))


def test_each_button_succeeds_and_what_would_be_refused_has_none(board: Served):
    shop(board)
    jobs = [job_of(board, DAYS[1]), _instance(board), *_operations(board)]
    for state in JobState:
        for id_ in jobs:
            for changes in _variants(board, state):
                _check(board, _put(board, id_, state, changes))


def test_a_job_about_to_be_launched_can_be_cancelled(board: Served):
    job = _put(board, job_of(board, DAYS[1]), JobState.PENDING_LAUNCH, {"reason": None})
    assert shown(board, f"/board/jobs/{job.id}")["actions"] == ["cancel"]


def test_a_failed_job_whose_schedule_is_gone_has_no_button(board: Served):
    id_ = job_of(board, DAYS[0])
    assert shown(board, f"/board/jobs/{id_}")["actions"] == ["retry"]
    with board.store.transaction() as transaction:
        transaction.delete_schedules(["sales/each_day"])
    assert shown(board, f"/board/jobs/{id_}")["actions"] == []


def _variants(board: Served, state: JobState) -> list[dict[str, Any]]:
    """What jobs of a state may look like where their actions depend on it."""
    if state is JobState.FAILED:
        return [{"reason": reason} for reason in (Reason.F_RUN, Reason.F_LAUNCH)]
    if state is JobState.PENDING_CONSTRAINT:
        return [{"reason": None}, {"reason": None, "retry_at": board.now + timedelta(hours=1)}]
    return [{"reason": Reason.D_CANCELLED if state is JobState.DISCARDED else None}]


def _check(board: Served, job: Job) -> None:
    offered = shown(board, f"/board/jobs/{job.id}")["actions"]
    done: list[str] = []
    for action in EVERY:
        answer = board.client.post(
            f"/board/jobs/{job.id}/{action}", data={"reason": "r"}, follow_redirects=False
        )
        assert answer.status_code in (303, 400, 409), answer.text
        if answer.status_code == 303:
            done.append(action)
            with board.store.transaction() as transaction:
                transaction.put_jobs([job])
    assert sorted(offered) == sorted(done), (job.state, job.reason, job.schedule)


def _put(board: Served, id_: str, state: JobState, changes: dict[str, Any]) -> Job:
    with board.store.transaction() as transaction:
        (job,) = transaction.jobs(ids=[id_])
        ended = board.now if state in FINISHED else None
        made = replace(job, state=state, ended_at=ended, **{"retry_at": None, **changes})
        transaction.put_jobs([made])
    return made


def _instance(board: Served) -> str:
    with board.store.reading() as reader:
        return next(job.id for job in reader.jobs() if (job.schedule, job.key) == ("shop/clean", THIRTEEN))


def _operations(board: Served) -> list[str]:
    """One that a policy asks for, and one that a person asked for."""
    by_policy = operation_job("by-policy", "sales/raw", "sales/nightly", opened_at=board.now)
    assert by_policy.maintenance is not None
    by_hand = replace(by_policy, id="by-hand", maintenance=replace(by_policy.maintenance, by_hand=True))
    with board.store.transaction() as transaction:
        transaction.put_jobs([by_policy, by_hand])
    return [by_policy.id, by_hand.id]
