"""The launcher of simulations: it claims like a real run, and writes what a real run would write."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.scheduler.simulation.app_under_test import START, compiled
from tests.worlds.by import CLI
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.model.job import LaunchPlan
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.simulation.launcher import Launcher, SimulatedRun, written
from tidegate.scheduler.simulation.play import no_files
from tidegate.scheduler.simulation.simulation import Simulation
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.tick.tick import tick

NOON = datetime(2026, 3, 10, 16, tzinfo=UTC)
APP = compiled(START).app


def run_of(*partitions: str, program: str = "p", ends: RunStatus = RunStatus.SUCCEEDED) -> SimulatedRun:
    return SimulatedRun(
        run_id="simulated-1",
        app="a",
        job="j",
        attempt=1,
        launch=LaunchPlan(program=program, partitions=partitions),
        ends_at=NOON,
        ends=ends,
    )


def test_a_request_that_is_handed_out_twice_becomes_one_run() -> None:
    from tidegate.scheduler.commands.by_hand.manual import trigger
    from tidegate.scheduler.commands.deployment.deploy import deploy

    store = MemoryStore()
    with store.transaction() as transaction:
        deploy(transaction, {"a": APP}, NOON, by=CLI)
        trigger(transaction, "a/after", NOON, "", False, by=CLI)
    tick(store, NOON)
    with store.transaction() as transaction:
        requests = offer_launches(transaction, NOON, "a")
    launcher = Launcher(store, {})
    assert len(launcher.launch(requests, NOON)) == 1
    assert launcher.launch(requests, NOON) == []


def test_a_run_writes_the_partitions_of_its_plan() -> None:
    assert [event.partition for event in written(run_of("2026-03-08", "2026-03-09"), APP)] == [
        "2026-03-08",
        "2026-03-09",
    ]


@pytest.mark.parametrize(
    ("what", "run"),
    [
        ("it failed", run_of("2026-03-09", ends=RunStatus.FAILED)),
        ("its program was removed meanwhile", run_of("2026-03-09", program="gone")),
        ("the key does not fit the dataset any more", run_of("2026-03-09-05:00")),
        ("it writes no dataset", run_of("2026-03-09", program="q")),
    ],
)
def test_a_run_writes_nothing_if(what: str, run: SimulatedRun) -> None:
    assert written(run, APP) == []


def test_a_second_time_away_does_not_shorten_the_first() -> None:
    simulation = Simulation(MemoryStore(), NOON, "a")
    simulation.go_down(NOON + timedelta(hours=2))
    simulation.go_down(NOON + timedelta(hours=1))
    looked: list[datetime] = []
    simulation.at(NOON + timedelta(minutes=90), lambda: looked.append(simulation.now))
    simulation.run_until(NOON + timedelta(hours=3))
    assert looked == [NOON + timedelta(minutes=90)]
    with simulation.store.reading() as reader:
        assert reader.cursor("clock") == (NOON + timedelta(hours=2)).isoformat()


def test_a_scenario_that_was_given_no_files_has_none() -> None:
    with pytest.raises(FileNotFoundError, match=r"next\.yaml"):
        no_files("next.yaml")
