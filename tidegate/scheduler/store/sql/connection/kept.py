"""Whether a kept connection still has its server: its socket is looked at, and the server is seldom asked.

    taken from the pool ──► rested for long, or its socket says something? ──no──► used
                                │ yes
                            the server is asked ──► no answer ──► another connection

A server that ends a session says so and closes the connection, so that there is something to read on a socket
on which a session at rest is silent. To ask the server at each use is a message more, and its answer. A
machine that disappears is silent, too: so a connection that has rested for long is asked.
"""

import select
from time import monotonic
from typing import Any, cast

from sqlalchemy import Dialect, Engine, event
from sqlalchemy.exc import InvalidatePoolError

ASKED_AFTER_SECONDS = 5.0
"""How long a connection may rest without being asked: as long as TCP rests before it asks the other side."""

WITH_SOCKETS = ("psycopg2", "psycopg")
"""Drivers whose connections have `closed` and the number of their socket."""

RESTS_SINCE = "tidegate_rests_since"
"""In the `info` of a connection: when it was given back."""


def look_at_kept(engine: Engine) -> None:
    """Let the connections of an engine's pool be looked at when they are taken."""
    dialect, pool = engine.dialect, engine.pool
    if dialect.driver not in WITH_SOCKETS:
        # Asked at each use; a pool has no setter for this.
        cast(Any, pool)._pre_ping = True
        return

    def look(connection: Any, record: Any, _taken: Any) -> None:
        # A new one has not rested.
        rests_since = record.info.get(RESTS_SINCE)
        if rests_since is not None and _is_in_doubt(connection, monotonic() - rests_since):
            _ask(dialect, connection)

    event.listen(pool, "checkout", look)
    event.listen(pool, "checkin", _note_rest)


def _note_rest(_connection: Any, record: Any) -> None:
    record.info[RESTS_SINCE] = monotonic()


def _is_in_doubt(connection: Any, rested_seconds: float) -> bool:
    if connection.closed or rested_seconds > ASKED_AFTER_SECONDS:
        return True
    look = select.poll()
    look.register(connection.fileno(), select.POLLIN)
    return bool(look.poll(0))


def _ask(dialect: Dialect, connection: Any) -> None:
    """Ask the server.

    Raises:
        InvalidatePoolError: it has ended this session, and may have ended the others of the pool.
    """
    errors: Any = dialect.dbapi
    try:
        dialect.do_ping(connection)
    except errors.Error as error:
        raise InvalidatePoolError from error
