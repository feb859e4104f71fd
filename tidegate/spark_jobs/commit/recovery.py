"""Finishes the sequences that dead runs left: those of a dataset before it is written, or all of them.

Sequences that have a dataset in common are finished in the order of their tokens, others in
parallel. A failing sequence stops only those behind it. After `BLOCKED_AFTER` failures it is blocked: it
is not tried again until a person requests it, so that runs of its datasets fail at once with the
reason instead of trying it again.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import RecoveryState
from tidegate.spark_jobs.commit.clock import SYSTEM_CLOCK, Clock
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.finish import finish, read_sequence
from tidegate.spark_jobs.commit.sequence import CommitSequence
from tidegate.spark_jobs.errors import CommitAbandoned, CommitBlocked, CommitConflict, CommitUnknown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BLOCKED_AFTER = 5
"""Failures after which a sequence is no longer tried automatically."""
THREADS = 4
"""Sequences that are finished in parallel; they mostly wait for files and catalogs."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovered:
    """The outcome of recovering one sequence: it is finished now, withdrawn, or has failed.

    Attributes:
        withdrawn: the conflict for which it was withdrawn: the next attempt of its job does the work again.
        error: why it could not be finished.
    """

    commit: str
    datasets: tuple[str, ...]
    withdrawn: CommitConflict | None = None
    error: Exception | None = None


def recover(
    datasets: Sequence[str], store: CommitStepStore, context: CommitContext, clock: Clock = SYSTEM_CLOCK
) -> tuple[str, ...]:
    """Finish every unfinished sequence of these datasets, oldest first.

    Return the ids of the sequences that were finished.

    Raises:
        CommitBlocked: a sequence has failed `BLOCKED_AFTER` times; it was not tried.
        CommitUnknown, CommitFailed, CommitBusy: see `finish`. The datasets must not be written.
    """
    done = recover_all(store, context, datasets=datasets, clock=clock)
    failed = [one.error for one in done if one.error is not None]
    if failed:
        # The oldest one: those behind it wait for it.
        raise failed[0]
    return tuple(one.commit for one in done if one.withdrawn is None)


def recover_all(
    store: CommitStepStore,
    context: CommitContext,
    *,
    datasets: Sequence[str] | None = None,
    include_blocked: bool = False,
    clock: Clock = SYSTEM_CLOCK,
) -> tuple[Recovered, ...]:
    """Try to finish every unfinished sequence of these datasets; None means of any dataset.

    Args:
        include_blocked: also try blocked sequences.

    Returns:
        One outcome per sequence: first the unreadable ones, then the others, smallest token first.
        Failures are returned, not raised.
    """
    unreadable: list[Recovered] = []
    found: list[CommitSequence] = []
    for commit in _unfinished(store, datasets):
        # None: another process has finished it since it was listed.
        body = store.get(commit)
        try:
            found += [] if body is None else [read_sequence(commit, body)]
        except CommitUnknown as error:
            unreadable.append(Recovered(commit=commit, datasets=tuple(datasets or ()), error=error))
    groups = independent(found)
    if len(groups) > 1:
        context = replace(context, spark=one_at_a_time(context.spark))

    def work(group: Sequence[CommitSequence]) -> tuple[Recovered, ...]:
        return tuple(_in_order(group, store, context, include_blocked, clock))

    if len(groups) > 1:
        with ThreadPoolExecutor(min(THREADS, len(groups))) as pool:
            done = list(pool.map(work, groups))
    else:
        done = [work(group) for group in groups]
    outcomes = {one.commit: one for group in done for one in group}
    # One that a person has abandoned meanwhile has no outcome.
    in_order = (one.id for one in sorted(found, key=_age))
    return (*unreadable, *(outcomes[commit] for commit in in_order if commit in outcomes))


def independent(sequences: Sequence[CommitSequence]) -> tuple[tuple[CommitSequence, ...], ...]:
    """Group the sequences so that no two groups have a dataset in common, smallest token first in each."""
    groups: list[tuple[set[str], list[CommitSequence]]] = []
    for sequence in sequences:
        mine = (set(sequence.datasets), [sequence])
        apart: list[tuple[set[str], list[CommitSequence]]] = []
        for group in groups:
            if group[0].isdisjoint(mine[0]):
                apart.append(group)
            else:
                # A sequence of several datasets joins all groups that it touches into one.
                mine = (mine[0] | group[0], group[1] + mine[1])
        groups = [*apart, mine]
    return tuple(tuple(sorted(group, key=_age)) for _, group in groups)


def _age(sequence: CommitSequence) -> tuple[int, str]:
    return sequence.token, sequence.id


def _in_order(
    group: Sequence[CommitSequence],
    store: CommitStepStore,
    context: CommitContext,
    include_blocked: bool,
    clock: Clock,
) -> Iterator[Recovered]:
    stopped: dict[str, str] = {}
    for sequence in group:
        before = next((stopped[name] for name in sequence.datasets if name in stopped), None)
        error: Exception | None = None
        try:
            if before is not None:
                # It is a failure like any other, so that those behind this one stop, too.
                raise CommitBlocked(
                    f"commit {sequence.id} waits for commit {before}, which cannot be finished",
                    f"inspect it with: tidegate commits show {before}",
                )
            if not include_blocked:
                _check_not_blocked(sequence, store)
            finish(sequence, store, context, clock)
            log.warning("finished commit %s, which an earlier run left unfinished", sequence.id)
        except CommitAbandoned:
            log.warning("commit %s was abandoned while it was being finished", sequence.id)
            continue
        except CommitConflict as conflict:
            # It blocks nothing any more.
            yield Recovered(commit=sequence.id, datasets=sequence.datasets, withdrawn=conflict)
            continue
        except Exception as failure:  # noqa: BLE001 -- returned in the outcome: others go on
            error = failure
            # What comes after it in these tables may replace what it would have published.
            stopped |= dict.fromkeys(sequence.datasets, sequence.id)
        yield Recovered(commit=sequence.id, datasets=sequence.datasets, error=error)


def _check_not_blocked(sequence: CommitSequence, store: CommitStepStore) -> None:
    state = store.recovery_state(sequence.id)
    if state is not None and is_blocked(state):
        raise CommitBlocked(
            f"commit {sequence.id} has failed {state.failures} times, and"
            f" {', '.join(sequence.datasets)} cannot be written; its last error: {state.error}",
            f"inspect it with `tidegate commits show {sequence.id}`, fix the cause and run"
            f" `tidegate commits recover`, or discard it with `tidegate commits abandon {sequence.id}`"
            " (one output of several with --output DATASET)",
        )


def is_blocked(state: RecoveryState) -> bool:
    """Return whether a sequence has failed so often that it is only tried on request."""
    return state.failures >= BLOCKED_AFTER


def _unfinished(store: CommitStepStore, datasets: Sequence[str] | None) -> tuple[str, ...]:
    if datasets is None:
        return store.list_unfinished()
    return tuple(dict.fromkeys(commit for name in datasets for commit in store.list_unfinished(name)))


def one_at_a_time(start: "Callable[[], SparkSession]") -> "Callable[[], SparkSession]":
    """Return `start` with a lock: the function that starts Spark need not be thread-safe."""
    lock = threading.Lock()

    def started() -> "SparkSession":
        with lock:
            return start()

    return started
