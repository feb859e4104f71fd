"""Judge: whether an operation on a table may start, and what holds it back first (docs/maintenance.md).

The order of the reasons is fixed. What comes after M-CONDITION depends on other operations, and is decided by
`decision.maintenance.poll`. Pure.
"""

from datetime import datetime

from tidegate.domain.model import Maintenance, OperationPlan
from tidegate.domain.value import Value
from tidegate.scheduler.decision.maintenance import times
from tidegate.scheduler.decision.maintenance.health import ConditionsChecked, check, fresh, kept_for
from tidegate.scheduler.decision.maintenance.times import awaits_measurement
from tidegate.scheduler.model.maintenance import Health, Record, TableState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import earliest


class Asked(Value, kw_only=True):
    """An operation on a table, with all that decides about it alone.

    Attributes:
        running: whether an operation of the table runs.
        next_poll: the poll after the one at which it is judged.
    """

    record: Record
    plan: OperationPlan
    table: TableState
    settings: Maintenance
    running: bool
    next_poll: datetime


class Judged(Value, kw_only=True):
    """The verdict on an operation on a table.

    Attributes:
        due: whether its next run has come.
        reason: what holds a due operation back; None if it may start at a poll.
        next: when that may change; of one that is not due its next run. None if no time is known.
        look: when a poll has to look again; None: not before something else changes.
        probe: its start is the one attempt after a throttle.
        forced: `at_latest` has come.
        wants_health: it cannot be decided before the table is measured, or has no place in the order.
        unranked: it may start, but its place in the order will be known soon: the table is being measured.
    """

    asked: Asked
    due: bool
    reason: Reason | None = None
    next: datetime | None = None
    look: datetime | None = None
    probe: bool = False
    forced: bool = False
    wants_health: bool = False
    unranked: bool = False
    conditions: ConditionsChecked = ConditionsChecked()

    @property
    def reports_forced(self) -> bool:
        """Whether `at_latest` lets it start although its thresholds do not hold."""
        return self.forced and not self.conditions.met

    @property
    def awaits_place(self) -> bool:
        """Whether the last poll has left it to wait for its place in the order, and it is still unknown."""
        return self.unranked and self.asked.record.reason is Reason.M_HEALTH


def judge(asked: Asked, now: datetime) -> Judged:
    """Judge one operation of the policy that counts, at an instant."""
    if asked.table.history.untouched is not None:
        # Its first publish lets a poll look at it.
        return Judged(asked=asked, due=False)
    record, plan, rules = asked.record, asked.plan, asked.settings
    own = asked.table.history.of(record.operation)
    back_off = times.backed_off_until(rules.backoff, own)
    throttle = times.throttled_until(rules.throttle, plan, own)
    if record.next_run is not None and now < record.next_run:
        following = max(each for each in (record.next_run, back_off, throttle) if each is not None)
        return Judged(asked=asked, due=False, next=following, look=record.next_run)
    health = fresh(asked.table.health, now, rules.poll)
    conditions = check(plan.when, health, own.succeeded_at, record.seen_at, now)
    reason, following, look = _held_back(asked, health, conditions, back_off, throttle, now)
    return Judged(
        asked=asked,
        due=True,
        reason=reason,
        next=following,
        look=look,
        probe=throttle is not None,
        forced=conditions.forced,
        wants_health=reason in (None, Reason.M_HEALTH) and health is None,
        unranked=reason is None and health is None and not conditions.forced and _is_unranked(asked, now),
        conditions=conditions,
    )


def _is_unranked(asked: Asked, now: datetime) -> bool:
    """Return whether its place in the order is worth waiting for; not if its window would close meanwhile."""
    if times.opening(asked.plan, asked.next_poll) is not None:
        return False
    return awaits_measurement(asked.record, asked.table, now, asked.next_poll)


def _held_back(
    asked: Asked,
    health: Health | None,
    conditions: ConditionsChecked,
    back_off: datetime | None,
    throttle: datetime | None,
    now: datetime,
) -> tuple[Reason | None, datetime | None, datetime | None]:
    """Return the first reason that holds, with the time that is shown for it, and when to look again."""
    soon = asked.next_poll
    if asked.running:
        # The end of that operation lets the next poll look at all those of the table.
        return Reason.M_TABLE, None, None
    opens = times.opening(asked.plan, now)
    if opens is not None:
        return Reason.M_WINDOW, opens, opens
    if back_off is not None and now < back_off:
        return Reason.M_BACKOFF, back_off, back_off
    if throttle is not None and now < throttle:
        return Reason.M_THROTTLE, throttle, throttle
    if conditions.forced:
        return None, soon, soon
    if conditions.thresholds and health is None:
        return Reason.M_HEALTH, soon, soon
    if conditions.interval_until is not None:
        look = _earliest(conditions.interval_until, conditions.forced_at)
        return Reason.M_INTERVAL, conditions.interval_until, look
    if health is not None and not conditions.met:
        over = health.measured_at + kept_for(asked.settings.poll) + times.MICROSECOND
        return Reason.M_CONDITION, soon, _earliest(over, conditions.forced_at)
    return None, soon, soon


def _earliest(first: datetime, other: datetime | None) -> datetime:
    return earliest((first, other)) or first
