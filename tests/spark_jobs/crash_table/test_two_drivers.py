"""Two drivers at once on the same datasets: one effect, and the loser fails cleanly or has nothing to do.

Two processes meet at a barrier before the same call of the store, and then go on together; which of them
wins does not matter. Afterwards the tables hold the landed rows once, and nothing is left over.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests import tally
from tests.crashes.processes import SIGKILL, end, kill_self
from tests.effort import only
from tests.spark_jobs.crash_table import driver
from tests.spark_jobs.crash_table.points import before
from tests.spark_jobs.crash_table.project import Project
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore

pytestmark = [pytest.mark.spark, pytest.mark.endurance, pytest.mark.iceberg]  # each case takes several runs

OUTPUTS = {"lake": "iceberg", "files": "parquet"}


class Barrier:
    """Lets processes go on once all of them have come."""

    def __init__(self, processes: int) -> None:
        self._count = processes
        self._came, self._come = os.pipe()
        self._gate, self._open = os.pipe()

    def wait(self) -> None:
        """For a process: comes, and goes on with the others."""
        os.write(self._come, b".")
        os.read(self._gate, 1)

    def lift(self) -> None:
        """For the process that started them: opens when all have come."""
        for _ in range(self._count):
            os.read(self._came, 1)
        os.write(self._open, b"." * self._count)

    def close(self) -> None:
        """Gives the pipes back."""
        for pipe in (self._came, self._come, self._gate, self._open):
            os.close(pipe)


@pytest.fixture(scope="module")
def project(
    tmp_path_factory: pytest.TempPathFactory, spark: SparkSession, iceberg_warehouse: Path
) -> Project:
    made = Project(tmp_path_factory.mktemp("two"), spark, iceberg_warehouse, OUTPUTS)
    made.land(1)
    made.load("c1")
    return made


@pytest.fixture
def barrier() -> Iterator[Barrier]:
    made = Barrier(2)
    yield made
    made.close()


def meeting(at: str, barrier: Barrier) -> Callable[[], None]:
    """Prepares a driver to wait for the other one before its first call of a method of the store."""
    return lambda: before(SqlCommitStepStore, at)(barrier.wait)


def at_once(project: Project, barrier: Barrier, commits: tuple[str, str], at: str) -> list[int]:
    """Two runs that meet; how each has ended."""
    drivers = [
        driver.start(lambda commit=commit: project.load(commit), meeting(at, barrier)) for commit in commits
    ]
    barrier.lift()
    tally.reach("pairs of drivers at once")
    return sorted(end(one) for one in drivers)


@pytest.mark.parametrize("at", only(["begin", "put", "take"], "put", "take"))
def test_the_same_commit_twice_at_once(project: Project, barrier: Barrier, at: str) -> None:
    """Both end well: one has published, the other gives the same result."""
    number = project.landed[-1] + 1
    project.land(number)
    commit = f"same-{at}"
    if at == "take":
        # Both find it promised by a third one, who is dead, and finish it together.
        dead = driver.start(
            lambda: project.load(commit), lambda: before(SqlCommitStepStore, "take")(kill_self)
        )
        assert end(dead) == SIGKILL

    assert at_once(project, barrier, (commit, commit), at) == [0, 0]

    project.check(project.landed)
    assert project.rubbish() == []


@pytest.mark.parametrize("at", only(["begin", "put"], "put"))
def test_two_commits_that_have_read_the_same_rows(project: Project, barrier: Barrier, at: str) -> None:
    """One is published. The other learns that its rows were taken, or comes after it; it publishes none."""
    number = project.landed[-1] + 1
    project.land(number)

    codes = at_once(project, barrier, (f"first-{at}", f"second-{at}"), at)

    assert codes in ([0, driver.CLEAN], [0, 0])
    # Who has come as far as `put` has read: of two, one has read in vain.
    assert at != "put" or codes == [0, driver.CLEAN]
    project.check(project.landed)
    assert project.rubbish() == []
    # The loser's job is tried again, and has nothing left to do.
    for commit in (f"first-{at}", f"second-{at}"):
        project.load(commit)
    project.check(project.landed)
