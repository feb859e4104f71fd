"""Holes: ids that are missing between rows that have been read. Pure.

PostgreSQL assigns a row's id at the insert and shows the row after the commit, so a row may
appear below an id that has been read already. Every missing id is looked up again until it
appears or its time is over: then its writer has rolled back, or the row has been deleted.
Missing ids are kept as ranges, since a deletion can leave many.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from tidegate.domain.value import Value

HOLE_SECONDS = 90
"""How long a missing id is looked up again. An insert commits within milliseconds; a stalled
writer or a big batch may take seconds."""

HOLES_MAX = 500
"""The maximum number of ranges; the newest are kept, and reconciliation finds the others."""


class Hole(Value, frozen=True, kw_only=True, array_like=True):
    """A range of missing ids, `first` to `last` inclusive, and when it was first observed."""

    first: int
    last: int
    since: datetime


def gaps(after: int, ids: Sequence[int], since: datetime) -> tuple[Hole, ...]:
    """Return the ids missing in an ascending sequence of ids that begins after `after`."""
    found: list[Hole] = []
    for id_ in ids:
        if id_ > after + 1:
            found.append(Hole(first=after + 1, last=id_ - 1, since=since))
        after = id_
    return tuple(found)


def without(holes: Iterable[Hole], ids: Iterable[int]) -> tuple[Hole, ...]:
    """Return the holes that remain after these ids appeared; a range may split into two."""
    appeared = sorted(set(ids))
    remaining: list[Hole] = []
    for hole in holes:
        inside = [id_ for id_ in appeared if hole.first <= id_ <= hole.last]
        start = hole.first
        for id_ in inside:
            if id_ > start:
                remaining.append(Hole(first=start, last=id_ - 1, since=hole.since))
            start = id_ + 1
        if start <= hole.last:
            remaining.append(Hole(first=start, last=hole.last, since=hole.since))
    return tuple(remaining)


def still_open(holes: Iterable[Hole], now: datetime) -> tuple[Hole, ...]:
    """Return the holes that are young enough to be filled, at most the newest `HOLES_MAX`."""
    young = [hole for hole in holes if now - hole.since <= timedelta(seconds=HOLE_SECONDS)]
    return tuple(young[-HOLES_MAX:])
