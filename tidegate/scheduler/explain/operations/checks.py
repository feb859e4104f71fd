"""Checks: all that may hold an operation on a table back, a verdict each, in the order of the reasons.

A poll reports the first reason that holds (`decision.maintenance.judge`, `decision.maintenance.poll`). Here
every check has its verdict, with times and numbers, from the same functions. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from tidegate.domain.duration import duration_text
from tidegate.domain.model import Conditions, Maintenance, Operation
from tidegate.domain.value import Value
from tidegate.domain.wording import listed, plural
from tidegate.scheduler.decision.constraints import window
from tidegate.scheduler.decision.maintenance import times
from tidegate.scheduler.decision.maintenance.health import Checked, ConditionsChecked, check, fresh
from tidegate.scheduler.decision.maintenance.judge import Asked, judge
from tidegate.scheduler.decision.maintenance.poll import FREE, Busy, Spent, over
from tidegate.scheduler.explain.instant_text import instant_text
from tidegate.scheduler.explain.operations.measure_text import age_text, bytes_text, value_text
from tidegate.scheduler.model.maintenance import OperationRun, TableState, Untouched, Work, table_resource
from tidegate.scheduler.model.places import Rooms
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import group_resource
from tidegate.scheduler.model.verdict import Verdict

JOBS_NAMED = 20
"""So many of the jobs that hold an operation back are named; their number is always shown."""


class Around(Value, kw_only=True):
    """What decides about an operation besides its record, its policy and its table.

    Attributes:
        run: the operation that runs on the table.
        writers: the jobs that write partitions of it, each in one line for people.
        slots: the number of free slots of each pool.
        holders: what holds the slots of a pool that has none free, each in one line for people.
        rooms: how many operations may begin beside the pipelines.
    """

    run: OperationRun | None = None
    busy: Busy = FREE
    writers: tuple[str, ...] = ()
    spent: Spent = Spent()
    slots: Mapping[str, int] = {}
    holders: Mapping[str, tuple[str, ...]] = {}
    rooms: Rooms = Rooms()


def due(asked: Asked, now: datetime) -> Verdict:
    """Return whether the next run of an operation has come."""
    record, plan, untouched = asked.record, asked.plan, asked.table.history.untouched
    if untouched is not None:
        needs = "its first publish" if untouched is Untouched.NEVER_PUBLISHED else None
        return Verdict(kind="due", met=False, summary=untouched.sentence, needs=needs, at=plan.at)
    if record.next_run is None:
        summary = "it has never run, so it is due at once"
        return Verdict(kind="due", met=True, summary=summary, since=record.seen_at, at=plan.at)
    pace = "once a day"
    if plan.cron is not None:
        pace = f'cron "{plan.cron}" {plan.timezone}'
    elif plan.interval is not None:
        pace = f"every {duration_text(plan.interval)}"
    if now >= record.next_run:
        return Verdict(kind="due", met=True, summary=pace, since=record.next_run, at=plan.at)
    at = record.next_run
    return Verdict(kind="due", met=False, summary=pace, next_check=at, holds_at=at, at=plan.at)


def checks(asked: Asked, around: Around, now: datetime) -> tuple[Verdict, ...]:
    """Return the verdicts on an operation that a policy asks for, in the order of the reasons."""
    return (
        _table(asked.table, around.run),
        *_window(asked, now),
        _back_off(asked, now),
        _throttle(asked, now),
        *_conditions(asked, now),
        *_place(asked, now),
        *_busy(asked.table, asked.record.operation, around),
        *_budget(asked, around.spent, now),
        *_places(asked.record.policy, around.rooms, asked.next_poll),
        *_slots(asked.settings, around),
    )


def checks_by_hand(
    table: TableState, work: Work, settings: Maintenance, around: Around, next_poll: datetime
) -> tuple[Verdict, ...]:
    """Return the verdicts on an operation that a person asked for; nothing else holds it back."""
    return (
        _table(table, around.run),
        *_busy(table, work.operation, around),
        *_places(work.policy, around.rooms, next_poll),
        *_slots(settings, around),
    )


def _table(table: TableState, run: OperationRun | None) -> Verdict:
    if run is None:
        return Verdict(kind="table", met=True, summary="no operation runs on it")
    summary = (
        f"{run.operation} of {run.policy} runs on it as job {run.job}, until {instant_text(run.closes_at)}"
    )
    return Verdict(
        kind="table",
        met=False,
        summary=f"{summary} at the latest",
        needs="the end of the running operation",
        blocked_on=table_resource(table.name),
        reason=Reason.M_TABLE,
    )


def _window(asked: Asked, now: datetime) -> Iterator[Verdict]:
    found = asked.plan.window
    if found is None:
        return
    span = f"{found.from_:%H:%M}-{found.to:%H:%M} {found.timezone}"
    if found.days:
        span += f" on {', '.join(found.days)}"
    if found.calendar is not None:
        span += f" on business days of {found.calendar.name}"
    if window.is_open(found, now):
        yield Verdict(kind="window", met=True, summary=f"{span} is open", at=asked.plan.at)
        return
    yield Verdict(
        kind="window",
        met=False,
        summary=f"{span} is closed",
        next_check=times.opening(asked.plan, now),
        reason=Reason.M_WINDOW,
        at=asked.plan.at,
    )


def _back_off(asked: Asked, now: datetime) -> Verdict:
    own = asked.table.history.of(asked.record.operation)
    until = times.backed_off_until(asked.settings.backoff, own)
    summary = f"{plural(own.failures, 'failure')} in a row, of {asked.settings.backoff.after_failures}"
    return _pause("backoff", summary, until, Reason.M_BACKOFF, asked, now)


def _throttle(asked: Asked, now: datetime) -> Verdict:
    own = asked.table.history.of(asked.record.operation)
    until = times.throttled_until(asked.settings.throttle, asked.plan, own)
    limit = asked.settings.throttle.after_zero_changes
    summary = f"{plural(own.zero_changes, 'run')} in a row without a change, of {limit}"
    if until is not None:
        summary += "; the next one is a probe"
    return _pause("throttle", summary, until, Reason.M_THROTTLE, asked, now)


def _pause(
    kind: str, summary: str, until: datetime | None, reason: Reason, asked: Asked, now: datetime
) -> Verdict:
    at = asked.settings.at
    if until is None or now >= until:
        return Verdict(kind=kind, met=True, summary=summary, since=until, at=at)
    return Verdict(kind=kind, met=False, summary=summary, next_check=until, reason=reason, at=at)


def _conditions(asked: Asked, now: datetime) -> Iterator[Verdict]:
    """Yield what `when` asks for; nothing of it counts from the instant of `at_latest` on."""
    when, at = asked.plan.when, asked.plan.at
    if when is None:
        return
    health = fresh(asked.table.health, now, asked.settings.poll)
    own = asked.table.history.of(asked.record.operation)
    found = check(when, health, own.succeeded_at, asked.record.seen_at, now)
    if found.forced:
        summary = "no run has succeeded for so long: it is forced, whatever else `when` says"
        yield Verdict(kind="at_latest", met=True, summary=summary, since=found.forced_at, at=at)
        return
    if found.thresholds:
        yield _health(asked, now)
    if when.min_interval is not None:
        last = (
            "no run has succeeded yet"
            if own.succeeded_at is None
            else f"last {instant_text(own.succeeded_at)}"
        )
        summary = f"{duration_text(when.min_interval)} after a successful run; {last}"
        until = found.interval_until
        met = until is None
        reason = None if met else Reason.M_INTERVAL
        yield Verdict(kind="min_interval", met=met, summary=summary, next_check=until, reason=reason, at=at)
    if found.thresholds:
        yield _thresholds(asked, when, found)


def _health(asked: Asked, now: datetime) -> Verdict:
    health = asked.table.health
    if health is None:
        summary = "nothing is known of the table; it is measured before a poll decides"
    elif health.failure:
        summary = f"could not be measured at {instant_text(health.measured_at)}: {health.failure}"
    elif fresh(health, now, asked.settings.poll) is None:
        ago = age_text(now - health.measured_at)
        summary = f"measured {ago} ago, which is too long: it is measured again before a poll decides"
    else:
        summary = f"measured {age_text(now - health.measured_at)} ago"
        summary += f", {health.note}" if health.note else ""
        return Verdict(kind="health", met=True, summary=summary, since=health.measured_at)
    return _measured_first(asked, summary)


def _place(asked: Asked, now: datetime) -> Iterator[Verdict]:
    """Yield that a poll which cannot start everything waits for the debt of the table."""
    if judge(asked, now).awaits_place:
        summary = "not everything can start, and its place in the order is known once the table is measured"
        yield _measured_first(asked, summary)


def _measured_first(asked: Asked, summary: str) -> Verdict:
    return Verdict(
        kind="health",
        met=False,
        summary=summary,
        next_check=asked.next_poll,
        needs="a measurement of the table, which the scheduler makes by itself",
        reason=Reason.M_HEALTH,
    )


def _thresholds(asked: Asked, when: Conditions, found: ConditionsChecked) -> Verdict:
    parts = tuple(_threshold(each) for each in found.thresholds)
    unmet = [part.needs for part in parts if part.needs is not None and not part.met]
    return Verdict(
        kind="when",
        met=found.met,
        summary=f"{when.mode} of {plural(len(parts), 'threshold')}",
        next_check=None if found.met else found.forced_at,
        needs=None if found.met else listed(unmet, "or" if when.mode == "any" else "and"),
        reason=None if found.met else Reason.M_CONDITION,
        at=asked.plan.at,
        parts=parts,
    )


def _threshold(checked: Checked) -> Verdict:
    name = checked.threshold.measure
    measured = "unknown" if checked.value is None else f"{value_text(name, checked.value)} measured"
    needed = value_text(name, checked.threshold.at_least)
    summary = f"{measured}, at least {needed} needed"
    return Verdict(kind=name, met=checked.met, summary=summary, needs=f"{name} of at least {needed}")


def _busy(table: TableState, operation: Operation, around: Around) -> Iterator[Verdict]:
    """Yield what pipelines write of the table of a dataset; of other tables nothing is known."""
    if not operation.rewrites_data or table.dataset is None:
        return
    busy = around.busy
    if not busy.keys:
        yield Verdict(kind="busy", met=True, summary="no pipeline writes it")
        return
    jobs = plural(len(busy.jobs), "job")
    if busy.free:
        left_out = f"{plural(len(busy.keys), 'partition')} left out, which pipelines write ({jobs})"
        yield Verdict(kind="busy", met=True, summary=left_out)
        return
    summary = f"pipelines write every partition of it ({jobs})"
    yield Verdict(
        kind="busy",
        met=False,
        summary=summary,
        needs="the end of the jobs that write its partitions",
        reason=Reason.M_BUSY,
        parts=_named(around.writers),
    )


def _budget(asked: Asked, spent: Spent, now: datetime) -> Iterator[Verdict]:
    budget = asked.settings.budget
    said: list[str] = []
    if budget.tables_per_poll:
        said.append(f"{len(spent.tables)} of {budget.tables_per_poll} tables since the poll")
    if budget.operations_per_poll:
        said.append(f"{spent.operations} of {budget.operations_per_poll} operations since the poll")
    if budget.bytes_per_hour:
        said.append(f"{bytes_text(spent.bytes)} of {bytes_text(budget.bytes_per_hour)} in this hour")
    if not said:
        return
    reached = over(budget, spent.tables, spent.operations, spent.bytes, asked.table.name)
    summary, at = ", ".join(said), asked.settings.at
    if reached is None:
        yield Verdict(kind="budget", met=True, summary=summary, at=at)
        return
    following = times.next_hour(now) if reached == "hour" else asked.next_poll
    yield Verdict(
        kind="budget", met=False, summary=summary, next_check=following, reason=Reason.M_BUDGET, at=at
    )


def _slots(settings: Maintenance, around: Around) -> Iterator[Verdict]:
    for pool, most in settings.auto_pools.items():
        free, at = around.slots.get(pool, most), settings.at
        if free > 0:
            summary = f"{free} of {plural(most, 'slot')} of group {pool} free"
            yield Verdict(kind="concurrency", met=True, summary=summary, at=at)
            continue
        yield Verdict(
            kind="concurrency",
            met=False,
            summary=f"all slots of group {pool} are taken, {most} of {most}",
            blocked_on=group_resource(pool),
            reason=Reason.W_CONCURRENCY,
            at=at,
            parts=_named(around.holders.get(pool, ())),
        )


def _places(policy: str, rooms: Rooms, next_poll: datetime) -> Iterator[Verdict]:
    """Yield whether the pipelines leave it a place; nothing where the number of places is not known."""
    places = rooms.of(policy)
    if places is None:
        return
    if places.has_room:
        yield Verdict(kind="places", met=True, summary=places.sentence)
        return
    yield Verdict(
        kind="places",
        met=False,
        summary=places.sentence,
        next_check=next_poll,
        needs="the end of a run",
        reason=Reason.M_PLACES,
    )


def _named(jobs: Sequence[str]) -> tuple[Verdict, ...]:
    return tuple(Verdict(kind="held by", met=False, summary=each) for each in jobs[:JOBS_NAMED])
