"""Commit sequences in SQL: the steps of a publish, kept through crashes.

To this store a sequence is a text with an id, the datasets that it writes and a fencing token.
Every method is one transaction, and writers are serialised (`commits.transaction`). It implements
`tidegate.domain.commit_store.CommitStepStore`, withheld sequences in `commits.withheld`.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import delete, select, update

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import (
    AbandonedCommit,
    CheckVerdict,
    CommitAttempt,
    NewWatermark,
    OutputRecord,
    Put,
    RecoveryState,
    Watermark,
    WatermarkMove,
)
from tidegate.scheduler.model.event import partition_event_key
from tidegate.scheduler.store.commits import abandoned as commit_abandoned
from tidegate.scheduler.store.commits import attempts as commit_attempts
from tidegate.scheduler.store.commits import recovery_states
from tidegate.scheduler.store.commits import watermarks as commit_watermarks
from tidegate.scheduler.store.commits.check_results import keep_results
from tidegate.scheduler.store.commits.recovery_states import Deed, refuse_former_names
from tidegate.scheduler.store.commits.rows import checksum, is_whole
from tidegate.scheduler.store.commits.transaction import reading, writing
from tidegate.scheduler.store.commits.withheld import WithheldRows, end_withheld
from tidegate.scheduler.store.sql.commit_tables import commit_datasets, commit_sequences
from tidegate.scheduler.store.sql.tables import events


class SqlCommitStepStore(WithheldRows, CommitStepStore):
    """Keeps commit sequences in the tables of `sql.commit_tables`. See `CommitStepStore` for its methods."""

    def begin(self, commit: str, datasets: Sequence[str], *, until: datetime, at_least: int = 0) -> int:
        """Open an attempt, and return its token: larger than `at_least` and than every earlier one.

        Raises:
            Refused: a dataset or program has been renamed since the run was started.
        """
        with writing(self._engine) as connection:
            refuse_former_names(connection, datasets)
            return commit_attempts.open_attempt(connection, commit, datasets, until, at_least)

    def raise_token(self, dataset: str, least: int, now: datetime) -> None:
        """Make the next token larger than `least`, for a dataset that has such a token already."""
        with writing(self._engine) as connection:
            token = commit_attempts.open_attempt(connection, "adopt", [dataset], now, least)
            commit_attempts.close_attempt(connection, token)
            self._note(connection, Deed.RAISE_TOKEN, "", {"token": least})

    def last_token(self) -> int:
        """Return the largest token that `begin` has given; 0 for none."""
        with reading(self._engine) as connection:
            return commit_attempts.last_token(connection)

    def renew(self, token: int, until: datetime) -> bool:
        """Extend an attempt's lease. Return False if the attempt has ended or was abandoned."""
        with writing(self._engine) as connection:
            return commit_attempts.prolong_attempt(connection, token, until)

    def end(self, token: int) -> None:
        """Close an attempt; a closed one is not an error."""
        with writing(self._engine) as connection:
            commit_attempts.close_attempt(connection, token)

    def attempts(self) -> Sequence[CommitAttempt]:
        """Return the open attempts, oldest token first."""
        with reading(self._engine) as connection:
            return commit_attempts.open_attempts(connection)

    def expire(self, token: int, now: datetime) -> bool:
        """Close an attempt whose lease has expired. Return whether it was closed."""
        with writing(self._engine) as connection:
            return commit_attempts.close_attempt(connection, token, out_of_lease_at=now)

    def put(
        self,
        commit: str,
        datasets: Sequence[str],
        token: int,
        body: str,
        moves: Sequence[WatermarkMove] = (),
        verdicts: Sequence[CheckVerdict] = (),
        judged_at: datetime | None = None,
    ) -> Put:
        """Store a sequence, whose attempt must be open, and close the attempt."""
        with writing(self._engine) as connection:
            refusal = self._refusal(connection, commit, token, moves)
            if refusal is not None:
                return refusal
            self._insert(connection, commit, datasets, token, body, moves)
            end_withheld(connection, commit, moves)
            if judged_at is not None:
                keep_results(connection, commit, token, verdicts, judged_at, withheld=False)
            self._note(connection, Deed.PUT, commit, {})
            return "stored"

    def reported_rows(self, dataset: str, keys: Sequence[str], newest: int) -> Mapping[str, tuple[int, ...]]:
        """Return the numbers of rows of the newest events of some partitions, newest first, by key."""
        of = events.c
        query = select(of.rows).where(of.key == partition_event_key("", dataset), of.rows.is_not(None))
        newest_first = query.order_by(of.arrived.desc(), of.id.desc()).limit(newest)
        with reading(self._engine) as connection:
            found = {key: tuple(connection.scalars(newest_first.where(of.partition == key))) for key in keys}
        return {key: rows for key, rows in found.items() if rows}

    def get(self, commit: str) -> str | None:
        """Return the text of an unfinished sequence."""
        with reading(self._engine) as connection:
            row = self._unfinished(connection, commit)
        return None if row is None else row.body

    def list_unfinished(self, dataset: str | None = None) -> tuple[str, ...]:
        """Return the ids of unfinished sequences that write a dataset (None: any), smallest token first."""
        query = select(commit_sequences).where(commit_sequences.c.result.is_(None))
        if dataset is not None:
            query = query.join(commit_datasets).where(commit_datasets.c.dataset == dataset)
        query = query.order_by(commit_sequences.c.token, commit_sequences.c.id)
        with reading(self._engine) as connection:
            return tuple(row.id for row in connection.execute(query) if is_whole(row))

    def torn(self) -> tuple[str, ...]:
        """Return the ids of the records that do not fit their checksum, sorted."""
        query = select(commit_sequences).order_by(commit_sequences.c.id)
        with reading(self._engine) as connection:
            return tuple(row.id for row in connection.execute(query) if not is_whole(row))

    def take(self, commit: str, owner: str, *, now: datetime, until: datetime) -> RecoveryState | None:
        """Make `owner` the owner of a sequence, unless another owner's lease is still valid."""
        with writing(self._engine) as connection:
            if self._unfinished(connection, commit) is None:
                return None
            state = recovery_states.recovery_state(connection, commit)
            taken = state.taken(owner, now, until)
            if taken is not state:
                recovery_states.keep_recovery_state(connection, commit, taken)
            return taken

    def release(self, commit: str, owner: str) -> None:
        """End the lease of an owner; no effect if another owner has the sequence or it is gone."""
        with writing(self._engine) as connection:
            state = recovery_states.recovery_state(connection, commit)
            if owner and state.owner == owner:
                recovery_states.keep_recovery_state(connection, commit, state.released())

    def recovery_state(self, commit: str) -> RecoveryState | None:
        """Return the recovery state of an unfinished sequence."""
        with reading(self._engine) as connection:
            if self._unfinished(connection, commit) is None:
                return None
            return recovery_states.recovery_state(connection, commit)

    def fail(self, commit: str, owner: str, error: str, now: datetime) -> int:
        """Count a failed try of its owner, and release it. Return the number of failures so far."""
        with writing(self._engine) as connection:
            state = recovery_states.recovery_state(connection, commit)
            if owner and state.owner == owner:
                state = state.failed(error, now)
                recovery_states.keep_recovery_state(connection, commit, state)
            return state.failures

    def remove(self, commit: str, result: str) -> None:
        """Mark a sequence as finished and keep its result. A second call has no effect."""
        with writing(self._engine) as connection:
            row = self._unfinished(connection, commit)
            if row is None:
                return
            self._forget_unfinished(connection, commit)
            finished = {
                "body": "",
                "result": result,
                "checksum": checksum(commit, row.token, row.datasets, "", result),
            }
            connection.execute(
                update(commit_sequences).where(commit_sequences.c.id == commit).values(**finished)
            )
            self._note(connection, Deed.FINISH, commit, {"datasets": json.loads(row.datasets)})

    def result(self, commit: str) -> str | None:
        """Return the result of a finished sequence."""
        with reading(self._engine) as connection:
            row = self._row(connection, commit)
        return None if row is None else row.result

    def tokens(self, commits: Sequence[str]) -> Mapping[str, int]:
        """Return the fencing tokens of those of some sequences that the store knows."""
        with reading(self._engine) as connection:
            found = connection.execute(select(commit_sequences).where(commit_sequences.c.id.in_(commits)))
            return {row.id: row.token for row in found if is_whole(row)}

    def abandon(
        self, commit: str, note: str, now: datetime, published: Mapping[str, str] | None = None
    ) -> bool:
        """Remove an unfinished sequence without an owner permanently, and keep a record of it."""
        with writing(self._engine) as connection:
            row = self._unfinished(connection, commit)
            state = recovery_states.recovery_state(connection, commit)
            if row is None or not state.is_free(now):
                return False
            commit_abandoned.keep_abandoned(connection, row, state.error, note, now, published or {})
            self._forget(connection, commit)
            self._note(connection, Deed.ABANDON, commit, {"datasets": json.loads(row.datasets)})
            return True

    def abandon_output(
        self, commit: str, dataset: str, *, before: str, body: str, note: str, now: datetime
    ) -> bool:
        """Take one output out of an unfinished sequence without an owner, and keep a record of that."""
        with writing(self._engine) as connection:
            row = self._unfinished(connection, commit)
            state = recovery_states.recovery_state(connection, commit)
            if row is None or row.body != before or not state.is_free(now):
                return False
            written = json.loads(row.datasets)
            if dataset not in written:
                return False
            listed = json.dumps([name for name in written if name != dataset], ensure_ascii=False)
            changed = {
                "datasets": listed,
                "body": body,
                "checksum": checksum(commit, row.token, listed, body, None),
            }
            connection.execute(
                update(commit_sequences).where(commit_sequences.c.id == commit).values(**changed)
            )
            connection.execute(
                delete(commit_datasets).where(
                    commit_datasets.c.sequence == commit, commit_datasets.c.dataset == dataset
                )
            )
            recovery_states.forget_recovery_state(connection, commit)
            record = OutputRecord(dataset=dataset, published=None, error=state.error, note=note, at=now)
            commit_abandoned.keep_output(connection, commit, record)
            self._note(connection, Deed.ABANDON_OUTPUT, commit, {"output": dataset})
            return True

    def output_records(self, commit: str) -> Sequence[OutputRecord]:
        """Return the records of single outputs of a commit that was abandoned, wholly or in part."""
        with reading(self._engine) as connection:
            return commit_abandoned.output_records(connection, commit)

    def was_abandoned(self, commit: str) -> bool:
        """Return whether a sequence of this id was abandoned."""
        with reading(self._engine) as connection:
            return commit_abandoned.is_abandoned(connection, commit)

    def abandoned(self, limit: int = 100) -> Sequence[AbandonedCommit]:
        """Return the records of abandoned sequences, newest first."""
        with reading(self._engine) as connection:
            return commit_abandoned.abandoned_commits(connection, limit)

    def watermarks(self, consumer: str, source: str, part: str | None = None) -> Mapping[str, Watermark]:
        """Return how far a program has read a dataset, by part, or one part of it."""
        with reading(self._engine) as connection:
            return commit_watermarks.watermarks(connection, consumer, source, part)

    def followers(self) -> Sequence[tuple[str, str]]:
        """Return each consumer that has watermarks with each of its sources, sorted."""
        with reading(self._engine) as connection:
            return commit_watermarks.followers(connection)

    def forget_watermarks(self, consumer: str, source: str) -> int:
        """Delete the watermarks of a program on a dataset. Return the number of their parts."""
        with writing(self._engine) as connection:
            parts = commit_watermarks.forget_watermarks(connection, consumer, source)
            if parts:
                self._note(connection, Deed.FORGET, "", {"parts": parts})
            return parts

    def set_watermark(self, move: WatermarkMove, position: str, commit: str) -> bool:
        """Move a watermark from the previous number to `move`'s. Return False if it has another number."""
        with writing(self._engine) as connection:
            return commit_watermarks.move_watermark(connection, move, position, commit)

    def set_watermarks(self, moved: Sequence[NewWatermark]) -> None:
        """Move different watermarks in one transaction; those without the preceding number stay."""
        with writing(self._engine) as connection:
            commit_watermarks.move_watermarks(connection, moved)
