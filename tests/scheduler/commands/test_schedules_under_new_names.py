"""A schedule or task with `renamed_from` goes on: jobs, instances, status, slots and the ledger move."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.worlds.by import CLI
from tests.worlds.overriding import Hands
from tests.worlds.tasks import tasks_of
from tests.worlds.world import World, at
from tidegate.compiler.render.diff_text import diff_text
from tidegate.scheduler.commands.backfills.request import Wanted, backfills
from tidegate.scheduler.commands.backfills.start import start_backfill
from tidegate.scheduler.commands.deployment.live import difference
from tidegate.scheduler.commands.tasks.reports import Times, report
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store

pytestmark = [pytest.mark.store]

SEVEN = """
{name}: {{program: q, {former}trigger: {{partitions: {{dataset: raw, count: 3}}}},
  constraints: [{{concurrency: {{max: 1, group: g}}}}], timeout: {{after: 30d, from: first_event}},
  status: active}}
hourly: {{program: r, trigger: {{cron: "0 * * * *"}}, status: active}}
"""
BEFORE = SEVEN.format(name="seven", former="")
AFTER = SEVEN.format(name="weekly", former="renamed_from: seven, ")

DAILY = """
  {name}: {{program: q, {former}cycle: day, at: {{time: "02:00"}}, depends_on: [self], status: active}}
  report: {{program: r, cycle: day, at: {{time: "03:00"}}, depends_on: [{name}], status: active}}
"""
OLD_TASK = DAILY.format(name="load", former="")
NEW_TASK = DAILY.format(name="ingest", former="renamed_from: load, ")


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store, in memory and in SQLite."""
    opened = MemoryStore() if request.param == "memory" else open_store(f"sqlite:///{tmp_path / 's.db'}")
    yield opened
    opened.close()


class Tasks(World):
    """A world of tasks, in any store."""

    compiled = staticmethod(tasks_of)


def test_a_half_collected_job_goes_on_under_the_new_name(store: Store) -> None:
    world = World(BEFORE, store=store)
    world.arrive("10:00", "raw", "2026-03-01", "2026-03-02")
    world.tick("10:00")
    before = world.only("seven")

    world.redeploy("11:00", AFTER)
    world.tick("11:00")

    assert world.jobs("seven") == ()
    assert world.only("weekly").id == before.id
    assert (world.ledger("weekly").pending, world.ledger("weekly").landed) == (2, 2)
    world.arrive("12:00", "raw", "2026-03-03")
    world.tick("12:00")
    job = world.only("weekly")
    assert (job.state, job.launch and job.launch.manifest) == (
        JobState.PENDING_LAUNCH,
        {"raw": ("2026-03-01", "2026-03-02", "2026-03-03")},
    )


def test_a_running_job_keeps_its_slots_and_ends_under_the_new_name(store: Store) -> None:
    world = World(BEFORE, store=store)
    world.arrive("10:00", "raw", "2026-03-01", "2026-03-02", "2026-03-03")
    world.tick("10:00")
    first = world.only("seven").id
    world.launch_all("10:01")
    world.redeploy("11:00", AFTER)
    world.arrive("12:00", "raw", "2026-03-04", "2026-03-05", "2026-03-06")
    world.tick("12:00")
    assert world.outcome("weekly") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
    world.run("13:00", "q", "succeeded", f"run-{first}", first)
    world.tick("13:00")
    assert world.outcome("weekly") == ("PENDING_LAUNCH", None)
    assert world.job(first).state is JobState.SUCCEEDED


def test_a_blocked_job_and_a_slot_that_is_free_at_the_instant_of_the_rename(store: Store) -> None:
    world = World(BEFORE.replace("group: g", "max: 1").replace("{max: 1, max: 1}", "{max: 1}"), store=store)
    world.run("09:00", "q", "started", "by-hand")
    world.arrive("10:00", "raw", "2026-03-01", "2026-03-02", "2026-03-03")
    world.tick("10:00")
    assert world.outcome("seven") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
    world.run("11:00", "q", "succeeded", "by-hand")
    world.redeploy("11:00", AFTER.replace("group: g", "max: 1").replace("{max: 1, max: 1}", "{max: 1}"))
    world.tick("11:00")
    assert world.outcome("weekly") == ("PENDING_LAUNCH", None)


def test_the_status_and_an_override_move(store: Store) -> None:
    world = Hands(BEFORE, store=store)
    world.suspend("10:00", "seven")
    world.redeploy("11:00", AFTER)
    with store.reading() as reader:
        (state,) = reader.schedules(refs=["a/weekly"])
        assert (state.status, reader.schedules(refs=["a/seven"])) == ("suspended", ())
        assert all(each.ref != "a/seven" for each in reader.records(OVERRIDES))


def test_the_plan_names_it_and_no_schedule_is_new_or_deleted(store: Store) -> None:
    world = World(BEFORE, store=store)
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    app = World.compiled(AFTER)
    with store.reading() as reader:
        found = difference(reader, {"a": app})
    text = diff_text(found)
    assert "~ schedule a/weekly (renamed from a/seven; everything in the store moves with it)" in text
    assert "discard" not in text
    world.redeploy("11:00", AFTER)
    with store.reading() as reader:
        again = diff_text(difference(reader, {"a": app}))
    assert "renamed" not in again


def test_the_journal_and_the_past_go_on(store: Store) -> None:
    world = World(BEFORE, store=store)
    world.arrive("10:00", "raw", "2026-03-01", "2026-03-02")
    world.tick("10:00")
    world.redeploy("11:00", AFTER)
    assert world.journal("seven") == ()
    assert [str(entry.kind) for entry in world.journal("weekly")][:1] == ["spec"]
    with store.reading() as reader:
        past = store_at(reader, at("10:30"))
    with past.reading() as reader:
        assert {job.schedule for job in reader.jobs()} == {"a/weekly", "a/hourly"}


def test_a_task_goes_on_with_its_instances_and_waits_for_the_one_before(store: Store) -> None:
    world = Tasks(OLD_TASK, start="1d 00:00", store=store)
    world.tick("1d 00:00")
    world.tick("1d 02:00")
    first = next(job for job in world.jobs("load") if job.state is JobState.PENDING_LAUNCH)
    number = backfilled(store, "1d 02:30")

    world.redeploy("1d 04:00", NEW_TASK)
    for hour in range(4, 24):
        world.tick(f"1d {hour:02d}:00")

    assert world.jobs("load") == ()
    assert world.job(first.id).schedule == "a/ingest"
    with store.reading() as reader:
        (request,) = backfills(reader)
        assert (request.number, request.task, request.tasks) == (number, "ingest", ("a/ingest",))
    world.tick("2d 02:00")
    second = next(job for job in world.jobs("ingest") if job.key == "2026-03-12")
    assert (second.state, second.reason) == (JobState.PENDING_TRIGGER, "W-UPSTREAM")
    world.run("2d 02:10", "q", "succeeded", "run", first.id)
    world.tick("2d 02:10")
    assert world.job(second.id).state is JobState.PENDING_LAUNCH
    (report, *_) = (job for job in world.jobs("report") if job.key == "2026-03-11")
    assert report.state is JobState.PENDING_LAUNCH


def backfilled(store: Store, clock: str) -> int:
    """Start a backfill of the task, and return its number."""
    wanted = Wanted(app="a", task="load", from_="2026-02-01", to="2026-02-02")
    with store.transaction() as transaction:
        return start_backfill(transaction, wanted, at(clock), by=CLI).number


def test_a_repeated_report_under_the_new_name_does_nothing(store: Store) -> None:
    feed = "\n  {name}: {{type: external, {former}dataset: plain, cycle: day, status: active}}\n"
    world = Tasks(feed.format(name="feed", former=""), start="00:00", store=store)
    world.tick("1d 12:00")
    times = Times(scheduled=("2026-03-11",))
    with store.transaction() as transaction:
        report(transaction, "a/feed", times, "successful", at("1d 12:00"), CLI, "r1")
    world.redeploy("1d 13:00", feed.format(name="source", former="renamed_from: feed, "))
    with store.transaction() as transaction:
        again = report(transaction, "a/source", times, "successful", at("1d 14:00"), CLI, "r1")
    assert again.repeated


def test_a_former_name_that_was_never_deployed_has_no_effect(store: Store) -> None:
    world = World(BEFORE, store=store)
    world.redeploy("11:00", AFTER.replace("renamed_from: seven", "renamed_from: six"))
    assert world.jobs("weekly") == ()
    with store.reading() as reader:
        assert reader.schedules(refs=["a/seven"]) == ()
