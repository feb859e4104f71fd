"""A commit store in memory: it fulfils the contract of `CommitStepStore`, and keeps nothing through a crash.

One suite runs against it and against the SQL store (tests/store/commits).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from tests.doubles.commit_attempts import MemoryAttempts
from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import (
    AbandonedCommit,
    CheckVerdict,
    NewWatermark,
    OutputRecord,
    Put,
    PutCommit,
    RecoveryState,
    Release,
    Watermark,
    WatermarkMove,
    WithheldCommit,
)
from tidegate.scheduler.model.work_of_job import is_work_before


@dataclass(frozen=True, kw_only=True, slots=True)
class _Record:
    datasets: tuple[str, ...]
    token: int
    body: str
    moves: frozenset[tuple[str, str, str]]
    state: RecoveryState = field(default_factory=RecoveryState)
    result: str | None = None


class MemoryCommitStepStore(MemoryAttempts, CommitStepStore):
    def __init__(self, over: Callable[[str], bool] = lambda _: False) -> None:
        """Args:
        over: whether the job that a commit id names was stopped, or is run again.
        """
        self._over = over
        super().__init__()
        self._records: dict[str, _Record] = {}
        self._marks: dict[tuple[str, str], dict[str, Watermark]] = {}
        self._abandoned: dict[str, AbandonedCommit] = {}
        self._outputs: dict[str, dict[str, OutputRecord]] = {}
        self._withheld: dict[str, tuple[WithheldCommit, frozenset[tuple[str, str, str]]]] = {}
        self.events: dict[tuple[str, str], list[int]] = {}
        """The numbers of rows of the events of each partition, oldest first, by dataset and key."""

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
        with self._lock:
            refusal = self._refusal(commit, token, moves)
            if refusal is None:
                self._store(commit, datasets, token, body, moves)
            return refusal or "stored"

    def reported_rows(self, dataset: str, keys: Sequence[str], newest: int) -> Mapping[str, tuple[int, ...]]:
        found = {key: tuple(self.events.get((dataset, key), ())[::-1][:newest]) for key in keys}
        return {key: rows for key, rows in found.items() if rows}

    def _refusal(self, commit: str, token: int, moves: Sequence[WatermarkMove]) -> Put | None:
        if commit in self._records:
            return "known"
        if token not in self._attempts or self._attempts[token].commit != commit:
            return "fenced"
        if commit in self._abandoned:
            return "fenced"
        if self._over(commit):
            return "over"
        return None if all(self._may_move(move) for move in moves) else "moved"

    def _store(
        self, commit: str, datasets: Sequence[str], token: int, body: str, moves: Sequence[WatermarkMove]
    ) -> None:
        del self._attempts[token]
        self._end_withheld(commit, moves)
        self._records[commit] = _Record(
            datasets=tuple(datasets),
            token=token,
            body=body,
            moves=frozenset(move[:3] for move in moves),
        )

    def _end_withheld(self, commit: str, moves: Sequence[WatermarkMove]) -> None:
        moved = {move[:3] for move in moves}
        self._withheld = {
            other: (kept, marks)
            for other, (kept, marks) in self._withheld.items()
            if not is_work_before(other, commit) and marks.isdisjoint(moved)
        }

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
        with self._lock:
            refusal = self._refusal(commit, token, moves)
            if refusal is not None:
                return refusal
            del self._attempts[token]
            self._end_withheld(commit, moves)
            kept = WithheldCommit(
                commit=commit,
                token=token,
                datasets=tuple(datasets),
                body=body,
                verdicts=tuple(verdicts),
                at=now,
            )
            self._withheld[commit] = (kept, frozenset(move[:3] for move in moves))
            return "stored"

    def withheld(self, commit: str) -> WithheldCommit | None:
        with self._lock:
            return self._withheld[commit][0] if commit in self._withheld else None

    def list_withheld(self, dataset: str | None = None) -> tuple[WithheldCommit, ...]:
        with self._lock:
            found = [kept for kept, _ in self._withheld.values() if dataset in (None, *kept.datasets)]
        return tuple(sorted(found, key=lambda kept: (kept.at, kept.commit)))

    def put_after(self, datasets: Collection[str], token: int) -> tuple[PutCommit, ...]:
        with self._lock:
            return self._put_after(datasets, token)

    def _put_after(self, datasets: Collection[str], token: int) -> tuple[PutCommit, ...]:
        found = (
            PutCommit(
                commit=id,
                token=record.token,
                datasets=record.datasets,
                body=record.body,
                result=record.result,
            )
            for id, record in self._records.items()
            if record.token > token and not {*datasets}.isdisjoint(record.datasets)
        )
        return tuple(sorted(found, key=lambda put: (put.token, put.commit)))

    def put_withheld(
        self,
        commit: str,
        datasets: Sequence[str],
        token: int,
        body: str,
        moves: Sequence[WatermarkMove],
        seen: Collection[str],
    ) -> Release:
        with self._lock:
            refusal = self._refusal(commit, token, moves)
            if refusal == "known":
                return refusal
            if commit not in self._withheld:
                return "gone"
            if refusal is not None:
                return refusal
            kept = self._withheld[commit][0]
            if any(put.commit not in seen for put in self._put_after(kept.datasets, kept.token)):
                return "again"
            self._store(commit, datasets, token, body, moves)
            return "stored"

    def abandon_withheld(self, commit: str) -> bool:
        with self._lock:
            return self._withheld.pop(commit, None) is not None

    def get(self, commit: str) -> str | None:
        with self._lock:
            record = self._unfinished(commit)
            return None if record is None else record.body

    def list_unfinished(self, dataset: str | None = None) -> tuple[str, ...]:
        with self._lock:
            found = [
                (record.token, id)
                for id, record in self._records.items()
                if record.result is None and (dataset is None or dataset in record.datasets)
            ]
        return tuple(id for _, id in sorted(found))

    def take(self, commit: str, owner: str, *, now: datetime, until: datetime) -> RecoveryState | None:
        with self._lock:
            record = self._unfinished(commit)
            if record is None:
                return None
            taken = record.state.taken(owner, now, until)
            self._records[commit] = replace(record, state=taken)
            return taken

    def release(self, commit: str, owner: str) -> None:
        with self._lock:
            record = self._unfinished(commit)
            if record is not None and record.state.owner == owner:
                self._records[commit] = replace(record, state=record.state.released())

    def recovery_state(self, commit: str) -> RecoveryState | None:
        with self._lock:
            record = self._unfinished(commit)
            return None if record is None else record.state

    def fail(self, commit: str, owner: str, error: str, now: datetime) -> int:
        with self._lock:
            record = self._unfinished(commit)
            if record is None:
                return 0
            state = record.state
            if owner and state.owner == owner:
                state = state.failed(error, now)
                self._records[commit] = replace(record, state=state)
            return state.failures

    def remove(self, commit: str, result: str) -> None:
        with self._lock:
            record = self._unfinished(commit)
            if record is not None:
                self._records[commit] = replace(record, body="", moves=frozenset(), result=result)

    def result(self, commit: str) -> str | None:
        with self._lock:
            record = self._records.get(commit)
            return None if record is None else record.result

    def tokens(self, commits: Sequence[str]) -> Mapping[str, int]:
        with self._lock:
            return {one: self._records[one].token for one in commits if one in self._records}

    def abandon(
        self, commit: str, note: str, now: datetime, published: Mapping[str, str] | None = None
    ) -> bool:
        with self._lock:
            record = self._unfinished(commit)
            if record is None or not record.state.is_free(now):
                return False
            kept = AbandonedCommit(
                commit=commit,
                token=record.token,
                datasets=record.datasets,
                body=record.body,
                error=record.state.error,
                note=note,
                at=now,
            )
            self._abandoned[commit] = kept
            for name, parts in (published or {}).items():
                self._keep(commit, name, parts, record.state.error, note, now)
            del self._records[commit]
            return True

    def abandon_output(
        self, commit: str, dataset: str, *, before: str, body: str, note: str, now: datetime
    ) -> bool:
        with self._lock:
            record = self._unfinished(commit)
            if record is None or record.body != before or not record.state.is_free(now):
                return False
            if dataset not in record.datasets:
                return False
            others = tuple(name for name in record.datasets if name != dataset)
            self._keep(commit, dataset, None, record.state.error, note, now)
            self._records[commit] = replace(record, body=body, datasets=others, state=RecoveryState())
            return True

    def output_records(self, commit: str) -> Sequence[OutputRecord]:
        with self._lock:
            return tuple(record for _, record in sorted(self._outputs.get(commit, {}).items()))

    def _keep(
        self, commit: str, dataset: str, published: str | None, error: str, note: str, now: datetime
    ) -> None:
        self._outputs.setdefault(commit, {})[dataset] = OutputRecord(
            dataset=dataset, published=published, error=error, note=note, at=now
        )

    def was_abandoned(self, commit: str) -> bool:
        with self._lock:
            return commit in self._abandoned

    def abandoned(self, limit: int = 100) -> Sequence[AbandonedCommit]:
        with self._lock:
            newest = sorted(self._abandoned.values(), key=lambda kept: (kept.at, kept.token), reverse=True)
            return tuple(newest[:limit])

    def watermarks(self, consumer: str, source: str, part: str | None = None) -> Mapping[str, Watermark]:
        with self._lock:
            marks = self._marks.get((consumer, source), {})
            return {one: mark for one, mark in marks.items() if part in (None, one)}

    def followers(self) -> Sequence[tuple[str, str]]:
        with self._lock:
            return tuple(sorted(self._marks))

    def set_watermark(self, move: WatermarkMove, position: str, commit: str) -> bool:
        consumer, source, part, number = move
        with self._lock:
            if self._number(move) != number - 1:
                return False
            self._marks.setdefault((consumer, source), {})[part] = Watermark(number, position, commit)
            return True

    def set_watermarks(self, moved: Sequence[NewWatermark]) -> None:
        for one in moved:
            self.set_watermark(*one)

    def _unfinished(self, commit: str) -> _Record | None:
        record = self._records.get(commit)
        return None if record is None or record.result is not None else record

    def _may_move(self, move: WatermarkMove) -> bool:
        promised = any(move[:3] in record.moves for record in self._records.values())
        return not promised and self._number(move) == move[3] - 1

    def _number(self, move: WatermarkMove) -> int:
        consumer, source, part, _ = move
        mark = self._marks.get((consumer, source), {}).get(part)
        return 0 if mark is None else mark.number
