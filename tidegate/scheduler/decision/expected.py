"""Data that is expected: until when a period of a dataset has to have landed, and what follows if not. Pure.

    deadline: "08:00"   with partitions: the first 08:00 at or after the end of the period
                        without: at each 08:00 there was an update since the 08:00 before
    deadline: 2h        with partitions: two hours after the end of the period
                        without: two hours after the last update

A period has landed when all its partitions have: each static key of it. It is judged once, at its deadline,
after all events of that instant; at the deadline it is in time. One that lands later has landed after all.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from tidegate.domain.model import App, Cycle, Dataset, Deadline
from tidegate.domain.model.dataset import TimeDimension
from tidegate.domain.partition_key import (
    expected_keys,
    format_time_key,
    parse_time_key,
    split_key,
    start_of,
    validate_key,
)
from tidegate.domain.time.cycle import period_of, truncate
from tidegate.domain.value import Value
from tidegate.domain.wording import plural
from tidegate.scheduler.decision.deadlines import deadline_text, first_clock
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.expected import ExpectedData, ExpectedPeriod

CATCH_UP_PERIODS_MAX = 1_000
"""The most periods of one dataset that are judged after a downtime; of more, the newest."""

NAMES_MAX = 20
"""Missing partitions that an entry names."""

ONE_DAY = timedelta(days=1)
MICROSECOND = timedelta(microseconds=1)

LENGTHS: dict[Cycle, timedelta] = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": ONE_DAY,
    "week": 7 * ONE_DAY,
    "month": 31 * ONE_DAY,
    "year": 366 * ONE_DAY,
}
"""About how long a period of each cycle is."""

Periods = Mapping[str, ExpectedPeriod]
"""Kept periods of a dataset, by key."""


class Judged(Value, kw_only=True):
    """What follows from a deadline that has passed, or from data that has landed.

    Attributes:
        data: what is expected from now on.
        kept: periods that are new or have changed.
        gone: keys of periods that need not be kept any longer.
    """

    data: ExpectedData
    kept: tuple[ExpectedPeriod, ...] = ()
    gone: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()


# --- what is expected -------------------------------------------------------------------


def expected_of(
    app: App, dataset: Dataset, before: ExpectedData | None, now: datetime
) -> ExpectedData | None:
    """Return what is expected of a dataset that is deployed at an instant; None without a deadline.

    Args:
        before: what was expected until now. Its next period stays, with the new deadline.
    """
    deadline, scheme = dataset.deadline, dataset.partitions
    if deadline is None or (scheme is not None and scheme.time is None):
        return None
    zone = app.timezone if scheme is None or scheme.time is None else scheme.time.timezone
    deadline = msgspec.structs.replace(deadline, at=None)
    found = ExpectedData(
        dataset=f"{app.name}/{dataset.name}", deadline=deadline, partitions=scheme, zone=zone, since=now
    )
    if before is not None and before.partitions == scheme:
        if (before.deadline, before.zone) == (deadline, zone):
            return before
        found = msgspec.structs.replace(
            found, since=before.since, updated_at=before.updated_at, period=before.period
        )
    if found.partitions is None:
        return _next_update(found, now)
    if not found.period:
        found = msgspec.structs.replace(found, period=_first_period(_time(found), now))
    return _due(found)


def due_of(data: ExpectedData, period: str) -> datetime:
    """Return until when a period of a partitioned dataset has to have landed."""
    end = parse_time_key(period, _time(data)).end
    return _deadline_after(data, end)


def period_in(data: ExpectedData, key: str) -> str | None:
    """Return the period to which a partition of a dataset belongs; None for a key that it does not have."""
    if data.partitions is None:
        return None
    if validate_key(data.partitions, key) is not None:
        return None
    return split_key(data.partitions, key)[_time(data).name]


def partitions_of(data: ExpectedData, period: str) -> tuple[str, ...]:
    """Return the partitions (keys) that a period consists of."""
    if data.partitions is None:
        return ("",)
    return expected_keys(data.partitions, _time(data).cycle, period)


def _time(data: ExpectedData) -> TimeDimension:
    assert data.partitions is not None and data.partitions.time is not None, "it has periods"
    return data.partitions.time


def _first_period(time: TimeDimension, now: datetime) -> str:
    """Return the first period that ends after an instant."""
    current = period_of(now, time.cycle, time.timezone, time.week_starts)
    return format_time_key(max(current.start, start_of(time)), time)


def _due(data: ExpectedData) -> ExpectedData:
    return msgspec.structs.replace(data, due_at=due_of(data, data.period))


def _deadline_after(data: ExpectedData, end: datetime) -> datetime:
    deadline = data.deadline
    if deadline.by is not None:
        return first_clock(deadline.by, data.zone, end)
    return end + (deadline.within or timedelta(0))


def _next_update(data: ExpectedData, after: datetime) -> ExpectedData:
    """Return the same dataset without partitions, with its first deadline after an instant."""
    deadline = data.deadline
    if deadline.by is not None:
        due = first_clock(deadline.by, data.zone, after)
        if due <= after:
            due = first_clock(deadline.by, data.zone, after + MICROSECOND)
        return msgspec.structs.replace(data, due_at=due, period=_minute(due))
    last = data.updated_at or data.since
    due = last + (deadline.within or timedelta(0))
    return msgspec.structs.replace(data, due_at=due, period=_minute(last))


def _minute(instant: datetime) -> str:
    return f"{instant.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


# --- data lands -------------------------------------------------------------------------


def landed(
    data: ExpectedData, periods: Periods, events: Sequence[tuple[Event, datetime]], now: datetime
) -> Judged:
    """Return what follows from partitions of a dataset that have landed.

    Args:
        periods: the kept periods that these events belong to; of a dataset without partitions all late ones.
        events: each with the instant from which it counts.
    """
    if data.partitions is None:
        return _updated(data, periods, max(at for _, at in events), now)
    changed: dict[str, ExpectedPeriod] = {}
    entries: list[Entry] = []
    for event, at in events:
        period = period_in(data, event.partition or "")
        if period is None:
            continue
        known = changed.get(period) or periods.get(period)
        if known is None:
            if _is_over(data, period):
                continue
            known = ExpectedPeriod(dataset=data.dataset, period=period)
        if (event.partition or "") in known.landed or known.landed_at is not None:
            continue
        known = msgspec.structs.replace(known, landed={**known.landed, event.partition or "": at})
        if known.late_now and not _missing(data, known, now):
            known = msgspec.structs.replace(known, landed_at=at)
            entries.append(_landed_entry(data, known, now))
        changed[period] = known
    return Judged(data=data, kept=tuple(changed.values()), entries=tuple(entries))


def _updated(data: ExpectedData, late: Periods, at: datetime, now: datetime) -> Judged:
    last = at if data.updated_at is None else max(at, data.updated_at)
    data = msgspec.structs.replace(data, updated_at=last)
    over = [msgspec.structs.replace(each, landed_at=at) for each in late.values() if each.late_now]
    if data.deadline.by is None:
        data = _next_update(data, last)
    entries = tuple(_landed_entry(data, each, now) for each in over)
    return Judged(data=data, kept=tuple(over), entries=entries)


def _is_over(data: ExpectedData, period: str) -> bool:
    """Return whether a period was judged already, or ended before it was expected."""
    time = _time(data)
    return parse_time_key(period, time).start < parse_time_key(data.period, time).start


def _missing(data: ExpectedData, period: ExpectedPeriod, due: datetime) -> tuple[str, ...]:
    """Return the partitions of a period that had not landed at an instant."""
    return tuple(
        key
        for key in partitions_of(data, period.period)
        if (at := period.landed.get(key)) is None or at > due
    )


# --- a deadline passes ------------------------------------------------------------------


def judge(data: ExpectedData, periods: Periods, now: datetime) -> Judged:
    """Judge the period whose deadline has passed.

    Args:
        periods: the kept period with the key `data.period`, if there is one.
    """
    assert data.due_at is not None, "a deadline has passed"
    due = data.due_at
    if data.partitions is None:
        return _judge_update(data, due, now)
    known = periods.get(data.period) or ExpectedPeriod(dataset=data.dataset, period=data.period)
    missing = _missing(data, known, due)
    after = _due(msgspec.structs.replace(data, period=_next_period(data, now)))
    if not missing:
        return Judged(data=after, gone=(known.period,))
    return _late(after, msgspec.structs.replace(known, due_at=due, late_at=now, missing=missing), now)


def _judge_update(data: ExpectedData, due: datetime, now: datetime) -> Judged:
    if data.deadline.by is None:
        # Silence is late once: the next update begins the next period.
        in_time, after = False, msgspec.structs.replace(data, due_at=None)
    else:
        # After a downtime the newest deadline counts: when the updates before the last one came is not kept.
        due = _clock_before(data, now + MICROSECOND)
        data = msgspec.structs.replace(data, due_at=due, period=_minute(due))
        in_time = data.updated_at is not None and _clock_before(data, due) < data.updated_at
        after = _next_update(data, due)
    if in_time:
        return Judged(data=after)
    late = ExpectedPeriod(dataset=data.dataset, period=data.period, due_at=due, late_at=now)
    return _late(after, late, now)


def _clock_before(data: ExpectedData, instant: datetime) -> datetime:
    """Return the last deadline before an instant, of a dataset without partitions."""
    assert data.deadline.by is not None, "its deadline is a time of the day"
    found = first_clock(data.deadline.by, data.zone, instant - ONE_DAY * 2)
    while (later := first_clock(data.deadline.by, data.zone, found + MICROSECOND)) < instant:
        found = later
    return found


def _next_period(data: ExpectedData, now: datetime) -> str:
    time = _time(data)
    following = parse_time_key(data.period, time).end
    oldest = now - CATCH_UP_PERIODS_MAX * LENGTHS[time.cycle]
    if following < oldest:
        following = truncate(oldest, time.cycle, time.timezone, time.week_starts)
    return format_time_key(following, time)


def _late(after: ExpectedData, period: ExpectedPeriod, now: datetime) -> Judged:
    partly = after.partitions is not None and after.partitions.static is not None
    lines: dict[str, object] = {"missing": list(period.missing[:NAMES_MAX]), "of": len(period.missing)}
    entry = Entry(
        at=now,
        kind=EntryKind.LATE,
        reason=Reason.L_DATASET,
        data={**_named(after, period), **(lines if partly else {})},
    )
    landed_at = max(period.landed.values()) if period.landed and not _missing(after, period, now) else None
    if landed_at is None:
        return Judged(data=after, kept=(period,), entries=(entry,))
    # It landed between its deadline and now, while nothing looked.
    period = msgspec.structs.replace(period, landed_at=landed_at)
    return Judged(data=after, kept=(period,), entries=(entry, _landed_entry(after, period, now)))


def _landed_entry(data: ExpectedData, period: ExpectedPeriod, now: datetime) -> Entry:
    return Entry(at=now, kind=EntryKind.LANDED, data=_named(data, period))


def _named(data: ExpectedData, period: ExpectedPeriod) -> dict[str, object]:
    due = "" if period.due_at is None else period.due_at.isoformat()
    return {
        "dataset": data.dataset,
        "key": period.period,
        "due": due,
        "deadline": dataset_deadline_text(data),
    }


def dataset_deadline_text(data: ExpectedData) -> str:
    """Return the deadline of a dataset as people read it."""
    return deadline_of_dataset(data.deadline, periods=data.partitions is not None)


def deadline_of_dataset(deadline: Deadline, *, periods: bool) -> str:
    """Return the deadline of a dataset as people read it."""
    if deadline.by is not None:
        return deadline_text(deadline)
    within = deadline_text(deadline).removesuffix(" after the trigger")
    return f"{within} after the {'end of the period' if periods else 'last update'}"


def missing_text(period: ExpectedPeriod) -> str:
    """Return which partitions of a late period are missing, in one line; "" for a whole one."""
    left = [key for key in period.missing if key not in period.landed]
    if period.landed_at is not None or left in ([], [period.period]):
        return ""
    more = f", and {len(left) - NAMES_MAX} more" if len(left) > NAMES_MAX else ""
    return f"{plural(len(left), 'partition')} missing: {', '.join(left[:NAMES_MAX])}{more}"
