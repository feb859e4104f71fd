"""Control: what a running operation asks between its commits, answered by the store.

    should_stop     its time is over, or its job has ended without it
    should_yield    a ready job of high priority lacks a slot that the operation holds

The store is asked at most once a second, whatever the number of commits. While it is away the last answer
counts: the run knows the end of its time by itself.
"""

import threading
import time
from collections.abc import Callable
from datetime import datetime

from tidegate.scheduler.launch.run_report import goes_on, should_yield
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.error import StoreAway
from tidegate.scheduler.store.protocol import Store

ASK_SECONDS = 1.0
"""From one question to the store to the next."""


class RunControl:
    """The `Control` of one run; also called from a second thread."""

    def __init__(
        self,
        open_store: Callable[[], Store],
        job: str,
        attempt: int,
        closes_at: datetime,
        now: Callable[[], datetime],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Args:
        closes_at: when the timeout of the operation is over.
        clock: paces the questions.
        """
        self._closes_at = closes_at
        self._now = now
        self._yields = _Paced(open_store, lambda reader: should_yield(reader, job), clock)
        self._is_over = _Paced(open_store, lambda reader: not goes_on(reader, job, attempt), clock)

    def should_yield(self) -> bool:
        return self._yields.ask()

    def should_stop(self) -> bool:
        return self._now() >= self._closes_at or self._is_over.ask()


class _Paced:
    """A question to the store, asked at most each `ASK_SECONDS`. Once the answer is yes, it stays yes."""

    def __init__(
        self,
        open_store: Callable[[], Store],
        question: Callable[[EngineReader], bool],
        clock: Callable[[], float],
    ) -> None:
        self._open_store = open_store
        self._question = question
        self._clock = clock
        self._asked_at: float | None = None
        self._answer = False
        self._lock = threading.Lock()

    def ask(self) -> bool:
        with self._lock:
            now = self._clock()
            early = self._asked_at is not None and now - self._asked_at < ASK_SECONDS
            if not (self._answer or early):
                self._asked_at = now
                try:
                    with self._open_store().reading() as reader:
                        self._answer = self._question(reader)
                except StoreAway:
                    pass
            return self._answer
