"""Unfinished sequences and dead attempts, grouped by the action they need. Changes nothing.

A sequence that a living process is finishing needs no action, however long it takes. A failed
sequence is tried again after a pause that doubles each time, so that an hour without the file
system does not use up all its tries; one that has failed too often waits for a person.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from tidegate.domain.back_off import back_off
from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import CommitAttempt, RecoveryState
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.finish import read_sequence
from tidegate.spark_jobs.commit.process import is_gone
from tidegate.spark_jobs.commit.recovery import is_blocked
from tidegate.spark_jobs.errors import CommitUnknown

FIRST_PAUSE_SECONDS = 120
"""The pause after the first failure. Five tries of a sequence span half an hour."""


class Leftovers(Value, kw_only=True):
    """Unfinished work.

    Attributes:
        due: sequences to finish now, smallest token first.
        datasets: the datasets that the due sequences write.
        paused: failed sequences that are tried again later.
        blocked: sequences that have failed too often, or that this version cannot read.
        at_work: sequences that a living process is finishing.
        dead_attempts: tokens of runs whose lease expired before they put a sequence.
    """

    due: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    paused: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    at_work: tuple[str, ...] = ()
    dead_attempts: tuple[int, ...] = ()


def leftovers(store: CommitStepStore, now: datetime, others: Collection[str] = ()) -> Leftovers:
    """Return everything that is unfinished.

    Args:
        others: the apps of other projects, which finish their own sequences.
    """
    kinds: dict[str, list[str]] = {"due": [], "paused": [], "blocked": [], "at_work": []}
    datasets: dict[str, None] = {}
    for commit in store.list_unfinished():
        state, body = store.recovery_state(commit), store.get(commit)
        if state is None or body is None:
            # It was finished after it was listed.
            continue
        kind = _kind(state, now)
        try:
            written = read_sequence(commit, body).datasets
        except CommitUnknown:
            written, kind = (), "blocked"
        if is_theirs(written, others):
            continue
        kinds[kind].append(commit)
        if kind == "due":
            datasets |= dict.fromkeys(written)
    return Leftovers(
        **{kind: tuple(commits) for kind, commits in kinds.items()},
        datasets=tuple(datasets),
        dead_attempts=tuple(attempt.token for attempt in dead_attempts(store, now, others)),
    )


def dead_attempts(
    store: CommitStepStore, now: datetime, others: Collection[str] = ()
) -> tuple[CommitAttempt, ...]:
    """Return the attempts whose lease has expired, oldest token first; without those of other projects."""
    return tuple(
        attempt
        for attempt in store.attempts()
        if attempt.until <= now and not is_theirs(attempt.datasets, others)
    )


def is_theirs(datasets: Collection[str], others: Collection[str]) -> bool:
    """Return whether apps of other projects alone write these datasets ("app/name")."""
    return bool(datasets) and all(app_of(name) in others for name in datasets)


def _kind(state: RecoveryState, now: datetime) -> str:
    owned = state.owner and state.until is not None and state.until > now
    if owned and not is_gone(state.owner):
        return "at_work"
    if is_blocked(state):
        return "blocked"
    if state.failed_at is not None and now < state.failed_at + _pause(state.failures):
        return "paused"
    return "due"


def _pause(failures: int) -> timedelta:
    return back_off(timedelta(seconds=FIRST_PAUSE_SECONDS), failures)
