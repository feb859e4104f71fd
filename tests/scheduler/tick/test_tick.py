"""The tick: routing refusals, errors that stay where they are, and what one transaction does."""

import pytest

from tests.doubles.dump import dump
from tests.worlds.world import World, at
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.tick import apply, due_rows
from tidegate.scheduler.tick.load import AllEvents, load_job_views

TWO = """
good: {program: q, status: active, trigger: {partitions: {dataset: raw}}}
bad: {program: r, status: active, trigger: {partitions: {dataset: raw}}}
"""

WRONG_KEYS = [
    ("no key of a day", "raw", "tuesday"),
    ("no key at all", "raw", ""),
    ("the last day of the calendar, which does not end", "raw", "9999-12-31"),
    ("before the first partition", "raw", "2012-12-31"),
    ("one dimension too many", "raw", "2026-03-09|JFK"),
    ("an unknown static key", "chunks", "2026-03-09|SFO"),
]


@pytest.mark.parametrize("for_each", ["", "for_each: day,", "for_each: partition,"])
@pytest.mark.parametrize(("sentence", "dataset", "key"), WRONG_KEYS, ids=[row[0] for row in WRONG_KEYS])
def test_a_key_that_does_not_fit_is_discarded_at_the_door(sentence, dataset, key, for_each):
    world = World(
        f"s: {{program: q, {for_each} status: active, trigger: {{partitions: {{dataset: {dataset}}}}}}}"
    )
    world.arrive("10:00", dataset, key)
    assert world.tick("10:00").errors == ()
    assert world.jobs("s") == ()
    assert world.ledger("s").discarded == {"D-KEY": 1}


@pytest.mark.parametrize("broken", ["decide", "plan_launch"])
def test_an_error_in_one_schedule_does_not_stop_the_others(broken, monkeypatch):
    world = World(TWO)
    original = getattr(apply, broken)

    def fails(view, *rest):
        if view.schedule.name == "bad":
            raise RuntimeError("a bug of ours")
        return original(view, *rest)

    monkeypatch.setattr(apply, broken, fails)
    world.arrive("10:00", "raw", "2026-03-09")
    report = world.tick("10:00")
    assert report.errors == ("a/bad: RuntimeError: a bug of ours",)
    assert world.outcome("good") == ("PENDING_LAUNCH", None)
    bad = world.only("bad")
    assert (bad.state, bad.next_check_at) == (JobState.PENDING_TRIGGER, at("10:05"))
    assert bad.detail == "a/bad: RuntimeError: a bug of ours"
    monkeypatch.undo()
    world.tick("10:05")
    assert world.outcome("bad") == ("PENDING_LAUNCH", None)


def test_a_waiting_job_whose_schedule_has_gone_is_discarded():
    world = World(
        "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}, constraints: [{delay: 10m}]}"
    )
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    with world.store.transaction() as transaction:
        transaction.delete_schedules(["a/s"])
        held = AllEvents(transaction)
        views, orphans = load_job_views(transaction, transaction.jobs(), at("10:10"), held)
        assert (views, [job.id for job in orphans]) == ([], [world.only("s").id])
    world.tick("10:10")
    assert world.outcome("s") == ("DISCARDED", "D-DELETED")


def test_a_tick_with_nothing_to_do_changes_nothing():
    world = World(TWO)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    before = dump(world.store)
    report = world.tick("10:00")
    assert (report.fired, report.routed, report.decided) == (0, 0, 0)
    assert dump(world.store) == before


def test_an_event_that_nobody_listens_to_is_routed_to_nobody():
    world = World(TWO)
    world.arrive("10:00", "other", "2026-03-09")
    assert world.tick("10:00").routed == 1
    assert world.tick("10:01").routed == 0


def test_more_than_a_batch_is_done_in_one_tick(monkeypatch):
    monkeypatch.setattr(due_rows, "ROWS_PER_PAGE", 2)
    world = World(
        "s: {program: q, for_each: partition, status: active, trigger: {partitions: {dataset: raw}},"
        " constraints: [{concurrency: {max: 3}}]}"
    )
    world.arrive("10:00", "raw", *(f"2026-03-0{day}" for day in range(1, 8)))
    report = world.tick("10:00")
    assert report.routed == 7
    assert len(report.launched) == 3


def test_events_split_over_batches_meet_in_one_job(monkeypatch):
    monkeypatch.setattr(due_rows, "ROWS_PER_PAGE", 2)
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 7}}}")
    world.arrive("10:00", "raw", *(f"2026-03-0{day}" for day in range(1, 8)))
    world.tick("10:00")
    assert len(world.only("s").launch.manifest["raw"]) == 7


def test_the_journal_tells_the_story_of_a_job():
    world = World(
        "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}, constraints: [{delay: 10m}]}"
    )
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    world.tick("10:10")
    (job,) = world.launch_all("10:11")
    world.end("10:12", job)
    kinds = [str(entry.kind) for entry in world.journal("s")]
    assert kinds == [
        *("spec", "job-opened", "event", "satisfied", "waiting", "launch", "offered", "claim", "run", "run")
    ]
