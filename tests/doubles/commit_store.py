"""A commit store in memory: it fulfils the contract of `CommitStepStore`, and keeps nothing through a crash.

One suite runs against it and against the SQL store (tests/store/commits).
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import msgspec

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import (
    AbandonedCommit,
    CommitAttempt,
    NewWatermark,
    OutputRecord,
    Put,
    RecoveryState,
    Watermark,
    WatermarkMove,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Record:
    datasets: tuple[str, ...]
    token: int
    body: str
    moves: frozenset[tuple[str, str, str]]
    state: RecoveryState = field(default_factory=RecoveryState)
    result: str | None = None


class MemoryCommitStepStore(CommitStepStore):
    def __init__(self, over: Callable[[str], bool] = lambda _: False) -> None:
        """Args:
        over: whether the job that a commit id names was stopped, or is run again.
        """
        self._over = over
        self._lock = threading.Lock()
        self._records: dict[str, _Record] = {}
        self._attempts: dict[int, CommitAttempt] = {}
        self._marks: dict[tuple[str, str], dict[str, Watermark]] = {}
        self._abandoned: dict[str, AbandonedCommit] = {}
        self._outputs: dict[str, dict[str, OutputRecord]] = {}
        self._token = 0

    def begin(self, commit: str, datasets: Sequence[str], *, until: datetime, at_least: int = 0) -> int:
        with self._lock:
            self._token = max(self._token, at_least) + 1
            self._attempts[self._token] = CommitAttempt(
                token=self._token, commit=commit, datasets=tuple(datasets), until=until
            )
            return self._token

    def last_token(self) -> int:
        with self._lock:
            return self._token

    def renew(self, token: int, until: datetime) -> bool:
        with self._lock:
            if token in self._attempts:
                self._attempts[token] = msgspec.structs.replace(self._attempts[token], until=until)
            return token in self._attempts

    def end(self, token: int) -> None:
        with self._lock:
            self._attempts.pop(token, None)

    def attempts(self) -> Sequence[CommitAttempt]:
        with self._lock:
            return tuple(self._attempts[token] for token in sorted(self._attempts))

    def expire(self, token: int, now: datetime) -> bool:
        with self._lock:
            if token not in self._attempts or self._attempts[token].until > now:
                return False
            del self._attempts[token]
            return True

    def put(
        self,
        commit: str,
        datasets: Sequence[str],
        token: int,
        body: str,
        moves: Sequence[WatermarkMove] = (),
    ) -> Put:
        with self._lock:
            if commit in self._records:
                return "known"
            if token not in self._attempts or self._attempts[token].commit != commit:
                return "fenced"
            if commit in self._abandoned:
                return "fenced"
            if self._over(commit):
                return "over"
            if not all(self._may_move(move) for move in moves):
                return "moved"
            del self._attempts[token]
            self._records[commit] = _Record(
                datasets=tuple(datasets),
                token=token,
                body=body,
                moves=frozenset(move[:3] for move in moves),
            )
            return "stored"

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
