"""Issues of a table, by measure, and for how long what was measured counts."""

import pytest

from tests.worlds.operations import health
from tests.worlds.world import at
from tidegate.domain.model import HealthRules
from tidegate.scheduler.decision.maintenance.health import Issue, fresh, issues
from tidegate.scheduler.model.maintenance import Health

DAY = 86_400
MB = 1_000_000

TABLE = [
    ("small_file_percent", 20, 50),
    ("large_file_percent", 20, 50),
    ("files", 10_000, 50_000),
    ("snapshots", 100, 500),
    ("oldest_snapshot_age", 7 * DAY, 30 * DAY),
    ("newest_snapshot_age", 7 * DAY, 30 * DAY),
    ("delete_files", 100, 500),
    ("delete_ratio", 0.10, 0.25),
    ("manifests", 100, 500),
    ("manifest_size", 100 * MB, 500 * MB),
    ("partitions", 5_000, 10_000),
    ("partition_skew", 3, 10),
]
"""The table of docs/maintenance.md, written once more."""


@pytest.mark.parametrize(("measure", "warning", "critical"), TABLE, ids=[row[0] for row in TABLE])
def test_an_issue_begins_at_equality(measure, warning, critical):
    def severity(value):
        found = issues(health(**{measure: value}), HealthRules())
        return [(each.severity, each.measure, each.value, each.limit) for each in found]

    assert severity(warning * 0.999) == []
    assert severity(warning) == [("warning", measure, warning, warning)]
    assert severity(critical * 0.999) == [("warning", measure, critical * 0.999, warning)]
    assert severity(critical) == [("critical", measure, critical, critical)]


@pytest.mark.parametrize("measure", ["small_files", "total_size"])
def test_two_measures_are_no_issue_until_a_policy_says_so(measure):
    assert issues(health(**{measure: 1e15}), HealthRules()) == ()
    rules = HealthRules(thresholds={measure: (5, 10)})
    assert [each.severity for each in issues(health(**{measure: 5}), rules)] == ["warning"]


def test_a_policy_has_its_own_thresholds():
    rules = HealthRules(thresholds={"snapshots": (10, 20)})
    found = issues(health(snapshots=20, manifests=100), rules)
    assert [(each.measure, each.severity, each.limit) for each in found] == [
        ("snapshots", "critical", 20),
        ("manifests", "warning", 100),
    ]


def test_a_healthy_table_has_no_issues():
    assert issues(health(), HealthRules()) == ()


def test_a_table_without_data_files_has_one_info_and_no_others():
    found = issues(health(files=0, snapshots=500, newest_snapshot_age=30 * DAY), HealthRules())
    assert found == (Issue(severity="info", measure="files", value=0, limit=0),)


def test_a_measure_that_is_unknown_is_no_issue():
    partly = Health(measured_at=at("10:00"), values={"snapshots": 100})
    assert [each.measure for each in issues(partly, HealthRules())] == ["snapshots"]


@pytest.mark.parametrize(
    ("sentence", "measured", "clock", "counts"),
    [
        ("it counts at once", "10:00", "10:00", True),
        ("it counts for five minutes", "10:00", "10:05", True),
        ("and not longer", "10:00", "10:05:01", False),
        ("a clock that was put back a little is ignored", "10:00", "09:55", True),
        ("not one that was put back far", "10:00", "09:54:59", False),
    ],
)
def test_what_was_measured_counts_for_five_minutes(sentence, measured, clock, counts):
    found = health(measured)
    assert fresh(found, at(clock)) == (found if counts else None), sentence


def test_nothing_counts_where_nothing_could_be_measured():
    assert fresh(None, at("10:00")) is None
    assert fresh(health(failure="no such table"), at("10:00")) is None
