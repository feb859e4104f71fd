"""A run of an operation from its start to its end, and what follows."""

import pytest

from tests.worlds.tables import BY, EXPIRE, HOURLY, REWRITE, TableWorld, shown
from tests.worlds.tables import store as store
from tests.worlds.world import at
from tidegate.domain.maintenance.reported import Ended, Ending
from tidegate.scheduler.launch.outbox import OFFERS_MAX, offer_launches, reject
from tidegate.scheduler.launch.run_report import end_operation, goes_on
from tidegate.scheduler.model.journal import EntryKind


def test_a_due_operation_is_started_claimed_and_ended(store):
    world = TableWorld(HOURLY, "w.a.x", store=store)
    assert world.poll("00:00") == ["w.a.x rewrite"]
    (run,) = world.running()
    (job,) = world.jobs()
    assert (job.id, job.state, job.run_id) == (run.job, "LAUNCHED", f"run-{run.job}")
    assert (shown(run.started_at), shown(run.closes_at)) == ("00:00", "04:00")
    assert world.slots() == {"runs": 1, "table:w.a.x": 1}
    assert world.status("00:01", "w.a.x").running == run

    assert world.end("00:10", run.job, bytes=600)
    (job,) = world.jobs()
    (run,) = world.runs()
    assert (job.state, job.reason, shown(job.ended_at)) == ("SUCCEEDED", None, "00:10")
    assert (run.ending, shown(run.ended_at), run.changed, run.bytes) == ("succeeded", "00:10", True, 600)
    assert world.slots() == {}
    record = world.record("w.a.x")
    assert (record.job, record.due_since, shown(record.last_start), shown(record.next_run)) == (
        None,
        None,
        "00:00",
        "01:00",
    )
    assert [entry.kind for entry in world.journal(job.id)] == [
        EntryKind.JOB_OPENED,
        EntryKind.LAUNCH,
        EntryKind.OFFERED,
        EntryKind.CLAIM,
        EntryKind.OPERATION,
    ]
    assert world.poll("00:11") == []
    assert world.reason("00:11", "w.a.x") == (None, "01:00")
    assert world.poll("01:00") == ["w.a.x rewrite"]


def test_its_launch_says_all_that_the_run_needs():
    world = TableWorld(
        "p: {tables: w.a.x, health: {small_file: 50MB, sample: 9},"
        " operations: {rewrite_data_files: {timeout: 10m, options: {min_input_files: 7}}}}",
        "w.a.x",
    )
    world.tick("00:00")
    with world.store.transaction() as transaction:
        (request,) = offer_launches(transaction, at("00:00"), "a")
    assert request.launch.program == "maintain:rewrite_data_files"
    assert request.reason == "rewrite_data_files of w.a.x, by policy a/p"
    args = request.launch.args
    assert args["options"]["min_input_files"] == 7
    assert args | {"options": {}} == {
        "table": "w.a.x",
        "catalog_name": "w.a.x",
        "dataset": None,
        "options": {},
        "health": {"small_file": 50_000_000, "large_file": 1_000_000_000, "sample": 9},
        "excluded": [],
        "closes_at": "2026-03-10T00:10:00+00:00",
    }
    world.end_all("00:05")
    world.by_hand("00:06", "w.a.x")
    with world.store.transaction() as transaction:
        (request,) = offer_launches(transaction, at("00:06"), "a")
    assert request.reason == "rewrite_data_files of w.a.x, by hand"


def test_an_end_counts_once_and_for_its_attempt_only():
    world = TableWorld(HOURLY, "w.a.x")
    world.poll("00:00")
    (run,) = world.running()
    with world.store.reading() as reader:
        assert goes_on(reader, run.job, 1)
        assert not goes_on(reader, run.job, 2)
        assert not goes_on(reader, "another", 1)
    assert not world.end("00:05", "another")
    with world.store.transaction() as transaction:
        assert not end_operation(transaction, run.job, 2, Ended(ending=Ending.FAILED), at("00:05"))
    assert world.end("00:05", run.job)
    assert not world.end("00:06", run.job, "failed")
    with world.store.reading() as reader:
        assert not goes_on(reader, run.job, 1)
    assert world.runs()[0].ending == "succeeded"


# --- ends without a report ----------------------------------------------------------------


def test_a_run_times_out_at_its_exact_instant():
    world = TableWorld("p: {tables: w.a.x, operations: {rewrite_data_files: {timeout: 90s}}}", "w.a.x")
    world.poll("00:00")
    world.tick("00:01:29")
    (run,) = world.running()
    world.blind = True
    report = world.tick("00:01:45")
    (closed,) = world.runs()
    assert (closed.ending, shown(closed.ended_at)) == ("failed", "00:01:30")
    assert closed.detail == "rewrite_data_files was not done within its timeout of 0:01:30"
    (job,) = world.jobs()
    assert (job.state, job.reason, report.decided) == ("FAILED", "F-TIMEOUT", 1)
    assert not world.end("00:01:50", run.job)
    assert world.slots() == {}


def test_what_a_run_has_done_counts_although_its_timeout_was_over(store):
    policy = "p: {tables: 'w.a.*', operations: {rewrite_data_files: {timeout: 90s, interval: 1m}}}"
    world = TableWorld(policy, "w.a.x", store=store, maintenance="budget: {bytes_per_hour: 100MB}, poll: 5m")
    world.poll("00:00")
    (run,) = world.running()
    world.tick("00:01:45")
    assert not world.end("00:01:50", run.job, "failed", bytes=200_000_000)
    (kept,) = world.runs()
    assert (kept.ending, kept.bytes, shown(kept.ended_at)) == ("failed", 200_000_000, "00:01:30")
    world.poll("00:05")
    assert world.waiting() == {"w.a.x rewrite": "M-BUDGET"}
    assert world.poll("01:00") == ["w.a.x rewrite"]


def test_a_run_that_no_process_has_begun_times_out_too():
    world = TableWorld("p: {tables: w.a.x, operations: {rewrite_data_files: {timeout: 90s}}}", "w.a.x")
    world.tick("00:00")
    world.tick("00:01:30")
    assert [(job.state, job.reason) for job in world.jobs()] == [("FAILED", "F-TIMEOUT")]
    assert world.launch("00:01:31") == {}


@pytest.mark.parametrize("timeout", ["1m", "2m"])
def test_what_times_out_at_the_instant_of_a_poll_has_ended_for_it(timeout):
    policy = f"p: {{tables: w.a.x, operations: {{rewrite_data_files: {{interval: 1m, timeout: {timeout}}}}}}}"
    world = TableWorld(policy, "w.a.x")
    assert world.poll("00:00") == ["w.a.x rewrite"]
    assert world.poll(f"00:0{timeout[0]}") == ["w.a.x rewrite"]


def test_what_ends_at_the_instant_of_a_poll_has_ended_for_it():
    world = TableWorld("p: {tables: w.a.x, operations: {rewrite_data_files: {interval: 1m}}}", "w.a.x")
    world.poll("00:00")
    world.end_all("00:01")
    assert world.poll("00:01") == ["w.a.x rewrite"]


def test_an_end_after_the_poll_of_its_instant_waits_for_the_next_one():
    world = TableWorld("p: {tables: 'w.a.*', operations: {rewrite_data_files: {interval: 1m}}}", "w.a.x")
    world.poll("00:00")
    world.found("00:00:30", "w.a.y")
    assert world.poll("00:01") == ["w.a.y rewrite"]
    world.end_all("00:01")
    assert world.poll("00:01") == []
    assert world.poll("00:02") == ["w.a.x rewrite", "w.a.y rewrite"]


@pytest.mark.parametrize("status", ["failed", "cancelled", "succeeded"])
def test_a_run_that_ends_without_a_report_has_failed(status):
    world = TableWorld(HOURLY, "w.a.x")
    world.poll("00:00")
    (run,) = world.running()
    world.observe("00:01", run.job, "started")
    world.observe("00:07", run.job, status)
    (closed,) = world.runs()
    assert (closed.ending, shown(closed.ended_at)) == ("failed", "00:07")
    assert closed.detail == f"its run ended as {status} without a report"
    assert [(job.state, job.reason) for job in world.jobs()] == [("FAILED", "F-RUN")]
    assert world.table("w.a.x").history.failures == 1
    assert world.slots() == {}


def test_a_run_that_has_reported_its_end_is_only_observed():
    world = TableWorld(HOURLY, "w.a.x")
    world.poll("00:00")
    (run,) = world.running()
    world.end("00:05", run.job)
    world.observe("00:06", run.job, "failed")
    assert world.runs()[0].ending == "succeeded"
    assert world.jobs()[0].state == "SUCCEEDED"


def test_a_launch_without_a_run_is_a_failure_at_last():
    world = TableWorld(HOURLY, "w.a.x")
    world.tick("00:00")
    clock = at("00:00")
    for _ in range(OFFERS_MAX):
        with world.store.transaction() as transaction:
            (request,) = offer_launches(transaction, clock, "a")
        assert world.slots() == {"runs": 1, "table:w.a.x": 1}, "an operation keeps its table"
        with world.store.transaction() as transaction:
            reject(transaction, request.job, 1, "no such code location", clock)
        clock = world.jobs()[0].next_check_at or clock
    assert [(job.state, job.reason) for job in world.jobs()] == [("FAILED", "F-LAUNCH")]
    assert [(run.ending, run.detail) for run in world.runs()] == [("failed", "no such code location")]
    assert world.slots() == {}
    assert shown(world.record("w.a.x").next_run) == "01:00"


# --- what follows -------------------------------------------------------------------------


@pytest.mark.parametrize(("ending", "reason"), [("conflict", "F-CONFLICT"), ("stopped", "F-YIELDED")])
def test_a_conflict_is_due_again_at_its_end_plus_poll(ending, reason):
    world = TableWorld(HOURLY, "w.a.x", maintenance="poll: 5m")
    world.poll("00:00")
    world.end_all("00:07", ending)
    assert world.reason("00:07", "w.a.x") == (None, "00:12")
    assert [world.poll(clock) for clock in ("00:10", "00:15")] == [[], ["w.a.x rewrite"]]
    assert world.table("w.a.x").history.recent == ()
    assert {job.reason for job in world.jobs()} == {None, reason}


def test_or_at_its_next_run_whichever_is_sooner():
    world = TableWorld(HOURLY, "w.a.x", maintenance="poll: 5m")
    world.poll("00:00")
    world.end_all("00:59", "conflict")
    assert world.reason("00:59", "w.a.x") == (None, "01:00")


def test_the_next_run_counts_from_the_start_and_missed_ones_are_not_caught_up():
    world = TableWorld(HOURLY, "w.a.x")
    world.poll("00:00")
    world.end_all("02:30")
    assert shown(world.record("w.a.x").next_run) == "01:00"
    assert world.poll("02:30") == ["w.a.x rewrite"]
    world.end_all("02:31")
    assert shown(world.record("w.a.x").next_run) == "03:30"


BOTH = "p: {tables: w.a.x, operations: {expire_snapshots: {interval: 1h}, rewrite_data_files: {}}}"


def test_operations_of_a_table_run_one_after_the_other(store):
    world = TableWorld(BOTH, "w.a.x", store=store)
    assert world.poll("00:00") == ["w.a.x rewrite"]
    assert world.waiting() == {"w.a.x expire": "M-TABLE"}
    assert world.poll("00:01") == []
    assert world.reason("00:01", "w.a.x", EXPIRE) == ("M-TABLE", None)
    world.end_all("00:01:30", "failed")
    assert world.poll("00:02") == ["w.a.x expire"]
    expire = next(job for job in world.jobs() if job.work.operation is EXPIRE)
    assert [entry.kind for entry in world.journal(expire.id)][:3] == [
        EntryKind.JOB_OPENED,
        EntryKind.WAITING,
        EntryKind.LAUNCH,
    ]
    assert shown(world.runs()[1].started_at) == "00:02"


def test_a_table_has_one_operation_at_a_time_and_others_go_on():
    world = TableWorld("p: {tables: 'w.*.*', operations: {rewrite_data_files: {}}}", "w.a.x", "w.b.y")
    assert world.poll("00:00") == ["w.a.x rewrite", "w.b.y rewrite"]


def test_three_failures_hold_it_back_for_six_hours_to_the_minute():
    world = TableWorld(HOURLY, "w.a.x")
    for clock in ("00:00", "01:00", "02:00"):
        assert world.poll(clock) == ["w.a.x rewrite"]
        world.end_all(f"{clock[:2]}:10", "failed")
    assert world.reason("02:10", "w.a.x") == (None, "08:00")
    assert world.poll("03:00") == []
    assert world.reason("03:00", "w.a.x") == ("M-BACKOFF", "08:00")
    for minutes in range(3 * 60, 8 * 60):
        assert world.poll(f"{minutes // 60:02}:{minutes % 60:02}") == []
    assert world.poll("08:00") == ["w.a.x rewrite"]
    assert not world.running()[0].probe
    world.end_all("08:10", "failed")
    assert world.poll("09:00") == []
    assert world.reason("09:00", "w.a.x") == ("M-BACKOFF", "14:00")


def test_a_success_by_hand_ends_the_row_of_failures():
    world = TableWorld(HOURLY, "w.a.x")
    for clock in ("00:00", "01:00", "02:00"):
        world.poll(clock)
        world.end_all(f"{clock[:2]}:10", "failed")
    assert world.poll("03:00") == []
    world.by_hand("03:05", "w.a.x")
    world.end_all("03:07:30")
    assert world.reason("03:07:30", "w.a.x") == (None, "03:08")
    assert world.poll("03:08") == ["w.a.x rewrite"]


def test_five_runs_without_change_throttle_it_until_a_probe_finds_one():
    world = TableWorld(HOURLY, "w.a.x")
    for hour in range(5):
        assert world.poll(f"0{hour}:00") == ["w.a.x rewrite"]
        world.end_all(f"0{hour}:10", changed=False)
    assert world.poll("05:00") == []
    assert world.reason("05:00", "w.a.x") == ("M-THROTTLE", "10:00")
    assert [clock for clock in ("06:00", "09:59", "10:00") if world.poll(clock)] == ["10:00"]
    assert world.running()[0].probe
    world.end_all("10:10", changed=False)
    assert world.poll("11:00") == []
    assert world.reason("11:00", "w.a.x") == ("M-THROTTLE", "16:00")
    assert world.poll("16:00") == ["w.a.x rewrite"]
    world.end_all("16:10")
    assert world.poll("17:00") == ["w.a.x rewrite"]
    assert not world.running()[0].probe


def test_an_end_forgets_what_was_measured():
    world = TableWorld(HOURLY, "w.a.x")
    world.poll("00:00")
    assert world.table("w.a.x").health is not None
    world.end_all("00:01")
    assert world.table("w.a.x").health is None


def test_who_asked_for_it_is_in_the_journal():
    world = TableWorld(HOURLY, "w.a.x")
    (job,) = world.by_hand("00:00", "w.a.x", REWRITE)
    entry = next(entry for entry in world.journal(job.id) if entry.kind is EntryKind.STATUS)
    assert entry.data == {"action": "maintain", "by": BY.actor, "why": BY.reason}
