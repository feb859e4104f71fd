"""Jobs without an executor: reported after a minute, ended after the limit, with a reason that people read.

A context here answers as Spark's status does. On a real cluster: cluster/test_lost_parts.py.
"""

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from tidegate.spark_jobs.session.executor_wait import LOOK_SECONDS, SIGN_SECONDS, Waiting
from tidegate.spark_jobs.session.executors import _refusal

MASTER = "spark://host:7077"


class Status:
    """The status of an application, and what was cancelled of it."""

    def __init__(self) -> None:
        self.jobs, self.executors = [7], 0
        self.cancelled: list[tuple[int, str]] = []

    def context(self) -> Any:
        status = SimpleNamespace(
            getActiveJobIds=lambda: self.jobs,
            getExecutorInfos=lambda: ["driver", *["executor"] * self.executors],
        )
        scala = SimpleNamespace(
            statusTracker=lambda: status, cancelJob=lambda *job: self.cancelled.append(job)
        )
        return SimpleNamespace(_jsc=SimpleNamespace(sc=lambda: scala))


def look(waiting: Waiting, seconds: int) -> None:
    for _ in range(seconds // LOOK_SECONDS):
        waiting.look()


def test_jobs_are_ended_after_the_limit_and_the_refusal_says_what_to_look_at() -> None:
    status = Status()
    waiting = Waiting(status.context(), MASTER, 1800)
    look(waiting, 1800 - LOOK_SECONDS)
    assert status.cancelled == []
    look(waiting, LOOK_SECONDS)
    [(job, reason)] = status.cancelled
    assert job == 7
    refused = _refusal(f"org.apache.spark.SparkException: Job 7 cancelled {reason}\n\tat x", "3.5.9", MASTER)
    assert refused.message == "spark://host:7077 has given no executor for 30 min"
    assert refused.hint.startswith("its workers are busy, away, or have less memory")
    assert "spark.tidegate.executorWait" in refused.hint


@pytest.mark.parametrize(
    ("limit", "end"), [(1800, "the run fails after 30 min"), (0, "the run waits without end")]
)
def test_a_wait_is_reported_once(limit: int, end: str, caplog: pytest.LogCaptureFixture) -> None:
    status = Status()
    waiting = Waiting(status.context(), MASTER, limit)
    with caplog.at_level(logging.WARNING):
        look(waiting, SIGN_SECONDS - LOOK_SECONDS)
        assert caplog.messages == []
        look(waiting, SIGN_SECONDS)
        [message] = caplog.messages
        assert message.startswith("spark://host:7077 has given no executor for 60 s: its workers are busy")
        assert message.endswith(end)
        look(waiting, 20 * SIGN_SECONDS)
    assert status.cancelled == []
    assert len(caplog.messages) == 1


@pytest.mark.parametrize(("jobs", "executors"), [([], 0), ([7], 1)])
def test_a_session_with_nothing_to_do_or_with_an_executor_does_not_wait(
    jobs: list[int], executors: int
) -> None:
    status = Status()
    waiting = Waiting(status.context(), MASTER, 60)
    for _ in range(3):
        status.jobs, status.executors = [7], 0
        look(waiting, 60 - LOOK_SECONDS)
        status.jobs, status.executors = jobs, executors
        waiting.look()
    assert status.cancelled == []
