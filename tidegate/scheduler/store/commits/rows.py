"""The rows of commit sequences: reading, writing and forgetting them within a transaction of a store.

Each row has a checksum of its content; a row that does not fit its checksum was never committed and is
treated as absent. What a put demands of an attempt, a job and watermarks is asked here, since `steps` and
`withheld` both put.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Row, delete, insert, select

from tidegate.domain.commits import Put, WatermarkMove
from tidegate.scheduler.store.commits import abandoned as commit_abandoned
from tidegate.scheduler.store.commits import attempts as commit_attempts
from tidegate.scheduler.store.commits import recovery_states
from tidegate.scheduler.store.commits import watermarks as commit_watermarks
from tidegate.scheduler.store.commits.recovery_states import Deed, is_fenced
from tidegate.scheduler.store.commits.transaction import insert_absent
from tidegate.scheduler.store.sql.commit_tables import commit_datasets, commit_sequences


class SequenceRows:
    """What the stores of unfinished and of withheld sequences have in common."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def _note(self, connection: Connection, deed: Deed, commit: str, facts: Mapping[str, Any]) -> None:
        """Write what a person has changed to the journal; the changes of runs have no entry of their own."""

    def _refusal(
        self, connection: Connection, commit: str, token: int, moves: Sequence[WatermarkMove]
    ) -> Put | None:
        """Return why an attempt may not put a sequence; None if it may."""
        if self._row(connection, commit) is not None:
            return "known"
        if not commit_attempts.is_open(connection, token, commit):
            return "fenced"
        if commit_abandoned.is_abandoned(connection, commit):
            return "fenced"
        if is_fenced(connection, commit):
            return "over"
        return None if self._may_move(connection, moves) else "moved"

    def _insert(
        self,
        connection: Connection,
        commit: str,
        datasets: Sequence[str],
        token: int,
        body: str,
        moves: Sequence[WatermarkMove],
    ) -> None:
        """Store a sequence that may be put, and close its attempt."""
        listed = json.dumps(list(datasets), ensure_ascii=False)
        row = {
            "id": commit,
            "token": token,
            "datasets": listed,
            "body": body,
            "result": None,
            "checksum": checksum(commit, token, listed, body, None),
        }
        if insert_absent(connection, commit_sequences, [row]) == 0:
            # The row there is torn: it was never committed.
            self._forget(connection, commit)
            connection.execute(insert(commit_sequences).values(row))
        links = [{"dataset": name, "sequence": commit} for name in dict.fromkeys(datasets)]
        if links:
            connection.execute(insert(commit_datasets), links)
        commit_watermarks.promise_moves(connection, commit, moves)
        commit_attempts.close_attempt(connection, token)

    def _row(self, connection: Connection, commit: str) -> Row[Any] | None:
        found = connection.execute(
            select(commit_sequences).where(commit_sequences.c.id == commit)
        ).one_or_none()
        return found if found is not None and is_whole(found) else None

    def _unfinished(self, connection: Connection, commit: str) -> Row[Any] | None:
        row = self._row(connection, commit)
        return None if row is None or row.result is not None else row

    def _may_move(self, connection: Connection, moves: Sequence[WatermarkMove]) -> bool:
        holders = commit_watermarks.promised_by(connection, moves)
        if any(self._row(connection, holder) is not None for holder in holders):
            return False
        for torn in holders:
            self._forget(connection, torn)
        return commit_watermarks.can_move(connection, moves)

    def _forget_unfinished(self, connection: Connection, commit: str) -> None:
        connection.execute(delete(commit_datasets).where(commit_datasets.c.sequence == commit))
        commit_watermarks.forget_moves(connection, commit)
        recovery_states.forget_recovery_state(connection, commit)

    def _forget(self, connection: Connection, commit: str) -> None:
        self._forget_unfinished(connection, commit)
        connection.execute(delete(commit_sequences).where(commit_sequences.c.id == commit))


def is_whole(row: Row[Any]) -> bool:
    """Return whether the row of a sequence fits its checksum."""
    return row.checksum == checksum(row.id, row.token, row.datasets, row.body, row.result)


def checksum(commit: str, token: int, datasets: str, body: str, result: str | None) -> str:
    """Return the SHA-256 of a row's content, encoded so that fields cannot be confused."""
    text = json.dumps([commit, token, datasets, body, result], ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
