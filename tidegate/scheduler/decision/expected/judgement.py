"""Judgement of data that is expected: at its deployment, when it lands, and when a deadline passes. Pure.

Updates of a dataset without partitions: whether the next one comes in time. Pure. Data without partitions
has no period to name. So a deadline at a time of the day is named after that instant, and a silence after
the update that it follows.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from tidegate.domain.model import App, Dataset
from tidegate.domain.partition_key import not_begun
from tidegate.domain.value import Value
from tidegate.scheduler.decision.deadlines import deadline_of_dataset, first_clock
from tidegate.scheduler.decision.expected.periods import (
    first_open,
    first_period,
    is_over,
    missing,
    next_period,
    period_in,
    with_deadline,
)
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.expected import ExpectedData, ExpectedPeriod

NAMES_MAX = 20
"""Missing partitions that an entry names."""

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


def late_entry(data: ExpectedData, period: ExpectedPeriod, at: datetime) -> Entry:
    """Return the entry of a period that is late."""
    partly = data.partitions is not None and data.partitions.static is not None
    lines: dict[str, object] = {"missing": list(period.missing[:NAMES_MAX]), "of": len(period.missing)}
    return Entry(
        at=at,
        kind=EntryKind.LATE,
        reason=Reason.L_DATASET,
        data={**_named(data, period), **(lines if partly else {})},
    )


def landed_entry(data: ExpectedData, period: ExpectedPeriod, at: datetime) -> Entry:
    """Return the entry of a late period that has landed after all."""
    return Entry(at=at, kind=EntryKind.LANDED, data=_named(data, period))


def _named(data: ExpectedData, period: ExpectedPeriod) -> dict[str, object]:
    due = "" if period.due_at is None else period.due_at.isoformat()
    return {
        "dataset": data.dataset,
        "key": period.period,
        "due": due,
        "deadline": deadline_of_dataset(data.deadline, periods=data.partitions is not None),
    }


ONE_DAY = timedelta(days=1)
MICROSECOND = timedelta(microseconds=1)


def next_update(data: ExpectedData, after: datetime) -> ExpectedData:
    """Return the same dataset, with its first deadline after an instant."""
    deadline = data.deadline
    if deadline.by is not None:
        due = first_clock(deadline.by, data.zone, after)
        if due <= after:
            due = first_clock(deadline.by, data.zone, after + MICROSECOND)
        return msgspec.structs.replace(data, due_at=due, period=_minute(due))
    last = data.updated_at or data.since
    due = last + (deadline.within or timedelta(0))
    return msgspec.structs.replace(data, due_at=due, period=_minute(last))


def updated(
    data: ExpectedData, late: Periods, instants: Sequence[datetime], since: datetime, now: datetime
) -> Judged:
    """Return what follows from updates.

    Args:
        late: the kept periods that were late.
        instants: from when on each update counts. An older one than the last ends no silence after it.
        since: up to when deadlines were judged before; a silence that was too long has ended after it.
    """
    fresh = [at for at in sorted(instants) if data.updated_at is None or at > data.updated_at]
    if not fresh:
        return Judged(data=data)
    over = [msgspec.structs.replace(each, landed_at=fresh[0]) for each in late.values() if each.late_now]
    entries = [landed_entry(data, each, now) for each in over]
    for at in fresh:
        silence = _silence(data, at, max(since, data.due_at or since))
        if silence is not None and silence.period not in late:
            entries += [late_entry(data, silence, silence.late_at or now), landed_entry(data, silence, now)]
            over.append(silence)
        data = msgspec.structs.replace(data, updated_at=at)
        if data.deadline.by is None:
            data = next_update(data, at)
    return Judged(data=data, kept=tuple(over), entries=tuple(entries))


def _silence(data: ExpectedData, at: datetime, late_at: datetime) -> ExpectedPeriod | None:
    """Return the silence before an update, if it was too long and is not judged yet."""
    if data.deadline.by is not None or data.due_at is None or at <= data.due_at:
        return None
    return ExpectedPeriod(
        dataset=data.dataset, period=data.period, due_at=data.due_at, late_at=late_at, landed_at=at
    )


def judge_update(data: ExpectedData, periods: Periods, due: datetime, now: datetime) -> Judged:
    """Judge the deadline that has passed; see `tidegate.scheduler.decision.expected.judgement.judge`."""
    if data.deadline.by is None:
        # Silence is late once, also by another deadline: the next update begins the next period.
        known = periods.get(data.period)
        in_time = known is not None and known.late_at is not None
        after = msgspec.structs.replace(data, due_at=None)
    else:
        # After a downtime the newest deadline counts: when the updates before the last one came is not kept.
        due = _clock_before(data, now + MICROSECOND)
        data = msgspec.structs.replace(data, due_at=due, period=_minute(due))
        in_time = data.updated_at is not None and _clock_before(data, due) < data.updated_at
        after = next_update(data, due)
    if in_time:
        return Judged(data=after)
    late = ExpectedPeriod(dataset=data.dataset, period=data.period, due_at=due, late_at=now)
    return Judged(data=after, kept=(late,), entries=(late_entry(after, late, now),))


def _minute(instant: datetime) -> str:
    return f"{instant.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _clock_before(data: ExpectedData, instant: datetime) -> datetime:
    """Return the last deadline before an instant."""
    assert data.deadline.by is not None, "its deadline is a time of the day"
    found = first_clock(data.deadline.by, data.zone, instant - ONE_DAY * 2)
    while (later := first_clock(data.deadline.by, data.zone, found + MICROSECOND)) < instant:
        found = later
    return found


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
