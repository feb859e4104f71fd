"""Executes a stored commit sequence step by step, and removes it after its last step.

A lease lets one process at a time do that. It only saves work: each step is verified before and
after, so of two processes the slower one finds the step done. Any failure raises an exception and
leaves the sequence in the store: the next writer of the dataset finishes it first, and nothing is
published over it meanwhile.
"""

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

from tidegate.domain.commit_store import CommitStepStore
from tidegate.spark_jobs.commit.clock import SYSTEM_CLOCK, Clock
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.lease import LEASE, LEASE_SECONDS, Ownership
from tidegate.spark_jobs.commit.process import is_gone, new_owner
from tidegate.spark_jobs.commit.sequence import CommitSequence, decode_sequence, encode_result
from tidegate.spark_jobs.commit.state import Abandoned, Parts, Published, look_up
from tidegate.spark_jobs.commit.step import CommitStep, ComparingStep, Effect, JoinedStep, Verdict, Verified
from tidegate.spark_jobs.commit.withdraw import withdraw
from tidegate.spark_jobs.errors import (
    CommitAbandoned,
    CommitBusy,
    CommitConflict,
    CommitFailed,
    CommitUnknown,
)
from tidegate.spark_jobs.java import jvm

WAIT_SECONDS = 5 * LEASE_SECONDS
"""How long to wait for another living process that is finishing the same sequence."""
POLL_SECONDS = 1.0
ERROR_CHARACTERS = 2_000
"""How much of an error message is kept: errors of Java contain long stack traces."""

log = logging.getLogger(__name__)


def finish(
    sequence: CommitSequence, store: CommitStepStore, context: CommitContext, clock: Clock = SYSTEM_CLOCK
) -> Parts:
    """Execute the steps of a stored sequence that are not done, in order, and remove the sequence.

    Wait up to `WAIT_SECONDS` while another living process does so. Failures are counted.

    Raises:
        CommitUnknown: a step cannot determine whether it was done. No later step is executed.
        CommitFailed: a step that readers depend on is not done after it was executed.
        CommitAbandoned: a person has abandoned the sequence meanwhile.
        CommitConflict: others have changed what it replaces. It is withdrawn: the work must be done again.
        CommitBusy: another process held the sequence for longer than `WAIT_SECONDS`.
    """
    # Watermarks always belong to the store of the sequence that moves them.
    context = replace(context, watermarks=store)
    # A new name for each call: two threads of one process exclude each other, too.
    owner, wait = new_owner(), threading.Event()
    deadline = clock.now() + timedelta(seconds=WAIT_SECONDS)
    while True:
        now = clock.now()
        state = store.take(sequence.id, owner, now=now, until=now + LEASE)
        if state is None:
            # It is not unfinished any more: finished by another process, or abandoned.
            return _result(sequence.id, store)
        if state.owner == owner:
            with Ownership(store, sequence.id, owner, clock) as ownership:
                # If the ownership was lost on the way, another process goes on: wait for it as for any other.
                if _execute(sequence, store, context, ownership, clock):
                    return _result(sequence.id, store)
        elif is_gone(state.owner):
            # After a kill or a restart of this machine no process has to wait for the rest of the lease.
            store.release(sequence.id, state.owner)
        elif now >= deadline:
            raise CommitBusy(
                f"commit {sequence.id} has been held by {state.owner} for {WAIT_SECONDS} s",
                "run it again once that process is done; if it hangs, stop it",
            )
        else:
            clock.wait(wait, POLL_SECONDS)


def read_sequence(commit: str, body: str) -> CommitSequence:
    """Return the sequence of a stored text.

    Raises:
        CommitUnknown: another version of this program wrote it.
        SparkMissing: what its steps are needs Spark, which is not installed.
    """
    try:
        return decode_sequence(body)
    except (ValueError, KeyError, TypeError) as error:
        raise CommitUnknown(
            f"commit {commit} cannot be read: {error}", "finish it with the version of tidegate that wrote it"
        ) from error


def abandoned(commit: str) -> CommitAbandoned:
    """Return the error of a process whose sequence was abandoned while it worked on it."""
    return CommitAbandoned(
        f"commit {commit} was abandoned meanwhile and may be partly published",
        "check its datasets, and run it again to replace the data",
    )


def _execute(
    sequence: CommitSequence,
    store: CommitStepStore,
    context: CommitContext,
    ownership: Ownership,
    clock: Clock,
) -> bool:
    """Execute all steps. Return False when the ownership was lost before the last one."""
    # Only a JVM that ends from here on explains a failure.
    since = jvm.ends()
    try:
        for number, steps in in_rows(sequence.steps):
            # Only before a step: what is done twice at once does no harm, what is left out would.
            if ownership.lost:
                return False
            if len(steps) == 1:
                _execute_step(steps[0], sequence, number, store, context)
            else:
                _execute_together(steps, sequence, number, store, context)
        # Before the sequence is removed: after a crash in between, the next try says it again.
        context.events.record_finished(sequence.id)
        # The result stays: a second attempt of the job finds it, and publishes nothing.
        store.remove(sequence.id, encode_result(sequence.result))
    except CommitConflict as conflict:
        return _withdrawn(sequence, store, context, ownership, conflict, clock)
    except Exception as error:
        # The response of `remove` may have been lost, or another process may have been faster.
        if _record_failure(sequence.id, store, ownership.owner, error, clock, since):
            raise
    except BaseException:
        # The process was asked to end, which is not a failure of the sequence.
        store.release(sequence.id, ownership.owner)
        raise
    return True


def _withdrawn(
    sequence: CommitSequence,
    store: CommitStepStore,
    context: CommitContext,
    ownership: Ownership,
    conflict: CommitConflict,
    clock: Clock,
) -> bool:
    """Withdraw the sequence and raise the conflict. Return False if it was published meanwhile."""
    since = jvm.ends()
    try:
        gone = withdraw(sequence, store, context, ownership.owner, conflict, clock)
    except Exception as error:
        if _record_failure(sequence.id, store, ownership.owner, error, clock, since):
            raise
        return False
    if gone:
        raise conflict
    return False


def _record_failure(
    commit: str, store: CommitStepStore, owner: str, error: Exception, clock: Clock, since: int
) -> bool:
    """Count a failure, unless the JVM has ended, which says nothing of the sequence.

    A failure that cannot be counted ends the lease all the same, so that no process waits for it.

    Args:
        since: see `jvm.was_lost`.

    Returns:
        False when the sequence is finished, by this or another process.
    """
    try:
        if store.result(commit) is not None:
            return False
        if jvm.was_lost(error, since):
            # The next try, with a new JVM, need not wait for the lease.
            store.release(commit, owner)
            log.warning("could not finish commit %s, since the JVM has ended: %s", commit, error)
            return True
        message = _message(error)
        failures = store.fail(commit, owner, message, clock.now())
        log.warning("could not finish commit %s (failure %d): %s", commit, failures, message)
    except Exception as unreachable:  # noqa: BLE001 -- the caller raises the failure itself
        log.warning("could not record a failure of commit %s: %s", commit, unreachable)
        try:
            store.release(commit, owner)
        except Exception as silent:  # noqa: BLE001 -- then the lease expires by itself
            log.warning("could not end the lease of commit %s: %s", commit, silent)
    return True


def _message(error: Exception) -> str:
    """Return the text of a failure that every database takes: some refuse NUL and halves of characters."""
    text = f"{type(error).__name__}: {error}"[:ERROR_CHARACTERS]
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def _result(commit: str, store: CommitStepStore) -> Parts:
    state = look_up(commit, store)
    if isinstance(state, Published):
        return state.parts
    raise abandoned(commit)


def in_rows(steps: Sequence[CommitStep]) -> Iterator[tuple[int, Sequence[CommitStep]]]:
    """Yield the steps that are executed together, with the number of the first of them, from 1."""
    first = 0
    while first < len(steps):
        after = first + 1
        while (
            after < len(steps)
            and isinstance(steps[first], JoinedStep)
            and type(steps[after]) is type(steps[first])
        ):
            after += 1
        yield first + 1, steps[first:after]
        first = after


def _execute_together(
    steps: Sequence[CommitStep],
    sequence: CommitSequence,
    first: int,
    store: CommitStepStore,
    context: CommitContext,
) -> None:
    kind: Any = type(steps[0])
    waiting = list(zip(count(first), steps, strict=False))
    failure: Exception | None = None
    # As for a single step: verified, executed where it is not done, and verified again.
    for last in (False, True):
        answers = kind.verify_all([step for _, step in waiting], context)
        waiting = [
            (number, step)
            for (number, step), answer in zip(waiting, answers, strict=True)
            if not _is_done(answer, step, sequence, number, store)
        ]
        if not waiting:
            return
        if last:
            number, step = waiting[0]
            raise _undone(step, sequence, number, failure) from failure
        try:
            kind.execute_all([step for _, step in waiting], context)
        except OSError as error:
            # Another process may have done them at the same moment: the second look says.
            failure = error


def _execute_step(
    step: CommitStep, sequence: CommitSequence, number: int, store: CommitStepStore, context: CommitContext
) -> None:
    failure: Exception | None = None
    try:
        if not isinstance(step, ComparingStep) and _verified(step, sequence, number, store, context):
            return
        try:
            step.execute(context)
        except OSError as error:
            # It may have failed because another process did it at the same moment.
            failure = error
        if _verified(step, sequence, number, store, context):
            return
    except OSError as error:
        # The step could not even be verified.
        if step.effect is not Effect.CLEANS:
            raise
        failure = error
    undone = _undone(step, sequence, number, failure)
    if step.effect is Effect.CLEANS:
        # Readers see all of it: what `fsck --clean` can remove must not block the dataset.
        log.warning("%s; the publish is complete without it", undone.message)
        return
    raise undone from failure


def _undone(
    step: CommitStep, sequence: CommitSequence, number: int, failure: Exception | None
) -> CommitFailed:
    return CommitFailed(
        f"{_name(step, sequence, number)} was executed and is not done: {failure or 'no error raised'}",
        "the sequence is kept, and the next run of the dataset tries again",
    )


def _verified(
    step: CommitStep, sequence: CommitSequence, number: int, store: CommitStepStore, context: CommitContext
) -> bool:
    return _is_done(step.verify(context), step, sequence, number, store)


def _is_done(
    answer: Verified, step: CommitStep, sequence: CommitSequence, number: int, store: CommitStepStore
) -> bool:
    if answer.verdict is Verdict.UNKNOWN:
        # Before it blocks a dataset: perhaps there is nothing to verify any more.
        state = look_up(sequence.id, store)
        if isinstance(state, Published):
            # Another process has finished the sequence and removed its evidence meanwhile.
            return True
        if isinstance(state, Abandoned):
            raise abandoned(sequence.id)
        if answer.refused:
            # Its withdrawal, or a person's abandonment, was interrupted before the store forgot it.
            raise CommitConflict(f"commit {sequence.id}: {answer.reason}", "run it again")
        raise CommitUnknown(
            f"{_name(step, sequence, number)} cannot be verified: {answer.reason}",
            f"nothing was changed; {', '.join(sequence.datasets)} stays blocked until this is resolved",
        )
    return answer.verdict is Verdict.DONE


def _name(step: CommitStep, sequence: CommitSequence, number: int) -> str:
    return f"commit {sequence.id}, step {number} of {len(sequence.steps)} ({step.describe()})"
