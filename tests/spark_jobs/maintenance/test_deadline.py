"""The end of an operation by its timeout, and the slices between which it can end without it."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.spark_jobs.maintenance.yard import Steered
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.clock import SystemClock
from tidegate.spark_jobs.maintenance.operation import ended_by
from tidegate.spark_jobs.maintenance.progress import TimedOut
from tidegate.spark_jobs.maintenance.slicing import GIGABYTE, slices


class Impatient(SystemClock):
    """Waits for nothing but the end of the block."""

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        return stop.wait(0.001)


class Cluster:
    """A session, and its context, whose jobs run until they are cancelled."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()

    @property
    def sparkContext(self) -> "Cluster":
        return self

    def cancelAllJobs(self) -> None:
        self.cancelled.set()

    def work(self) -> None:
        assert self.cancelled.wait(60)
        raise OSError("the job was cancelled")


@pytest.fixture
def cluster() -> Iterator[Any]:
    found = Cluster()
    yield found
    assert not [thread for thread in threading.enumerate() if thread.name == "timeout of an operation"]


def test_a_job_is_cancelled_when_the_timeout_is_over(cluster: Any) -> None:
    with pytest.raises(TimedOut), ended_by(Steered(stops=3), cluster, Impatient()):
        cluster.work()


def test_another_failure_remains_what_it_is(cluster: Any) -> None:
    with pytest.raises(ValueError, match="broken"), ended_by(Steered(), cluster, Impatient()):
        raise ValueError("broken")
    assert not cluster.cancelled.is_set()


def test_a_question_that_fails_ends_nothing(cluster: Any) -> None:
    def fail(_: int) -> None:
        asked.set()
        raise OSError("the store is away")

    asked = threading.Event()
    with ended_by(Steered(fail), cluster, Impatient()):
        assert asked.wait(60)
    assert not cluster.cancelled.is_set()


class Part(Value, kw_only=True):
    bytes: int


@pytest.mark.parametrize(
    ("sizes", "commits", "cut"),
    [
        ([], 10, []),
        ([1, 1, 1], 10, [3]),
        ([GIGABYTE] * 4, 10, [1, 1, 1, 1]),
        ([GIGABYTE] * 4, 2, [2, 2]),
        ([3 * GIGABYTE, GIGABYTE, GIGABYTE, GIGABYTE], 2, [1, 3]),
        ([GIGABYTE // 2] * 4, 10, [2, 2]),
        ([GIGABYTE] * 4, 1, [4]),
    ],
    ids=["nothing", "small", "one each", "few commits", "a large one first", "not too small", "one commit"],
)
def test_slices(sizes: list[int], commits: int, cut: list[int]) -> None:
    found = slices([Part(bytes=size) for size in sizes], commits)
    assert [len(one) for one in found] == cut
