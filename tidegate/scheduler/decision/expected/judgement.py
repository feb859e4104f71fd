"""Judgement of data that is expected: at its deployment, when it lands, and when a deadline passes. Pure."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidegate.domain.model import App, Dataset
from tidegate.domain.partition_key import not_begun
from tidegate.scheduler.decision.expected.noted import Judged, Periods, landed_entry, late_entry
from tidegate.scheduler.decision.expected.periods import (
    first_open,
    first_period,
    is_over,
    missing,
    next_period,
    period_in,
    with_deadline,
)
from tidegate.scheduler.decision.expected.updates import judge_update, next_update, updated
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.records.expected import ExpectedData, ExpectedPeriod


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
        return next_update(found, now)
    if not found.period:
        found = msgspec.structs.replace(found, period=first_period(found, now))
    return with_deadline(found)


def first_expected(data: ExpectedData, now: datetime) -> ExpectedData:
    """Return what is expected once the clock was set back: first the period whose deadline comes next."""
    since = min(data.since, now)
    if data.partitions is None:
        updated_at = None if data.updated_at is None else min(data.updated_at, now)
        again = next_update(msgspec.structs.replace(data, since=since, updated_at=updated_at), now)
    else:
        again = msgspec.structs.replace(data, since=since)
        again = first_open(again, now)
    later = data.due_at is None or (again.due_at is not None and again.due_at < data.due_at)
    return again if later else msgspec.structs.replace(data, since=since)


def landed(
    data: ExpectedData,
    periods: Periods,
    events: Sequence[tuple[Event, datetime]],
    since: datetime,
    now: datetime,
) -> Judged:
    """Return what follows from partitions of a dataset that have landed.

    Args:
        periods: the kept periods that these events belong to; of a dataset without partitions all late ones.
        events: each with the instant from which it counts.
        since: up to when deadlines were judged before.
    """
    if data.partitions is None:
        return updated(data, periods, [at for _, at in events], since, now)
    changed: dict[str, ExpectedPeriod] = {}
    entries: list[Entry] = []
    for event, at in events:
        period = period_in(data, event.partition or "")
        if period is None or not_begun(data.partitions, event.partition or "", event.arrived):
            continue
        known = changed.get(period) or periods.get(period)
        if known is None:
            if is_over(data, period):
                continue
            known = ExpectedPeriod(dataset=data.dataset, period=period)
        if (event.partition or "") in known.landed or known.landed_at is not None:
            continue
        known = msgspec.structs.replace(known, landed={**known.landed, event.partition or "": at})
        if known.late_now and not missing(data, known, now):
            known = msgspec.structs.replace(known, landed_at=at)
            entries.append(landed_entry(data, known, now))
        changed[period] = known
    return Judged(data=data, kept=tuple(changed.values()), entries=tuple(entries))


def judge(data: ExpectedData, periods: Periods, now: datetime) -> Judged:
    """Judge the period whose deadline has passed.

    Args:
        periods: the kept period with the key `data.period`, if there is one.
    """
    assert data.due_at is not None, "a deadline has passed"
    due = data.due_at
    if data.partitions is None:
        return judge_update(data, periods, due, now)
    known = periods.get(data.period) or ExpectedPeriod(dataset=data.dataset, period=data.period)
    left = missing(data, known, due)
    after = with_deadline(msgspec.structs.replace(data, period=next_period(data, now)))
    if not left:
        return Judged(data=after, gone=(known.period,))
    return _late(after, msgspec.structs.replace(known, due_at=due, late_at=now, missing=left), now)


def _late(after: ExpectedData, period: ExpectedPeriod, now: datetime) -> Judged:
    entry, landed_at = late_entry(after, period, now), max(period.landed.values(), default=now)
    if missing(after, period, landed_at):
        return Judged(data=after, kept=(period,), entries=(entry,))
    # It has landed while nothing looked, or as another scheduler noted, whose clock is ahead.
    period = msgspec.structs.replace(period, landed_at=landed_at)
    return Judged(
        data=after, kept=(period,), entries=(entry, landed_entry(after, period, max(now, landed_at)))
    )
