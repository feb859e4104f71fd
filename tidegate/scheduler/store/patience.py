"""Patience: a deed on the store is repeated while its server is away for seconds, as in a failover.

A run that has computed for an hour must not fail because the server was restarted at the wrong moment. A
dispatcher needs no patience: its next tick tries again. The answer of a commit may be lost, so a deed that is
repeated may have been done: only those are given here of which a second call changes nothing.
"""

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar, cast

from tidegate.domain.back_off import back_off
from tidegate.domain.commit_store import CommitStepStore
from tidegate.scheduler.store.error import StoreAway

T = TypeVar("T")

PATIENCE_SECONDS = 45
"""A failover takes some ten seconds. A lease, which ends after 120 s, must survive it."""

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 5.0

log = logging.getLogger(__name__)


def patiently(
    deed: Callable[[], T],
    *,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], object] = time.sleep,
) -> T:
    """Do a deed; while the store is away, repeat it with growing pauses for `PATIENCE_SECONDS`.

    Raises:
        StoreAway: the store was away for longer.
    """
    until, failures = clock() + PATIENCE_SECONDS, 0
    while True:
        try:
            return deed()
        except StoreAway as error:
            failures += 1
            seconds = min(_pause_after(failures), LONGEST_PAUSE_SECONDS)
            if clock() + seconds > until:
                raise
            log.warning("the store is away, next try in %.1f s: %s", seconds, error)
            pause(seconds)


def _pause_after(failures: int) -> float:
    return back_off(timedelta(seconds=FIRST_PAUSE_SECONDS), failures).total_seconds()


def patient_commits(store: CommitStepStore) -> CommitStepStore:
    """Return the store with patience in every method; a second call of any of them changes nothing.

    A repeated `begin` may leave an attempt that no process renews; its lease ends by itself. A repeated `put`
    answers "known", and the caller finishes the sequence under that name. A repeated `fail` counts once.
    """
    return cast(CommitStepStore, _PatientCommits(store))


class _PatientCommits:
    def __init__(self, store: CommitStepStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        def call(*given: Any, **named: Any) -> Any:
            return patiently(lambda: method(*given, **named))

        return call
