"""The host dies before any statement or COMMIT of a loop, in the store or in Dagster's databases."""

from collections.abc import Iterator

import pytest
from dagster import DagsterRunStatus
from sqlalchemy import Engine

from tests.crashes.statements import dying_before
from tests.dagster_defs.host.world import HostWorld, Killed, loaded_here
from tests.dagster_defs.instance import dies_between_event_and_row
from tests.effort import every
from tests.tally import reach
from tidegate.scheduler.model.job import JobState

pytestmark = pytest.mark.dagster

QUEUED = DagsterRunStatus.QUEUED

DAYS = 28
"""Of the world; each point takes one, and the other test one."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostWorld]:
    with loaded_here(tmp_path_factory.mktemp("host")) as made:
        yield made


def test_a_run_whose_event_is_written_and_not_its_row_is_queued_by_the_next_host(world: HostWorld) -> None:
    world.host(101).loop()
    world.lapse()
    day = world.report_day()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        dies_between_event_and_row(world.instance, patch, Killed)
        world.host(102).loop()
    assert [run.status for run in world.runs(day)] == [DagsterRunStatus.NOT_STARTED]

    world.lapse()
    following = world.host(103)
    for _ in range(3):
        following.loop()

    assert [run.status for run in world.runs(day)] == [QUEUED]
    assert world.job(day).state is JobState.LAUNCHED


def test_the_next_host_makes_one_run_of_what_a_killed_host_was_at(world: HostWorld) -> None:
    world.host(1).loop()
    world.lapse()
    day = world.report_day()
    with dying_before(Engine, 0, Killed) as passed:
        world.host(2).loop()
    assert len(world.runs(day)) == 1

    points = range(1, len(passed) + 1, max(every(21), -(-len(passed) // (DAYS - 2))))
    assert len(points) > 5
    for number, point in enumerate(points):
        world.lapse()
        day = world.report_day()
        with dying_before(Engine, point, Killed), pytest.raises(Killed):
            world.host(3 + 2 * number).loop()

        world.lapse()
        following = world.host(4 + 2 * number)
        for _ in range(3):
            following.loop()

        assert [run.status for run in world.runs(day)] == [QUEUED], f"killed before statement {point}"
        assert world.job(day).state is JobState.LAUNCHED, f"killed before statement {point}"
    jobs = [run.tags["tidegate/job"] for run in world.instance.get_runs() if "tidegate/job" in run.tags]
    assert len(jobs) == len(set(jobs)) > len(points)
    reach("kills of a host at its statements", len(points))
