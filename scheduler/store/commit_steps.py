"""Commit sequences in SQL: what a publish has promised, kept through crashes.

To this store a sequence is a text with an id, the datasets it writes and a fencing token.
Every method is one transaction that begins with a write, so two processes on one SQLite
file queue up instead of failing on a stale read. Each row carries a checksum of all it
says; a row that does not fit its checksum was never committed and is treated as absent.
It fulfils the protocol of spark_jobs/commit/store.py without knowing it.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Row, case, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from scheduler.store.commit_tables import commit_datasets, commit_sequences, commit_tokens
from scheduler.store.metadata import metadata

TOKEN_ROW = 1


class SqlCommitStepStore:
    """Keeps commit sequences in the tables of `commit_tables`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def create(self) -> None:
        """Creates the tables that do not exist."""
        metadata.create_all(self._engine, tables=[commit_sequences, commit_datasets, commit_tokens])

    def next_token(self, at_least: int = 0) -> int:
        """A fencing token larger than `at_least` and than every one given before."""
        value = commit_tokens.c.value
        with self._engine.begin() as connection:
            self._insert_absent(connection, commit_tokens, [{"id": TOKEN_ROW, "value": 0}])
            larger = case((value > at_least, value), else_=at_least) + 1
            raised = update(commit_tokens).where(commit_tokens.c.id == TOKEN_ROW).values(value=larger)
            return int(connection.execute(raised.returning(value)).scalar_one())

    def put(self, sequence: str, datasets: Sequence[str], token: int, body: str) -> bool:
        """Keeps a sequence. False when one of this id is unfinished or finished already."""
        listed = json.dumps(list(datasets), ensure_ascii=False)
        row = {
            "id": sequence,
            "token": token,
            "datasets": listed,
            "body": body,
            "result": None,
            "checksum": _checksum(sequence, token, listed, body, None),
        }
        with self._engine.begin() as connection:
            if not self._insert_absent(connection, commit_sequences, [row]):
                if self._row(connection, sequence) is not None:
                    return False
                # What stands there is torn: it was never committed.
                connection.execute(delete(commit_datasets).where(commit_datasets.c.sequence == sequence))
                connection.execute(delete(commit_sequences).where(commit_sequences.c.id == sequence))
                self._insert_absent(connection, commit_sequences, [row])
            if datasets:
                links = [{"dataset": name, "sequence": sequence} for name in dict.fromkeys(datasets)]
                self._insert_absent(connection, commit_datasets, links)
            return True

    def exists(self, sequence: str) -> bool:
        """Whether a sequence of this id is unfinished."""
        return self.get(sequence) is not None

    def get(self, sequence: str) -> str | None:
        """The text of an unfinished sequence."""
        with self._engine.connect() as connection:
            row = self._row(connection, sequence)
        return None if row is None or row.result is not None else row.body

    def list_unfinished(self, dataset: str | None = None) -> tuple[str, ...]:
        """Ids of the unfinished sequences that write a dataset, smallest token first; None: all."""
        query = select(commit_sequences).where(commit_sequences.c.result.is_(None))
        if dataset is not None:
            query = query.join(commit_datasets).where(commit_datasets.c.dataset == dataset)
        query = query.order_by(commit_sequences.c.token, commit_sequences.c.id)
        with self._engine.connect() as connection:
            return tuple(row.id for row in connection.execute(query) if _whole(row))

    def remove(self, sequence: str, result: str) -> None:
        """Marks a sequence as finished and keeps its result. A second call changes nothing."""
        with self._engine.begin() as connection:
            connection.execute(delete(commit_datasets).where(commit_datasets.c.sequence == sequence))
            row = self._row(connection, sequence)
            if row is None or row.result is not None:
                return
            finished = {
                "body": "",
                "result": result,
                "checksum": _checksum(sequence, row.token, row.datasets, "", result),
            }
            connection.execute(
                update(commit_sequences).where(commit_sequences.c.id == sequence).values(**finished)
            )

    def result(self, sequence: str) -> str | None:
        """What `remove` kept for a finished sequence."""
        with self._engine.connect() as connection:
            row = self._row(connection, sequence)
        return None if row is None else row.result

    def _row(self, connection: Connection, sequence: str) -> Row[Any] | None:
        found = connection.execute(
            select(commit_sequences).where(commit_sequences.c.id == sequence)
        ).one_or_none()
        return found if found is not None and _whole(found) else None

    def _insert_absent(self, connection: Connection, table: Any, rows: list[dict[str, Any]]) -> bool:
        """Inserts rows whose key is not taken; True when the (last) row went in."""
        insert = postgresql.insert if self._engine.dialect.name == "postgresql" else sqlite.insert
        statement = insert(table).values(rows).on_conflict_do_nothing()
        return connection.execute(statement).rowcount > 0


def _whole(row: Row[Any]) -> bool:
    return row.checksum == _checksum(row.id, row.token, row.datasets, row.body, row.result)


def _checksum(sequence: str, token: int, datasets: str, body: str, result: str | None) -> str:
    """SHA-256 of everything a row says, in a form in which no field can pass for another."""
    text = json.dumps([sequence, token, datasets, body, result], ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
