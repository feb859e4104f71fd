"""Runs that an instance has left: which are ended, how often they are asked, and what the journal says."""

from tests.worlds.tables import TableWorld
from tests.worlds.tasks import TaskWorld
from tests.worlds.world import World, at
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.launch.stopped import ASKED, note_stops, stops_due
from tidegate.scheduler.model.journal import EntryKind

CHAIN = """
  first: {program: q, cycle: day, status: active}
  second: {program: r, cycle: day, depends_on: [first], status: active}
"""
KEY = "2026-03-10"


def asked(world: World, clock: str, app: str = "a") -> list[tuple[str, int]]:
    """The runs that the dispatcher of an app asks to end."""
    with world.store.transaction() as transaction:
        due = stops_due(transaction, app, at(clock))
        assert note_stops(transaction, app, at(clock)) == due
    return [(stop.run.run_id, stop.tries) for stop in due]


def test_a_consumer_that_runs_while_its_upstream_instance_is_run_again_with_downstream_is_stopped() -> None:
    world = TaskWorld(CHAIN)
    world.tick("00:00")
    (first,) = world.launch_all("00:00")
    world.end("00:10", first)
    world.tick("00:10")
    (second,) = world.launch_all("00:10")
    assert asked(world, "00:11") == []

    world.act("00:12", "first", KEY, Action.RERUN, downstream=True)

    assert asked(world, "00:12", app="b") == []
    assert asked(world, "00:12") == [(f"run-{second}-1", 1)]


def test_it_is_asked_again_with_growing_pauses_until_it_has_ended() -> None:
    world = TaskWorld(CHAIN)
    world.tick("00:00")
    (job,) = world.launch_all("00:00")
    world.act("00:01", "first", KEY, Action.PAUSE)
    run = f"run-{job}-1"

    clocks = ("00:01", "00:01:14", "00:01:15", "00:01:44", "00:01:45", "00:02:44", "00:02:45")
    found = {clock: asked(world, clock) for clock in clocks}

    assert {clock: tries for clock, tries in found.items() if tries} == {
        "00:01": [(run, 1)], "00:01:15": [(run, 2)], "00:01:45": [(run, 3)], "00:02:45": [(run, 4)]
    }  # fmt: skip
    world.run("00:03", "q", "cancelled", run, job)
    assert asked(world, "01:00") == []
    with world.store.reading() as reader:
        stops = [entry for entry in reader.journal(job=job) if entry.kind is EntryKind.STOPPED]
        assert reader.cursor(ASKED) == {}
    assert [(entry.run_id, entry.data) for entry in stops] == [
        (run, {"attempt": 1, "tries": tries}) for tries in (1, 2, 3, 4)
    ]


def test_the_run_of_the_next_attempt_is_not_stopped() -> None:
    world = TaskWorld(CHAIN)
    world.tick("00:00")
    (job,) = world.launch_all("00:00")
    world.act("00:01", "first", KEY, Action.PAUSE)
    world.act("00:02", "first", KEY, Action.RESUME)
    world.tick("00:02")
    assert world.launch_all("00:02") == [job]

    assert asked(world, "00:03") == [(f"run-{job}-1", 1)]


def test_the_runs_of_schedules_are_left_alone() -> None:
    world = World("s: {program: q, status: active, retries: 1, trigger: {partitions: {dataset: raw}}}")
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    (job,) = world.launch_all("10:00")
    world.run("10:05", "q", "failed", f"run-{job}", job)
    world.run("10:06", "q", "started", "late", job, 1)

    assert world.job(job).attempt == 2
    assert asked(world, "10:10") == []


def test_a_run_of_an_operation_is_asked_to_end_a_while_after_its_timeout_only() -> None:
    world = TableWorld("nightly: {tables: w.a.x, operations: {rewrite_data_files: {timeout: 10m}}}", "w.a.x")
    assert world.poll("00:00") == ["w.a.x rewrite"]
    (run,) = world.running()
    world.observe("00:00:10", run.job, "started")
    with world.store.transaction() as transaction:
        assert note_stops(transaction, "a", at("00:05")) == ()
    world.tick("00:10")
    with world.store.transaction() as transaction:
        assert note_stops(transaction, "a", at("00:10")) == ()
        (stop,) = note_stops(transaction, "a", at("00:12"))
    assert (stop.job.id, stop.job.reason) == (run.job, "F-TIMEOUT")
