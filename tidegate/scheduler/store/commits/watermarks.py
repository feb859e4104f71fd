"""Watermarks: how far each program has read each part of a dataset, and the pending moves.

A watermark counts its moves. A move goes from the previous number to its own number or fails, so
watermarks never fall and never skip, whatever their positions mean. While a sequence that moves a
watermark is unfinished, the store accepts no other sequence that moves it too.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BindParameter, Connection, Update, bindparam, delete, insert, select, update

from tidegate.domain.commits import NewWatermark, Watermark, WatermarkMove
from tidegate.scheduler.store.commits.transaction import insert_absent, insert_each_absent
from tidegate.scheduler.store.sql.commit_tables import commit_moves, commit_watermarks


def watermarks(
    connection: Connection, consumer: str, source: str, part: str | None = None
) -> dict[str, Watermark]:
    """Return how far a program has read a dataset, by part, or one part of it."""
    table = commit_watermarks.c
    of_both = select(commit_watermarks).where(table.consumer == consumer, table.source == source)
    if part is not None:
        of_both = of_both.where(table.part == part)
    return {
        row.part: Watermark(row.number, row.position, row.commit_id) for row in connection.execute(of_both)
    }


def followers(connection: Connection) -> tuple[tuple[str, str], ...]:
    """Return each consumer that has watermarks with each of its sources, sorted."""
    table = commit_watermarks.c
    pairs = connection.execute(select(table.consumer, table.source).distinct())
    # Sorted here: databases order texts differently.
    return tuple(sorted((row.consumer, row.source) for row in pairs))


def forget_watermarks(connection: Connection, consumer: str, source: str) -> int:
    """Delete the watermarks of a consumer in a source. Return the number of their parts."""
    table = commit_watermarks.c
    of_both = delete(commit_watermarks).where(table.consumer == consumer, table.source == source)
    return connection.execute(of_both).rowcount


def can_move(connection: Connection, moves: Sequence[WatermarkMove]) -> bool:
    """Return whether each watermark has the number before its move."""
    for consumer, source in {move[:2] for move in moves}:
        current = watermarks(connection, consumer, source)
        for part, number in [move[2:] for move in moves if move[:2] == (consumer, source)]:
            if number != (current[part].number if part in current else 0) + 1:
                return False
    return True


def promised_by(connection: Connection, moves: Sequence[WatermarkMove]) -> set[str]:
    """Return the unfinished sequences that will move any of these watermarks."""
    holders = set[str]()
    for consumer, source in {move[:2] for move in moves}:
        of_both = (commit_moves.c.consumer == consumer, commit_moves.c.source == source)
        wanted = {part for *both, part, _ in moves if both == [consumer, source]}
        notes = connection.execute(select(commit_moves.c.part, commit_moves.c.sequence).where(*of_both))
        holders |= {sequence for part, sequence in notes if part in wanted}
    return holders


def promise_moves(connection: Connection, commit: str, moves: Sequence[WatermarkMove]) -> None:
    """Record that an unfinished sequence will move these watermarks."""
    rows = [
        {"consumer": consumer, "source": source, "part": part, "sequence": commit}
        for consumer, source, part, _ in moves
    ]
    if rows:
        connection.execute(insert(commit_moves), rows)


def forget_moves(connection: Connection, commit: str) -> None:
    """Delete the pending moves of a sequence that is finished or gone."""
    connection.execute(delete(commit_moves).where(commit_moves.c.sequence == commit))


def move_watermark(connection: Connection, move: WatermarkMove, position: str, commit: str) -> bool:
    """Move a watermark from the previous number. Return False if it has another number."""
    consumer, source, part, number = move
    row = {"number": number, "position": position, "commit_id": commit}
    if number == 1:
        key = {"consumer": consumer, "source": source, "part": part}
        return insert_absent(connection, commit_watermarks, [{**key, **row}]) > 0
    table = commit_watermarks.c
    at_previous = (
        table.consumer == consumer,
        table.source == source,
        table.part == part,
        table.number == number - 1,
    )
    return connection.execute(update(commit_watermarks).where(*at_previous).values(**row)).rowcount > 0


def move_watermarks(connection: Connection, moved: Sequence[NewWatermark]) -> None:
    """Move watermarks from their previous numbers by at most two statements; others stay."""
    first = [_row(one) for one in moved if one.move[3] == 1]
    insert_each_absent(connection, commit_watermarks, first)
    later = [one for one in moved if one.move[3] != 1]
    if later:
        values = [{f"new_{name}": value for name, value in _row(one).items()} for one in later]
        connection.execute(_move_of_each(), values)


def _row(one: NewWatermark) -> dict[str, Any]:
    consumer, source, part, number = one.move
    at = {"number": number, "position": one.position, "commit_id": one.commit}
    return {"consumer": consumer, "source": source, "part": part, **at}


def _move_of_each() -> Update:
    table = commit_watermarks.c
    at_previous = (
        table.consumer == bindparam("new_consumer"),
        table.source == bindparam("new_source"),
        table.part == bindparam("new_part"),
        table.number == bindparam("new_number") - 1,
    )
    moved: dict[str, BindParameter[Any]] = {
        name: bindparam(f"new_{name}") for name in ("number", "position", "commit_id")
    }
    return update(commit_watermarks).where(*at_previous).values(moved)
