"""Updates of a dataset without partitions: whether the next one comes in time. Pure.

Data without partitions has no period to name. So a deadline at a time of the day is named after that instant,
and a silence after the update that it follows.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from tidegate.scheduler.decision.deadlines import first_clock
from tidegate.scheduler.decision.expected.noted import Judged, Periods, landed_entry, late_entry
from tidegate.scheduler.model.records.expected import ExpectedData, ExpectedPeriod

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
