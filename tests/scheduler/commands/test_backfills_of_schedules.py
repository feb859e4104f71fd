"""Backfills of schedules: their keys, their jobs, and what holds for these (docs/cycles.md, "Backfill")."""

from datetime import timedelta

import pytest

from tests.worlds.by import CLI
from tests.worlds.filling import DAILY, FilledWorld
from tests.worlds.world import at
from tidegate.scheduler.commands.backfills.request import Wanted
from tidegate.scheduler.commands.backfills.start import start_backfill
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.refused import InstanceRefused

OTHER = """
other: {program: q, trigger: {partitions: {dataset: raw}}, status: active}
"""

TWO = """
chunked: {program: c, for_each: partition, trigger: {partitions: {dataset: chunks}}, status: active}
"""


def test_a_range_is_all_keys_in_order_one_date_at_once() -> None:
    world = FilledWorld(DAILY)
    world.backfill("10:00", "daily", between=("2026-03-01", "2026-03-03"))
    assert world.keys() == ["2026-03-01", "2026-03-02", "2026-03-03"]
    assert world.go("10:00") == ["2026-03-01"]
    assert world.go("10:01") == []
    world.end_of("10:02", "2026-03-01")
    assert world.go("10:02") == ["2026-03-02"]
    world.end_of("10:03", "2026-03-02")
    assert world.go("10:03") == ["2026-03-03"]
    world.end_of("10:04", "2026-03-03")
    assert world.progress() == {"successful": 3}


def test_its_jobs_begin_at_a_whole_second_as_people_read_it() -> None:
    world = FilledWorld(DAILY)
    wanted = Wanted(app="a", task="daily", keys=("2026-03-01",))
    with world.store.transaction() as transaction:
        start_backfill(transaction, wanted, at("10:00:52") + timedelta(microseconds=807136), CLI)
    assert [job.of_task.start for job in world.made()] == [at("10:00:52")]


def test_its_jobs_have_a_manifest_of_what_exists_and_no_events() -> None:
    world = FilledWorld(
        "daily: {program: p, for_each: day, trigger: {partitions: {dataset: hourly}}, status: active,"
        ' args: {key: "{{ key }}", of: "{{ trigger.partitions }}", count: "{{ trigger.count }}"}}'
    )
    world.arrive("09:00", "hourly", "2026-03-09-05:00", "2026-03-09-06:00", "2026-03-08-01:00")
    world.tick("09:00")
    for job in world.jobs("daily"):
        world.cancel("09:01", job.id)
    world.backfill("10:00", "daily", "2026-03-09")
    assert world.go("10:00") == ["2026-03-09"]
    (job,) = world.made()
    assert job.launch is not None
    assert job.launch.manifest == {"hourly": ("2026-03-09-05:00", "2026-03-09-06:00")}
    assert job.launch.args == {
        "key": "2026-03-09",
        "of": ["2026-03-09-05:00", "2026-03-09-06:00"],
        "count": 2,
    }
    assert (job.launch.partitions, job.launch.scheduled_time) == (("2026-03-09",), None)
    with world.store.reading() as reader:
        assert reader.deliveries([job.id]) == {job.id: ()}
    assert sum(world.ledger("daily").discarded.values()) == 3


def test_no_event_joins_a_job_of_a_backfill() -> None:
    world = FilledWorld(DAILY)
    world.backfill("10:00", "daily", between=("2026-03-08", "2026-03-09"))
    world.arrive("10:01", "hourly", "2026-03-09-05:00")
    world.tick("10:01")
    assert len(world.jobs("daily")) == 3


def test_a_live_job_and_one_of_a_backfill_never_run_for_one_key_at_once() -> None:
    world = FilledWorld(DAILY)
    world.backfill("10:00", "daily", between=("2026-03-08", "2026-03-09"), lot=2)
    assert world.go("10:00") == ["2026-03-08", "2026-03-09"]
    world.arrive("10:01", "hourly", "2026-03-09-05:00", "2026-03-07-05:00")
    assert world.go("10:01") == ["2026-03-07"]
    live = next(job for job in world.jobs("daily") if job.key == "2026-03-09" and job.instance is None)
    assert (live.state, live.reason) == (JobState.PENDING_CONSTRAINT, "W-PARTITION")
    world.end_of("10:02", "2026-03-09")
    assert world.go("10:02") == ["2026-03-09"]
    world.backfill("10:03", "daily", "2026-03-09")
    assert world.go("10:03") == []
    assert world.made(2)[0].reason == "W-PARTITION"
    world.end_of("10:04", "2026-03-09")
    assert world.go("10:04") == ["2026-03-09"]


def test_the_business_dates_of_a_cron_are_its_keys() -> None:
    world = FilledWorld('nightly: {program: p, trigger: {cron: "0 2 * * 1-5"}, status: active}')
    world.backfill("10:00", "nightly", between=("2026-03-05", "2026-03-09"), lot=9)
    # Monday to Friday fire, about the day before: no fire is about Friday and Saturday.
    assert world.keys() == ["2026-03-05", "2026-03-08", "2026-03-09"]
    world.go("10:00")
    (first, *_) = world.made()
    assert first.launch is not None
    assert (first.launch.partitions, first.launch.dates) == (("2026-03-05",), ("2026-03-05",))
    assert first.launch.scheduled_time is None


@pytest.mark.parametrize(("batching", "key"), [("date", "2026-03-09"), ("coalesce", "")])
def test_a_live_fire_waits_for_the_backfill_of_its_date_only(batching: str, key: str) -> None:
    cron = f'{{program: p, trigger: {{cron: "0 2 * * *"}}, batching: {batching}, status: active}}'
    world = FilledWorld(f"nightly: {cron}", start="00:30")
    world.backfill("01:00", "nightly", between=("2026-03-08", "2026-03-09"), lot=2)
    assert world.go("01:00") == ["2026-03-08", "2026-03-09"]
    assert world.go("02:00") == []
    assert world.outcome("nightly") == ("PENDING_CONSTRAINT", "W-PARTITION")
    world.end_of("02:01", "2026-03-08")
    assert world.go("02:01") == []
    world.end_of("02:02", "2026-03-09")
    assert world.go("02:02") == [key]


@pytest.mark.parametrize(
    ("name", "keys", "between", "code"),
    [
        ("pooled", (), ("2026-03-01", "2026-03-02"), "E-RANGE"),
        ("daily", (), ("2026-03-02", "2026-03-01"), "E-RANGE"),
        ("daily", (), ("2026-03-09", "2026-03-10"), "E-RANGE"),
        ("daily", (), ("2012-03-09", "2012-03-10"), "E-RANGE"),
        ("daily", ("2026-03-10",), None, "E-RANGE"),
        ("daily", ("yesterday",), None, "E-TIME"),
        ("daily", (), None, "E-RANGE"),
        ("unknown", ("2026-03-01",), None, "E-TASK"),
    ],
)
def test_what_has_no_such_keys_is_refused(
    name: str, keys: tuple[str, ...], between: object, code: str
) -> None:
    world = FilledWorld(DAILY + "pooled: {program: q, trigger: {partitions: {dataset: raw}}, status: active}")
    with pytest.raises(InstanceRefused) as refused:
        world.backfill("10:00", name, *keys, between=between)
    assert refused.value.code == code
    assert not world.jobs("daily")


def test_missing_failed_and_stale_keys() -> None:
    world = FilledWorld(DAILY)
    days = ("2026-03-06", "2026-03-07", "2026-03-08")
    world.arrive("09:00", "hourly", *(f"{day}-01:00" for day in days))
    world.go("09:00")
    world.end_of("09:10", days[0])
    world.end_of("09:10", days[1], "failed")
    world.end_of("09:10", days[2])
    world.suspend("09:19", "daily")
    world.arrive("09:20", "hourly", f"{days[2]}-01:00")
    world.tick("09:20")
    between = ("2026-03-05", "2026-03-08")
    for which, expected in (
        ("missing", ["2026-03-05", "2026-03-07"]),
        ("failed", ["2026-03-07"]),
        ("stale", ["2026-03-08"]),
        ("all", ["2026-03-05", *days]),
    ):
        number = world.backfill("10:00", "daily", between=between, which=which, lot=9)
        assert world.keys(number) == expected, which
    with pytest.raises(InstanceRefused, match="E-RANGE"):
        world.backfill("10:00", "daily", between=("2026-03-06", "2026-03-06"), which="failed")


def test_a_cancel_and_a_resume_lose_nothing_and_repeat_nothing() -> None:
    world = FilledWorld(DAILY)
    world.backfill("10:00", "daily", between=("2026-03-01", "2026-03-04"), lot=2)
    assert world.go("10:00") == ["2026-03-01", "2026-03-02"]
    world.end_of("10:01", "2026-03-01")
    world.cancel_backfill("10:02")
    assert world.progress() == {"running": 1, "successful": 1}
    assert world.go("10:03") == []
    world.resume_backfill("10:04")
    assert world.go("10:04") == []
    world.end_of("10:05", "2026-03-02")
    assert world.go("10:05") == ["2026-03-03", "2026-03-04"]
    with pytest.raises(InstanceRefused, match="E-STATE"):
        world.resume_backfill("10:06")


def test_a_backfill_comes_after_every_live_job_unless_it_has_a_priority() -> None:
    one = "constraints: [{concurrency: {max: 1}}]"
    world = FilledWorld(DAILY.replace("status: active", f"status: active, priority: low, {one}"))
    world.backfill("10:00", "daily", between=("2026-03-01", "2026-03-02"), lot=2)
    assert world.go("10:00") == ["2026-03-01"]
    world.arrive("2d 10:00", "hourly", "2026-03-09-05:00")
    assert world.go("2d 10:00") == []
    world.end_of("2d 10:01", "2026-03-01")
    assert world.go("2d 10:01") == ["2026-03-09"]


def test_a_failed_key_stops_later_lots_until_it_runs_again() -> None:
    world = FilledWorld(DAILY)
    world.backfill("10:00", "daily", between=("2026-03-01", "2026-03-02"))
    world.go("10:00")
    world.end_of("10:01", "2026-03-01", "failed")
    assert world.go("10:01") == []
    world.rerun("10:02", "daily", "2026-03-01")
    assert world.go("10:02") == ["2026-03-01"]
    world.end_of("10:03", "2026-03-01")
    assert world.go("10:03") == ["2026-03-02"]


def test_with_quiet_downstream_its_publishes_start_no_schedule() -> None:
    listening = "after: {program: q, trigger: {run: {program: p}}, status: active}"
    for quiet, jobs in ((True, 0), (False, 1)):
        world = FilledWorld(DAILY + listening)
        world.backfill("10:00", "daily", "2026-03-01", quiet_downstream=quiet)
        world.go("10:00")
        world.end_of("10:01", "2026-03-01")
        world.tick("10:01")
        assert len(world.jobs("after")) == jobs


@pytest.mark.parametrize("on_update", ["reset", "carry"])
def test_a_changed_schedule_goes_on_with_its_backfill(on_update: str) -> None:
    world = FilledWorld(DAILY)
    world.backfill("10:00", "daily", between=("2026-03-01", "2026-03-02"))
    world.go("10:00")
    changed = DAILY.replace("status: active", f"status: active, priority: high, on_update: {on_update}")
    world.redeploy("10:01", changed.replace("dataset: hourly", "dataset: raw"))
    world.end_of("10:02", "2026-03-01")
    assert world.go("10:02") == ["2026-03-02"]


def test_a_schedule_with_other_keys_or_none_ends_its_backfill() -> None:
    for changed in (
        DAILY.replace("for_each: day", "for_each: month").replace("program: p", "program: q"),
        OTHER,
    ):
        world = FilledWorld(DAILY)
        world.backfill("10:00", "daily", between=("2026-03-01", "2026-03-02"))
        world.go("10:00")
        world.redeploy("10:01", changed)
        assert world.progress() == {"running": 1}, changed


RENAMED = DAILY.replace("daily: {", "each_day: {renamed_from: daily, ")


def test_a_renamed_schedule_takes_its_backfill_along() -> None:
    world = FilledWorld(DAILY)
    world.backfill("10:00", "daily", between=("2026-03-01", "2026-03-03"))
    world.go("10:00")
    world.redeploy("10:01", RENAMED)
    world.end_of("10:02", "2026-03-01")
    assert world.go("10:02") == ["2026-03-02"]
    assert {job.schedule for job in world.made()} == {"a/each_day"}
    world.end_of("10:03", "2026-03-02", "failed")
    world.rerun("10:04", "each_day", "2026-03-02")
    assert world.go("10:04") == ["2026-03-02"]


def cancelled_before(changed: str) -> FilledWorld:
    """A backfill is cancelled, and its app is deployed otherwise."""
    world = FilledWorld(DAILY)
    world.backfill("10:00", "daily", between=("2026-03-01", "2026-03-03"))
    world.cancel_backfill("10:01")
    world.redeploy("10:02", changed)
    return world


def test_a_cancelled_backfill_of_a_renamed_schedule_is_resumed_under_its_new_name() -> None:
    world = cancelled_before(RENAMED)
    world.resume_backfill("10:03")
    assert world.keys() == ["2026-03-01", "2026-03-02", "2026-03-03"]
    assert world.go("10:03") == ["2026-03-01"]


def test_a_cancelled_backfill_of_a_deleted_schedule_is_not_resumed() -> None:
    world = cancelled_before(OTHER)
    with pytest.raises(InstanceRefused, match="E-TASK"):
        world.resume_backfill("10:03")


def test_a_suspended_schedule_holds_its_backfill() -> None:
    world = FilledWorld(DAILY)
    world.backfill("10:00", "daily", between=("2026-03-01", "2026-03-02"))
    world.go("10:00")
    world.suspend("10:01", "daily")
    world.end_of("10:02", "2026-03-01")
    assert world.go("10:02") == []
    world.resume("10:03", "daily")
    assert world.go("10:03") == ["2026-03-02"]


def test_a_job_of_a_backfill_has_no_deadline_and_keeps_its_retries() -> None:
    world = FilledWorld(
        DAILY.replace("status: active", 'status: active, deadline: "08:00", retries: {max: 1}')
    )
    world.backfill("10:00", "daily", "2026-03-01")
    world.go("10:00")
    world.end_of("10:01", "2026-03-01", "failed")
    assert world.go("10:01") == ["2026-03-01"]
    assert world.made()[0].late_at is None


def test_upstream_schedules_come_first() -> None:
    world = FilledWorld(
        """
hours: {program: h, for_each: partition, trigger: {partitions: {dataset: landed}}, status: active}
daily: {program: p, for_each: day, trigger: {partitions: {dataset: hourly}}, status: active}
"""
    )
    world.backfill("10:00", "daily", "2026-03-08", "2026-03-09", upstream=True)
    keys = world.keys()
    assert len(keys) == 24 + 1 + 24 + 1
    assert (keys[24], keys[-1]) == ("2026-03-08", "2026-03-09")
    assert world.go("10:00") == keys[:24]
