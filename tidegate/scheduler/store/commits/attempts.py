"""Attempts: the runs that may still put a commit sequence, each with its fencing token and its lease.

An attempt is a row as long as it is open. Closing it (by its run, by its `put`, or by a process
that abandons it after its lease) deletes the row, so it is closed only once. Tokens only rise, also
across restarts, and are never used twice.
"""

import json
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, case, delete, insert, select, update

from tidegate.domain.commits import CommitAttempt
from tidegate.scheduler.store.sql.commit_tables import commit_attempts, commit_tokens


def open_attempt(
    connection: Connection, commit: str, datasets: Sequence[str], until: datetime, at_least: int
) -> int:
    """Open an attempt with the next token, and return the token."""
    value = commit_tokens.c.value
    larger = case((value > at_least, value), else_=at_least) + 1
    token = int(connection.execute(update(commit_tokens).values(value=larger).returning(value)).scalar_one())
    listed = json.dumps(list(datasets), ensure_ascii=False)
    row = {"token": token, "commit_id": commit, "datasets": listed, "until": until}
    connection.execute(insert(commit_attempts).values(row))
    return token


def last_token(connection: Connection) -> int:
    """Return the largest token of all attempts so far; 0 for none."""
    # The row is written by the first writing transaction.
    return int(connection.execute(select(commit_tokens.c.value)).scalar() or 0)


def prolong_attempt(connection: Connection, token: int, until: datetime) -> bool:
    """Move the end of an attempt's lease. Return False if the attempt is not open."""
    mine = update(commit_attempts).where(commit_attempts.c.token == token)
    return connection.execute(mine.values(until=until)).rowcount > 0


def is_open(connection: Connection, token: int, commit: str) -> bool:
    """Return whether this commit has an open attempt with the token."""
    mine = select(commit_attempts.c.commit_id).where(commit_attempts.c.token == token)
    return connection.execute(mine).scalar() == commit


def close_attempt(connection: Connection, token: int, out_of_lease_at: datetime | None = None) -> bool:
    """Close an attempt, or only if its lease is over at an instant. Return whether it was closed."""
    mine = delete(commit_attempts).where(commit_attempts.c.token == token)
    if out_of_lease_at is not None:
        mine = mine.where(commit_attempts.c.until <= out_of_lease_at)
    return connection.execute(mine).rowcount > 0


def open_attempts(connection: Connection) -> tuple[CommitAttempt, ...]:
    """Return all open attempts, oldest token first."""
    return tuple(
        CommitAttempt(
            token=row.token,
            commit=row.commit_id,
            datasets=tuple(json.loads(row.datasets)),
            until=row.until,
        )
        for row in connection.execute(select(commit_attempts).order_by(commit_attempts.c.token))
    )
