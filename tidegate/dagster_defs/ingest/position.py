"""The reader's position in Dagster's event log, and how it notices that the log has changed under it.

SQLite gives the id of a deleted last row to the next row. A reader that only remembers the
last id would then take new rows for old ones. So the position remembers what stood in the
last row that was read; if that row is gone or different, the reader goes back by time and
reads again. Reading a row twice does no harm: an event's id is made from the row's content.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidegate.dagster_defs.ingest.holes import Hole, gaps, still_open, without
from tidegate.domain.value import Value

REWIND = timedelta(hours=1)
"""How far before the last row's time the reader goes back. Writers' clocks differ by less."""

DIGEST_DIGITS = 32


class Row(Value, frozen=True, kw_only=True):
    """A row of the event log.

    Attributes:
        body: the event as JSON; None for kinds that are of no interest.
        at: when the event happened, by its writer's clock.
    """

    id: int
    kind: str
    run_id: str
    body: str | None
    at: datetime


class Position(Value, frozen=True, kw_only=True):
    """How far the log has been read.

    Attributes:
        id: of the last row that was read; 0 before the first.
        mark: fingerprint of that row; "" before the first.
        at: time of that row.
        holes: ids below `id` that were missing.
    """

    id: int = 0
    mark: str = ""
    at: datetime | None = None
    holes: tuple[Hole, ...] = ()

    def advanced(self, rows: Sequence[Row], appeared: Sequence[Row], now: datetime) -> "Position":
        """The position once `rows`, which follow it, and `appeared`, which filled holes, were read."""
        holes = without(self.holes, (row.id for row in appeared))
        if not rows:
            return msgspec.structs.replace(self, holes=still_open(holes, now))
        # Before the first row nothing can be missing: a log may begin at any id.
        begin = self.id or rows[0].id - 1
        found = gaps(begin, [row.id for row in rows], now)
        last = rows[-1]
        return Position(
            id=last.id,
            mark=fingerprint(last),
            at=last.at,
            holes=still_open((*holes, *found), now),
        )

    def holds(self, row: Row | None) -> bool:
        """Whether the row that stands at `id` now is the one that was read."""
        return self.id == 0 or (row is not None and fingerprint(row) == self.mark)


def fingerprint(row: Row) -> str:
    """What tells this row from another one that was given the same id."""
    text = f"{row.kind}\x00{row.run_id}\x00{row.at.isoformat()}"
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_DIGITS]


def content_id(body: str) -> str:
    """The id of the event in a row: the same row read twice, under whatever id, is one event."""
    return "dagster:" + hashlib.sha256(body.encode()).hexdigest()[:DIGEST_DIGITS]


def encode_position(position: Position) -> Any:
    """The position as plain JSON values, as a store gives them back."""
    return msgspec.json.decode(msgspec.json.encode(position))


def decode_position(value: Any) -> Position:
    """The position that `encode_position` wrote; the beginning for None."""
    return Position() if value is None else msgspec.convert(value, type=Position)
