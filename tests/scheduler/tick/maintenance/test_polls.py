"""Polls: their grid, also after an absence or with another clock, and what they measure and look at."""

import copy
from pathlib import Path

import pytest

from tests.worlds.tables import EXPIRE, HOURLY, SICK, TableWorld, shown
from tests.worlds.tables import store as store
from tests.worlds.world import at
from tidegate.scheduler.intake.tables import forget_health
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.scheduler.tick.maintenance.poll import next_poll
from tidegate.scheduler.tick.tick import tick

MINUTELY = "nightly: {tables: 'w.*.*', operations: {rewrite_data_files: {interval: 1m}}}"


# --- the grid -----------------------------------------------------------------------------


def test_the_first_poll_is_at_the_first_deploy_and_all_others_at_whole_multiples(store):
    world = TableWorld(MINUTELY, "w.a.x", start="00:00:07", store=store, maintenance="poll: 10m")
    assert world.poll("00:00:07") == ["w.a.x rewrite"]
    world.end_all("00:00:30")
    world.blind = True
    assert world.poll("00:10:06") == []
    assert world.poll("00:10:30") == ["w.a.x rewrite"]
    assert shown(world.running()[0].started_at) == "00:10:07"


def test_a_store_of_which_the_first_deploy_has_no_policies_has_its_grid_too():
    world = TableWorld("", schedules="s: {program: q, trigger: {cron: '0 0 * * *'}}", start="00:00:07")
    world.found("00:05", "w.a.x")
    world.deploy("00:05:30", MINUTELY)
    assert world.poll("00:06") == []
    assert world.poll("00:06:07") == ["w.a.x rewrite"]


def test_a_tick_replays_the_polls_since_the_last_one():
    world = TableWorld(MINUTELY, "w.a.x", "w.b.y", maintenance="budget: {operations_per_poll: 1}")
    world.tick("00:00")
    world.blind = True
    world.tick("00:05:30")
    assert world.starts() == ["00:00 w.a.x rewrite", "00:01 w.b.y rewrite"]


def test_after_an_absence_the_next_poll_is_on_the_grid():
    world = TableWorld(MINUTELY, "w.a.x", start="00:00:10")
    world.poll("00:00:10")
    world.end_all("00:00:20")
    world.blind = True
    assert world.poll("05:00:30") == []
    assert world.poll("05:01:09") == []
    assert world.poll("05:01:10") == ["w.a.x rewrite"]


def test_a_timeout_during_an_absence_counts_at_once_when_it_ends():
    policy = "nightly: {tables: w.a.x, operations: {rewrite_data_files: {interval: 1m, timeout: 30m}}}"
    world = TableWorld(policy, "w.a.x", blind=True, maintenance="poll: 1h")
    world.poll("00:00")
    assert world.poll("05:10") == []
    assert [(run.ending, shown(run.ended_at)) for run in world.runs()] == [("failed", "05:10")]
    assert world.poll("06:00") == ["w.a.x rewrite"]


def test_a_timeout_between_an_absence_and_the_next_poll_is_exact():
    short, long = (
        f"p{n}: {{tables: w.a.t{n}, operations: {{rewrite_data_files: {{interval: 1m, timeout: {n}m}}}}}}"
        for n in (1, 311)
    )
    world = TableWorld(f"{short}\n{long}", "w.a.t1", "w.a.t311", blind=True, maintenance="poll: 1h")
    world.poll("00:00")
    world.poll("05:10")
    world.tick("05:11:30")
    ended = {run.table: shown(run.ended_at) for run in world.runs()}
    assert ended == {"w.a.t1": "05:10", "w.a.t311": "05:11"}


def test_once_the_clock_is_put_back_runs_and_polls_count_as_of_then():
    world = TableWorld(MINUTELY, "w.a.x")
    world.poll("02:00")
    world.end_all("02:00:30")
    world.blind = True
    assert world.poll("01:00") == []
    assert world.poll("01:01") == ["w.a.x rewrite"]


def test_a_clock_that_is_put_forward_is_like_an_absence():
    world = TableWorld(MINUTELY, "w.a.x")
    world.poll("00:00")
    world.end_all("00:00:30")
    world.blind = True
    assert world.poll("9d 00:00") == ["w.a.x rewrite"]
    assert world.poll("9d 04:00") == ["w.a.x rewrite"]
    assert [run.ending for run in world.runs()][1] == "failed"


def test_two_schedulers_on_one_store_start_everything_once(store):
    world = TableWorld(MINUTELY, "w.a.x", "w.b.y", store=store)
    for second in range(0, 180, 7):
        clock = f"00:0{second // 60}:{second % 60:02}"
        first = tick(world.store, at(clock))
        again = tick(world.store, at(clock))
        assert not (first.launched and again.launched)
        tick(world.store, at("00:00"))
    assert sorted(world.starts()) == ["00:00 w.a.x rewrite", "00:00 w.b.y rewrite"]


def test_an_idle_tick_only_asks_when_the_next_poll_has_work():
    world = TableWorld(HOURLY, "w.a.x", blind=True)
    world.poll("00:00")
    world.end_all("00:00:30")
    world.tick("00:01")
    with world.store.reading() as reader:
        assert next_poll(reader, at("00:01")) == at("01:00")
    assert world.tick("00:59").decided == 0


def test_without_tables_there_is_no_poll():
    world = TableWorld(HOURLY)
    with world.store.reading() as reader:
        assert next_poll(reader, at("00:01")) is None


# --- budgets ------------------------------------------------------------------------------

FOUR = ("w.a.x", "w.b.y", "w.c.z", "w.d.z")


def test_a_budget_is_one_of_a_poll_also_over_a_restart(store: Store, tmp_path: Path):
    world = TableWorld(MINUTELY, *FOUR, store=store, maintenance="budget: {tables_per_poll: 1}")
    assert world.poll("00:00") == ["w.a.x rewrite"]
    assert world.waiting() == dict.fromkeys([f"{name} rewrite" for name in FOUR[1:]], "M-BUDGET")
    # Nothing of it is kept in a process: a new one has only what is on the disk.
    again = copy.copy(world)
    if isinstance(store, SqlStore):
        store.close()
        again.store = open_sql_store(f"sqlite:///{tmp_path}/store.db", create=False)
    assert [again.poll(f"00:0{minute}") for minute in range(1, 5)] == [
        [f"{name} rewrite"] for name in FOUR[1:]
    ] + [[]]
    again.store.close()


def test_bytes_are_those_of_runs_that_ended_in_the_hour():
    world = TableWorld(MINUTELY, *FOUR, start="00:58", maintenance="budget: {bytes_per_hour: 1000}")
    world.blind = True
    assert len(world.poll("00:58")) == 4
    for run, rewritten in zip(world.running(), (400, 700, 0, 0), strict=True):
        world.end("00:58:30", run.job, bytes=rewritten)
    assert world.poll("00:59") == []
    assert {world.reason("00:59", name) for name in FOUR} == {("M-BUDGET", "01:00")}
    # A new hour is free, whatever the one before has overshot.
    assert len(world.poll("01:00")) == 4
    for number, run in enumerate(world.running()):
        world.end("01:00:30", run.job, ("failed", "succeeded")[number % 2], bytes=249)
    assert len(world.poll("01:01")) == 4
    world.end("01:01:10", world.running()[0].job, bytes=4)
    assert world.poll("01:02") == []
    assert world.poll("01:59") == []
    world.end("01:59:59", world.running()[0].job, bytes=9)
    assert len(world.poll("02:00")) == 2


def test_what_waits_in_line_behind_the_first_operation_starts_when_it_is_the_first():
    two = (
        "nightly: {tables: 'w.*.*', operations: {rewrite_data_files: {interval: 1h, window:"
        " {from: '00:00', to: '00:02'}}, expire_snapshots: {interval: 1h}}}"
    )
    world = TableWorld(two, "w.a.x", "w.b.y", "w.c.z", maintenance="budget: {operations_per_poll: 1}")
    assert world.poll("00:00") == ["w.a.x rewrite"]
    assert world.poll("00:01") == ["w.b.y rewrite"]
    assert world.record("w.c.z", EXPIRE).next_look is None
    # The window closes, and the expire behind it is the next one.
    assert world.poll("00:02") == ["w.c.z expire"]
    assert world.reason("00:02", "w.c.z") == ("M-TABLE", None)
    world.end_all("00:02:30")
    assert world.reason("00:03", "w.c.z") == ("M-WINDOW", "1d 00:00")
    assert [world.poll(f"00:0{minute}") for minute in (3, 4)] == [["w.a.x expire"], ["w.b.y expire"]]


def test_one_that_waits_for_a_slot_starts_at_the_poll_after_its_release():
    world = TableWorld(MINUTELY, "w.a.x", "w.b.y", maintenance="auto_pools: {spark: 1}")
    assert world.poll("00:00") == ["w.a.x rewrite"]
    assert world.reason("00:00", "w.b.y") == ("W-CONCURRENCY", None)
    assert world.poll("00:01") == []
    world.end_all("00:01:30", "failed")
    assert world.poll("00:01:40") == []
    assert world.poll("00:02") == ["w.a.x rewrite"], "it is due too, and comes first"


def test_schedules_that_name_the_pool_share_its_slots():
    schedule = (
        "s: {program: q, status: active, trigger: {partitions: {dataset: raw}},"
        " constraints: [{concurrency: {group: spark, max: 1}}]}"
    )
    policy = "nightly: {tables: w.a.x, operations: {rewrite_data_files: {interval: 1m, timeout: 2m}}}"
    world = TableWorld(policy, "w.a.x", schedules=schedule, maintenance="auto_pools: {spark: 1}")
    assert world.poll("00:00") == ["w.a.x rewrite"]
    world.arrive("00:01", "raw", "2026-03-09")
    assert world.poll("00:01") == []
    assert world.pipeline_jobs("a/s")[0].reason == "W-CONCURRENCY"
    # The operation times out at the instant of a poll: the job has waited for longer than that poll.
    assert world.poll("00:02") == ["a/s"]
    assert world.reason("00:02", "w.a.x") == ("W-CONCURRENCY", None)


# --- health -------------------------------------------------------------------------------


def test_a_table_is_measured_before_its_thresholds_decide(store):
    world = TableWorld(SICK, "w.a.x", store=store, blind=True)
    world.sick("w.a.x", snapshots=100)
    assert world.poll("00:00") == []
    assert world.reason("00:00", "w.a.x") == ("M-HEALTH", "00:01")
    with world.store.reading() as reader:
        assert [
            (table.name, shown(table.wanted_at)) for table in reader.due_records(MAINTAINED_TABLES, None, 9)
        ] == [("w.a.x", "00:00")]
    world.measure("00:00:20", "w.a.x")
    with world.store.reading() as reader:
        assert reader.due_records(MAINTAINED_TABLES, None, 9) == ()
    assert world.poll("00:00:59") == []
    assert world.poll("00:01") == ["w.a.x rewrite"]


def test_a_table_that_cannot_be_measured_is_measured_again_and_again():
    world = TableWorld(SICK, "w.a.x", blind=True)
    world.measures["w.a.x"] = None
    for minute in range(3):
        assert world.poll(f"00:0{minute}") == []
        assert world.reason(f"00:0{minute}", "w.a.x")[0] == "M-HEALTH"
        assert world.table("w.a.x").wanted_at == at(f"00:0{minute}")
        world.measure(f"00:0{minute}:10", "w.a.x")
        assert world.table("w.a.x").health.failure == "no such catalog"
        assert world.table("w.a.x").wanted_at is None


def test_what_was_measured_counts_for_five_minutes():
    world = TableWorld(SICK, "w.a.x", blind=True)
    world.measure("00:00", "w.a.x")
    world.tick("00:00")
    assert world.waiting() == {"w.a.x rewrite": "M-CONDITION"}
    for minute in range(1, 6):
        world.tick(f"00:0{minute}")
        assert world.table("w.a.x").wanted_at is None
    world.tick("00:06")
    assert world.waiting() == {"w.a.x rewrite": "M-HEALTH"}
    assert world.table("w.a.x").wanted_at == at("00:06")


def test_where_polls_are_rarer_it_counts_until_the_next_one():
    world = TableWorld(SICK, "w.a.x", blind=True, maintenance="poll: 10m")
    world.sick("w.a.x", snapshots=100)
    world.poll("00:00")
    world.measure("00:00:10", "w.a.x")
    assert world.poll("00:10") == ["w.a.x rewrite"]


@pytest.mark.parametrize("how", ["event", "report"])
def test_a_write_makes_it_be_measured_again(how):
    own = SICK.replace("'w.a.*'", "a/out")
    world = TableWorld(own, blind=True)
    world.measure("00:00", "a/out")
    world.tick("00:00")
    assert world.waiting() == {"a/out rewrite": "M-CONDITION"}
    if how == "event":
        world.arrive("00:00:30", "out", "2026-03-09")
        world.tick("00:00:30")
    else:
        with world.store.transaction() as transaction:
            forget_health(transaction, ["a/out"], at("00:00:30"))
    assert world.table("a/out").health is None
    world.tick("00:01")
    assert world.waiting() == {"a/out rewrite": "M-HEALTH"}
    world.sick("a/out", snapshots=100)
    world.measure("00:01:30", "a/out")
    world.arrive("00:01:20", "out", "2026-03-09")
    world.tick("00:01:40")
    assert world.table("a/out").health is not None, "the write was before"
    assert world.poll("00:02") == ["a/out rewrite"]


def test_a_write_is_also_noted_where_no_policy_is():
    world = TableWorld("", schedules="s: {program: q, trigger: {cron: '0 0 * * *'}}")
    world.measure("00:00", "a/out")
    world.arrive("00:00:30", "out", "2026-03-09")
    world.tick("00:00:30")
    assert world.table("a/out").health is None


def test_only_tables_with_something_due_in_its_window_are_measured():
    two = (
        "night: {tables: w.a.x, operations: {rewrite_data_files: {when: {any: [{snapshots: 3}]},"
        " window: {from: '02:00', to: '03:00'}}}}\n"
        "hourly: {tables: w.b.y, operations: {rewrite_data_files: {when: {any: [{snapshots: 3}]}}}}"
    )
    world = TableWorld(two, "w.a.x", "w.b.y", blind=True)
    world.poll("00:00")
    with world.store.reading() as reader:
        assert [table.name for table in reader.due_records(MAINTAINED_TABLES, None, 9)] == ["w.b.y"]
    assert world.reason("00:00", "w.a.x") == ("M-WINDOW", "02:00")


def test_the_table_with_the_greater_debt_comes_first():
    world = TableWorld(MINUTELY, *FOUR, maintenance="budget: {operations_per_poll: 2}")
    world.sick("w.d.z", snapshots=500)
    world.sick("w.c.z", snapshots=100)
    assert world.poll("00:00") == ["w.d.z rewrite", "w.c.z rewrite"]
    assert world.poll("00:01") == ["w.a.x rewrite", "w.b.y rewrite"]


@pytest.mark.parametrize(("asked_for", "first"), [("false", "w.a.x rewrite"), ("true", "w.b.y rewrite")])
def test_failures_order_the_starts_only_where_that_is_asked_for(asked_for, first):
    settings = f"budget: {{operations_per_poll: 1}}, debt: {{order_by_failures: {asked_for}}}"
    world = TableWorld(MINUTELY, "w.a.x", "w.b.y", maintenance=settings)
    world.by_hand("00:00", "w.b.y")
    world.end("00:00", world.running()[0].job, "failed")
    assert world.poll("00:01") == [first]


def test_forced_comes_before_debt_and_says_so():
    when = "when: {all: [{snapshots: 999}], at_latest: 5m}"
    forced = f"forced: {{tables: w.b.y, operations: {{rewrite_data_files: {{{when}}}}}}}"
    policies = MINUTELY.replace("w.*.*", "w.a.*") + "\n" + forced
    world = TableWorld(policies, "w.a.x", "w.b.y", maintenance="budget: {operations_per_poll: 1}")
    world.sick("w.a.x", snapshots=500)
    for minute in range(5):
        assert world.poll(f"00:0{minute}") == ["w.a.x rewrite"]
        world.end_all(f"00:0{minute}:30")
    assert world.poll("00:05") == ["w.b.y rewrite"]
    (run,) = world.running()
    (job,) = world.jobs(run.job)
    assert (run.forced, job.work.forced) == (True, True)
