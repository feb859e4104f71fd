"""Deadlines: when a job has to have succeeded, and that it is late once, whatever happens in between."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from tests.worlds.world import World, app_of, at
from tidegate.domain.model import Schedule
from tidegate.scheduler.decision.deadlines import deadline_text, due_at
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.tick.deadlines import sweep_deadlines

BY_DAY = """
s:
  program: p
  for_each: day
  trigger: {{partitions: {{dataset: raw}}}}
  constraints: [{{window: {{from: "20:00", to: "21:00"}}}}]
  deadline: {deadline}
  status: active
"""


def scheduled(deadline: str, head: str = "") -> Schedule:
    return app_of(BY_DAY.format(deadline=deadline) + head).schedules["s"]


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def late(world: World) -> list[Entry]:
    return [entry for entry in world.journal() if entry.kind == "late"]


@pytest.mark.parametrize(
    ("deadline", "key", "due"),
    [
        ('"08:00"', "2026-03-09", "2026-03-10T08:00"),
        ('"00:00"', "2026-03-09", "2026-03-10T00:00"),
        ('"08:00"', "2026-03-09|JFK", "2026-03-10T08:00"),
        ('"08:00"', "", "2026-03-11T08:00"),
        ('"10:30"', "", "2026-03-10T10:30"),
        # No such day, no such hour, and no time at all.
        ('"08:00"', "2026-02-30|JFK", "2026-03-11T08:00"),
        ('"08:00"', "2026-03-09-25:00", "2026-03-11T08:00"),
        ('"08:00"', "north", "2026-03-11T08:00"),
        ("2h", "2026-03-09", "2026-03-10T13:00"),
        ("{after: start, within: 90m}", "2026-03-09", "2026-03-10T13:30"),
    ],
)
def test_when_a_job_has_to_have_succeeded(deadline: str, key: str, due: str) -> None:
    job = Job(
        id="j",
        schedule="a/s",
        key=key,
        opened_at=at("10:00"),
        satisfied_at=at("11:00"),
        launched_at=at("12:00"),
    )
    assert due_at(scheduled(deadline), job) == utc(due)


@pytest.mark.parametrize(
    ("key", "due"),
    [("2026-03-09", "2026-03-10T08:00"), ("2026-03-09-05:00", "2026-03-09T08:00")],
)
def test_the_key_of_a_partition_says_itself_how_long_its_period_is(key: str, due: str) -> None:
    each = msgspec.structs.replace(scheduled('"08:00"'), for_each="partition")
    assert due_at(each, Job(id="j", schedule="a/s", key=key, opened_at=at("10:00"))) == utc(due)


def test_without_a_deadline_nothing_is_due() -> None:
    without = app_of("s: {program: p, trigger: {partitions: {dataset: raw}}}").schedules["s"]
    assert due_at(without, Job(id="j", schedule="a/s", opened_at=at("10:00"))) is None
    assert deadline_text(without.deadline) == ""


def test_a_duration_does_not_count_before_its_beginning() -> None:
    job = Job(id="j", schedule="a/s", opened_at=at("10:00"))
    assert due_at(scheduled("2h"), job) is None
    assert due_at(scheduled("{after: start, within: 2h}"), job) is None


@pytest.mark.parametrize(
    ("key", "due"),
    [
        ("2026-03-28", "2026-03-29T01:00"),  # 02:30 is in the gap of Berlin: the first instant after it
        ("2026-10-24", "2026-10-25T00:30"),  # 02:30 comes twice: the first of them
        ("2026-06-01", "2026-06-02T00:30"),
    ],
)
def test_a_time_of_the_day_on_days_of_clock_changes(key: str, due: str) -> None:
    found = scheduled('"02:30"')
    berlin = msgspec.structs.replace(found, timezone="Europe/Berlin")
    assert due_at(berlin, Job(id="j", schedule="a/s", key=key, opened_at=at("10:00"))) == utc(due)


@pytest.fixture
def world() -> World:
    return World(BY_DAY.format(deadline='"18:00"'))


def test_a_job_that_waits_past_its_deadline_is_late_once(world: World) -> None:
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    assert sweep_deadlines(world.store, at("18:00")) == 0, "at the deadline it is in time"
    assert sweep_deadlines(world.store, at("18:01")) == 1
    assert sweep_deadlines(world.store, at("18:02")) == 0
    (entry,) = late(world)
    assert (entry.schedule, entry.reason) == ("a/s", "L-DEADLINE")
    assert entry.data == {"due": "2026-03-10T18:00:00+00:00", "key": "2026-03-09", "deadline": "18:00"}
    (job,) = world.jobs("s")
    assert job.late_at is not None
    world.tick("20:00")
    assert world.launch_all("20:00") == [job.id], "it goes on"


def test_a_job_that_ended_late_while_nothing_looked_is_late(world: World) -> None:
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("20:00")
    (job,) = world.launch_all("20:00")
    world.end("20:10", job)
    assert sweep_deadlines(world.store, at("1d 09:00")) == 1
    assert sweep_deadlines(world.store, at("1d 09:01")) == 0


def test_a_job_that_succeeds_in_time_is_never_late() -> None:
    world = World(BY_DAY.format(deadline='"22:00"'))
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("20:00")
    (job,) = world.launch_all("20:00")
    world.end("20:10", job)
    assert sweep_deadlines(world.store, at("1d 09:00")) == 0


def test_a_job_that_failed_or_was_cancelled_is_over(world: World) -> None:
    world.arrive("10:00", "raw", "2026-03-08", "2026-03-09")
    world.tick("20:00")
    (first, *_) = world.launch_all("20:00")
    world.end("20:05", first, "failed")
    for job in world.jobs("s"):
        if job.id != first and job.waiting:
            world.cancel("20:06", job.id)
    found = sweep_deadlines(world.store, at("20:07"))
    assert found == len([job for job in world.jobs("s") if job.state == "LAUNCHED"])


def test_a_clock_that_goes_back_notes_nothing_twice(world: World) -> None:
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    assert sweep_deadlines(world.store, at("19:00")) == 1
    assert sweep_deadlines(world.store, at("17:00")) == 0
    assert sweep_deadlines(world.store, at("19:00") + timedelta(days=2)) == 0


class TaskWorld(World):
    """A world of tasks."""

    def __init__(self, tasks: str, head: str) -> None:
        self.compiled = lambda text: app_of(text, head)
        super().__init__(tasks)


def test_a_task_has_a_deadline_of_its_own() -> None:
    head = "app: a\ndatasets:\n  out: {partitions: {cycle: day, start: 2026-01-01}}\n"
    head += "programs:\n  p: {run: programs.p, writes: [out]}\ntasks:\n"
    task = "t: {cycle: day, at: {time: '02:00'}, program: p, deadline: '08:00', status: active}"

    world = TaskWorld(task, head)
    world.tick("1d 03:00")
    assert sweep_deadlines(world.store, at("1d 07:59")) <= 1
    sweep_deadlines(world.store, at("1d 08:01"))
    assert {entry.data["due"] for entry in late(world)} >= {"2026-03-11T08:00:00+00:00"}
