"""Operations begin only while no run of a pipeline is queued and at least half of the places are free."""

import pytest

from tests.worlds.tables import HOURLY, SICK, TableWorld
from tests.worlds.tables import store as store
from tests.worlds.world import at
from tidegate.scheduler.explain.operations.dry_run import would_run
from tidegate.scheduler.explain.operations.planned import planned_polls
from tidegate.scheduler.explain.operations.why import explain_operations
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.model.places import Noted, Places
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.tick.places import load_rooms, note_places

TABLES = [f"w.a.t{number}" for number in range(6)]


def noted(world: TableWorld, most: int | None, in_progress: int = 0) -> None:
    """A heartbeat of the project's host."""
    with world.store.transaction() as transaction:
        found = None if most is None else Noted(most=most, in_progress=in_progress)
        note_places(transaction, "", found)


def external(world: TableWorld, clock: str, run: str, status: str) -> None:
    """A run of a pipeline."""
    seen = RunObservation(run_id=run, program="a/q", status=RunStatus(status), at=at(clock))
    with world.store.transaction() as transaction:
        observe_runs(transaction, [seen], at(clock))


@pytest.mark.parametrize(
    ("most", "taken", "queued", "has_room"),
    [
        (4, 2, 0, True),
        (4, 3, 0, False),
        (4, 0, 1, False),
        (5, 2, 0, True),
        (5, 3, 0, False),
        (1, 0, 0, True),
        (1, 1, 0, False),
        (0, 0, 0, False),
    ],
)
def test_room_is_half_of_the_places_and_an_empty_queue(most, taken, queued, has_room):
    assert Places(most=most, taken=taken, queued=queued).has_room is has_room


def test_where_the_number_is_not_known_nothing_waits(store):
    world = TableWorld(HOURLY, *TABLES, store=store)
    assert len(world.poll("00:00")) == 6


def test_half_of_the_places_stay_free_and_the_rest_waits_with_its_number(store):
    world = TableWorld(HOURLY, *TABLES, store=store)
    noted(world, 4)
    assert world.poll("00:00") == [f"w.a.t{number} rewrite" for number in range(3)]
    assert world.waiting() == {f"w.a.t{number} rewrite": "M-PLACES" for number in (3, 4, 5)}
    status = world.status("00:00:30", "w.a.t5")
    assert (status.reason, status.detail) == (
        Reason.M_PLACES,
        "3 of 4 places (`max_concurrent_runs` of dagster.yaml) taken; an operation needs 2 free",
    )
    with world.store.reading() as reader:
        (why,) = explain_operations(reader, "w.a.t5", at("00:00:30"))
    assert why.headline == f"M-PLACES: {status.detail}"
    assert [each.summary for each in why.constraints if not each.met] == [status.detail]
    assert why.can_run_at is None
    assert world.poll("00:01") == []
    world.end_all("00:01:30")
    assert len(world.poll("00:02")) == 3


def test_nothing_begins_while_a_run_of_a_pipeline_is_queued(store):
    world = TableWorld(HOURLY, "w.a.x", store=store)
    noted(world, 10)
    external(world, "00:00", "r", "queued")
    assert world.poll("00:01") == []
    assert world.status("00:01:10", "w.a.x").detail == (
        "1 run of pipelines is queued for one of 10 places (`max_concurrent_runs` of dagster.yaml)"
    )
    external(world, "00:01:20", "r", "starting")
    assert world.poll("00:02") == ["w.a.x rewrite"]


def test_runs_that_only_dagster_knows_take_places(store):
    world = TableWorld(HOURLY, "w.a.x", store=store)
    noted(world, 4, in_progress=3)
    assert world.poll("00:00") == []
    noted(world, 4, in_progress=2)
    assert world.poll("00:01") == ["w.a.x rewrite"]


def test_what_waits_for_a_measurement_that_has_no_place_waits_for_a_place(store):
    world = TableWorld(SICK, "w.a.x", store=store, blind=True)
    noted(world, 2, in_progress=2)
    world.poll("00:00")
    assert world.waiting() == {"w.a.x rewrite": "M-PLACES"}
    assert world.table("w.a.x").wanted_at == at("00:00")
    noted(world, 2)
    world.poll("00:01")
    assert world.waiting() == {"w.a.x rewrite": "M-HEALTH"}
    world.measures["w.a.x"] = {"snapshots": 200.0}
    world.measure("00:01:30", "w.a.x")
    assert world.poll("00:02") == ["w.a.x rewrite"]


def test_an_operation_by_hand_waits_for_a_place_too(store):
    world = TableWorld(HOURLY, "w.a.x", store=store)
    world.poll("00:00")
    world.end_all("00:01")
    noted(world, 2, in_progress=2)
    with world.store.reading() as reader:
        assert [each.waits for each in would_run(reader, "w.a.x", at("00:05"))] == [Reason.M_PLACES]
    (job,) = world.by_hand("00:05", "w.a.x")
    assert job.reason is Reason.M_PLACES
    noted(world, 2)
    assert world.poll("00:06") == ["w.a.x rewrite"]


def test_what_was_decided_before_gets_no_run_while_a_pipeline_is_queued(store):
    world = TableWorld(HOURLY, "w.a.x", "w.a.y", store=store)
    noted(world, 4)
    world.tick("00:00")
    external(world, "00:00:01", "r", "queued")

    def offered(clock: str) -> list[str]:
        with world.store.transaction() as transaction:
            return [each.schedule for each in offer_launches(transaction, at(clock), "a")]

    assert offered("00:00:02") == []
    external(world, "00:00:03", "r", "started")
    assert offered("00:00:04") == ["a/policy:nightly"] * 2


def test_the_plan_of_maintenance_counts_places(store):
    world = TableWorld(HOURLY, *TABLES, store=store)
    noted(world, 4)
    world.measure("00:00")
    with world.store.reading() as reader:
        first, second = planned_polls(reader, at("00:00"), 2)
    assert (len(first.starts), first.held_back) == (3, {"M-PLACES": 3})
    assert (len(second.starts), second.held_back) == (0, {"M-PLACES": 3})


def test_a_heartbeat_that_knows_no_number_takes_it_back(store):
    world = TableWorld(HOURLY, "w.a.x", store=store)
    noted(world, 4)
    with world.store.reading() as reader:
        assert load_rooms(reader).of("a/nightly") == Places(most=4, taken=0)
    noted(world, None)
    with world.store.reading() as reader:
        assert load_rooms(reader).of("a/nightly") is None
