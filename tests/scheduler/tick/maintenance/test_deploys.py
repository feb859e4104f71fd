"""What a deployment does to operations that wait or run."""

import pytest

from tests.worlds.tables import (
    EXPIRE,
    HEAD,
    MANIFESTS,
    REWRITE,
    UNMET,
    TableWorld,
    app_of,
    policy,
    ran,
    shown,
)
from tests.worlds.tables import store as store
from tests.worlds.world import at
from tidegate.scheduler.decision.maintenance.rank import DEFAULT_HEALTH
from tidegate.scheduler.tick.maintenance.policies import load_policies

# --- the next run -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "before", "after", "next_run"),
    [
        ("a longer interval", "{interval: 1h}", "{interval: 3h}", "03:00"),
        ("a shorter one, which is over", "{interval: 1h}", "{interval: 5m}", "00:05"),
        ("a cron in place of it", "{interval: 1h}", "{cron: '30 * * * *'}", "00:30"),
        ("another cron", "{cron: '30 * * * *'}", "{cron: '45 * * * *'}", "00:45"),
        ("neither", "{interval: 1h}", "{}", "1d 00:00"),
        ("another zone", "{cron: '0 4 * * *'}", "{cron: '0 4 * * *', timezone: Asia/Tokyo}", "19:00"),
        ("no zone any more", "{cron: '0 4 * * *', timezone: Asia/Tokyo}", "{cron: '0 4 * * *'}", "04:00"),
        (
            "options change nothing",
            "{interval: 1h}",
            "{interval: 1h, options: {min_input_files: 9}}",
            "01:00",
        ),
        ("nor a timeout", "{interval: 1h}", "{interval: 1h, timeout: 9h}", "01:00"),
    ],
)
def test_a_changed_schedule_counts_from_the_last_start(sentence, before, after, next_run):
    world = ran(before)
    world.deploy("00:20", policy(after))
    assert shown(world.record("w.a.x").next_run) == next_run, sentence


def test_the_zone_of_the_app_counts_too():
    world = ran("{cron: '0 4 * * *'}")
    world.deploy_apps("00:20", app_of(policy("{cron: '0 4 * * *'}"), head=HEAD + "timezone: Asia/Tokyo\n"))
    assert shown(world.record("w.a.x").next_run) == "19:00"


def test_one_that_runs_gets_its_next_run_by_the_schedule_at_its_end():
    world = TableWorld(policy(), "w.a.x")
    world.poll("00:00")
    world.deploy("00:05", policy("{interval: 3h}"))
    assert world.record("w.a.x").next_run is None
    world.end_all("00:10")
    assert shown(world.record("w.a.x").next_run) == "03:00"


def test_one_that_was_due_and_is_no_longer_keeps_its_job_for_the_next_time():
    world = ran(UNMET.replace("1000", "3"))
    world.sick("w.a.x", snapshots=2)
    assert world.poll("01:00") == []
    assert world.reason("01:00", "w.a.x") == ("M-CONDITION", "01:01")
    (job,) = (job for job in world.jobs() if job.state == "PENDING_CONSTRAINT")
    world.deploy("01:00:30", policy("{interval: 5h, when: {all: [{snapshots: 3}]}}"))
    world.tick("01:01")
    status = world.status("01:02", "w.a.x")
    assert (status.due, status.due_since, status.reason, shown(status.next)) == (False, None, None, "05:00")
    world.sick("w.a.x", snapshots=3)
    assert world.poll("05:00") == ["w.a.x rewrite"]
    assert world.running()[0].job == job.id
    assert world.record("w.a.x").due_since == at("05:00")


def test_all_else_takes_effect_at_the_next_poll():
    world = TableWorld(policy(UNMET), "w.a.x")
    assert world.poll("00:00") == []
    assert world.poll("00:01") == []
    world.deploy("00:01:30", policy("{interval: 1h, when: {all: [{snapshots: 3}]}, timeout: 7m}"))
    assert world.poll("00:01:40") == []
    assert world.poll("00:02") == ["w.a.x rewrite"]
    assert [shown(run.closes_at) for run in world.running()] == ["00:09"]
    assert len(world.jobs()) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [("budget: {bytes_per_hour: 1}", "poll: 1m"), ("backoff: {after_failures: 1}", "backoff: {for: 1m}")],
)
def test_settings_take_effect_at_the_next_poll(before, after):
    world = TableWorld(policy("{interval: 1m}"), "w.a.x", maintenance=before)
    world.poll("00:00")
    world.end_all("00:00:30", "failed", bytes=5)
    assert world.poll("00:01") == []
    world.deploy("00:01:30", policy("{interval: 1m}"), maintenance=after)
    assert world.poll("00:02") == ["w.a.x rewrite"]


def test_another_poll_takes_effect_at_once_on_the_grid_from_the_first_poll():
    world = TableWorld(policy(UNMET), "w.a.x", start="00:00:10", maintenance="poll: 10m")
    world.tick("00:00:10")
    world.sick("w.a.x", snapshots=1000)
    world.measure("00:01", "w.a.x")
    world.deploy("00:01:30", policy(UNMET), maintenance="poll: 90s")
    assert world.poll("00:01:39") == []
    assert world.poll("00:01:40") == ["w.a.x rewrite"]
    world.deploy("00:02", policy("{interval: 1m}"), maintenance="poll: 4m")
    world.end_all("00:02:30")
    assert [clock for clock in ("00:03:10", "00:04:10", "00:08:10") if world.poll(clock)] == ["00:04:10"]


# --- policies that go and come ------------------------------------------------------------

GOES = {
    "disabled": policy(UNMET, enabled="false"),
    "switched off": policy("{enabled: false}"),
    "deleted": policy(UNMET, name="other", tables="w.b.*"),
    "not matching any more": policy(UNMET, tables="w.b.*"),
    "outranked": policy(UNMET) + "\n" + policy(UNMET, name="first", priority=1),
}


@pytest.mark.parametrize("how", GOES)
def test_a_waiting_job_goes_with_its_policy(how, store):
    world = TableWorld(policy(UNMET), "w.a.x", store=store)
    world.tick("00:00")
    (job,) = world.jobs()
    assert job.reason == "M-CONDITION"
    world.deploy("00:00:30", GOES[how])
    (found,) = world.jobs(job.id)
    assert (found.state, found.reason, shown(found.ended_at)) == ("DISCARDED", "D-DELETED", "00:00:30")
    record = world.record("w.a.x")
    if how == "outranked":
        assert (record.counts, record.job, record.due_since, record.next_look) == (False, None, None, None)
        world.tick("00:01")
        assert [job.work.policy for job in world.jobs() if job.state == "PENDING_CONSTRAINT"] == ["a/first"]
    else:
        assert record is None


@pytest.mark.parametrize("how", GOES)
def test_a_running_operation_goes_on_and_holds_the_table(how):
    world = TableWorld(policy(), "w.a.x")
    world.poll("00:00")
    world.deploy("00:05", GOES[how] + "\n" + "more: {tables: w.a.x, operations: {expire_snapshots: {}}}")
    assert world.poll("00:06") == []
    assert world.reason("00:06", "w.a.x", EXPIRE) == ("M-TABLE", None)
    world.end_all("00:06:30", "failed")
    assert world.table("w.a.x").history.failures == 1
    assert world.poll("00:07") == ["w.a.x expire"]
    record = world.record("w.a.x")
    assert record is None if how != "outranked" else not record.counts


@pytest.mark.parametrize("how", sorted(set(GOES) - {"outranked"}))
def test_a_policy_that_comes_back_begins_as_never_run(how):
    world = ran()
    for hour in (1, 2):
        world.poll(f"0{hour}:00")
        world.end_all(f"0{hour}:10", "failed")
    world.deploy("02:20", GOES[how])
    assert world.poll("02:30") == []
    world.deploy("02:40", policy())
    record = world.record("w.a.x")
    # A policy without an enabled operation has matched the table all the time.
    seen_at = at("00:00") if how == "switched off" else at("02:40")
    assert (record.next_run, record.last_start, record.seen_at) == (None, None, seen_at)
    assert world.poll("02:40") == ["w.a.x rewrite"]
    # But the rows look at all runs of the table.
    assert world.table("w.a.x").history.of(REWRITE).failures == 2


def test_one_that_comes_back_while_its_old_run_goes_on_waits_for_the_table():
    world = TableWorld(policy(), "w.a.x")
    world.poll("00:00")
    world.deploy("00:01", policy(enabled="false"))
    world.deploy("00:02", policy())
    assert world.poll("00:02") == []
    assert world.reason("00:02", "w.a.x") == ("M-TABLE", None)
    world.end_all("00:02:30")
    # The old run has set no next run.
    assert world.poll("00:03") == ["w.a.x rewrite"]


def test_one_that_is_no_longer_outranked_goes_on_from_its_last_run():
    world = ran()
    world.deploy("00:20", GOES["outranked"])
    world.deploy("00:30", policy())
    assert world.poll("00:30") == []
    assert world.poll("01:00") == ["w.a.x rewrite"]


def test_a_further_operation_of_a_policy_keeps_when_it_first_saw_the_table():
    world = ran()
    world.deploy(
        "00:20",
        "nightly: {tables: 'w.a.*', operations: {rewrite_data_files: {interval: 1h}, rewrite_manifests: {}}}",
    )
    assert world.record("w.a.x", MANIFESTS).seen_at == at("00:00")
    assert world.poll("00:20") == ["w.a.x manifests"]


def test_each_operation_has_the_policy_that_counts_for_it():
    world = TableWorld(
        "first: {tables: w.a.x, operations: {expire_snapshots: {interval: 1h}}}\n"
        "second: {tables: 'w.*.*', operations: {expire_snapshots: {interval: 1m}, rewrite_data_files: {}}}",
        "w.a.x",
        "w.b.y",
    )
    for clock in ("00:00", "00:01", "00:02"):
        world.poll(clock)
        world.end_all(f"{clock}:30")
    found = [(shown(run.started_at), run.table, str(run.operation)[:6], run.policy) for run in world.runs()]
    assert sorted(found) == [
        ("00:00", "w.a.x", "rewrit", "a/second"),
        ("00:00", "w.b.y", "rewrit", "a/second"),
        ("00:01", "w.a.x", "expire", "a/first"),
        ("00:01", "w.b.y", "expire", "a/second"),
        ("00:02", "w.b.y", "expire", "a/second"),
    ]


def test_all_policies_may_go():
    world = ran()
    world.deploy("00:20", "", schedules="s: {program: q, trigger: {cron: '0 0 * * *'}}")
    assert world.record("w.a.x") is None
    assert world.tick("01:00").decided == 0


def test_a_deploy_that_changes_nothing_changes_nothing():
    world = ran()
    world.tick("00:11")
    before = world.record("w.a.x"), world.jobs(), world.table("w.a.x")
    for where, same in (("00:20", policy()), ("00:21", "# a line more\n" + policy())):
        world.deploy(where, same, maintenance="poll: 1m")
        assert (world.record("w.a.x"), world.jobs(), world.table("w.a.x")) == before


def test_a_table_whose_policies_are_over_is_not_to_be_measured_any_more():
    world = TableWorld(policy(UNMET), "w.a.x", blind=True)
    world.tick("00:00")
    assert world.table("w.a.x").wanted_at is not None
    world.deploy("00:00:10", policy(UNMET, enabled="false"))
    assert world.table("w.a.x").wanted_at is None


def rules(world):
    """The rules of health that count for the table."""
    with world.store.reading() as reader:
        return load_policies(reader, at("00:01")).rules(world.table("w.a.x"))


def test_the_first_policy_with_rules_of_health_is_noted_for_each_table():
    world = TableWorld(
        policy(priority=5) + "\n" + policy(name="b", health="{small_file: 1MB}") + "\n" + policy(name="c"),
        "w.a.x",
    )
    assert world.table("w.a.x").health_policy == "a/b"
    assert rules(world).small_file == 1_000_000
    world.deploy("00:01", policy(priority=5) + "\n" + policy(name="c"))
    assert world.table("w.a.x").health_policy is None
    assert rules(world) == DEFAULT_HEALTH
