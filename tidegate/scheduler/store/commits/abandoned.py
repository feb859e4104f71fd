"""Records of what a person abandoned: whole commits, and single outputs, in the caller's transaction.

An output has a record if it was abandoned alone, while the rest of its commit was kept, or if it was
already published when the whole commit was abandoned. The next run of that work does not repeat the latter.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from tidegate.domain.commits import AbandonedCommit, OutputRecord
from tidegate.scheduler.store.commits.transaction import insert_or_replace
from tidegate.scheduler.store.sql.commit_tables import commit_abandoned, commit_outputs


def keep_abandoned(
    connection: Connection,
    row: Row[Any],
    error: str,
    note: str,
    now: datetime,
    published: Mapping[str, str],
) -> None:
    """Add the record of a commit, and of its published outputs.

    Args:
        row: the row of its unfinished sequence.
    """
    kept = {
        "sequence": row.id,
        "token": row.token,
        "datasets": row.datasets,
        "body": row.body,
        "error": error,
        "note": note,
        "at": now,
    }
    connection.execute(insert(commit_abandoned).values(kept))
    for name, parts in published.items():
        record = OutputRecord(dataset=name, published=parts, error=error, note=note, at=now)
        keep_output(connection, row.id, record)


def keep_output(connection: Connection, commit: str, record: OutputRecord) -> None:
    """Add or replace the record of an output."""
    row = {
        "sequence": commit,
        "dataset": record.dataset,
        "published": record.published,
        "error": record.error,
        "note": record.note,
        "at": record.at,
    }
    insert_or_replace(connection, commit_outputs, row)


def is_abandoned(connection: Connection, commit: str) -> bool:
    """Return whether a commit was abandoned."""
    record = select(commit_abandoned.c.token).where(commit_abandoned.c.sequence == commit)
    return connection.execute(record).first() is not None


def abandoned_commits(connection: Connection, limit: int) -> Sequence[AbandonedCommit]:
    """Return the records of commits, newest first."""
    order = (commit_abandoned.c.at.desc(), commit_abandoned.c.token.desc())
    return tuple(
        AbandonedCommit(
            commit=row.sequence,
            token=row.token,
            datasets=tuple(json.loads(row.datasets)),
            body=row.body,
            error=row.error,
            note=row.note,
            at=row.at,
        )
        for row in connection.execute(select(commit_abandoned).order_by(*order).limit(limit))
    )


def output_records(connection: Connection, commit: str) -> tuple[OutputRecord, ...]:
    """Return the records of single outputs of a commit, by dataset."""
    found = connection.execute(select(commit_outputs).where(commit_outputs.c.sequence == commit)).all()
    # Sorted here: databases order texts differently.
    return tuple(
        OutputRecord(dataset=row.dataset, published=row.published, error=row.error, note=row.note, at=row.at)
        for row in sorted(found, key=lambda row: row.dataset)
    )
