"""Times: the next run of an operation, and the ends of its pauses (docs/maintenance.md, "Due"). Pure."""

from datetime import datetime, timedelta

from tidegate.domain.model import MaintenanceBackOff, OperationPlan, Throttle
from tidegate.domain.model.maintenance import ONCE_A_DAY
from tidegate.domain.time.cron import parse
from tidegate.scheduler.decision.constraints import window
from tidegate.scheduler.model.maintenance import OperationHistory

MICROSECOND = timedelta(microseconds=1)


def next_run(plan: OperationPlan, start: datetime) -> datetime:
    """Return the next run after one that started at an instant."""
    if plan.cron is not None:
        return _fire_after(plan, start)
    return start + (plan.interval or ONCE_A_DAY)


def backed_off_until(rule: MaintenanceBackOff, history: OperationHistory) -> datetime | None:
    """Return until when failures in a row hold the operation back; None if they do not."""
    if history.failed_start is None or history.failures < rule.after_failures:
        return None
    return history.failed_start + rule.for_


def throttled_until(rule: Throttle, plan: OperationPlan, history: OperationHistory) -> datetime | None:
    """Return until when runs without change hold the operation back; None if they do not.

    Then the next run is a probe.
    """
    start = history.zero_start
    if start is None or history.zero_changes < rule.after_zero_changes:
        return None
    if plan.cron is not None:
        return _fire_after(plan, start + rule.at_least - MICROSECOND)
    interval = plan.interval or ONCE_A_DAY
    return start + max(interval * (1 + rule.slow_down_percent / 100), rule.at_least)


def opening(plan: OperationPlan, now: datetime) -> datetime | None:
    """Return when the window of the operation opens next; None while it is open, and without one."""
    if plan.window is None or window.is_open(plan.window, now):
        return None
    return window.opening(plan.window, now)


def next_hour(now: datetime) -> datetime:
    """Return the next full hour of UTC, from where on the bytes of an hour are counted again."""
    return now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)


def poll_at_or_after(origin: datetime, poll: timedelta, instant: datetime) -> datetime:
    """Return the first poll at or after an instant: a whole multiple of `poll` from the origin."""
    return origin + max(-((origin - instant) // poll), 0) * poll


def last_poll(origin: datetime, poll: timedelta, instant: datetime) -> datetime:
    """Return the last poll at or before an instant; the origin if there was none."""
    return origin + max((instant - origin) // poll, 0) * poll


def _fire_after(plan: OperationPlan, instant: datetime) -> datetime:
    return parse(plan.cron or "").next_fire(instant, plan.timezone)
