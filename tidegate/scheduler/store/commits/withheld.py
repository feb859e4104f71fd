"""Withheld sequences in SQL: kept in place of a put, and put when a person releases them.

    withhold ──► withheld ──put_withheld──► an unfinished sequence, as if it had been put
                    ├──abandon_withheld──► gone
                    └──a put or a withholding of the same work, or that moves one of its watermarks──► gone

Nothing but these ends one. It blocks no put: what it would publish is compared with what was published only
when a person releases it (`spark_jobs.commit.release`).
"""

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, insert, or_, select

from tidegate.domain.commits import (
    CheckVerdict,
    Put,
    PutCommit,
    Release,
    WatermarkMove,
    WithheldCommit,
)
from tidegate.scheduler.model.work_of_job import is_work_before, work_of_commit
from tidegate.scheduler.store.commits.attempts import close_attempt
from tidegate.scheduler.store.commits.check_results import keep_results, note_release
from tidegate.scheduler.store.commits.recovery_states import Deed
from tidegate.scheduler.store.commits.rows import SequenceRows, checksum, is_whole
from tidegate.scheduler.store.commits.transaction import reading, writing
from tidegate.scheduler.store.sql.commit_tables import commit_sequences, commit_withheld, withheld_publishes


class WithheldRows(SequenceRows):
    """Keeps withheld sequences. See `CommitStepStore` for its methods."""

    def withhold(
        self,
        commit: str,
        datasets: Sequence[str],
        token: int,
        body: str,
        moves: Sequence[WatermarkMove],
        verdicts: Sequence[CheckVerdict],
        now: datetime,
    ) -> Put:
        """Keep a sequence as withheld, in place of a put, and close its attempt."""
        with writing(self._engine) as connection:
            refusal = self._refusal(connection, commit, token, moves)
            if refusal is not None:
                return refusal
            end_withheld(connection, commit, moves)
            listed = json.dumps(list(datasets), ensure_ascii=False)
            row = {
                "id": commit,
                "token": token,
                "datasets": listed,
                "body": body,
                "moves": json.dumps(moves, ensure_ascii=False) if moves else None,
                "checksum": checksum(commit, token, listed, body, None),
            }
            # A deployment with --force forgets what is shown, and leaves its text to the next one.
            left = commit_withheld.c.id.not_in(select(withheld_publishes.c.commit))
            connection.execute(delete(commit_withheld).where(left))
            connection.execute(insert(commit_withheld).values(row))
            shown = {
                "commit": commit,
                "job": work_of_commit(commit).job,
                "token": token,
                "datasets": tuple(name for name in datasets if " <- " not in name),
                "verdicts": tuple(verdicts),
                "at": now,
            }
            connection.execute(insert(withheld_publishes).values(shown))
            keep_results(connection, commit, token, verdicts, now, withheld=True)
            close_attempt(connection, token)
            return "stored"

    def withheld(self, commit: str) -> WithheldCommit | None:
        """Return the withheld sequence of this id."""
        with reading(self._engine) as connection:
            return _kept(connection, commit)

    def list_withheld(self, dataset: str | None = None) -> tuple[WithheldCommit, ...]:
        """Return the withheld sequences that would write a dataset (None: any), oldest first."""
        in_order = _every().order_by(withheld_publishes.c.at, withheld_publishes.c.commit)
        with reading(self._engine) as connection:
            found = _found(connection, in_order)
        return tuple(each for each in found if dataset is None or dataset in each.datasets)

    def put_after(self, datasets: Collection[str], token: int) -> tuple[PutCommit, ...]:
        """Return the sequences with a larger token that write any of these datasets, smallest token first."""
        with reading(self._engine) as connection:
            return _put_after(connection, datasets, token)

    def put_withheld(
        self,
        commit: str,
        datasets: Sequence[str],
        token: int,
        body: str,
        moves: Sequence[WatermarkMove],
        seen: Collection[str],
    ) -> Release:
        """Put a withheld sequence under the open attempt of a release."""
        with writing(self._engine) as connection:
            refusal = self._refusal(connection, commit, token, moves)
            if refusal == "known":
                return refusal
            row = _kept(connection, commit)
            if row is None:
                return "gone"
            if refusal is not None:
                return refusal
            if any(each.commit not in seen for each in _put_after(connection, row.datasets, row.token)):
                return "again"
            self._insert(connection, commit, datasets, token, body, moves)
            end_withheld(connection, commit, moves)
            note_release(connection, commit, row.datasets)
            self._note(connection, Deed.RELEASE, commit, {"datasets": list(row.datasets)})
            return "stored"

    def abandon_withheld(self, commit: str) -> bool:
        """Forget a withheld sequence, of which nothing is published."""
        with writing(self._engine) as connection:
            row = _kept(connection, commit)
            if row is None:
                return False
            _drop(connection, {commit})
            facts = {"datasets": list(row.datasets), "withheld": True}
            self._note(connection, Deed.ABANDON, commit, facts)
            return True


def end_withheld(connection: Connection, commit: str, moves: Sequence[WatermarkMove]) -> None:
    """Forget what is withheld of the work of a commit that is put or withheld, or moves a watermark of it."""
    of_job = select(withheld_publishes.c.commit).where(withheld_publishes.c.job == work_of_commit(commit).job)
    ended = {other for other in connection.scalars(of_job) if is_work_before(other, commit)}
    if moves:
        moved = {move[:3] for move in moves}
        table = commit_withheld.c
        kept = select(table.id, table.moves).where(table.moves.is_not(None))
        ended |= {
            other
            for other, listed in connection.execute(kept)
            if any((consumer, source, part) in moved for consumer, source, part, _ in json.loads(listed))
        }
    if ended:
        _drop(connection, ended)


def _drop(connection: Connection, commits: Collection[str]) -> None:
    connection.execute(delete(withheld_publishes).where(withheld_publishes.c.commit.in_(commits)))
    connection.execute(delete(commit_withheld).where(commit_withheld.c.id.in_(commits)))


def _every() -> Select[*tuple[Any, ...]]:
    shown = withheld_publishes.c
    columns = (commit_withheld, shown.verdicts, shown.at)
    return select(*columns).join(withheld_publishes, shown.commit == commit_withheld.c.id)


def _kept(connection: Connection, commit: str) -> WithheldCommit | None:
    return next(iter(_found(connection, _every().where(commit_withheld.c.id == commit))), None)


def _found(connection: Connection, query: Select[*tuple[Any, ...]]) -> list[WithheldCommit]:
    return [
        WithheldCommit(
            commit=row.id,
            token=row.token,
            datasets=tuple(json.loads(row.datasets)),
            body=row.body,
            verdicts=row.verdicts,
            at=row.at,
        )
        for row in connection.execute(query)
        if row.checksum == checksum(row.id, row.token, row.datasets, row.body, None)
    ]


def _put_after(connection: Connection, datasets: Collection[str], token: int) -> tuple[PutCommit, ...]:
    """Only a person's release asks, so it may look at every row."""
    table = commit_sequences.c
    # A cheap look at the text before it is decoded.
    names = (json.dumps(name, ensure_ascii=False) for name in datasets)
    mentions = or_(*(table.datasets.contains(name, autoescape=True) for name in names))
    query = select(commit_sequences).where(table.token > token, mentions).order_by(table.token, table.id)
    return tuple(
        PutCommit(
            commit=row.id,
            token=row.token,
            datasets=tuple(json.loads(row.datasets)),
            body=row.body,
            result=row.result,
        )
        for row in connection.execute(query)
        if is_whole(row)
    )
