"""`why --at` that begins with a snapshot: it says what the journal alone says, and what was seen then."""

from datetime import timedelta
from unittest.mock import patch

import msgspec
import pytest

from tests.scheduler.explain.past.test_past import (
    DATA,
    THREE,
    assert_recalled,
    lived_with_a_dead_letter,
    lived_with_data,
)
from tests.scheduler.explain.past.test_tasks import (
    DAYS,
    assert_progress,
    lived_a_day,
    lived_with_a_backfill,
    short,
)
from tests.worlds.tasks import TaskWorld
from tests.worlds.witness import Witness
from tests.worlds.world import at
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.model.keep import Keep
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.retention import journal
from tidegate.scheduler.retention.prune import prune

ALL = Keep(journal=None, events=None, finished_jobs=None, launches=None)
EVERY = pytest.mark.parametrize("every", [1, 3, 4])


class Snapped(Witness):
    """A world whose store takes a snapshot after some ticks."""

    def __init__(self, schedules: str, every: int, *, start: str = "00:00") -> None:
        super().__init__(schedules, start=start)
        self.every = every
        self.ticks = 0

    def tick(self, clock: str):
        report = super().tick(clock)
        self.ticks += 1
        if self.ticks % self.every == 0:
            self.snap(clock)
        return report

    def snap(self, clock: str, keep: Keep = ALL) -> None:
        with patch.object(journal, "ENTRIES_BETWEEN", 1):
            prune(self.store, keep, at(clock))

    def assert_recalled(self) -> None:
        with self.store.reading() as reader:
            assert reader.snapshots()
        assert_recalled(self)


class SnappedTasks(Snapped, TaskWorld):
    """A world of tasks whose store takes a snapshot after some ticks."""


@EVERY
def test_data_constraints_gauges_and_runs_from_elsewhere(every: int):
    world = Snapped(DATA, every)
    lived_with_data(world)
    world.assert_recalled()


@EVERY
def test_a_dead_letter_that_was_over_before_the_snapshot_goes_on(every: int):
    world = Snapped(THREE, every)
    lived_with_a_dead_letter(world)
    world.assert_recalled()


@EVERY
def test_instances_and_what_people_do_to_them(every: int):
    world = SnappedTasks(short(), every)
    lived_a_day(world)
    world.assert_recalled()


@EVERY
def test_a_backfill_and_its_progress(every: int):
    world = SnappedTasks(DAYS, every, start="12:00")
    lived_with_a_backfill(world)
    world.assert_recalled()
    assert_progress(world)


RAW = "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}"


def with_a_job_ended(status: str) -> tuple[Snapped, str]:
    """A world with a snapshot of 10:03, before which a job has ended."""
    world = Snapped(RAW, 100)
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    (job,) = world.launch_all("10:01")
    world.end("10:02", job, status)
    world.tick("10:03")
    world.snap("10:03")
    return world, job


def with_a_retried_job() -> tuple[Snapped, str]:
    """A world whose job has failed before the snapshot, and is tried again at 10:05."""
    world, job = with_a_job_ended("failed")
    world.retry("10:05", job)
    world.tick("10:06")
    return world, job


def test_a_failed_job_that_is_retried_after_the_snapshot():
    world, job = with_a_retried_job()

    with world.store.reading() as reader:
        past = store_at(reader, at("10:06"))
        with past.reading() as then:
            (found,) = then.jobs(ids=[job])
            events = then.deliveries([job])[job]
    assert (found.state, found.attempt) == (world.job(job).state, 2)
    assert [each.event.id for each in events] == ["e1"]
    world.assert_recalled()


def test_a_job_that_a_snapshot_does_not_hold_is_shown_as_it_was():
    world, job = with_a_retried_job()

    with world.store.reading() as reader:
        past = store_at(reader, at("10:04"))
        with past.reading() as then:
            (found,) = then.jobs(ids=[job])
            (last,) = then.jobs(schedules=["a/s"], limit=1)
            entries = then.journal(job=job)
    assert (found.state, found.attempt, found.ended_at) == ("FAILED", 1, at("10:02"))
    assert last == found
    assert entries[-1].at <= at("10:04")


def test_a_pruned_journal_is_refused_with_its_date():
    world = Snapped(RAW, 1)
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    (job,) = world.launch_all("10:01")
    world.end("10:02", job)
    world.tick("10:03")
    world.arrive("10:10", "raw", "2026-03-02")
    world.tick("10:10")
    world.snap("10:10", msgspec.structs.replace(ALL, journal=timedelta(minutes=5)))

    with world.store.reading() as reader, pytest.raises(Refused) as refused:
        store_at(reader, at("09:00"))
    assert "nothing is known of 2026-03-10 09:00" in str(refused.value)
    assert "the journal before 2026-03-10 10:0" in str(refused.value)
