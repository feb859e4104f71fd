"""Health: what of a table's measures is an issue (docs/maintenance.md, "Health"). Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal

from tidegate.domain.maintenance.measures import MEASURES
from tidegate.domain.model import HealthRules
from tidegate.domain.value import Value
from tidegate.scheduler.model.maintenance import Health

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
