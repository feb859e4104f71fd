"""What a table's measures say: the `when` of an operation, what is an issue, and the debt. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal

from tidegate.domain.maintenance.measures import DAY, MEASURES
from tidegate.domain.model import Conditions, DebtWeights, HealthRules, Threshold
from tidegate.domain.value import Value
from tidegate.scheduler.model.maintenance import Health, TableHistory


class Checked(Value, kw_only=True):
    """A threshold with what was measured; `value` is None if that is unknown, and then it is not met.

    Attributes:
        threshold: which.
        value: what was measured.
        met: whether it holds.
    """

    threshold: Threshold
    value: float | None
    met: bool


class ConditionsChecked(Value, kw_only=True):
    """The conditions of an operation at an instant.

    Attributes:
        thresholds: each with its value.
        met: whether the thresholds hold together.
        interval_until: until when `min_interval` holds it back; None if it does not.
        forced_at: when `at_latest` forces it, or has forced it; None without one.
        forced: whether that instant has come.
    """

    thresholds: tuple[Checked, ...] = ()
    met: bool = True
    interval_until: datetime | None = None
    forced_at: datetime | None = None
    forced: bool = False


def check(
    conditions: Conditions | None,
    health: Health | None,
    succeeded_at: datetime | None,
    seen_at: datetime,
    now: datetime,
) -> ConditionsChecked:
    """Check the conditions of an operation on a table.

    Args:
        health: None if it is unknown.
        succeeded_at: end of the last successful run of the operation on the table.
        seen_at: when the policy first saw the table.
    """
    if conditions is None:
        return ConditionsChecked()
    checked = tuple(_checked(each, health) for each in conditions.thresholds)
    met = (any if conditions.mode == "any" else all)(each.met for each in checked) if checked else True
    pause, latest = conditions.min_interval, conditions.at_latest
    until = None if pause is None or succeeded_at is None else succeeded_at + pause
    forced_at = None if latest is None else (succeeded_at or seen_at) + latest
    return ConditionsChecked(
        thresholds=checked,
        met=met,
        interval_until=until if until is not None and now < until else None,
        forced_at=forced_at,
        forced=forced_at is not None and now >= forced_at,
    )


def _checked(threshold: Threshold, health: Health | None) -> Checked:
    value = None if health is None else health.values.get(threshold.measure)
    met = value is not None and value >= threshold.at_least
    return Checked(threshold=threshold, value=value, met=met)


KEPT_FOR = timedelta(minutes=5)
"""For so long what was measured is used for decisions; where polls are rarer, until the next one."""

Severity = Literal["info", "warning", "critical"]


class Issue(Value, kw_only=True):
    """One issue of a table.

    Attributes:
        value: what was measured.
        limit: from where on it has this severity; equality is enough.
    """

    severity: Severity
    measure: str
    value: float
    limit: float


def kept_for(poll: timedelta) -> timedelta:
    """Return for how long what was measured is used: a poll decides by what the one before has asked for."""
    return max(KEPT_FOR, poll)


def fresh(health: Health | None, now: datetime, poll: timedelta = KEPT_FOR) -> Health | None:
    """Return what was measured if it is recent enough to decide by it, and anything was measured at all.

    Args:
        poll: from one poll to the next.
    """
    # Also of a clock that was put back: what it has measured later says nothing of now.
    if health is None or health.failure or abs(now - health.measured_at) > kept_for(poll):
        return None
    return health


def issues(health: Health, rules: HealthRules) -> tuple[Issue, ...]:
    """Return the issues of a table, in the order of the measures; a measure that is unknown is none.

    A table without data files has one info, and no others.
    """
    values: Mapping[str, float] = health.values
    if values.get("files") == 0:
        return (Issue(severity="info", measure="files", value=0, limit=0),)
    found: list[Issue] = []
    for name, measure in MEASURES.items():
        limits, value = rules.thresholds.get(name, measure.issue), values.get(name)
        if limits is None or value is None:
            continue
        warning, critical = limits
        if value >= critical:
            found.append(Issue(severity="critical", measure=name, value=value, limit=critical))
        elif value >= warning:
            found.append(Issue(severity="warning", measure=name, value=value, limit=warning))
    return tuple(found)


DEBT_MAX = 1000.0


class Debt(Value, kw_only=True):
    """The debt of a table.

    Attributes:
        score: the sum of the parts, at most DEBT_MAX.
        parts: `issues`, `stale`, `failure_rate` and `failures_in_a_row`; those that are 0 are left out.
        issues: the issues that it counts.
    """

    score: float
    parts: dict[str, float]
    issues: tuple[Issue, ...] = ()


NO_DEBT = Debt(score=0.0, parts={})


def debt(
    health: Health | None, history: TableHistory, rules: HealthRules, weights: DebtWeights, *, failures: bool
) -> Debt:
    """Return the debt of a table; health that is unknown counts as no issues and no stale days.

    Args:
        failures: whether its failed runs count.
    """
    if health is None and not history.recent and not history.failures:
        # Most tables of a large store: never measured, and no operation has run.
        return NO_DEBT
    found = () if health is None else issues(health, rules)
    each = {"critical": weights.critical, "warning": weights.warning, "info": weights.info}
    age = 0.0 if health is None else health.values.get("newest_snapshot_age", 0.0)
    parts = {
        "issues": float(sum(each[issue.severity] for issue in found)),
        "stale": age / DAY * weights.per_stale_day,
    }
    if failures:
        parts["failure_rate"] = failure_rate(history) * weights.failure_rate
        parts["failures_in_a_row"] = history.failures * weights.per_failure_in_a_row
    parts = {name: value for name, value in parts.items() if value}
    return Debt(score=min(max(sum(parts.values()), 0.0), DEBT_MAX), parts=parts, issues=found)


def failure_rate(history: TableHistory) -> float:
    """Return how many percent of the last runs failed; 0 without runs."""
    return 100 * sum(history.recent) / len(history.recent) if history.recent else 0.0
