"""Times: the next run of an operation, and the ends of its pauses (docs/maintenance.md, "Due"). Pure.

Line: operations that nothing but the order holds back, and how long their turn waits for a measurement. A
poll starts the tables with more debt first, and the debt of a table is not known before it is measured.
Where a poll cannot start all that may start, the turn of a table that is being measured comes later, but
only for some minutes: a catalog that cannot be measured holds nothing back (docs/adr/0031). Pure.
"""

from datetime import datetime, timedelta

from tidegate.domain.model import MaintenanceBackOff, OperationPlan, Throttle
from tidegate.domain.model.maintenance import ONCE_A_DAY
from tidegate.domain.time.cron import parse
from tidegate.scheduler.decision.constraints import window
from tidegate.scheduler.model.maintenance import OperationHistory, Record, TableState
from tidegate.scheduler.model.reason import Reason

IN_LINE = (Reason.M_BUDGET, Reason.W_CONCURRENCY, Reason.M_PLACES)
"""Reasons of what only waits for its turn. Of the operations of a table that wait so, a poll looks at the
first one alone; at those behind it when that one waits so no longer (`tick.maintenance.look`)."""

MEASURED_WITHIN = timedelta(minutes=5)
"""A turn waits no longer for a measurement: Dagster starts a run and Spark a session in one or two of them.
Where polls are rarer than that, it does not wait."""


def awaits_measurement(record: Record, table: TableState, now: datetime, next_poll: datetime) -> bool:
    """Return whether the turn of an operation, of which no recent measures are known, is worth waiting for.

    Args:
        record: as the last poll left it.
        next_poll: the next one at which it could start.
    """
    health, asked_at = table.health, table.wanted_at
    if health is not None and health.failure:
        return False
    if asked_at is None:
        # Measured and forgotten again, by a write. A table that is written all the time is not known at any
        # poll: it waits once, and then takes the place of a table without debt.
        once = record.reason is Reason.M_HEALTH or (record.reason in IN_LINE and health is None)
        return not once and next_poll - now <= MEASURED_WITHIN
    return next_poll - asked_at <= MEASURED_WITHIN


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
