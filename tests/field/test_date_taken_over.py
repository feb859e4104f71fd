"""While last night's run was late, the next night's run took its date over, and one day was never written.

Each business date of a cron waits for itself, however long a run, a window or a suspension takes, and also
where people trigger the schedule meanwhile. What a job with several fires writes is the date of each.
"""

import msgspec
import pytest

from tests.worlds.by import CLI
from tests.worlds.world import World, app_of, at
from tidegate.scheduler.commands.by_hand.force import force
from tidegate.scheduler.commands.deployment.live import difference
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.deployed import APPS, ScheduleState
from tidegate.scheduler.model.job import WAITING, JobState
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.tick.deadlines import sweep_deadlines

NIGHTLY = (
    's: {program: p, status: active, trigger: {cron: "0 1 * * *"}, constraints: [{concurrency: {max: 1}}],'
    " timeout: 30d%s}"
)
S = NIGHTLY % ""
WAITS = (
    's: {program: p, status: active, trigger: {cron: "0 1 * * *"}, constraints: [{delay: 20d}],'
    " timeout: 30d%s}"
)


def deployed(schedules: str) -> World:
    """The first fire is that of one in the morning of 11 March, about 10 March."""
    return World(schedules, start="1d 00:30")


def nights(world: World, first: int, last: int) -> None:
    """The scheduler ticks every ten minutes around each night."""
    for day in range(first, last + 1):
        for clock in ("00:50", "01:00", "01:10", "12:00"):
            world.tick(f"{day}d {clock}")


def waiting_dates(world: World) -> list[str]:
    return sorted(job.key for job in world.jobs("s", *WAITING))


def written(world: World) -> list[tuple[str, ...]]:
    return sorted(job.launch.partitions for job in world.jobs("s") if job.launch is not None)


def test_each_date_has_a_job_and_the_oldest_comes_first() -> None:
    world = deployed(S)
    nights(world, 1, 1)
    world.launch_all("1d 12:00")
    nights(world, 2, 4)
    assert waiting_dates(world) == ["2026-03-11", "2026-03-12", "2026-03-13"]
    for hour, date in enumerate(["2026-03-10", "2026-03-11", "2026-03-12", "2026-03-13"]):
        (running,) = world.jobs("s", JobState.LAUNCHED)
        assert running.launch is not None and running.launch.partitions == (date,)
        world.end(f"5d 0{hour}:00", running.id)
        world.tick(f"5d 0{hour}:00")
        world.launch_all(f"5d 0{hour}:00")
    assert world.ledger("s").discarded == {}


def test_it_is_the_same_at_any_pace_of_the_ticks() -> None:
    quick, slow = deployed(WAITS % ""), deployed(WAITS % "")
    nights(quick, 1, 1)
    quick.tick("1d 12:10")
    slow.tick("1d 00:55")
    slow.tick("1d 01:05")
    assert [job.key for job in quick.jobs("s")] == [job.key for job in slow.jobs("s")] == ["2026-03-10"]


def test_the_dates_of_missed_fires_follow_catch_up() -> None:
    newest, every = deployed(WAITS % ""), deployed((WAITS % "").replace('* *"', '* *", catch_up: all'))
    for world in (newest, every):
        world.tick("1d 00:30")
        world.tick("4d 12:00")
    assert waiting_dates(newest) == ["2026-03-13"]
    assert newest.ledger("s").discarded == {"D-EXPIRED": 3}
    assert waiting_dates(every) == [f"2026-03-{day:02}" for day in (10, 11, 12, 13)]


def test_a_date_that_waits_longer_than_the_timeout_is_discarded_on_record() -> None:
    world = deployed((WAITS % "").replace("20d", "3d").replace("30d", "4d"))
    nights(world, 1, 3)
    world.suspend("3d 13:00", "s")
    assert world.ledger("s").discarded == {"D-SUSPENDED": 3}
    other = deployed(NIGHTLY.replace("timeout: 30d", "timeout: 36h") % "")
    nights(other, 1, 1)
    other.launch_all("1d 12:00")
    nights(other, 2, 4)
    assert [str(job.reason) for job in other.jobs("s", JobState.DISCARDED)] == ["D-TIMEOUT"]
    assert [job.key for job in other.jobs("s", JobState.DISCARDED)] == ["2026-03-11"]


@pytest.mark.parametrize("on_suspend", ["hold", "backlog"])
def test_while_it_is_suspended(on_suspend: str) -> None:
    world = deployed(WAITS % f", on_suspend: {on_suspend}")
    nights(world, 1, 1)
    world.suspend("1d 13:00", "s")
    nights(world, 2, 3)
    kept = ["2026-03-10", "2026-03-11", "2026-03-12"]
    assert waiting_dates(world) == (kept[:1] if on_suspend == "hold" else kept)
    assert world.ledger("s").discarded == ({"D-SUSPENDED": 2} if on_suspend == "hold" else {})


def test_by_hand_it_is_about_the_date_counted_from_now_or_about_the_one_that_is_named() -> None:
    world = deployed(WAITS % "")
    nights(world, 1, 2)
    assert world.trigger("2d 13:00", "s").key == "2026-03-11"
    assert world.trigger("2d 14:00", "s", "2026-03-10").by_hand is not None
    assert waiting_dates(world) == ["2026-03-10", "2026-03-11"]
    named = world.trigger("2d 15:00", "s", "2026-03-12")
    assert not named.closed
    nights(world, 3, 3)
    assert waiting_dates(world) == ["2026-03-10", "2026-03-11", "2026-03-12"]
    with world.store.reading() as reader:
        assert [each.event.day for each in reader.deliveries([named.id])[named.id]] == ["2026-03-13"]


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("2026-03-12", "has not begun"),
        ("2026-3-1", "is not the key of a day"),
        ("2012-12-31", "before the first"),
    ],
)
def test_by_hand_a_wrong_date_is_refused(key: str, words: str) -> None:
    world = deployed(WAITS % "")
    with pytest.raises(Refused, match=words):
        world.trigger("1d 12:00", "s", key)
    assert world.jobs("s") == ()


def test_by_hand_without_partitions_the_date_is_a_day_that_args_get() -> None:
    world = deployed(
        's: {program: q, status: active, trigger: {cron: "0 1 * * *"}, args: {day: "{{ business_date }}"}}'
    )
    world.trigger("1d 12:00", "s", "2026-01-31")
    world.trigger("1d 12:00", "s")
    world.tick("1d 12:00")
    assert [job.launch.args for job in world.jobs("s") if job.launch] == [
        {"day": "2026-01-31"},
        {"day": "2026-03-10"},
    ]


def test_a_forced_job_without_a_date_gets_the_one_counted_from_now() -> None:
    world = deployed(
        's: {program: p, status: active, trigger: {any: [{cron: "0 1 * * *"},'
        " {partitions: {dataset: plain, count: 2, distinct: false}}]}}"
    )
    world.tick("1d 02:00")
    world.arrive("1d 03:00", "plain")
    world.tick("1d 03:00")
    (undated,) = world.jobs("s", *WAITING)
    assert undated.key == ""
    with world.store.transaction() as transaction:
        force(transaction, undated.id, at("2d 02:00"), CLI)
    assert world.job(undated.id).key == "2026-03-11"
    world.tick("2d 02:00")
    launch = world.job(undated.id).launch
    assert launch is not None and (launch.key, launch.partitions) == ("2026-03-11", ("2026-03-11",))


def test_what_arrives_as_a_date_is_discarded_is_not_about_that_date() -> None:
    world = deployed(
        's: {program: p, status: active, trigger: {any: [{cron: "0 1 * * *"},'
        " {partitions: {dataset: plain}}]}, constraints: [{load: {gauge: cpu, max: 1}}], timeout: 12h}"
    )
    world.report("1d 00:10", cpu=5)
    world.tick("1d 01:00")
    world.arrive("1d 13:00", "plain")
    world.tick("1d 13:00")
    assert [(job.key, str(job.state)) for job in world.jobs("s")] == [
        ("2026-03-10", "DISCARDED"),
        ("2026-03-10", "PENDING_CONSTRAINT"),
    ]


def dates_by_why(world: World, clock: str) -> tuple[str, ...]:
    with world.store.reading() as reader:
        (explanation,) = explain(reader, "a/s", at(clock))
    return explanation.business_dates


# --- what the lists say -----------------------------------------------------------------


def test_why_and_late_jobs_name_the_date_and_the_deadline_counts_from_the_fire() -> None:
    world = deployed(WAITS % ', deadline: "06:00"')
    world.tick("1d 01:00")
    assert sweep_deadlines(world.store, at("1d 05:59")) == 0
    assert sweep_deadlines(world.store, at("1d 06:01")) == 1
    (late,) = [entry for entry in world.journal("s") if entry.kind == "late"]
    assert (late.data["key"], late.data["due"]) == ("2026-03-10", at("1d 06:00").isoformat())
    with world.store.reading() as reader:
        (explanation,) = explain(reader, "a/s", at("1d 07:00"))
    assert explanation.job is not None and explanation.job.key == "2026-03-10"


# --- deployments ------------------------------------------------------------------------


def earlier(world: World) -> None:
    """As a version before deployed it: it has no dates as keys, its text does not say so, and no digest."""
    with world.store.transaction() as transaction:
        (state,) = transaction.schedules(refs=["a/s"])
        old = msgspec.structs.replace(state.spec, batching="coalesce")
        transaction.put_schedules([msgspec.structs.replace(state, spec=old)])
        apps = [msgspec.structs.replace(each, digest="") for each in transaction.records(APPS)]
        transaction.put_records(APPS, apps)


def state_of(world: World) -> ScheduleState:
    with world.store.reading() as reader:
        return reader.schedules(refs=["a/s"])[0]


def test_deployed_schedules_get_it_without_a_reset_and_lose_no_date() -> None:
    world = deployed(WAITS % "")
    earlier(world)
    nights(world, 1, 2)
    assert waiting_dates(world) == [""]
    with world.store.reading() as reader:
        found = difference(reader, {"a": app_of(WAITS % "")})
    (change,) = found.schedules()
    assert change.action == "amend"
    assert [(each.path, each.old, each.new) for each in change.fields] == [("batching", "coalesce", "date")]
    world.redeploy("2d 13:00", WAITS % "")
    assert state_of(world).spec.batching == "date"
    nights(world, 3, 3)
    assert waiting_dates(world) == ["", "2026-03-12"]
    for job in world.jobs("s", *WAITING):
        with world.store.transaction() as transaction:
            force(transaction, job.id, at("4d 00:10"), CLI)
    world.tick("4d 00:10")
    assert written(world) == [("2026-03-10", "2026-03-11"), ("2026-03-12",)]


def test_the_date_stays_when_the_schedule_is_carried() -> None:
    world = deployed(WAITS % ", on_update: carry")
    nights(world, 1, 2)
    world.redeploy("2d 13:00", (WAITS % ", on_update: carry").replace("0 1", "0 2"))
    world.tick("2d 13:00")
    assert waiting_dates(world) == ["2026-03-10", "2026-03-11"]
    world.redeploy("2d 14:00", (WAITS % ", on_update: carry, batching: coalesce"))
    for clock in ("2d 14:00", "22d 13:00", "22d 13:10"):
        world.tick(clock)
    assert [each for each in written(world) if len(each) == 1] == [("2026-03-10",), ("2026-03-11",)]


def test_other_periods_of_the_outputs_are_other_keys() -> None:
    world = deployed(WAITS % ", on_update: carry")
    nights(world, 1, 1)
    months = app_of(WAITS % ", on_update: carry")
    out = months.datasets["out"].partitions
    assert out is not None and out.time is not None
    time = msgspec.structs.replace(out.time, cycle="month")
    datasets = {
        **months.datasets,
        "out": msgspec.structs.replace(
            months.datasets["out"], partitions=msgspec.structs.replace(out, time=time)
        ),
    }
    with world.store.reading() as reader:
        found = difference(reader, {"a": msgspec.structs.replace(months, datasets=datasets)})
    (change,) = found.schedules()
    assert (change.action, change.carries, change.because) == (
        "replace",
        False,
        "the partitions of out change",
    )


# --- several fires in one job -----------------------------------------------------------

TOGETHER = (
    's: {program: p, status: active, trigger: {all: [{cron: "0 1 * * *"}, {partitions: {dataset: plain}}]},'
    ' args: {newest: "{{ business_date }}", all: "{{ business_dates }}"}%s}'
)


def test_a_job_writes_the_date_of_each_of_its_fires_and_a_retry_does() -> None:
    world = deployed(TOGETHER % "")
    nights(world, 1, 3)
    dates = ("2026-03-10", "2026-03-11", "2026-03-12")
    assert dates_by_why(world, "3d 12:30") == dates
    world.arrive("3d 13:00", "plain")
    world.tick("3d 13:00")
    (job,) = world.jobs("s")
    assert job.launch is not None and job.key == ""
    assert (job.launch.partitions, job.launch.business_dates, job.launch.business_date) == (
        dates,
        dates,
        dates[-1],
    )
    assert job.launch.args == {"newest": "2026-03-12", "all": list(dates)}
    world.launch_all("3d 13:00")
    world.end("3d 14:00", job.id, "failed")
    world.retry("3d 15:00", job.id)
    assert dates_by_why(world, "3d 15:00") == dates
    with world.store.reading() as present, store_at(present, at("3d 13:30")).reading() as past:
        (before,) = past.jobs(ids=[job.id])
    assert before.launch is not None and before.launch.dates == dates
    world.tick("3d 15:00")
    (request,) = world.offer_launches("3d 15:00")
    assert request.launch.partitions == dates
    assert request.launch.args["all"] == list(dates)


def test_written_by_date_each_fire_waits_for_itself_and_data_goes_to_the_oldest() -> None:
    world = deployed(TOGETHER % ", batching: date, max_batch: 2")
    nights(world, 1, 3)
    assert waiting_dates(world) == ["2026-03-10", "2026-03-11", "2026-03-12"]
    world.arrive("3d 13:00", "plain")
    world.tick("3d 13:00")
    assert written(world) == [("2026-03-10",)]
    world.arrive("3d 14:00", "plain")
    world.tick("3d 14:00")
    assert written(world) == [("2026-03-10",), ("2026-03-11",)]


DEFAULTS = [
    ('program: p, trigger: {cron: "0 1 * * *"}', "date"),
    ('program: p, trigger: {any: [{cron: "0 1 * * *"}, {run: {program: r}}]}', "date"),
    ('program: p, trigger: {any: [{any: [{cron: "0 1 * * *"}]}, {elapsed: {for: 4h}}]}', "date"),
    ('program: q, args: {d: {e: ["x {{ business_date }}"]}}, trigger: {cron: "0 1 * * *"}', "date"),
    ('program: q, trigger: {cron: "0 1 * * *"}', "coalesce"),
    ('program: q, args: {d: "{{ scheduled_time }}"}, trigger: {cron: "0 1 * * *"}', "coalesce"),
    ('program: p, output_partition: current, trigger: {cron: "0 1 * * *"}', "coalesce"),
    ('program: p, trigger: {all: [{cron: "0 1 * * *"}, {partitions: {dataset: plain}}]}', "coalesce"),
    ('program: p, trigger: {at_least: {n: 1, of: [{cron: "0 1 * * *"}, {run: {program: r}}]}}', "coalesce"),
    ("program: p, trigger: {elapsed: {for: 4h}}", "coalesce"),
    ('program: p, trigger: {cron: "0 1 * * *"}, batching: coalesce', "coalesce"),
    ('program: p, trigger: {cron: "0 1 * * *"}, batching: each', "each"),
    (
        'program: p, for_each: day, trigger: {all: [{cron: "0 1 * * *"}, {partitions: {dataset: raw}}]}',
        "coalesce",
    ),
]


@pytest.mark.parametrize(("schedule", "expected"), DEFAULTS, ids=[row[0] for row in DEFAULTS])
def test_the_default(schedule: str, expected: str) -> None:
    assert app_of(f"s: {{{schedule}}}").schedules["s"].batching == expected
