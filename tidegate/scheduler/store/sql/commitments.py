"""What a deployment has to know of publishes: those that are not finished, and the watermarks."""

import json

from sqlalchemy import Connection, select, update

from tidegate.scheduler.store.answers import Commitment
from tidegate.scheduler.store.sql.commit_tables import (
    commit_attempts,
    commit_sequences,
    commit_tokens,
    commit_watermarks,
)


def commitments(connection: Connection) -> tuple[Commitment, ...]:
    """Return unfinished publishes and open attempts, by commit id."""
    unfinished = select(commit_sequences.c.id, commit_sequences.c.datasets).where(
        commit_sequences.c.result.is_(None)
    )
    attempts = select(commit_attempts.c.commit_id, commit_attempts.c.datasets)
    found = [
        Commitment(commit=commit, names=tuple(json.loads(listed)), unfinished=is_unfinished)
        for is_unfinished, query in ((True, unfinished), (False, attempts))
        for commit, listed in connection.execute(query).all()
    ]
    return tuple(sorted(found, key=lambda each: (each.commit, not each.unfinished)))


def watermarked(connection: Connection) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the parts that have watermarks, sorted, by consumer and source."""
    table = commit_watermarks.c
    found: dict[tuple[str, str], list[str]] = {}
    for consumer, source, part in connection.execute(select(table.consumer, table.source, table.part)).all():
        found.setdefault((consumer, source), []).append(part)
    return {pair: tuple(sorted(parts)) for pair, parts in sorted(found.items())}


def lock_commits(connection: Connection) -> None:
    """Wait for open changes of commit sequences; no further one begins before the transaction ends."""
    connection.execute(update(commit_tokens).values(value=commit_tokens.c.value))
