"""Attempts: the runs that may still put a commit sequence, each with its fencing token and its lease.

An attempt is a row for as long as it is open. Whoever closes it (its run, its `put`, or somebody
who gives it up after its lease) deletes the row, and so only one of them does. Tokens only rise,
through every restart; they are never used twice.
"""

import json
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, case, delete, insert, select, update

from tidegate.domain.commits import CommitAttempt
from tidegate.scheduler.store.commits.tables import commit_attempts, commit_tokens


def open_attempt(
    connection: Connection, commit: str, datasets: Sequence[str], until: datetime, at_least: int
) -> int:
    """Opens an attempt under the next token, which it returns."""
    value = commit_tokens.c.value
    larger = case((value > at_least, value), else_=at_least) + 1
    token = int(connection.execute(update(commit_tokens).values(value=larger).returning(value)).scalar_one())
    listed = json.dumps(list(datasets), ensure_ascii=False)
    row = {"token": token, "commit_id": commit, "datasets": listed, "until": until}
    connection.execute(insert(commit_attempts).values(row))
    return token


def prolong_attempt(connection: Connection, token: int, until: datetime) -> bool:
    """Moves the end of its lease. False when it is not open."""
    mine = update(commit_attempts).where(commit_attempts.c.token == token)
    return connection.execute(mine.values(until=until)).rowcount > 0


def is_open(connection: Connection, token: int, commit: str) -> bool:
    """Whether there is an open attempt of this commit under the token."""
    mine = select(commit_attempts.c.commit_id).where(commit_attempts.c.token == token)
    return connection.execute(mine).scalar() == commit


def close_attempt(connection: Connection, token: int, out_of_lease_at: datetime | None = None) -> bool:
    """Closes it, or only if its lease is over at an instant. False when there was nothing to close."""
    mine = delete(commit_attempts).where(commit_attempts.c.token == token)
    if out_of_lease_at is not None:
        mine = mine.where(commit_attempts.c.until <= out_of_lease_at)
    return connection.execute(mine).rowcount > 0


def open_attempts(connection: Connection) -> tuple[CommitAttempt, ...]:
    """All of them, oldest token first."""
    return tuple(
        CommitAttempt(
            token=row.token,
            commit=row.commit_id,
            datasets=tuple(json.loads(row.datasets)),
            until=row.until,
        )
        for row in connection.execute(select(commit_attempts).order_by(commit_attempts.c.token))
    )
