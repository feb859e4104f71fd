"""Timeouts: what ages, from when, and what a timeout may override (rules 5, 14, 18 and 20)."""

from tests.worlds.partition_at_ten import KEY, SUCCESS, arrived, busy
from tests.worlds.world import World, at


def test_a_satisfied_job_is_discarded_at_its_timeout():
    world = arrived('[{window: {from: "22:00", to: "23:00"}}]', rest=", timeout: {after: 2h}")
    assert world.only("s").next_check_at == at("12:00")
    world.tick("11:59:59")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-WINDOW")
    world.tick("12:00")
    assert world.outcome("s") == ("DISCARDED", "D-TIMEOUT")


def test_the_default_timeout_is_a_day():
    world = arrived('[{window: {from: "22:00", to: "23:00", days: [sun]}}]')
    assert world.only("s").next_check_at == at("1d 10:00")


def test_constraints_are_judged_before_the_timeout():
    world = arrived("[{delay: 2h}]", rest=", timeout: {after: 2h}")
    world.tick("12:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_timeout_that_runs_overrides_what_waits():
    world = arrived('[{window: {from: "22:00", to: "23:00"}}]', rest=", timeout: {after: 2h, then: run}")
    world.tick("12:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)
    (launch,) = [entry for entry in world.journal("s") if entry.kind == "launch"]
    assert launch.data["overridden"] == ["W-WINDOW"]


def test_a_timeout_that_runs_never_overrides_concurrency():
    world = arrived(
        '[{window: {from: "22:00", to: "23:00"}}, {concurrency: {max: 1}}]',
        before=[busy()],
        rest=", timeout: {after: 2h, then: run}",
    )
    world.tick("12:00")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
    assert world.only("s").next_check_at is None
    world.run("13:00", "q", "succeeded", "hand")
    world.tick("13:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_timeout_that_runs_overrides_rate_and_load_like_any_other_wait():
    world = arrived(
        "[{load: {max_active_runs: 1}}, {rate: {max: 1, per: 1d}}]",
        before=[busy()],
        rest=", timeout: {after: 2h, then: run}",
    )
    world.tick("12:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)
    (launch,) = [entry for entry in world.journal("s") if entry.kind == "launch"]
    assert launch.data["overridden"] == ["W-RATE", "W-LOAD"]


def test_a_timeout_that_runs_still_skips():
    world = arrived(
        "[{delay: 5h}, {since_last_run: {for: 10h, otherwise: skip}}]",
        before=SUCCESS,
        rest=", timeout: {after: 2h, then: run}",
    )
    world.tick("12:00")
    assert world.outcome("s") == ("DISCARDED", "D-LAST-RUN")


def test_a_half_collected_job_does_not_age():
    world = World(
        "s: {program: q, status: active, timeout: 1h, trigger: {partitions: {dataset: raw, count: 2}}}"
    )
    world.arrive("10:00", "raw", KEY)
    world.tick("10:00")
    world.tick("9d 10:00")
    assert world.outcome("s") == ("PENDING_TRIGGER", "W-TRIGGER")
    assert world.only("s").next_check_at is None


def test_a_half_collected_job_ages_when_the_timeout_counts_from_the_first_event():
    world = World(
        "s: {program: q, status: active, timeout: {after: 1h, from: first_event},"
        " trigger: {partitions: {dataset: raw, count: 2}}}"
    )
    world.arrive("10:00", "raw", KEY)
    world.tick("10:00")
    assert world.only("s").next_check_at == at("11:00")
    world.tick("11:00")
    assert world.outcome("s") == ("DISCARDED", "D-TIMEOUT")
    assert world.ledger("s").discarded == {"D-TIMEOUT": 1}
