"""Conditions: the `when` of an operation, and the health of a table (docs/maintenance.md). Pure."""

from datetime import datetime

from tidegate.domain.model import Conditions, Threshold
from tidegate.domain.value import Value
from tidegate.scheduler.model.maintenance import Health


class Checked(Value, kw_only=True):
    """A threshold with what was measured; `value` is None if that is unknown, and then it is not met."""

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
