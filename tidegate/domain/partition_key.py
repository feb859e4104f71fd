"""Partition keys: their text, the periods they denote, and the keys of a period.

The text is exactly Dagster's, since keys travel to and from its event log: "2026-03-09" for a
day, the first day for a week, month or year, "2026-03-09-05:00" for an hour or a minute, and with
its offset for the second pass through a repeated hour, "2013-11-03-01:00-0500". A key of two
dimensions joins theirs by "|" in the alphabetical order of the dimensions' names. A dimension's
first key is its `start`; earlier keys do not exist. There is no last key: this module does not
decide whether a period is over.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice

import msgspec

from tidegate.domain.model import Cycle, Day, PartitionScheme, StaticDimension, TimeDimension
from tidegate.domain.time.cycle import Period, advance, is_finer, period_of, truncate
from tidegate.domain.time.wall_clock import first_instant, instants, wall_time
from tidegate.domain.wording import with_article

SEPARATOR = "|"
"""Dagster's separator between the dimensions of a key; a static key must not contain it."""

WrittenKey = str | dict[str, str]
"""A key as callers write it: its text, or the key of each dimension by the dimension's name."""

MAX_KEYS = 100_000
"""The maximum that Dagster recommends for one asset; a year of hours has 8,784 keys."""

PERIODS_KEPT = 4096
"""Size of the caches of parsed keys and first periods: bursts have few keys, and parsing asks the zone."""

_KEY = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:-(\d\d):(\d\d)([+-]\d{4})?)?", re.ASCII)


class PartitionKeyError(ValueError):
    """A partition key that its scheme does not have. The message says why, and what to write instead."""


# --- one dimension of time --------------------------------------------------------------


def format_time_key(start: datetime, dimension: TimeDimension) -> str:
    """Return the key of the period in which `start` lies."""
    zone = dimension.timezone
    start = truncate(start, dimension.cycle, zone, dimension.week_starts)
    wall = wall_time(start, zone)
    if not _has_time(dimension.cycle):
        # The date alone: where clocks skip midnight, a day begins at 01:00.
        return wall.date().isoformat()
    key = f"{wall.date().isoformat()}-{wall:%H:%M}"
    both = instants(wall, zone)
    if len(both) == 2 and start == both[1]:
        return key + _offset(start, wall)
    return key


@lru_cache(maxsize=PERIODS_KEPT)
def parse_time_key(key: str, dimension: TimeDimension) -> Period:
    """Return the period of a key.

    Raises:
        PartitionKeyError: the key is not one of this dimension, or is before the dimension's start.
    """
    period = _period(key, dimension)
    start = start_of(dimension)
    if period.start < start:
        raise PartitionKeyError(
            f'"{key}" is before the first {dimension.cycle} of "{dimension.name}",'
            f" {format_time_key(start, dimension)}"
        )
    return period


@lru_cache(maxsize=PERIODS_KEPT)
def start_of(dimension: TimeDimension) -> datetime:
    """Return the start of the first period that begins at or after `dimension.start`.

    Raises:
        PartitionKeyError: `dimension.start` is neither a date nor a date and a time.
    """
    instant = _start_instant(dimension)
    start = truncate(instant, dimension.cycle, dimension.timezone, dimension.week_starts)
    return start if start == instant else _next(start, dimension)


def begins_at_start(dimension: TimeDimension) -> bool:
    """Return whether a period begins at `dimension.start`; raise the errors of `start_of`."""
    return start_of(dimension) == _start_instant(dimension)


def _start_instant(dimension: TimeDimension) -> datetime:
    wall = _wall_of(dimension.start)
    if wall is None:
        raise PartitionKeyError(f'start "{dimension.start}" of "{dimension.name}" is not a date')
    return first_instant(wall, dimension.timezone)


def _period(key: str, dimension: TimeDimension) -> Period:
    cycle, zone, week_starts = dimension.cycle, dimension.timezone, dimension.week_starts
    form = "YYYY-MM-DD-HH:MM" if _has_time(cycle) else "YYYY-MM-DD"
    if len(key) > 40 or _KEY.fullmatch(key) is None or (":" in key) != _has_time(cycle):
        raise PartitionKeyError(f'"{key[:40]}" is not the key of {with_article(cycle)}; write it as {form}')
    wall = _wall_of(key)
    if wall is None:
        raise PartitionKeyError(f'"{key}" is not a date and time of the calendar')
    if not _has_time(cycle):
        period = period_of(first_instant(wall, zone), cycle, zone, week_starts)
    else:
        found = instants(wall, zone)
        if not found:
            raise PartitionKeyError(f'"{key}" does not exist: clocks in {zone} skip that time')
        chosen = [instant for instant in found if _offset(instant, wall) == key[16:]] if key[16:] else found
        period = period_of(chosen[0] if chosen else found[0], cycle, zone)
    if (canonical := format_time_key(period.start, dimension)) != key:
        raise PartitionKeyError(f'no {cycle} begins at "{key}"; write "{canonical}", which contains it')
    return period


def _wall_of(text: str) -> datetime | None:
    """Return the wall time in a key or a start; None if the text is not a wall time."""
    parts = _KEY.fullmatch(text)
    if parts is None:
        return None
    year, month, day, hour, minute = (int(part or 0) for part in parts.groups()[:5])
    try:
        return datetime(year, month, day, hour, minute)
    except ValueError:
        return None


def _has_time(cycle: Cycle) -> bool:
    return cycle in ("minute", "hour")


def _offset(instant: datetime, wall: datetime) -> str:
    """Return the offset from UTC in the format of %z, for example "-0500"."""
    minutes = round((wall - instant.astimezone(UTC).replace(tzinfo=None)).total_seconds() / 60)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}{abs(minutes) % 60:02}"


# --- whole keys -------------------------------------------------------------------------


def split_key(scheme: PartitionScheme, key: str) -> dict[str, str]:
    """Return the parts of a key by the names of their dimensions, in the order of the key.

    Raises:
        PartitionKeyError: the key has more or fewer parts than the scheme has dimensions.
    """
    names = scheme.dimension_names()
    parts = key.split(SEPARATOR) if len(names) > 1 else [key]
    if len(parts) != len(names):
        raise PartitionKeyError(
            f'"{key[:100]}" has {len(parts)} parts, and the partitions have {len(names)} dimensions;'
            f' write it as "{SEPARATOR.join(names)}"'
        )
    return dict(zip(names, parts, strict=True))


def join_key(scheme: PartitionScheme, parts: Mapping[str, str]) -> str:
    """Return the key of the given parts; the inverse of `split_key`.

    Raises:
        PartitionKeyError: a dimension is missing or unknown.
    """
    names = scheme.dimension_names()
    if set(parts) != set(names):
        raise PartitionKeyError(
            f"a key needs {' and '.join(names)}, got {', '.join(sorted(parts)) or 'nothing'}"
        )
    return SEPARATOR.join(parts[name] for name in names)


def written_key(key: WrittenKey) -> str:
    """Return the text of a key, which may be one of no scheme: `join_key` checks that."""
    return key if isinstance(key, str) else SEPARATOR.join(key[name] for name in sorted(key))


def first_key(scheme: PartitionScheme) -> str:
    """Return the key of a scheme's first partition, as an example of how its keys are written."""
    parts: dict[str, str] = {}
    if scheme.time is not None:
        parts[scheme.time.name] = format_time_key(start_of(scheme.time), scheme.time)
    if scheme.static is not None:
        parts[scheme.static.name] = scheme.static.keys[0]
    return join_key(scheme, parts)


def validate_key(scheme: PartitionScheme, key: str) -> str | None:
    """Return what is wrong with a key; None for a key of the scheme."""
    try:
        parts = split_key(scheme, key)
        if scheme.time is not None:
            parse_time_key(parts[scheme.time.name], scheme.time)
        if scheme.static is not None:
            _check_static(scheme.static, parts[scheme.static.name])
    except PartitionKeyError as error:
        return str(error)
    return None


def not_begun(scheme: PartitionScheme, key: str, now: datetime) -> bool:
    """Return whether a key is of a period that begins after `now`; a key of no period is not."""
    if scheme.time is None or validate_key(scheme, key) is not None:
        return False
    return parse_time_key(split_key(scheme, key)[scheme.time.name], scheme.time).start > now


def enclosing_key(scheme: PartitionScheme, key: str, cycle: Cycle, week_starts: Day | None = None) -> str:
    """Return the key of the coarser (or equal) period that contains a key, without its static part.

    Args:
        week_starts: the first day of the coarser weeks; by default that of the scheme.

    Raises:
        PartitionKeyError: the key is wrong, the scheme has no time dimension, or `cycle` is finer.
    """
    time = _time_of(scheme, cycle)
    parts = split_key(scheme, key)
    if scheme.static is not None:
        _check_static(scheme.static, parts[scheme.static.name])
    period = parse_time_key(parts[time.name], time)
    outer = _at_cycle(time, cycle)
    if week_starts is not None:
        outer = msgspec.structs.replace(outer, week_starts=week_starts)
    return format_time_key(period.start, outer)


def expected_keys(scheme: PartitionScheme, cycle: Cycle, enclosing: str) -> tuple[str, ...]:
    """Return every key of a period: its hours, days, ... each with every static key, in order.

    Keys before the scheme's start do not exist and are not expected.

    Raises:
        PartitionKeyError: `enclosing` is not a key of that cycle, or has no keys, or more than `MAX_KEYS`.
    """
    time = _time_of(scheme, cycle)
    outer = _period(enclosing, _at_cycle(time, cycle))
    # The periods that begin within the outer one count; a week may begin before it.
    first = truncate(outer.start, time.cycle, time.timezone, time.week_starts)
    if first < outer.start:
        first = _next(first, time)
    keys = _bounded(_keys(scheme, time, max(first, start_of(time)), outer.end), enclosing)
    if not keys:
        raise PartitionKeyError(f'the {cycle} "{enclosing}" has no {time.cycle} of "{time.name}"')
    return keys


def keys_within(scheme: PartitionScheme, start: datetime, end: datetime) -> tuple[str, ...]:
    """Return the keys of the periods that begin in [start, end), each with every static key, in order.

    Raises:
        PartitionKeyError: the scheme has no time dimension, or there are more than `MAX_KEYS`.
    """
    if scheme.time is None:
        raise PartitionKeyError("these partitions have no time dimension, so none of them begins in a period")
    time = scheme.time
    first = truncate(start, time.cycle, time.timezone, time.week_starts)
    begin = first if first == start else _next(first, time)
    return _bounded(
        _keys(scheme, time, max(begin, start_of(time)), end), f"a period from {start.isoformat()}"
    )


def same_partitions(one: PartitionScheme | None, other: PartitionScheme | None) -> bool:
    """Return whether two datasets are cut into the same keys; where they begin does not matter."""
    if one is None or other is None:
        return False
    return _shape(one) == _shape(other)


def period_before(instant: datetime, dimension: TimeDimension) -> str:
    """Return the key of the last period that is over at an instant."""
    before = advance(instant, dimension.cycle, -1, dimension.timezone, dimension.week_starts)
    return format_time_key(before, dimension)


def latest_keys(scheme: PartitionScheme, instant: datetime, most: int) -> tuple[str, ...]:
    """Return the keys of the newest periods, that of an instant first; without periods those of the list."""
    if scheme.time is None:
        return () if scheme.static is None else scheme.static.keys[:most]
    time, found = scheme.time, list[str]()
    start = truncate(instant, time.cycle, time.timezone, time.week_starts)
    while len(found) < most and start >= start_of(time):
        after = _next(start, time)
        found += _keys(scheme, time, start, after)
        start = advance(start, time.cycle, -1, time.timezone, time.week_starts)
    return tuple(found[:most])


def _next(start: datetime, time: TimeDimension) -> datetime:
    return advance(start, time.cycle, 1, time.timezone, time.week_starts)


def _shape(scheme: PartitionScheme) -> tuple[object, ...]:
    time = _clock_of(scheme.time) if scheme.time else None
    static = (scheme.static.name, frozenset(scheme.static.keys)) if scheme.static else None
    # With one dimension, the name is not part of the key.
    if static is None and time is not None:
        return time[1:]
    return static[1:] if time is None and static is not None else (time, static)


def _clock_of(time: TimeDimension) -> tuple[str, ...]:
    """Return the name of a time dimension and all that decides about its keys but its start."""
    weeks = (time.week_starts,) if time.cycle == "week" else ()
    return (time.name, time.cycle, time.timezone, *weeks)


def _keys(scheme: PartitionScheme, time: TimeDimension, start: datetime, end: datetime) -> Iterator[str]:
    while start < end:
        key = format_time_key(start, time)
        if scheme.static is None:
            yield key
        elif scheme.static.name < time.name:
            yield from (f"{static}{SEPARATOR}{key}" for static in scheme.static.keys)
        else:
            yield from (f"{key}{SEPARATOR}{static}" for static in scheme.static.keys)
        start = _next(start, time)


def _bounded(keys: Iterator[str], of: str) -> tuple[str, ...]:
    found = tuple(islice(keys, MAX_KEYS + 1))
    if len(found) > MAX_KEYS:
        raise PartitionKeyError(f"{of} has more than {MAX_KEYS:,} partitions; choose a shorter period")
    return found


def _time_of(scheme: PartitionScheme, cycle: Cycle) -> TimeDimension:
    if scheme.time is None:
        raise PartitionKeyError(f"these partitions have no time dimension, so no {cycle} contains them")
    if is_finer(cycle, scheme.time.cycle):
        raise PartitionKeyError(f"{with_article(scheme.time.cycle)} is longer than {with_article(cycle)}")
    return scheme.time


def _at_cycle(time: TimeDimension, cycle: Cycle) -> TimeDimension:
    return msgspec.structs.replace(time, cycle=cycle)


def _check_static(dimension: StaticDimension, key: str) -> None:
    if key not in dimension.keys:
        known = ", ".join(dimension.keys[:20]) + (", ..." if len(dimension.keys) > 20 else "")
        raise PartitionKeyError(f'"{key[:100]}" is not a key of "{dimension.name}"; its keys are {known}')
