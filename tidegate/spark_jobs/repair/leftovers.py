"""What dead runs have left behind, sorted by what is to be done about it. Looks only.

A sequence that a living process works on is not left, however long it takes. One that has
failed is tried again after a while, twice as long each time, so that an hour without the file
system does not use up all its tries; one that has failed too often waits for a person.
"""

from datetime import datetime, timedelta

from tidegate.domain.back_off import back_off
from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import CommitAttempt, RecoveryState
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.finish import read_sequence
from tidegate.spark_jobs.commit.owner import is_gone
from tidegate.spark_jobs.commit.recovery import is_blocked
from tidegate.spark_jobs.errors import CommitUnknown

FIRST_PAUSE_SECONDS = 120
"""After the first failed try. Five tries of a sequence span half an hour."""


class Leftovers(Value, kw_only=True):
    """What stands unfinished.

    Attributes:
        due: sequences that nobody works on, smallest token first.
        datasets: those that the due ones write.
        paused: those that have failed, and are to be tried again later.
        blocked: those that have failed too often, or that this version cannot read.
        at_work: those that a living process is finishing.
        dead_attempts: tokens of runs whose lease has run out before they put anything.
    """

    due: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    paused: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    at_work: tuple[str, ...] = ()
    dead_attempts: tuple[int, ...] = ()


def leftovers(store: CommitStepStore, now: datetime) -> Leftovers:
    """Looks at everything that is unfinished."""
    kinds: dict[str, list[str]] = {"due": [], "paused": [], "blocked": [], "at_work": []}
    datasets: dict[str, None] = {}
    for commit in store.list_unfinished():
        state, body = store.recovery_state(commit), store.get(commit)
        if state is None or body is None:
            # It has been finished since it was listed.
            continue
        kind = _kind(state, now)
        try:
            written = read_sequence(commit, body).datasets
        except CommitUnknown:
            written, kind = (), "blocked"
        kinds[kind].append(commit)
        if kind == "due":
            datasets |= dict.fromkeys(written)
    return Leftovers(
        **{kind: tuple(commits) for kind, commits in kinds.items()},
        datasets=tuple(datasets),
        dead_attempts=tuple(attempt.token for attempt in dead_attempts(store, now)),
    )


def dead_attempts(store: CommitStepStore, now: datetime) -> tuple[CommitAttempt, ...]:
    """The attempts whose lease has run out, oldest token first."""
    return tuple(attempt for attempt in store.attempts() if attempt.until <= now)


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
