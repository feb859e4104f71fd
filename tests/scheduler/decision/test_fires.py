"""Crons: which fires are due, what a restart catches up, and what a Dagster schedule enqueues."""

import pytest

from tests.worlds.world import World, at
from tidegate.scheduler.decision import fires


def cron(options: str = "", pattern: str = "0 * * * *", rest: str = "", start: str = "00:00:01") -> World:
    """An hourly schedule that began a second after midnight."""
    spec = f'c: {{program: q, status: active, trigger: {{cron: "{pattern}"{options}}}{rest}}}'
    return World(spec, start=start)


def fired(world: World, schedule: str = "c") -> dict[str, list[str]]:
    """The hours of the fires of each job, and of those discarded by reason."""
    found: dict[str, list[str]] = {}
    with world.store.reading() as reader:
        ids = [event.id for event in reader.events(key_prefix="fire:")]
        for delivery in reader.deliveries_of_events(ids):
            if delivery.schedule == f"a/{schedule}":
                found.setdefault(delivery.reason or "job", []).append(f"{delivery.event.time:%H:%M}")
    return found


def test_a_fire_at_its_instant_launches():
    world = cron()
    world.tick("00:59:59")
    assert world.jobs("c") == ()
    world.tick("01:00")
    assert world.outcome("c") == ("PENDING_LAUNCH", None)
    assert world.only("c").launch.scheduled_time == at("01:00")


def test_a_fire_at_the_instant_of_a_deploy_a_resume_or_an_update_counts():
    hourly = 'c: {program: q, status: active, trigger: {cron: "0 * * * *"}'
    world = World(hourly + "}", start="01:00")
    world.tick("01:00")
    world.suspend("01:30", "c")
    world.resume("03:00", "c")
    world.tick("03:00")
    world.redeploy("04:00", hourly + ", args: {x: 1}}")
    world.tick("04:00")
    assert [job.launch.scheduled_time for job in world.jobs("c")] == [at("01:00"), at("03:00"), at("04:00")]


def test_a_fire_noticed_a_little_late_is_on_time_and_counts_from_its_instant():
    world = cron(", catch_up: none", rest=", constraints: [{delay: 5m}]")
    world.tick("01:01:30")
    assert world.only("c").next_check_at == at("01:05")


def test_a_fire_happens_once_however_often_the_scheduler_looks():
    world = cron()
    for clock in ("01:00", "01:00", "01:00:10", "01:59"):
        world.tick(clock)
    assert len(world.jobs("c")) == 1


CATCH_UPS = [
    ("none catches up nothing", ", catch_up: none", "03:30", {"D-EXPIRED": ["01:00", "02:00", "03:00"]}, 0),
    (
        "none still takes the one that is on time",
        ", catch_up: none",
        "03:01",
        {"D-EXPIRED": ["01:00", "02:00"], "job": ["03:00"]},
        1,
    ),
    (
        "latest catches up the last",
        ", catch_up: latest",
        "03:30",
        {"D-EXPIRED": ["01:00", "02:00"], "job": ["03:00"]},
        1,
    ),
    ("all gives each a job of its own", ", catch_up: all", "03:30", {"job": ["01:00", "02:00", "03:00"]}, 3),
    (
        "all within an age",
        ", catch_up: all, catch_up_at_most: 2h",
        "03:30",
        {"D-EXPIRED": ["01:00"], "job": ["02:00", "03:00"]},
        2,
    ),
    (
        "latest beyond its age",
        ", catch_up: latest, catch_up_at_most: 10m",
        "03:30",
        {"D-EXPIRED": ["01:00", "02:00", "03:00"]},
        0,
    ),
    (
        "the age does not touch a fire that is on time",
        ", catch_up: latest, catch_up_at_most: 30s",
        "01:01",
        {"job": ["01:00"]},
        1,
    ),
]


@pytest.mark.parametrize(
    ("sentence", "options", "back", "expected", "jobs"), CATCH_UPS, ids=[row[0] for row in CATCH_UPS]
)
def test_after_downtime(sentence, options, back, expected, jobs):
    world = cron(options)
    world.tick(back)
    assert {reason: sorted(hours) for reason, hours in fired(world).items()} == expected
    assert len(world.jobs("c")) == jobs


def test_catch_up_all_keeps_the_limits():
    world = cron(", catch_up: all", rest=", constraints: [{concurrency: {max: 1}}]")
    world.tick("03:30")
    states = sorted(str(job.state) for job in world.jobs("c"))
    assert states == ["PENDING_CONSTRAINT", "PENDING_CONSTRAINT", "PENDING_LAUNCH"]


def test_a_missed_fire_inside_all_joins_the_job_of_the_others():
    world = World(
        "c: {program: q, status: active,"
        ' trigger: {all: [{cron: "0 * * * *", catch_up: all}, {partitions: {dataset: raw}}]}}'
    )
    world.tick("03:30")
    world.arrive("04:10", "raw", "2026-03-09")
    world.tick("04:10")
    assert [str(job.state) for job in world.jobs("c")] == ["PENDING_LAUNCH"]


def test_a_missed_fire_inside_any_has_a_job_of_its_own():
    world = World(
        "c: {program: q, status: active,"
        ' trigger: {any: [{cron: "0 * * * *", catch_up: all}, {partitions: {dataset: raw}}]}}',
        start="00:00:01",
    )
    world.tick("03:30")
    assert len(world.jobs("c")) == 3


def test_fires_while_suspended_are_nobodys():
    world = cron(", catch_up: all")
    world.suspend("00:30", "c")
    world.tick("02:30")
    world.resume("03:30", "c")
    world.tick("04:00")
    assert fired(world) == {"job": ["04:00"]}


def test_of_too_many_missed_fires_the_newest_count(monkeypatch):
    monkeypatch.setattr(fires, "CATCH_UP_FIRES_MAX", 3)
    world = cron(", catch_up: all")
    world.tick("10:30")
    assert fired(world) == {"job": ["08:00", "09:00", "10:00"]}


def test_several_crons_of_one_schedule_fire_in_the_order_of_time():
    world = World(
        'c: {program: q, status: active, trigger: {any: [{cron: "30 6 * * *"}, {cron: "0 5 * * *"}]}}'
    )
    with world.store.reading() as reader:
        (state,) = reader.schedules()
        assert state.next_fire_at == at("05:00")
        assert [event.time for event in fires.due_fires(state, at("07:00"))] == [at("05:00"), at("06:30")]
