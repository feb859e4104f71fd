"""Operations that a person asks for: what they pass, what they wait for, and what they leave alone."""

import pytest

from tests.worlds.tables import (
    EXPIRE,
    HOURLY,
    ORPHANS,
    REWRITE,
    UNMET,
    TableWorld,
    policy,
    shown,
)
from tests.worlds.tables import store as store
from tidegate.domain.model import Operation
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.refused import MaintenanceRefused

TWO = """
high: {tables: w.a.x, priority: 9, operations: {expire_snapshots: {}, remove_orphan_files: {enabled: false}}}
low: {tables: 'w.*.*', operations: {rewrite_data_files: {}, expire_snapshots: {}, remove_orphan_files: {}}}
off: {tables: w.a.x, enabled: false, operations: {rewrite_data_files: {}}}
empty: {tables: w.a.x, operations: {}}
elsewhere: {tables: w.b.y, operations: {rewrite_data_files: {}}}
"""


def refused(world, *wanted, clock="00:00") -> str:
    with pytest.raises(MaintenanceRefused) as found:
        world.by_hand(clock, *wanted)
    return found.value.code


# --- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "wanted", "code"),
    [
        ("a table that is not known", ("w.a.z",), "E-TABLE"),
        ("a table that is gone", ("w.a.gone",), "E-TABLE"),
        ("a table that no policy matches", ("v.b.z",), "E-POLICY"),
        ("an operation that no policy configures", ("w.a.x", Operation.REWRITE_MANIFESTS), "E-POLICY"),
        ("a policy that is not deployed", ("w.a.x", None, "nothing"), "E-POLICY"),
        ("one of another app", ("w.a.x", None, "b/low"), "E-POLICY"),
        ("a disabled policy", ("w.a.x", None, "off"), "E-POLICY"),
        ("a policy that does not match", ("w.a.x", None, "elsewhere"), "E-POLICY"),
        ("an operation that the named policy does not configure", ("w.a.x", REWRITE, "high"), "E-POLICY"),
        ("an operation that it has switched off", ("w.a.x", ORPHANS, "high"), "E-POLICY"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_code(sentence, wanted, code):
    world = TableWorld(TWO, "w.a.x", "w.a.gone", "v.b.z")
    world.gone("00:00", "w.a.gone")
    assert refused(world, *wanted) == code, sentence
    assert world.jobs() == ()


def test_a_table_that_runs_an_operation_is_active():
    world = TableWorld(TWO, "w.a.x", "w.b.y")
    world.by_hand("00:00", "w.a.x", EXPIRE)
    assert refused(world, "w.a.x", REWRITE, clock="00:01") == "E-ACTIVE"
    world.end_all("00:02")
    assert world.by_hand("00:03", "w.a.x", REWRITE)
    assert world.poll("00:04") == ["w.b.y rewrite"]
    assert refused(world, "w.b.y", clock="00:05") == "E-ACTIVE"


def test_a_name_that_two_policies_have_needs_its_app():
    world = TableWorld(HOURLY, "w.a.x")
    with world.store.reading() as reader:
        app = reader.records(APPS)[0].app
    other = type(app)(name="b", policies=app.policies)
    world.deploy_apps("00:00", app, other)
    assert refused(world, "w.a.x", None, "nightly") == "E-POLICY"
    (job,) = world.by_hand("00:00", "w.a.x", None, "b/nightly")
    assert job.work.policy == "b/nightly"


# --- what is chosen -----------------------------------------------------------------------


def test_without_a_policy_the_one_that_counts_is_taken():
    world = TableWorld(TWO, "w.a.x", "w.b.y")
    assert world.by_hand("00:00", "w.a.x", EXPIRE)[0].work.policy == "a/high"
    assert world.by_hand("00:00", "w.b.y", EXPIRE)[0].work.policy == "a/low"
    assert world.launch("00:00").keys() == {"w.a.x expire", "w.b.y expire"}


@pytest.mark.parametrize("name", ["low", "a/low"])
def test_a_named_policy_need_not_count(name):
    world = TableWorld(TWO, "w.a.x")
    assert world.by_hand("00:00", "w.a.x", EXPIRE, name)[0].work.policy == "a/low"


@pytest.mark.parametrize("wanted", [("w.a.x", None, "empty"), ("w.c.z", None, None)])
def test_a_policy_without_operations_runs_none(wanted):
    world = TableWorld(TWO.replace("w.*.*", "w.b.*").replace("tables: w.a.x, op", "tables: 'w.?.*', op"))
    world.found("00:00", "w.a.x", "w.c.z")
    assert world.by_hand("00:00", *wanted) == ()
    assert world.jobs() == ()


def test_all_operations_run_one_after_the_other_and_keep_the_table(store):
    world = TableWorld(TWO, "w.a.x", store=store)
    world.by_hand("00:00", "w.a.x")
    assert world.launch("00:00").keys() == {"w.a.x rewrite"}
    world.end_all("00:01", "failed")
    # It is due as well, and the table was never free.
    assert world.poll("00:01") == []
    assert world.launch("00:01").keys() == set()
    assert [(str(run.operation), run.policy) for run in world.running()] == [("expire_snapshots", "a/high")]
    world.end_all("00:02", "conflict")
    assert [(str(run.operation), run.policy) for run in world.running()] == [("remove_orphan_files", "a/low")]
    world.end_all("00:03")
    assert world.running() == ()
    assert [shown(run.started_at) for run in world.runs()] == ["00:00", "00:01", "00:02"]
    assert all(run.by_hand for run in world.runs())
    assert world.poll("00:04") == ["w.a.x rewrite"]


def test_what_a_deploy_has_removed_meanwhile_is_passed_over():
    world = TableWorld(TWO, "w.a.x")
    world.by_hand("00:00", "w.a.x", None, "low")
    world.deploy("00:01", TWO.replace("expire_snapshots: {}", "expire_snapshots: {enabled: false}"))
    world.end_all("00:02")
    assert [str(run.operation) for run in world.running()] == ["remove_orphan_files"]
    world.deploy("00:03", HOURLY)
    world.end_all("00:04")
    assert world.running() == ()


def test_a_table_that_is_gone_meanwhile_ends_it():
    world = TableWorld(TWO, "w.a.x")
    (job,) = world.by_hand("00:00", "w.a.x", None, "low")
    world.gone("00:01", "w.a.x")
    world.end_all("00:02")
    assert world.running() == ()
    discarded = [each for each in world.jobs() if each.id != job.id]
    assert [(each.state, each.reason) for each in discarded] == [("DISCARDED", "D-DELETED")]


# --- what it passes, and what it leaves alone ---------------------------------------------


def test_it_passes_schedule_window_conditions_and_pauses():
    world = TableWorld(
        "p: {tables: w.a.x, operations: {rewrite_data_files: {interval: 1h,"
        " window: {from: '20:00', to: '21:00'}, when: {all: [{snapshots: 1000}], min_interval: 9h}}}}",
        "w.a.x",
    )
    for minute in range(8):
        assert len(world.by_hand(f"00:0{minute}", "w.a.x")) == 1
        world.end_all(f"00:0{minute}:30", "failed" if minute < 3 else "succeeded", changed=False)
    assert [run.ending for run in world.runs()] == ["failed"] * 3 + ["succeeded"] * 5
    assert not any(run.probe or run.forced for run in world.runs())
    own = world.table("w.a.x").history.of(REWRITE)
    assert (own.failures, own.zero_changes) == (0, 5)
    world.by_hand("00:09", "w.a.x")
    assert not world.running()[0].probe


def test_it_takes_no_waiting_job():
    world = TableWorld(policy(UNMET), "w.a.x")
    world.poll("00:00")
    (waiting,) = world.jobs()
    (job,) = world.by_hand("00:00:10", "w.a.x", REWRITE)
    assert job.id != waiting.id
    assert [run.job for run in world.running()] == [job.id]
    (left,) = world.jobs(waiting.id)
    assert (left.state, left.reason) == ("PENDING_CONSTRAINT", "M-CONDITION")
    assert world.poll("00:01") == []
    assert world.jobs(waiting.id)[0].state == "PENDING_CONSTRAINT"


def test_it_moves_no_next_run():
    world = TableWorld(HOURLY + "\nlow: {tables: w.a.x, operations: {expire_snapshots: {}}}", "w.a.x")
    world.poll("00:00")
    world.end_all("00:10:10")
    world.by_hand("00:10:30", "w.a.x", REWRITE)
    assert shown(world.record("w.a.x").next_run) == "01:00"
    # Expire was due before, and is still.
    assert world.reason("00:11", "w.a.x", EXPIRE) == ("M-TABLE", None)
    assert world.poll("00:11") == []
    world.end_all("00:20")
    assert shown(world.record("w.a.x").next_run) == "01:00"
    assert world.poll("00:20") == ["w.a.x expire"]
    assert world.poll("01:00") == []
    assert world.reason("01:00", "w.a.x") == ("M-TABLE", None)


def test_its_end_counts_as_the_last_successful_run():
    when = "when: {min_interval: 30m}"
    world = TableWorld(f"p: {{tables: w.a.x, operations: {{rewrite_data_files: {{interval: 10m, {when}}}}}}}")
    world.found("00:00", "w.a.x")
    world.by_hand("00:00", "w.a.x")
    assert world.poll("00:00") == []
    world.end_all("00:05")
    assert world.reason("00:05", "w.a.x") == ("M-INTERVAL", "00:35")
    assert world.poll("00:34") == []
    assert world.poll("00:35") == ["w.a.x rewrite"]


def test_it_comes_before_the_poll_of_its_instant_and_counts_in_its_budget():
    budget = "budget: {operations_per_poll: 2}"
    world = TableWorld("p: {tables: 'w.*.*', operations: {rewrite_data_files: {}}}", maintenance=budget)
    world.found("00:00", "w.a.x", "w.b.y", "w.c.z", "w.d.z")
    world.by_hand("00:00", "w.d.z")
    assert world.poll("00:00") == ["w.a.x rewrite"]
    assert world.reason("00:00", "w.b.y") == ("M-BUDGET", "00:01")
    world.end_all("00:00:30")
    # It does not wait for the budget, and the next poll has one of its own.
    assert world.by_hand("00:00:40", "w.a.x")
    assert world.poll("00:01") == ["w.b.y rewrite", "w.c.z rewrite"]


# --- slots --------------------------------------------------------------------------------

POOL = "auto_pools: {spark: 1}"
PAIR = "p: {tables: 'w.*.*', operations: {rewrite_data_files: {interval: 1h}}}"


def test_one_that_lacks_a_slot_waits_and_starts_when_it_is_free_at_no_poll(store):
    world = TableWorld(PAIR, "w.a.x", "w.b.y", store=store, maintenance=POOL)
    assert world.poll("00:00") == ["w.a.x rewrite"]
    (job,) = world.by_hand("00:00:10", "w.b.y")
    assert (job.state, job.reason, job.blocked_on) == ("PENDING_CONSTRAINT", "W-CONCURRENCY", "group:spark")
    assert world.poll("00:00:20") == []
    world.end_all("00:00:30")
    assert world.poll("00:00:31") == ["w.b.y rewrite"]
    (run,) = world.running()
    assert (shown(run.started_at), shown(run.closes_at), run.by_hand) == ("00:00:30", "04:00:30", True)
    assert world.slots() == {"runs": 1, "group:spark": 1}
    assert {job.reason for job in world.jobs() if job.state == "PENDING_CONSTRAINT"} == {"W-CONCURRENCY"}


def test_one_that_waits_does_not_keep_the_table():
    world = TableWorld(PAIR, "w.a.x", "w.b.y", maintenance=POOL)
    world.poll("00:00")
    (job,) = world.by_hand("00:00:10", "w.b.y")
    world.deploy("00:00:20", PAIR, maintenance="auto_pools: {spark: 1, io: 1}")
    assert world.waiting() == {"w.b.y rewrite": "W-CONCURRENCY"}
    world.deploy("00:00:25", PAIR, maintenance="budget: {}")
    assert world.poll("00:00:26") == ["w.b.y rewrite"]
    assert world.running()[1].job == job.id


def test_a_further_request_for_the_table_waits_for_it_too():
    world = TableWorld(PAIR, "w.a.x", "w.b.y", maintenance=POOL)
    world.poll("00:00")
    first, second = (world.by_hand(f"00:00:{second}", "w.b.y")[0] for second in (10, 20))
    world.end_all("00:00:30")
    assert world.poll("00:00:30") == ["w.b.y rewrite"]
    assert world.running()[0].job == first.id
    assert world.jobs(second.id)[0].reason == "M-TABLE"
    assert world.jobs(second.id)[0].blocked_on == "table:w.b.y"
    world.end_all("00:00:50")
    assert world.poll("00:00:50") == ["w.b.y rewrite"]
    assert world.running()[0].job == second.id


@pytest.mark.parametrize("deed", ["deleted", "not matching", "gone"])
def test_one_that_waits_is_discarded_with_its_policy_or_table(deed):
    world = TableWorld(PAIR, "w.a.x", "w.b.y", maintenance=POOL)
    world.poll("00:00")
    (job,) = world.by_hand("00:00:10", "w.b.y")
    if deed == "deleted":
        world.deploy("00:00:20", HOURLY, maintenance=POOL)
    elif deed == "not matching":
        world.deploy("00:00:20", PAIR.replace("w.*.*", "w.a.*"), maintenance=POOL)
    else:
        world.gone("00:00:20", "w.b.y")
    world.tick("00:00:20")
    (found,) = world.jobs(job.id)
    assert (found.state, found.reason) == ("DISCARDED", "D-DELETED")


def test_one_that_has_made_room_goes_on_when_the_slot_is_free_again():
    schedule = "{program: q, status: active, trigger: {cron: '* 9 * * *'}, priority: high, constraints: "
    schedule = f"s: {schedule}[{{concurrency: {{group: spark, max: 1}}}}]}}"
    world = TableWorld(TWO, "w.a.x", schedules=schedule, maintenance=POOL, start="08:59")
    world.by_hand("08:59:10", "w.a.x", None, "low")
    world.launch("08:59:10")
    world.tick("09:00:10")
    (stopped,) = world.running()
    world.end("09:00:20", stopped.job, "stopped")
    # The pipeline's job comes first.
    assert world.poll("09:00:20") == ["a/s"]
    assert world.running() == ()
    waiting = [job for job in world.jobs() if job.state == "PENDING_CONSTRAINT" and job.work.by_hand]
    assert [(job.work.operation, job.reason) for job in waiting] == [(REWRITE, "W-CONCURRENCY")]
    assert [str(operation) for operation, _ in waiting[0].work.then] == [
        "expire_snapshots",
        "remove_orphan_files",
    ]
