"""The reader's position in Dagster's event log, with a fingerprint that detects a changed log.

SQLite reuses the id of a deleted last row. A reader that stores only the last id would then
skip new rows. So the position stores a fingerprint of the last row read; if that row is missing
or different, the reader goes back by time and reads again. Reading a row twice is harmless: an
event's id is made from the row's content.

Holes: ids that are missing between rows that have been read. Pure. PostgreSQL assigns a row's id at the
insert and shows the row after the commit, so a row may appear below an id that has been read already. Every
missing id is looked up again until it appears or its time is over: then its writer has rolled back, or the
row has been deleted. Missing ids are kept as ranges, since a deletion can leave many. A row whose writer has
not done yet what it says (`intake.is_early`) is looked up again like a missing one.
"""

import hashlib
from collections.abc import Collection, Iterable, MutableSet, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

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


REWIND = timedelta(hours=1)
"""How far the reader goes back before the last row's time. Writers' clocks differ by less."""

DIGEST_DIGITS = 32


class Row(Value, frozen=True, kw_only=True):
    """A row of the event log.

    Attributes:
        body: the event as JSON; None for kinds whose body is not read.
        at: when the event happened, by its writer's clock.
    """

    id: int
    kind: str
    run_id: str
    body: str | None
    at: datetime


class Position(Value, frozen=True, kw_only=True):
    """The last row that was read, and the ids that were missing.

    Attributes:
        id: id of the last row read; 0 before the first.
        mark: fingerprint of that row; "" before the first.
        holes: ids up to `id` that were missing, or of early rows.
    """

    id: int = 0
    mark: str = ""
    at: datetime | None = None
    holes: tuple[Hole, ...] = ()

    def advanced(
        self,
        rows: Sequence[Row],
        appeared: Sequence[Row],
        now: datetime,
        early: Collection[int] = (),
    ) -> "Position":
        """Return the position after reading `rows`, which follow it, and `appeared`, which filled holes.

        Args:
            early: ids of those rows that are to be read again.
        """
        holes = without(self.holes, (row.id for row in appeared if row.id not in early))
        if not rows:
            return msgspec.structs.replace(self, holes=still_open(holes, now))
        # Ids before the first row are not missing: a log may begin at any id.
        begin = self.id or rows[0].id - 1
        again = [Hole(first=row.id, last=row.id, since=now) for row in rows if row.id in early]
        found = sorted((*gaps(begin, [row.id for row in rows], now), *again), key=lambda hole: hole.first)
        last = rows[-1]
        return Position(
            id=last.id,
            mark=fingerprint(last),
            at=last.at,
            holes=still_open((*holes, *found), now),
        )

    def matches(self, row: Row | None) -> bool:
        """Return whether the row now at `id` is the one that was read."""
        return self.id == 0 or (row is not None and fingerprint(row) == self.mark)


def fingerprint(row: Row) -> str:
    """Return a digest that distinguishes this row from another one with the same id."""
    text = f"{row.kind}\x00{row.run_id}\x00{row.at.isoformat()}"
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_DIGITS]


def content_id(body: str) -> str:
    """Return the id of the event in a row: the same row read twice, under any row id, is one event."""
    return "dagster:" + hashlib.sha256(body.encode()).hexdigest()[:DIGEST_DIGITS]


def take_known(rows: Sequence[Row], known: MutableSet[str]) -> Sequence[Row]:
    """Return the rows that are not known, by the ids of their content; those that are are not known any more.

    Args:
        known: reports without a run.
    """
    if not known:
        return rows
    found: list[Row] = []
    for row in rows:
        id_ = "" if row.run_id or row.body is None else content_id(row.body)
        if id_ in known:
            known.remove(id_)
        else:
            found.append(row)
    return found


def encode_position(position: Position) -> Any:
    """Encode the position as plain JSON values, as a store returns them."""
    return msgspec.json.decode(msgspec.json.encode(position))


def decode_position(value: Any) -> Position:
    """Decode a position written by `encode_position`; None gives the start of the log."""
    return Position() if value is None else msgspec.convert(value, type=Position)
