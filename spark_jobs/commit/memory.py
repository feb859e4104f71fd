"""Commit sequences in memory, for tests and for a run that has no schedule store.

It keeps nothing through a crash, so publishing with it is atomic for readers but not
recoverable. The SQL store obeys the same contract; one suite runs against both.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class _Record:
    datasets: tuple[str, ...]
    token: int
    body: str
    result: str | None = None


class MemoryCommitStepStore:
    """See `CommitStepStore`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._records: dict[str, _Record] = {}
        self._token = 0

    def create(self) -> None:
        """See `CommitStepStore.create`."""

    def next_token(self, at_least: int = 0) -> int:
        """See `CommitStepStore.next_token`."""
        with self._lock:
            self._token = max(self._token, at_least) + 1
            return self._token

    def put(self, sequence: str, datasets: Sequence[str], token: int, body: str) -> bool:
        """See `CommitStepStore.put`."""
        with self._lock:
            if sequence in self._records:
                return False
            self._records[sequence] = _Record(datasets=tuple(datasets), token=token, body=body)
            return True

    def exists(self, sequence: str) -> bool:
        """See `CommitStepStore.exists`."""
        return self.get(sequence) is not None

    def get(self, sequence: str) -> str | None:
        """See `CommitStepStore.get`."""
        with self._lock:
            record = self._records.get(sequence)
            return None if record is None or record.result is not None else record.body

    def list_unfinished(self, dataset: str | None = None) -> tuple[str, ...]:
        """See `CommitStepStore.list_unfinished`."""
        with self._lock:
            found = [
                (record.token, id)
                for id, record in self._records.items()
                if record.result is None and (dataset is None or dataset in record.datasets)
            ]
        return tuple(id for _, id in sorted(found))

    def remove(self, sequence: str, result: str) -> None:
        """See `CommitStepStore.remove`."""
        with self._lock:
            record = self._records.get(sequence)
            if record is not None and record.result is None:
                self._records[sequence] = _Record(
                    datasets=record.datasets, token=record.token, body=record.body, result=result
                )

    def result(self, sequence: str) -> str | None:
        """See `CommitStepStore.result`."""
        with self._lock:
            record = self._records.get(sequence)
            return None if record is None else record.result
