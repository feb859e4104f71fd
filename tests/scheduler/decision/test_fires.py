"""Crons: which fires are due, what a restart catches up, and what a Dagster schedule enqueues."""

import pytest

from tests.worlds.world import World, at
from tidegate.scheduler.decision import fires, missed
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.tick.missed import has_missed


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
                event = delivery.event
                row = f"{event.time:%H:%M}"
                if event.first_at is not None:
                    row = f"{event.number} from {event.first_at:%H:%M} to {row}"
                found.setdefault(delivery.reason or "job", []).append(row)
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
    ("none catches up nothing", ", catch_up: none", "03:30", {"D-EXPIRED": ["3 from 01:00 to 03:00"]}, 0),
    (
        "none still takes the one that is on time",
        ", catch_up: none",
        "03:01",
        {"D-EXPIRED": ["2 from 01:00 to 02:00"], "job": ["03:00"]},
        1,
    ),
    (
        "latest catches up the last",
        ", catch_up: latest",
        "03:30",
        {"D-EXPIRED": ["2 from 01:00 to 02:00"], "job": ["03:00"]},
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
        {"D-EXPIRED": ["3 from 01:00 to 03:00"]},
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


def test_of_many_missed_fires_a_tick_takes_the_oldest_and_the_next_ones_the_rest(monkeypatch):
    monkeypatch.setattr(fires, "JOBS_PER_TICK", 4)
    world = cron(", catch_up: all")
    world.tick("10:30")
    assert fired(world) == {"job": ["01:00", "02:00", "03:00", "04:00"]}
    world.tick("10:30:05")
    world.tick("11:00")
    hours = [f"{hour:02}:00" for hour in range(1, 12)]
    assert sorted(fired(world)["job"]) == hours
    assert len(world.jobs("c")) == len(hours)
    with world.store.reading() as reader:
        assert not has_missed(reader)


def test_missed_or_not_and_too_old_or_not_is_judged_at_the_return(monkeypatch):
    monkeypatch.setattr(fires, "JOBS_PER_TICK", 1)
    world = cron(", catch_up: all, catch_up_at_most: 3h")
    world.tick("05:10")
    world.tick("12:00")
    for second in range(10):
        world.tick(f"12:00:{second:02}")
    found = fired(world)
    assert sorted(found["job"]) == [f"{hour:02}:00" for hour in (*range(3, 6), *range(9, 13))]
    assert found["D-EXPIRED"] == ["2 from 01:00 to 02:00", "3 from 06:00 to 08:00"]


def test_of_far_too_many_missed_fires_the_newest_get_jobs_and_a_row_says_so(monkeypatch):
    monkeypatch.setattr(missed, "CAUGHT_UP_MAX", 3)
    world = cron(", catch_up: all")
    world.tick("10:30")
    assert fired(world) == {"job": ["08:00", "09:00", "10:00"], "D-EXPIRED": ["7 from 01:00 to 07:00"]}
    (entry,) = [each for each in world.journal("c") if each.kind is EntryKind.EVENT_DISCARDED]
    assert entry.data["number"] == 7
    assert entry.data["detail"] == "only the newest 3 missed fires get jobs"
    assert world.ledger("c").discarded == {"D-EXPIRED": 7}
    with world.store.reading() as reader:
        counts = reader.counts()
        (shown,) = explain(reader, "a/c", at("10:30"))[:1]
    assert [each.number for each in counts.outcomes if each.reason == "D-EXPIRED"] == [7]
    assert [each.number for each in counts.events if each.label == "fire"] == [10]
    assert shown.missed == (
        "7 fires from 2026-03-10 01:00:00Z to 2026-03-10 07:00:00Z were missed and are not run: only"
        " the newest 3 missed fires get jobs"
    )


def test_a_changed_schedule_has_first_taken_all_that_it_missed(monkeypatch):
    monkeypatch.setattr(fires, "JOBS_PER_TICK", 2)
    world = cron(", catch_up: all", rest=", constraints: [{concurrency: {max: 1}}], on_update: carry")
    world.tick("08:30")
    assert len(world.jobs("c")) == 2
    world.suspend("08:30:10", "c")
    world.tick("08:30:20")
    assert len(world.jobs("c")) == 8


@pytest.mark.parametrize("gone", ["deleted", "another cron"])
def test_a_schedule_that_is_gone_has_no_missed_fires(monkeypatch, gone):
    monkeypatch.setattr(fires, "JOBS_PER_TICK", 2)
    world = cron(", catch_up: all")
    world.tick("08:30")
    other = 'd: {program: q, trigger: {cron: "0 * * * *"}}'
    world.redeploy(
        "08:30:10", other if gone == "deleted" else 'c: {program: q, trigger: {cron: "5 1 * * *"}}'
    )
    world.tick("08:30:20")
    with world.store.reading() as reader:
        assert not has_missed(reader)
    assert {str(job.reason) for job in world.jobs("c") if job.state is JobState.DISCARDED} <= {
        "D-DELETED",
        "D-UPDATED",
    }
    assert len(world.jobs("c")) == 8


def test_several_crons_of_one_schedule_fire_in_the_order_of_time():
    world = World(
        'c: {program: q, status: active, trigger: {any: [{cron: "30 6 * * *"}, {cron: "0 5 * * *"}]}}'
    )
    with world.store.reading() as reader:
        (state,) = reader.schedules()
        assert state.next_fire_at == at("05:00")
        assert [event.time for event in fires.due_fires(state, at("07:00")).events] == [
            at("05:00"),
            at("06:30"),
        ]
