"""Points: the dates and keys of a task or a schedule for which a backfill runs it.

    a task        the instances of business dates, as its times make them
    for_each      the keys of its partitions or periods, from the first to the last that is over
    a cron        the business dates of its fires, likewise
    any other     refused: nothing says for what it is to run again

A date of two dimensions is all keys of that date.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta

import msgspec

from tidegate.domain.business_date import is_by_the_clock
from tidegate.domain.model import App, PartitionScheme
from tidegate.domain.nearest_key import WrongKey, read_key
from tidegate.domain.partition_key import PartitionKeyError, keys_within, parse_time_key, split_key
from tidegate.domain.schedule_keys import (
    date_of_key,
    keys_of_date,
    period_of_key,
    schemes_of_keys,
)
from tidegate.domain.tasks.grid import Slot, business_slots
from tidegate.domain.tasks.key import TaskKeyError, parse_date
from tidegate.domain.time import fire_times
from tidegate.domain.time.cycle import Period
from tidegate.domain.time.wall_clock import first_instant
from tidegate.domain.value import Value
from tidegate.scheduler.decision.fires import cron_leaves, fire_event
from tidegate.scheduler.decision.instances.made import instance_of_slot
from tidegate.scheduler.decision.launch.dates import date_of_fire
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import Instance, InstanceKind
from tidegate.scheduler.model.refused import InstanceRefused

DAYS_AT_ONCE = 30

EARLIEST = "1900-01-01"
"""A range may begin before the first key, and then begins with that."""

ZONES_APART = timedelta(days=2)
"""A fire in one zone may come before the date that it is about begins in another one, by less than this."""

WITHIN_A_DAY = timedelta(hours=20)
"""Of the fires of a day one is enough for its date; the next day has one at the same time of the day."""


class Point(Value, kw_only=True):
    """One instance of a backfill before it is made.

    Attributes:
        key: the business date of a task, or the key of a schedule.
        date: by which lots are counted: the day of a business date, or the time of a key.
        instance: as it would be without a backfill.
    """

    state: ScheduleState
    key: str
    date: str
    instance: Instance


def points_between(state: ScheduleState, app: App, first: str, last: str, now: datetime) -> Iterator[Point]:
    """Yield the points of a range, both ends included, in order.

    Raises:
        InstanceRefused: an end is malformed, the range ends before it begins or is not over, or the schedule
            has no keys.
    """
    if state.spec.task is not None:
        begin, end = _day(first), _day(last)
        if end < begin:
            raise _backwards(first, last)
        yield from _of_task(state, begin, end, now)
    else:
        schemes = _schemes(state, app)
        found = [_between(scheme, first, last, now, state.ref) for scheme in schemes]
        yield from _of_keys(
            state,
            app,
            schemes,
            _with_fires(state, app, dict.fromkeys(key for each in found for key in each), now),
            now,
        )


def points_named(state: ScheduleState, app: App, keys: Sequence[str], now: datetime) -> Iterator[Point]:
    """Yield the points of some dates or keys, in the given order.

    Raises:
        InstanceRefused: one is malformed, is not over, or belongs to neither task nor schedule.
    """
    if state.spec.task is not None:
        for key in keys:
            yield from _of_task(state, _day(key), _day(key), now)
        return
    schemes, found = _schemes(state, app), dict[str, None]()
    for written in keys:
        whole = _named(schemes, written, state.ref)
        _refuse_open(schemes, whole, now, state.ref)
        found |= dict.fromkeys(whole)
    kept = _with_fires(state, app, found, now)
    none = next((key for key in found if key not in kept), None)
    if none is not None:
        raise InstanceRefused(
            "E-RANGE", f"{state.ref} has no business date {none}", "name the date of a fire"
        )
    yield from _of_keys(state, app, schemes, kept, now)


def points_of_day(state: ScheduleState, day: str, now: datetime) -> Iterator[Point]:
    """Yield the points of a business date of a task that are over."""
    with suppress(InstanceRefused):
        yield from _of_task(state, _day(day), _day(day), now)


def points_of_keys(state: ScheduleState, app: App, keys: Collection[str], now: datetime) -> Iterator[Point]:
    """Yield the points of those of some keys of a schedule that are over."""
    schemes = schemes_of_keys(app, state.spec)
    over = dict.fromkeys(key for key in keys if not _is_open(schemes, key, now))
    yield from _of_keys(state, app, schemes, _with_fires(state, app, over, now), now)


def _day(text: str) -> date:
    try:
        return parse_date(text)
    except TaskKeyError as error:
        raise InstanceRefused("E-TIME", str(error), "business dates are written YYYY-MM-DD") from error


def _backwards(first: str, last: str) -> InstanceRefused:
    return InstanceRefused("E-RANGE", f"the range ends at {last}, before {first}, where it begins")


def _not_over(key: str, ref: str) -> InstanceRefused:
    return InstanceRefused(
        "E-RANGE",
        f"{key} of {ref} is not over yet",
        "end the backfill at the last date or key that is over",
    )


# --- tasks ------------------------------------------------------------------------------


def _of_task(state: ScheduleState, first: date, last: date, now: datetime) -> Iterator[Point]:
    """Yield the points of a task, some days at a time: a range may be far too long."""
    task = state.spec.as_task
    for begin in range(0, (last - first).days + 1, DAYS_AT_ONCE):
        start = first + timedelta(days=begin)
        end = min(start + timedelta(days=DAYS_AT_ONCE - 1), last)
        slots: tuple[tuple[str, Slot], ...] = business_slots(task, start.isoformat(), end.isoformat())
        for key, slot in slots:
            if slot.scheduled > now:
                raise _not_over(key, state.ref)
            instance = instance_of_slot(task, slot, kind=InstanceKind.BACKFILL)
            yield Point(state=state, key=key, date=key[:10], instance=instance)


# --- schedules --------------------------------------------------------------------------


def _schemes(state: ScheduleState, app: App) -> tuple[PartitionScheme, ...]:
    found = schemes_of_keys(app, state.spec)
    if not found:
        raise InstanceRefused(
            "E-RANGE",
            f"{state.ref} has no keys: it has no `for_each`, and no cron whose dates its outputs have",
            "`tidegate schedules trigger` runs it once more",
        )
    return found


def _of_keys(
    state: ScheduleState,
    app: App,
    schemes: Sequence[PartitionScheme],
    keys: Collection[str],
    now: datetime,
) -> Iterator[Point]:
    asked = now.replace(microsecond=0)
    for key in keys:
        scheme = next(each for each in schemes if not isinstance(read_key(each, key), WrongKey))
        period, on = period_of_key(scheme, key), date_of_key(scheme, key)
        begins = asked if period is None else period.start
        instance = Instance(
            key=key,
            scheduled=begins,
            start=asked,
            business=begins,
            business_date=on,
            kind=InstanceKind.BACKFILL,
            keyed=True,
        )
        yield Point(state=state, key=key, date=on, instance=instance)


def _between(scheme: PartitionScheme, first: str, last: str, now: datetime, ref: str) -> tuple[str, ...]:
    """Return the keys of a range, without those before the first one."""
    if scheme.time is None:
        listed = () if scheme.static is None else scheme.static.keys
        begin, end = (listed.index(_whole(scheme, each, ref)) for each in (first, last))
        if end < begin:
            raise _backwards(first, last)
        return listed[begin : end + 1]
    begins, ends = _period(scheme, first, ref), _period(scheme, last, ref)
    if ends.end <= begins.start:
        raise _backwards(first, last)
    if ends.end > now:
        raise _not_over(last, ref)
    try:
        return keys_within(scheme, begins.start, ends.end)
    except PartitionKeyError as error:
        raise InstanceRefused("E-RANGE", str(error), "split the range") from error


def _period(scheme: PartitionScheme, text: str, ref: str) -> Period:
    """Return the period of an end of a range: a key, its time alone, or for hours and minutes a whole day."""
    assert scheme.time is not None
    on = text
    if scheme.static is not None and not isinstance(read_key(scheme, text), WrongKey):
        on = split_key(scheme, text)[scheme.time.name]
    try:
        if is_by_the_clock(scheme) and len(on) == len("2026-03-10"):
            day = parse_date(on)
            ends = (datetime(each.year, each.month, each.day) for each in (day, day + timedelta(days=1)))
            start, end = (first_instant(each, scheme.time.timezone) for each in ends)
            return Period(start=start, end=end)
        return parse_time_key(on, msgspec.structs.replace(scheme.time, start=EARLIEST))
    except (PartitionKeyError, TaskKeyError) as error:
        raise InstanceRefused(
            "E-TIME", f"{ref}: {error}", "write the key as `tidegate jobs list` shows it"
        ) from error


def _named(schemes: Sequence[PartitionScheme], text: str, ref: str) -> tuple[str, ...]:
    """Return the keys that a person has named by one key, or by the date of several."""
    for scheme in schemes:
        every = keys_of_date(scheme, text)
        for keys in (every, (text,)):
            if keys and not isinstance(read_key(scheme, keys[0]), WrongKey):
                return keys
    return (_whole(schemes[0], text, ref),)


def _whole(scheme: PartitionScheme, text: str, ref: str) -> str:
    found = read_key(scheme, text)
    if isinstance(found, WrongKey):
        raise InstanceRefused("E-TIME", f"{ref} has no such key: {found.summary}", found.hint)
    return found


def _refuse_open(schemes: Sequence[PartitionScheme], keys: Sequence[str], now: datetime, ref: str) -> None:
    open_ = next((key for key in keys if _is_open(schemes, key, now)), None)
    if open_ is not None:
        raise _not_over(open_, ref)


def _is_open(schemes: Sequence[PartitionScheme], key: str, now: datetime) -> bool:
    """Return whether the period of a key is not over."""
    scheme = next((each for each in schemes if not isinstance(read_key(each, key), WrongKey)), None)
    period = None if scheme is None else period_of_key(scheme, key)
    return scheme is None or (period is not None and period.end > now)


# --- the business dates of crons --------------------------------------------------------


def _with_fires(state: ScheduleState, app: App, keys: dict[str, None], now: datetime) -> dict[str, None]:
    """Return those of some business dates that a fire of the schedule has; all keys with `for_each`."""
    if state.spec.for_each is not None or not keys:
        return keys
    (scheme,) = schemes_of_keys(app, state.spec)
    periods = [period for key in keys if (period := period_of_key(scheme, key)) is not None]
    first, last = min(each.start for each in periods), max(each.end for each in periods)
    fired = set(_dates_of_fires(state, app, first, last))
    return {key: None for key in keys if key in fired}


def _dates_of_fires(state: ScheduleState, app: App, first: datetime, last: datetime) -> Iterator[str]:
    """Yield the business dates of the fires from an instant on, up to the first that is after the range."""
    (scheme,) = schemes_of_keys(app, state.spec)
    by_clock = is_by_the_clock(scheme)
    for leaf, cron in cron_leaves(state):
        at = fire_times.next_fire(cron, first - ZONES_APART)
        while at is not None:
            fire = fire_event(state.ref, leaf.path, at, day=fire_times.day_of(cron, at))
            try:
                found = date_of_fire(app, state.spec, fire)
            except OverflowError:
                break
            period = None if isinstance(read_key(scheme, found), WrongKey) else period_of_key(scheme, found)
            if period is not None and period.start >= last:
                break
            if period is not None:
                yield found
            at = fire_times.next_fire(cron, at if by_clock else at + WITHIN_A_DAY)
