"""Finishes what dead runs have left unfinished: before a dataset is written, or for all of them.

Sequences that have a dataset in common are finished in the order of their tokens, others at the same
time. A sequence that fails stops those behind it and nobody else. After `BLOCKED_AFTER` failures
it is not tried again until a person asks for it, so that a broken one fails its dataset's runs at
once and says why, instead of costing each of them another try.
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
from tidegate.spark_jobs.errors import CommitAbandoned, CommitBlocked, CommitUnknown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BLOCKED_AFTER = 5
"""Failed tries after which a sequence is no longer tried unasked."""
THREADS = 4
"""Sequences that are finished at the same time; most of their time is waiting for files and catalogs."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovered:
    """What became of one unfinished sequence: `error` is None when it is finished now."""

    commit: str
    datasets: tuple[str, ...]
    error: Exception | None = None


def recover(
    datasets: Sequence[str], store: CommitStepStore, context: CommitContext, clock: Clock = SYSTEM_CLOCK
) -> tuple[str, ...]:
    """Finishes every unfinished sequence about one of these datasets, oldest first.

    Returns the ids of those that were unfinished and are finished now.

    Raises:
        CommitBlocked: a sequence has failed `BLOCKED_AFTER` times; it was not tried.
        CommitUnknown, CommitFailed, CommitBusy: see `finish`. The dataset may not be written.
    """
    done = recover_all(store, context, datasets=datasets, clock=clock)
    failed = [one.error for one in done if one.error is not None]
    if failed:
        raise failed[0]
    return tuple(one.commit for one in done)


def recover_all(
    store: CommitStepStore,
    context: CommitContext,
    *,
    datasets: Sequence[str] | None = None,
    blocked_too: bool = False,
    clock: Clock = SYSTEM_CLOCK,
) -> tuple[Recovered, ...]:
    """Tries to finish every unfinished sequence about these datasets; None: about any.

    Args:
        blocked_too: try those as well that have failed too often.

    Returns:
        What became of each: those that cannot even be read, then the others, smallest token first.
        Nothing that is an `Exception` is raised.
    """
    unreadable: list[Recovered] = []
    found: list[CommitSequence] = []
    for commit in _unfinished(store, datasets):
        body = store.get(commit)
        try:
            found += [] if body is None else [read_sequence(commit, body)]
        except CommitUnknown as error:
            unreadable.append(Recovered(commit=commit, datasets=tuple(datasets or ()), error=error))
    groups = independent(found)
    if len(groups) > 1:
        context = replace(context, spark=one_at_a_time(context.spark))

    def work(group: Sequence[CommitSequence]) -> tuple[Recovered, ...]:
        return tuple(_in_order(group, store, context, blocked_too, clock))

    if len(groups) > 1:
        with ThreadPoolExecutor(min(THREADS, len(groups))) as pool:
            done = list(pool.map(work, groups))
    else:
        done = [work(group) for group in groups]
    outcomes = {one.commit: one for group in done for one in group}
    in_order = (one.id for one in sorted(found, key=_age))
    return (*unreadable, *(outcomes[commit] for commit in in_order if commit in outcomes))


def independent(sequences: Sequence[CommitSequence]) -> tuple[tuple[CommitSequence, ...], ...]:
    """The sequences in groups that have no dataset in common, smallest token first in each."""
    groups: list[tuple[set[str], list[CommitSequence]]] = []
    for sequence in sequences:
        mine = (set(sequence.datasets), [sequence])
        apart: list[tuple[set[str], list[CommitSequence]]] = []
        for group in groups:
            if group[0].isdisjoint(mine[0]):
                apart.append(group)
            else:
                mine = (mine[0] | group[0], group[1] + mine[1])
        groups = [*apart, mine]
    return tuple(tuple(sorted(group, key=_age)) for _, group in groups)


def _age(sequence: CommitSequence) -> tuple[int, str]:
    return sequence.token, sequence.id


def _in_order(
    group: Sequence[CommitSequence],
    store: CommitStepStore,
    context: CommitContext,
    blocked_too: bool,
    clock: Clock,
) -> Iterator[Recovered]:
    stopped: dict[str, str] = {}
    for sequence in group:
        before = next((stopped[name] for name in sequence.datasets if name in stopped), None)
        error: Exception | None = None
        try:
            if before is not None:
                raise CommitBlocked(
                    f"commit {sequence.id} waits for commit {before}, which cannot be finished",
                    f"see what is wrong with: tidegate commits show {before}",
                )
            if not blocked_too:
                _check_not_blocked(sequence, store)
            finish(sequence, store, context, clock)
            log.warning("finished commit %s, which an earlier run had left unfinished", sequence.id)
        except CommitAbandoned:
            log.warning("commit %s was abandoned while it was being finished", sequence.id)
            continue
        except Exception as failure:  # noqa: BLE001 -- told in the result: others go on
            error = failure
            stopped |= dict.fromkeys(sequence.datasets, sequence.id)
        yield Recovered(commit=sequence.id, datasets=sequence.datasets, error=error)


def _check_not_blocked(sequence: CommitSequence, store: CommitStepStore) -> None:
    state = store.recovery_state(sequence.id)
    if state is not None and is_blocked(state):
        raise CommitBlocked(
            f"commit {sequence.id} has failed {state.failures} times, and"
            f" {', '.join(sequence.datasets)} cannot be written; it said last: {state.error}",
            f"look with `tidegate commits show {sequence.id}`, repair what it says and run"
            f" `tidegate commits recover`, or take it away with `tidegate commits abandon {sequence.id}`",
        )


def is_blocked(state: RecoveryState) -> bool:
    """Whether a sequence has failed so often that only a person has it tried again."""
    return state.failures >= BLOCKED_AFTER


def _unfinished(store: CommitStepStore, datasets: Sequence[str] | None) -> tuple[str, ...]:
    if datasets is None:
        return store.list_unfinished()
    return tuple(dict.fromkeys(commit for name in datasets for commit in store.list_unfinished(name)))


def one_at_a_time(start: "Callable[[], SparkSession]") -> "Callable[[], SparkSession]":
    """The same, for threads: what starts Spark need not be ready to be called by two at once."""
    lock = threading.Lock()

    def started() -> "SparkSession":
        with lock:
            return start()

    return started
