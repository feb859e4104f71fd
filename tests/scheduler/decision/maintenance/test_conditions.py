"""The `when` of an operation: thresholds, `min_interval` and `at_latest`."""

import pytest

from tests.worlds.operations import DAY, HOUR, health, when
from tests.worlds.world import at
from tidegate.domain.maintenance.measures import MEASURES
from tidegate.scheduler.decision.maintenance.health import ConditionsChecked, check
from tidegate.scheduler.model.maintenance import Health

SEEN = at("00:00")


def checked(conditions, measured=None, succeeded=None, clock="10:00"):
    return check(conditions, measured, None if succeeded is None else at(succeeded), SEEN, at(clock))


def test_without_when_it_runs_whenever_it_is_due():
    found = checked(None)
    assert found == ConditionsChecked()
    assert found.met


@pytest.mark.parametrize("measure", MEASURES)
def test_every_threshold_holds_at_equality(measure):
    conditions = when(**{measure: 10})
    assert not checked(conditions, health(**{measure: 9.999})).met
    assert checked(conditions, health(**{measure: 10})).met
    assert checked(conditions, health(**{measure: 11})).met


@pytest.mark.parametrize(
    ("mode", "small_files", "manifests", "met"),
    [
        ("any", 99, 99, False),
        ("any", 100, 0, True),
        ("any", 0, 100, True),
        ("all", 100, 99, False),
        ("all", 100, 100, True),
    ],
)
def test_any_or_all_thresholds_hold(mode, small_files, manifests, met):
    found = checked(
        when(mode, small_files=100, manifests=100), health(small_files=small_files, manifests=manifests)
    )
    assert found.met is met
    assert [(each.threshold.measure, each.value, each.met) for each in found.thresholds] == [
        ("small_files", small_files, small_files >= 100),
        ("manifests", manifests, manifests >= 100),
    ]


@pytest.mark.parametrize(("mode", "met"), [("any", True), ("all", False)])
def test_a_measure_that_is_unknown_is_unmet(mode, met):
    partly = Health(measured_at=at("10:00"), values={"manifests": 100})
    found = checked(when(mode, small_files=0, manifests=100), partly)
    assert found.met is met
    assert [each.value for each in found.thresholds] == [None, 100]


@pytest.mark.parametrize("mode", ["any", "all"])
def test_of_unknown_health_nothing_is_met(mode):
    assert not checked(when(mode, small_files=0)).met


@pytest.mark.parametrize("mode", ["any", "all"])
def test_without_thresholds_they_hold(mode):
    assert checked(when(mode, min_interval=HOUR)).met


@pytest.mark.parametrize(
    ("succeeded", "until"), [(None, None), ("08:59", None), ("09:00", None), ("09:00:01", "10:00:01")]
)
def test_min_interval_counts_from_the_last_successful_end(succeeded, until):
    found = checked(when(min_interval=HOUR), succeeded=succeeded)
    assert found.interval_until == (None if until is None else at(until))


@pytest.mark.parametrize(
    ("succeeded", "clock", "forced_at", "forced"),
    [
        (None, "23:59:59", "1d 00:00", False),
        (None, "1d 00:00", "1d 00:00", True),
        ("09:00", "1d 08:59", "1d 09:00", False),
        ("09:00", "1d 09:00", "1d 09:00", True),
    ],
)
def test_at_latest_counts_from_the_last_success_or_from_the_first_sight(succeeded, clock, forced_at, forced):
    found = checked(when(at_latest=DAY, small_files=100), health(clock), succeeded, clock)
    assert (found.forced_at, found.forced) == (at(forced_at), forced)
    assert not found.met


def test_without_at_latest_nothing_is_forced():
    found = checked(when(small_files=100), health(), clock="9d 00:00")
    assert (found.forced_at, found.forced) == (None, False)
