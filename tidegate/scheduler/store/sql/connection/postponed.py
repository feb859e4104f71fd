"""Writes to PostgreSQL whose answers are not needed: they travel with the next statement, in one message.

    a tick writes jobs, deliveries, journal ─► kept here ─► the next question, or the end, takes them along

A message to the server and its answer cost both sides as much as a small statement. Within a transaction a
write has no answer that is needed at once: what fails makes the statement after it fail, and the transaction
with it. Whatever is asked of the connection finds what was written before, as the messages are in order.
"""

from typing import Any

from sqlalchemy import Connection, Engine, event

POSTPONED = "tidegate_postponed"
"""In the `info` of a connection: the texts of the writes, and their parameters."""

BYTES_MAX = 4_000_000
"""So much is kept, as the texts of rows have it; what is more is sent at once."""


def take_postponed_along(engine: Engine) -> None:
    """Let the connections of an engine take postponed writes along."""
    event.listen(engine, "begin", _forget)
    event.listen(engine, "before_cursor_execute", _take_along, retval=True)
    event.listen(engine, "commit", _send)


def _forget(connection: Connection) -> None:
    """Begin without what the transaction before has left: it was not committed."""
    connection.info[POSTPONED] = ([], {})


def may_postpone(connection: Connection) -> bool:
    """Return whether a connection takes postponed writes along."""
    return POSTPONED in connection.info


def postpone(connection: Connection, text: str, rows: str) -> None:
    """Execute a statement, whose one parameter is `rows`, together with the next one."""
    texts, bound = connection.info[POSTPONED]
    name = f"postponed_{len(texts)}"
    texts.append(text.replace("%(rows)s", f"%({name})s"))
    bound[name] = rows
    if sum(map(len, bound.values())) > BYTES_MAX:
        _send(connection)


def _send(connection: Connection) -> None:
    texts, bound = _taken(connection)
    if texts:
        connection.exec_driver_sql("; ".join(texts), bound)


def _take_along(
    connection: Connection, _cursor: Any, statement: str, parameters: Any, _context: Any, executemany: bool
) -> tuple[str, Any]:
    if executemany or (not parameters and "%" in statement):
        # It is executed several times, or its text is not one with parameters.
        _send(connection)
    texts, bound = _taken(connection)
    if not texts:
        return statement, parameters
    own: dict[str, Any] = parameters or {}
    return "; ".join((*texts, statement)), {**bound, **own}


def _taken(connection: Connection) -> tuple[list[str], dict[str, str]]:
    taken = connection.info.get(POSTPONED, ([], {}))
    if taken[0]:
        _forget(connection)
    return taken
