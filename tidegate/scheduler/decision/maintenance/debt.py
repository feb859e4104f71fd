"""Debt: how urgently a table needs maintenance, from 0 to 1000 (docs/maintenance.md). Pure."""

from tidegate.domain.maintenance.measures import DAY
from tidegate.domain.model import DebtWeights, HealthRules
from tidegate.domain.value import Value
from tidegate.scheduler.decision.maintenance.health import Issue, issues
from tidegate.scheduler.model.maintenance import Health, TableHistory

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
