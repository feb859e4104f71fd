"""What something reads of a store in SQLite, counted and not timed."""

from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import Engine

from tests.crashes.statements import listening

STEP = 10
"""SQLite reports every so many steps."""


class Cost(NamedTuple):
    """What something reads: its statements, the rows that they return, and steps of SQLite's machine."""

    statements: int
    rows: int
    steps: int


def cost(engine: Engine | type[Engine], deed: Callable[[], object]) -> Cost:
    """What a deed costs an engine, or every engine that it opens."""
    statements: list[str] = []
    rows: list[int] = []
    steps: list[int] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        raw = connection.connection.dbapi_connection
        statements.append(statement)
        if statement.lstrip().startswith("SELECT"):
            rows.append(len(cursor.connection.execute(statement, rest[0]).fetchall()))
        raw.set_progress_handler(lambda: steps.append(STEP), STEP)

    with listening(engine, note):
        deed()
    return Cost(len(statements), sum(rows), sum(steps))
