"""The verdict on one operation: whether it is due, what holds it back first, and when that may change."""

from datetime import time, timedelta

import pytest

from tests.worlds.operations import (
    DAY,
    EXPIRE,
    HOUR,
    MINUTE,
    REWRITE,
    asked,
    health,
    judged,
    plan,
    table,
    when,
)
from tests.worlds.world import at
from tidegate.domain.model import Maintenance, MaintenanceBackOff, WindowConstraint
from tidegate.scheduler.decision.maintenance.judge import judge
from tidegate.scheduler.model.maintenance import OperationHistory

NIGHT = WindowConstraint(from_=time(2), to=time(6))
FAILING = OperationHistory(failures=3, failed_start=at("09:00"))
"""It is held back until 15:00."""
IDLE = OperationHistory(zero_changes=5, zero_start=at("09:00"), succeeded_at=at("09:10"))
"""It is held back until 15:00, with an interval of an hour."""
BOTH = OperationHistory(failures=3, failed_start=at("10:00"), zero_changes=5, zero_start=at("09:00"))
HOURLY = {"interval": HOUR}


def of(history, **what):
    return table(histories={REWRITE: history}, **what)


# --- due ----------------------------------------------------------------------------------


def test_one_that_has_never_run_is_due_at_once():
    found = judged("10:00")
    assert (found.due, found.reason, found.next) == (True, None, at("10:01"))


@pytest.mark.parametrize(("clock", "due"), [("11:59:59", False), ("12:00", True), ("13:00", True)])
def test_one_is_due_when_its_next_run_has_come(clock, due):
    assert judged(clock, next_run=at("12:00")).due is due


def test_one_that_is_not_due_is_looked_at_when_it_is():
    found = judged("10:00", next_run=at("12:00"))
    assert (found.reason, found.next, found.look, found.wants_health) == (
        None,
        at("12:00"),
        at("12:00"),
        False,
    )


@pytest.mark.parametrize(
    ("sentence", "history", "next_run", "expected"),
    [
        ("the next run is postponed", FAILING, "12:00", "15:00"),
        ("it is not hastened", FAILING, "16:00", "16:00"),
        ("a throttle postpones it too", IDLE, "12:00", "15:00"),
        ("the later of both counts", BOTH, "12:00", "16:00"),
    ],
)
def test_the_next_run_of_one_that_is_not_due_is_the_later_one(sentence, history, next_run, expected):
    found = judged("10:00", plan(**HOURLY), of(history), next_run=at(next_run))
    assert (found.due, found.next, found.look) == (False, at(expected), at(next_run)), sentence


# --- pauses -------------------------------------------------------------------------------


@pytest.mark.parametrize("what", [HOURLY, {"cron": "0 * * * *"}, {}])
def test_back_off_ends_at_the_exact_instant_also_with_a_cron(what):
    held = judged("14:59:59", plan(**what), of(FAILING), next_run=at("10:00"))
    assert (held.due, held.reason, held.next, held.look) == (True, "M-BACKOFF", at("15:00"), at("15:00"))
    free = judged("15:00", plan(**what), of(FAILING), next_run=at("10:00"))
    assert (free.reason, free.probe) == (None, False)


@pytest.mark.parametrize(
    ("what", "ends"),
    [(HOURLY, "15:00"), ({"interval": 12 * HOUR}, "1d 03:00"), ({"cron": "20 * * * *"}, "15:20")],
)
def test_throttle_ends_with_a_probe(what, ends):
    end = at(ends)
    held = judged("10:00", plan(**what), of(IDLE), next_run=at("10:00"))
    assert (held.due, held.reason, held.next, held.look) == (True, "M-THROTTLE", end, end)
    almost = asked(plan(**what), of(IDLE), next_run=at("10:00"))
    assert judge(almost, end - timedelta(seconds=1)).reason == "M-THROTTLE"
    free = judged(ends, plan(**what), of(IDLE), next_run=at("10:00"))
    assert (free.reason, free.probe) == (None, True)


def test_a_failed_probe_is_followed_at_the_next_run():
    # The probe started at 15:00 and failed: throttle is over, and a single failure does not hold back.
    failed = OperationHistory(
        failures=1, failed_start=at("15:00"), zero_changes=5, zero_start=at("09:00"), succeeded_at=at("09:10")
    )
    early = judged("15:59", plan(**HOURLY), of(failed), next_run=at("16:00"))
    assert (early.due, early.next) == (False, at("16:00"))
    found = judged("16:00", plan(**HOURLY), of(failed), next_run=at("16:00"))
    assert (found.reason, found.probe) == (None, True)


def test_after_three_failed_probes_back_off_counts_from_the_newest():
    failed = OperationHistory(failures=3, failed_start=at("17:00"), zero_changes=5, zero_start=at("09:00"))
    found = judged("18:00", plan(**HOURLY), of(failed), next_run=at("18:00"))
    assert (found.reason, found.next, found.probe) == ("M-BACKOFF", at("23:00"), True)


def test_the_settings_say_how_long_back_off_is():
    settings = Maintenance(backoff=MaintenanceBackOff(after_failures=3, for_=HOUR))
    assert judged("09:59", plan(**HOURLY), of(FAILING), settings=settings).next == at("10:00")


# --- the first reason that holds ----------------------------------------------------------

SICK = when(small_files=100)
HOLDS = {
    "M-TABLE": {"running": True},
    "M-WINDOW": {"window": NIGHT},
    "M-BACKOFF": {"failures": 3, "failed_start": at("09:00")},
    "M-THROTTLE": {"zero_changes": 5, "zero_start": at("09:00")},
    "M-HEALTH": {"health": None},
    "M-INTERVAL": {"succeeded_at": at("09:30")},
    "M-CONDITION": {"health": health()},
}
"""What brings each reason about at ten o'clock, in the order in which they come."""

NEXT = {
    "M-TABLE": None,
    "M-WINDOW": at("1d 02:00"),
    "M-BACKOFF": at("15:00"),
    "M-THROTTLE": at("15:00"),
    "M-HEALTH": at("10:01"),
    "M-INTERVAL": at("10:30"),
    "M-CONDITION": at("10:01"),
}
PAIRS = [
    (first, later)
    for place, first in enumerate(HOLDS)
    for later in list(HOLDS)[place:]
    if {first, later} != {"M-HEALTH", "M-CONDITION"}
]
"""Every pair that can hold at once, and each alone: unknown health has no values that are unmet."""


def held_by(*reasons, at_latest=None):
    brought = {name: value for reason in reasons for name, value in HOLDS[reason].items()}
    history = {name: brought[name] for name in OperationHistory.__struct_fields__ if name in brought}
    measured = brought.get("health", health(small_files=100))
    conditions = when(small_files=100, min_interval=HOUR, at_latest=at_latest)
    return judged(
        "10:00",
        plan(interval=HOUR, when=conditions, window=brought.get("window")),
        of(OperationHistory(**history), health=measured),
        running=brought.get("running", False),
    )


@pytest.mark.parametrize(("first", "later"), PAIRS)
def test_the_first_of_several_reasons_is_named(first, later):
    found = held_by(first, later)
    assert (found.due, found.reason, found.next) == (True, first, NEXT[first])


def test_all_at_once_are_named_one_by_one():
    left = list(HOLDS)
    while left:
        with_health = [each for each in left if each != "M-CONDITION" or "M-HEALTH" not in left]
        assert held_by(*with_health).reason == left[0]
        left.pop(0)
    assert held_by().reason is None


@pytest.mark.parametrize("reason", ["M-TABLE", "M-WINDOW", "M-BACKOFF", "M-THROTTLE"])
def test_at_latest_forces_nothing_before_its_time_of_day_and_its_pauses(reason):
    found = held_by(reason, at_latest=HOUR / 2)
    assert (found.reason, found.next, found.forced) == (reason, NEXT[reason], True)


@pytest.mark.parametrize(
    ("reason", "reports"), [("M-HEALTH", True), ("M-INTERVAL", False), ("M-CONDITION", True)]
)
def test_at_latest_forces_it_over_its_conditions(reason, reports):
    found = held_by(reason, at_latest=HOUR / 2)
    # It is reported where the thresholds alone would not have started it.
    assert (found.reason, found.forced, found.reports_forced) == (None, True, reports)


def test_what_would_start_anyway_is_not_reported_as_forced():
    found = held_by(at_latest=HOUR / 2)
    assert (found.reason, found.forced, found.reports_forced) == (None, True, False)


# --- when to look again -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "measured", "at_latest", "look"),
    [
        ("when what was measured counts no more", "09:58", None, "10:03"),
        ("when at_latest forces it", "09:58", 10 * HOUR + 2 * MINUTE, "10:02"),
        ("whichever is sooner", "09:58", 11 * HOUR, "10:03"),
    ],
)
def test_unmet_thresholds_are_looked_at_again(sentence, measured, at_latest, look):
    conditions = when(small_files=100, at_latest=at_latest)
    found = judged("10:00", plan(when=conditions), table(health=health(measured)))
    assert found.reason == "M-CONDITION"
    assert found.look is not None
    assert timedelta(0) <= found.look - at(look) <= timedelta(microseconds=1), sentence


def test_thresholds_without_measures_cannot_be_unmet():
    found = judged("10:00", plan(when=when(min_interval=HOUR)), table())
    assert (found.reason, found.wants_health) == (None, True)


def test_min_interval_is_looked_at_again_when_it_ends_or_is_forced():
    history = OperationHistory(succeeded_at=at("09:30"))
    later = judged("10:00", plan(when=when(min_interval=HOUR)), of(history))
    assert (later.reason, later.look) == ("M-INTERVAL", at("10:30"))
    sooner = judged("10:00", plan(when=when(min_interval=DAY, at_latest=HOUR)), of(history))
    assert (sooner.reason, sooner.next, sooner.look) == ("M-INTERVAL", at("1d 09:30"), at("10:30"))


@pytest.mark.parametrize(
    ("sentence", "clock", "what", "wants"),
    [
        ("one that may start is ordered by its debt", "10:00", {}, True),
        ("one with thresholds waits for them", "10:00", {"when": SICK}, True),
        ("one that is not due is not measured", "09:00", {}, False),
        ("nor one out of its window", "10:00", {"when": SICK, "window": NIGHT}, False),
    ],
)
def test_a_table_is_measured_where_a_decision_needs_it(sentence, clock, what, wants):
    assert judged(clock, plan(**what), next_run=at("10:00")).wants_health is wants, sentence
    assert not judged(clock, plan(**what), table(health=health(clock)), next_run=at("10:00")).wants_health


def test_each_operation_has_its_own_history():
    failing = table(histories={EXPIRE: FAILING})
    assert judged("10:00", plan(), failing).reason is None
    assert judged("10:00", plan(EXPIRE), failing).reason == "M-BACKOFF"
