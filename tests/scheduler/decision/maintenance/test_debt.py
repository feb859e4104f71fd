"""The debt of a table: its parts, its weights and its limits."""

import pytest

from tests.worlds.operations import health
from tidegate.domain.maintenance.measures import DAY
from tidegate.domain.model import DebtWeights, HealthRules
from tidegate.scheduler.decision.maintenance.health import debt, failure_rate
from tidegate.scheduler.model.maintenance import TableHistory


def scored(measured=None, recent=(), failures=0, weights=None, *, count_failures=True):
    history = TableHistory(recent=tuple(recent), failures=failures)
    found = debt(measured, history, HealthRules(), weights or DebtWeights(), failures=count_failures)
    return found.score, found.parts


def test_a_healthy_table_has_none():
    assert scored(health()) == (0, {})


def test_unknown_health_is_no_debt_but_failures_are():
    assert scored() == (0, {})
    assert scored(None, [True], 1) == (120, {"failure_rate": 100, "failures_in_a_row": 20})


@pytest.mark.parametrize(
    ("sentence", "measured", "score", "parts"),
    [
        ("a critical issue", {"snapshots": 500}, 100, {"issues": 100}),
        ("a warning", {"snapshots": 100}, 50, {"issues": 50}),
        ("no data files", {"files": 0}, 10, {"issues": 10}),
        ("several", {"snapshots": 500, "manifests": 500, "partitions": 5000}, 250, {"issues": 250}),
        ("the seed's 55", {"newest_snapshot_age": 10 * DAY}, 55, {"issues": 50, "stale": 5}),
        (
            "which is 105 in life",
            {"newest_snapshot_age": 10 * DAY, "oldest_snapshot_age": 10 * DAY},
            105,
            {"issues": 100, "stale": 5},
        ),
        ("days count with their fractions", {"newest_snapshot_age": 1.5 * DAY}, 0.75, {"stale": 0.75}),
        (
            "an empty table is stale too",
            {"files": 0, "newest_snapshot_age": 8 * DAY},
            14,
            {"issues": 10, "stale": 4},
        ),
    ],
)
def test_issues_and_stale_days_count(sentence, measured, score, parts):
    assert scored(health(**measured)) == (score, parts), sentence


def test_the_seeds_160_is_260_since_all_three_runs_failed():
    critical = health(snapshots=500)
    assert scored(critical, [True] * 3, 3) == (
        260,
        {"issues": 100, "failure_rate": 100, "failures_in_a_row": 60},
    )
    without_rate = DebtWeights(failure_rate=0)
    assert scored(critical, [True] * 3, 3, without_rate) == (160, {"issues": 100, "failures_in_a_row": 60})


def test_failures_order_nothing_unless_they_are_asked_for():
    assert scored(health(snapshots=100), [True] * 3, 3, count_failures=False) == (50, {"issues": 50})


def test_every_weight_can_be_configured():
    weights = DebtWeights(
        critical=7, warning=5, info=3, per_stale_day=2, failure_rate=0.5, per_failure_in_a_row=11
    )
    measured = health(snapshots=500, manifests=100, newest_snapshot_age=1 * DAY)
    score, parts = scored(measured, [True, False], 1, weights)
    assert parts == {"issues": 12, "stale": 2, "failure_rate": 25, "failures_in_a_row": 11}
    assert score == 50
    assert scored(health(files=0), weights=weights) == (3, {"issues": 3})


def test_it_has_a_cap_and_is_never_negative():
    score, parts = scored(health(newest_snapshot_age=3000 * DAY))
    assert (score, sum(parts.values())) == (1000, 1600)
    # A snapshot of the future, by the clock of the process that has written it.
    assert scored(health(newest_snapshot_age=-DAY))[0] == 0


@pytest.mark.parametrize(
    ("recent", "rate"), [((), 0), ((True,), 100), ((False,), 0), ((True, False, False), 100 / 3)]
)
def test_the_failure_rate_is_in_percent_and_not_rounded(recent, rate):
    assert failure_rate(TableHistory(recent=recent)) == pytest.approx(rate)
