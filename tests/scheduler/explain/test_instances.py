"""`why` of an instance: its upstream instances, and where the chain of what it waits for begins."""

from tests.worlds.tasks import TaskWorld
from tests.worlds.world import at
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.explain.instances.awaited import consumers_of
from tidegate.scheduler.explain.instances.roots import RootKind
from tidegate.scheduler.explain.why import explain

TEN = "2026-03-10-10:00"


def test_an_instance_names_its_upstream_instance_the_rule_and_since_when():
    world = TaskWorld(start="09:30")
    world.tick("10:10")
    found = world.why("10:11", "clean", TEN)
    (edge,) = found.upstream
    assert (edge.task, edge.key, edge.status) == ("a/feed", TEN, "not_run")
    assert edge.rule == "the nearest one of the same day up to this one"
    assert edge.since == at("09:30")
    assert found.headline == "W-UPSTREAM: an upstream instance is not successful yet"


def test_what_was_not_reported_is_the_root_with_the_command():
    world = TaskWorld(start="09:30")
    world.tick("10:10")
    (root,) = world.why("10:11", "clean", TEN).roots
    assert (root.kind, root.task, root.key) == (RootKind.REPORT, "a/feed", TEN)
    assert root.command == f"tidegate report a/feed {TEN} --status successful"
    assert root.path == (f"a/feed {TEN}, the nearest one of the same day up to this one",)
    assert root.kind.needs_a_person


def test_a_start_time_to_come_is_time_alone():
    world = TaskWorld("  clean: {program: q, cycle: hour, at: {minute: 10}, status: active}\n", start="09:30")
    found = world.why("10:05", "clean", TEN)
    assert [(root.kind, root.by) for root in found.roots] == [(RootKind.TIME, at("10:10"))]
    assert found.can_run_at == at("10:10")
    assert [(each.kind, each.what, each.by) for each in found.missing] == [("time", "time", at("10:10"))]


CHAIN = """
  first: {program: q, cycle: day, depends_on: [], status: active}
  second: {program: r, cycle: day, depends_on: [first], status: active}
  third: {program: t, cycle: day, at: {time: "05:00"}, depends_on: [second], status: active}
"""
DAY = "2026-03-10"


def failed_chain() -> TaskWorld:
    world = TaskWorld(CHAIN)
    world.tick("00:00")
    (job,) = world.launch_all("00:01")
    world.end("00:30", job, "failed")
    world.tick("00:31")
    return world


def test_the_chain_is_followed_to_the_instance_that_failed():
    found = failed_chain().why("06:00", "third", DAY)
    (root,) = found.roots
    assert (root.kind, root.task, root.since) == (RootKind.FAILED, "a/first", at("00:30"))
    assert root.command == f"tidegate instances rerun a/first {DAY}"
    assert [step.split(",")[0] for step in root.path] == [f"a/second {DAY}", f"a/first {DAY}"]
    assert [each.task for each in found.upstream] == ["a/second"]


def test_before_its_start_time_both_are_named():
    found = failed_chain().why("04:00", "third", DAY)
    assert [root.kind for root in found.roots] == [RootKind.FAILED, RootKind.TIME]
    assert found.can_run_at is None


def test_a_failed_a_paused_and_a_held_instance_name_what_helps_themselves():
    world = failed_chain()
    assert [root.command for root in world.why("01:00", "first", DAY).roots] == [
        f"tidegate instances rerun a/first {DAY}"
    ]
    world.act("01:00", "second", DAY, Action.PAUSE)
    (root,) = world.why("06:00", "third", DAY).roots
    assert (root.kind, root.since) == (RootKind.PAUSED, at("01:00"))
    assert root.command == f"tidegate instances resume a/second {DAY}"
    world.suspend("01:01", "first")
    world.act("01:02", "first", DAY, Action.RERUN)
    world.tick("01:03")
    (root,) = world.why("01:03", "first", DAY).roots
    assert (root.kind, root.command) == (RootKind.HELD, "tidegate schedules resume a/first")


def test_what_goes_on_by_itself_is_a_root_without_a_command():
    world = TaskWorld(CHAIN)
    world.tick("00:00")
    (job,) = world.launch_all("00:01")
    (root,) = world.why("00:02", "second", DAY).roots
    assert (root.kind, root.what) == (RootKind.RUNNING, f"runs, run run-{job}-1")
    world.end("00:30", job)
    assert [root.kind for root in world.why("05:30", "third", DAY).roots] == [RootKind.NEXT_TICK]
    assert world.why("00:31", "second", DAY).headline == "ready: the next tick launches it"


def test_a_gate_that_has_nothing_to_run_is_ready():
    world = TaskWorld("  feed: {type: source, dataset: raw, cycle: hour, status: active}\n")
    assert world.why("05:00", "feed", "2026-03-10-05:00").headline.startswith("ready: the next tick makes it")


def test_recorded_edges_and_missing_ones_are_shown_after_it_has_left_not_run():
    world = TaskWorld(start="09:30")
    world.reported("10:05", "feed", TEN)
    world.tick("10:10")
    found = world.why("10:11", "clean", TEN)
    assert [(each.task, each.status) for each in found.upstream] == [("a/feed", "successful")]
    world = TaskWorld(CHAIN.replace("[first]", "[{task: first, period: previous}]"))
    world.tick("00:00")
    (missing,) = world.why("00:01", "second", DAY).diagnostics
    assert (missing.code, missing.task, missing.rule) == (
        "E-NO-EDGE",
        "a/first",
        "the only one of the day before",
    )


def test_a_task_explains_what_is_due_and_else_what_comes_next():
    world = TaskWorld(start="09:30")
    with world.store.reading() as reader:
        (found,) = explain(reader, "a/clean", at("09:40"))
        assert found.job is not None and found.job.key == TEN
        assert [each.job.key for each in explain(reader, "a/clean", at("12:15"))] == [
            TEN,
            "2026-03-10-11:00",
            "2026-03-10-12:00",
        ]
        assert len(explain(reader, "a/clean", at("23:15"))) == 5
    empty = TaskWorld("  clean: {program: q, cycle: hour, valid_to: 2026-03-01, status: active}\n")
    with empty.store.reading() as reader:
        (found,) = explain(reader, "a/clean", at("00:00"))
    assert (found.job, found.headline.startswith("no instance waits")) == (None, True)


def consumers(world: TaskWorld, task: str, key: str) -> list[tuple[str, str, str]]:
    with world.store.reading() as reader:
        found = consumers_of(reader, world.instance(task, key))
    return [(job.schedule, job.key, rule) for job, rule in found]


def test_the_consumers_of_an_instance_are_those_that_wait_for_it_and_those_that_have_waited():
    rule = "the nearest one of the same day up to this one"
    world = TaskWorld(start="09:30")
    world.tick("10:10")
    assert consumers(world, "feed", TEN) == [("a/clean", TEN, rule)]
    assert consumers(world, "clean", TEN) == []
    world.reported("10:11", "feed", TEN)
    world.tick("10:11")
    assert world.instance("clean", TEN).satisfied_at == at("10:11")
    assert consumers(world, "feed", TEN) == [("a/clean", TEN, rule)]


def test_a_backfill_waits_for_its_lot_before():
    world = TaskWorld(CHAIN, start="12:00")
    world.backfill("12:00", "second", "2026-03-01", "2026-03-02", upstream=True)
    world.tick("12:00")
    (root,) = world.why("12:01", "first", "2026-03-03", 1).roots
    assert root.path[0].endswith("lot 1 of backfill 1")
    (job,) = world.launch_all("12:01")
    world.end("12:02", job, "failed")
    world.tick("12:02")
    (root,) = world.why("12:03", "second", "2026-03-03", 1).roots
    assert root.command == "tidegate instances rerun a/first 2026-03-02 --backfill 1"
