"""A pass of pruning: what goes, what stays, and what the ledger and `why --at` say afterwards."""

from datetime import timedelta
from functools import partial
from unittest.mock import patch

import pytest

from tests.doubles.dump import dump
from tests.doubles.reference.store import ReferenceStore
from tests.scheduler.explain.past.test_recalled import live_days
from tests.scheduler.explain.past.test_tasks import DAYS
from tests.worlds.by import CLI
from tests.worlds.tasks import TaskWorld
from tests.worlds.world import World, at
from tidegate.scheduler.commands.existing_events import EventsToReplay, replay_events
from tidegate.scheduler.explain.names import find_job, find_target
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.keep import Keep
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.model.retention import Pruned, PrunedKind
from tidegate.scheduler.retention import journal
from tidegate.scheduler.retention import prune as pruning
from tidegate.scheduler.retention.journal import pruned_until
from tidegate.scheduler.retention.outlook import glimpse, outlook
from tidegate.scheduler.retention.prune import PASS_EVERY, prune, prune_slice

LITTLE = Keep(
    journal=timedelta(minutes=1),
    events=timedelta(minutes=1),
    finished_jobs=timedelta(minutes=1),
    launches=timedelta(minutes=1),
    clock_error=timedelta(0),
)
FOREVER = Keep(journal=None, events=None, finished_jobs=None, launches=None)
DAILY = """
daily:
  program: p
  trigger: {partitions: {dataset: raw}}
  constraints:
    - rate: {max: 5, per: 2m}
  status: active
"""


def lived() -> World:
    """A world in which three jobs have succeeded, one partition came twice, and one job waits."""
    world = World(DAILY)
    for hour, key in (("01", "2026-03-01"), ("02", "2026-03-02"), ("03", "2026-03-01")):
        world.arrive(f"{hour}:00", "raw", key)
        world.tick(f"{hour}:10")
        for job in world.launch_all(f"{hour}:10"):
            world.end(f"{hour}:20", job)
    world.tick("05:00")
    return world


def held(world: World) -> tuple[int, int, int, int]:
    store = world.store
    assert isinstance(store, ReferenceStore)
    tables = store.committed
    return len(tables.jobs), len(tables.events), len(tables.runs), len(tables.launches)


def test_finished_work_goes_and_the_ledger_stays_the_same() -> None:
    world = lived()
    before, expected = world.ledger("daily"), None
    with world.store.reading() as reader:
        expected = outlook(reader, LITTLE, at("05:00"))

    pruned = prune(world.store, LITTLE, at("05:00"))

    assert (pruned.jobs, pruned.runs, pruned.launches) == (expected.jobs, expected.runs, 3)
    assert (expected.jobs, expected.events) == (3, pruned.events)
    jobs, events, runs, launches = held(world)
    assert (jobs, runs, launches) == (0, 1, 0)
    assert events >= 2, "the newest of each partition stays"
    assert world.ledger("daily") == before
    assert prune(world.store, LITTLE, at("05:00")).rows == 0


def test_a_job_that_was_pruned_is_said_to_be_removed_by_retention() -> None:
    world = lived()
    gone = world.jobs("daily")[0].id
    for id_, pruned in (("none", False), (gone, True)):
        if pruned:
            prune(world.store, LITTLE, at("05:00"))
        with world.store.reading() as reader:
            for find in (find_job, find_target, partial(explain, now=at("05:00"))):
                with pytest.raises(Refused) as refused:
                    find(reader, id_)
                assert ("`finished_jobs` in [retention]" in (refused.value.hint or "")) is pruned


def test_a_glimpse_counts_what_a_pass_removes_of_the_first_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidegate.scheduler.retention.outlook.ROWS_PER_SLICE", 1)
    monkeypatch.setattr("tidegate.scheduler.retention.journal.PAGE", 1)
    world = lived()
    prune(world.store, FOREVER, at("05:00"))
    world.tick("05:10")
    with world.store.reading() as reader:
        whole = outlook(reader, LITTLE, at("05:10"))
        one, all_ = (glimpse(reader, LITTLE, at("05:10"), pages) for pages in (1, 1_000))

    assert (all_.pruned, all_.whole) == (whole, True)
    assert not one.whole
    assert (one.pruned.jobs, one.pruned.launches) == (1, 1)
    assert one.pruned.journal <= 1 < all_.pruned.journal
    assert 0 < one.pruned.rows < whole.rows


def test_finished_instances_go_but_for_those_that_an_open_one_may_ask_for() -> None:
    world = TaskWorld(DAYS)
    live_days(world)
    finished = sorted(job.key for job in world.jobs("day", JobState.SUCCEEDED))
    with world.store.reading() as reader:
        expected = outlook(reader, LITTLE, at("6d 00:08")).jobs

    pruned = prune(world.store, LITTLE, at("6d 00:08"))

    kept = sorted(job.key for job in world.jobs("day", JobState.SUCCEEDED))
    assert pruned.jobs == expected == len(finished) - len(kept) > 0
    assert kept == finished[-len(kept) :], "the newest ones stay"
    assert prune(world.store, LITTLE, at("6d 00:08")).jobs == 0


def test_what_was_consumed_is_not_collected_again() -> None:
    world = lived()
    prune(world.store, LITTLE, at("05:00"))

    with world.store.transaction() as transaction:
        (replayed,) = replay_events(transaction, EventsToReplay(key="partition:a/raw"), at("05:01"), by=CLI)

    assert (replayed.events, replayed.known) == (0, 2)


def test_what_a_pruned_job_had_discarded_is_collected_again() -> None:
    world = World(DAILY.replace("dataset: raw", "dataset: raw, count: 2"))
    world.arrive("01:00", "raw", "2026-03-01")
    world.tick("01:01")
    world.suspend("01:02", "daily")
    world.resume("01:03", "daily")
    world.tick("05:00")
    states = {job.state for job in world.jobs("daily")}
    prune(world.store, LITTLE, at("05:00"))

    with world.store.transaction() as transaction:
        (replayed,) = replay_events(transaction, EventsToReplay(key="partition:a/raw"), at("05:01"), by=CLI)

    assert (states, replayed.events) == ({JobState.DISCARDED}, 1)


def test_an_event_that_is_reported_again_stays_one_fact() -> None:
    world = lived()
    prune(world.store, LITTLE, at("05:00"))
    store = world.store
    assert isinstance(store, ReferenceStore)
    gone = next(id for kind, id in store.committed.pruned if kind == "event")

    world.arrive("05:01", "raw", "2026-03-01", id=gone)
    world.tick("05:02")

    assert world.jobs("daily") == ()
    with store.reading() as reader:
        assert reader.pruned(PrunedKind.EVENT, [gone, "other"]) == {gone}


def test_nothing_goes_where_all_is_kept_or_the_engine_has_never_run() -> None:
    world = lived()
    empty = ReferenceStore()

    assert prune(world.store, FOREVER, at("05:00")) == Pruned()
    with world.store.reading() as reader:
        assert outlook(reader, FOREVER, at("05:00")) == Pruned()
    assert prune_slice(empty, LITTLE, at("05:00")).ended
    with empty.reading() as reader:
        assert outlook(reader, LITTLE, at("05:00")) == Pruned()


def test_a_pass_rests_after_its_end() -> None:
    world = lived()
    prune(world.store, LITTLE, at("05:00"))

    assert prune_slice(world.store, LITTLE, at("05:01")).ended
    later = at("05:00") + PASS_EVERY
    assert not prune_slice(world.store, LITTLE, later).ended
    assert prune(world.store, LITTLE, later, slices=1) == Pruned()


def test_a_pass_goes_on_where_its_last_slice_was() -> None:
    world = lived()
    with patch.object(pruning, "ROWS_PER_SLICE", 1):
        found = Pruned()
        for _ in range(100):
            done = prune_slice(world.store, LITTLE, at("05:00"), at_once=True)
            found = found.plus(done.pruned)
            if done.ended:
                break

    assert found.plus(prune(world.store, LITTLE, at("05:00"))) == found
    assert held(world)[0] == 0


def test_why_begins_with_a_snapshot_and_says_what_was_pruned() -> None:
    world = lived()
    ended = world.last("daily").id
    prune(world.store, LITTLE, at("04:00"))
    world.arrive("06:00", "raw", "2026-03-05")
    world.tick("06:00")
    world.tick("06:10")
    prune(world.store, LITTLE, at("06:09"))

    with world.store.reading() as reader:
        assert pruned_until(reader) is not None
        with pytest.raises(Refused, match="was pruned"):
            store_at(reader, at("01:00"))
        past = store_at(reader, at("06:05"))
        with past.reading() as then:
            (explained,) = explain(then, "a/daily", at("06:05"))
            assert explained.job is not None
            assert explained.history[0].kind.value == "job-opened"
            assert then.jobs(ids=[ended]) == ()
            assert then.journal(schedule="a/daily", limit=1)


def test_a_snapshot_is_taken_once_a_day_or_after_many_entries() -> None:
    world = lived()
    prune(world.store, LITTLE, at("05:00"))
    prune(world.store, LITTLE, at("05:00"))
    with world.store.reading() as reader:
        assert len(reader.snapshots()) == 1
    world.arrive("05:01", "raw", "2026-03-07")
    world.tick("05:05")
    prune(world.store, FOREVER, at("05:05"))
    with world.store.reading() as reader:
        assert len(reader.snapshots()) == 1
    with patch.object(journal, "ENTRIES_BETWEEN", 1):
        prune(world.store, FOREVER, at("05:05"))
    with world.store.reading() as reader:
        assert len(reader.snapshots()) == 2


def test_a_journal_is_looked_at_page_by_page_and_the_outlook_is_what_goes() -> None:
    world = lived()
    prune(world.store, FOREVER, at("05:00"))
    world.tick("05:10")
    with patch.object(journal, "PAGE", 2), world.store.reading() as reader:
        expected = outlook(reader, LITTLE, at("05:10"))
    with patch.object(pruning, "ROWS_PER_SLICE", 3):
        pruned = prune(world.store, LITTLE, at("05:10"))

    assert expected.journal == pruned.journal > 3


@pytest.mark.parametrize("status", ["started", "succeeded", "failed"])
def test_a_pruned_run_that_is_observed_again_counts_no_second_time(status: str) -> None:
    world = lived()
    prune(world.store, LITTLE, at("05:00"))
    assert isinstance(world.store, ReferenceStore)
    run = next(id for kind, id in world.store.committed.pruned if kind == "run")
    before = dump(world.store)

    world.run("05:00", "p", status, run)
    world.run("05:00", "p", status, run, run.removeprefix("run-"))

    assert dump(world.store) == before
