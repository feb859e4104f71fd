"""The attempts of the commit store in memory, with their tokens and leases."""

import threading
from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidegate.domain.commits import CommitAttempt


class MemoryAttempts:
    """Keeps attempts under the lock of the store."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._attempts: dict[int, CommitAttempt] = {}
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
