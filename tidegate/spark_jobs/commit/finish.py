"""Works through a commit sequence that is stored, step by step, until it can be removed.

One process at a time does that, by a lease which saves work and is not relied upon: each
step is verified before and after, so of two processes the slower one finds it done. What
must never happen is told by an exception that leaves the sequence in the store: the next
writer of the dataset meets it again, and nothing is published over it meanwhile.
"""

import logging
import threading
from dataclasses import replace
from datetime import timedelta

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.commit.clock import SYSTEM_CLOCK, Clock
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.lease import LEASE, LEASE_SECONDS, Ownership
from tidegate.spark_jobs.commit.owner import is_gone, new_owner
from tidegate.spark_jobs.commit.sequence import CommitSequence, decode_result, decode_sequence, encode_result
from tidegate.spark_jobs.commit.step import CommitStep, Effect, Verdict
from tidegate.spark_jobs.errors import CommitAbandoned, CommitBusy, CommitFailed, CommitUnknown

WAIT_SECONDS = 5 * LEASE_SECONDS
"""How long one waits for another process that is alive and finishing the same sequence."""
POLL_SECONDS = 1.0
ERROR_CHARACTERS = 2_000
"""How much of a failure's text is kept: errors of Java come with pages of frames."""

log = logging.getLogger(__name__)


def finish(
    sequence: CommitSequence, store: CommitStepStore, context: CommitContext, clock: Clock = SYSTEM_CLOCK
) -> tuple[PublishedPartition, ...]:
    """Does every step of a stored sequence that is not done, in order, and removes it.

    While another living process does so, it is waited for, up to `WAIT_SECONDS`. A failure is counted.

    Raises:
        CommitUnknown: a step cannot tell whether it was done. Nothing after it is done.
        CommitFailed: a step that readers depend on did not hold after it was executed.
        CommitAbandoned: a person has taken the sequence away meanwhile.
        CommitBusy: another process has it for longer than one waits.
    """
    # A watermark belongs beside the sequence that moves it, whatever the caller has thought of.
    context = replace(context, watermarks=store)
    owner, wait = new_owner(), threading.Event()
    give_up_at = clock.now() + timedelta(seconds=WAIT_SECONDS)
    while True:
        now = clock.now()
        state = store.take(sequence.id, owner, now=now, until=now + LEASE)
        if state is None:
            return _result(sequence.id, store)
        if state.owner == owner:
            with Ownership(store, sequence.id, owner, clock) as ownership:
                if _work(sequence, store, context, ownership, clock):
                    return _result(sequence.id, store)
        elif is_gone(state.owner):
            store.release(sequence.id, state.owner)
        elif now >= give_up_at:
            raise CommitBusy(
                f"commit {sequence.id} has been in the hands of {state.owner} for {WAIT_SECONDS} s",
                "run it again once that process is done; if it hangs, end it",
            )
        else:
            clock.wait(wait, POLL_SECONDS)


def read_sequence(commit: str, body: str) -> CommitSequence:
    """A sequence from its stored text.

    Raises:
        CommitUnknown: another version of this program wrote it.
    """
    try:
        return decode_sequence(body)
    except (ValueError, KeyError, TypeError) as error:
        raise CommitUnknown(
            f"commit {commit} cannot be read: {error}", "finish it with the version of tidegate that wrote it"
        ) from error


def abandoned(commit: str) -> CommitAbandoned:
    """The failure of one whose sequence was taken away by a person while it was at work."""
    return CommitAbandoned(
        f"commit {commit} was abandoned meanwhile, and may be published in part",
        "see what stands in its datasets, and run it again to replace it",
    )


def _work(
    sequence: CommitSequence,
    store: CommitStepStore,
    context: CommitContext,
    ownership: Ownership,
    clock: Clock,
) -> bool:
    """Does what is to be done, unless the ownership is lost on the way. Whether it came to the end."""
    try:
        for number, step in enumerate(sequence.steps, start=1):
            if ownership.lost:
                return False
            _do(step, sequence, number, store, context)
        store.remove(sequence.id, encode_result(sequence.result))
    except Exception as error:
        # The answer of `remove` may have been lost, or another process have been faster.
        if _counted(sequence.id, store, ownership.owner, error, clock):
            raise
    except BaseException:
        # The process is told to end: that is no failure of the sequence.
        store.release(sequence.id, ownership.owner)
        raise
    return True


def _counted(commit: str, store: CommitStepStore, owner: str, error: Exception, clock: Clock) -> bool:
    """Counts a failure. False when it is none: the sequence is finished, by us or by another process."""
    try:
        if store.result(commit) is not None:
            return False
        said = f"{type(error).__name__}: {error}"[:ERROR_CHARACTERS]
        failures = store.fail(commit, owner, said, clock.now())
        log.warning("commit %s could not be finished (failure %d): %s", commit, failures, error)
    except Exception as unreachable:  # noqa: BLE001 -- what comes up is the failure itself
        log.warning("a failure of commit %s could not be counted: %s", commit, unreachable)
    return True


def _result(commit: str, store: CommitStepStore) -> tuple[PublishedPartition, ...]:
    result = store.result(commit)
    if result is None:
        raise abandoned(commit)
    return decode_result(result)


def _do(
    step: CommitStep, sequence: CommitSequence, number: int, store: CommitStepStore, context: CommitContext
) -> None:
    failure: Exception | None = None
    try:
        if _verified(step, sequence, number, store, context):
            return
        try:
            step.execute(context)
        except OSError as error:
            # Another process may have done it in the same moment, and then it failed for us.
            failure = error
        if _verified(step, sequence, number, store, context):
            return
    except OSError as error:
        # It cannot even be looked at.
        if step.effect is not Effect.CLEANS:
            raise
        failure = error
    undone = f"{_name(step, sequence, number)} was executed and is not done: {failure or 'no error came'}"
    if step.effect is Effect.CLEANS:
        log.warning("%s; the publish is whole without it", undone)
        return
    raise CommitFailed(
        undone, "the sequence is kept, and the next run of the dataset tries again"
    ) from failure


def _verified(
    step: CommitStep, sequence: CommitSequence, number: int, store: CommitStepStore, context: CommitContext
) -> bool:
    answer = step.verify(context)
    if answer.verdict is Verdict.UNKNOWN:
        if store.result(sequence.id) is not None:
            # Finished by another process, and its traces have been cleaned away since we looked.
            return True
        raise CommitUnknown(
            f"{_name(step, sequence, number)} cannot be verified: {answer.seen}",
            f"nothing was changed, and {', '.join(sequence.datasets)} stays blocked until it is resolved",
        )
    return answer.verdict is Verdict.DONE


def _name(step: CommitStep, sequence: CommitSequence, number: int) -> str:
    return f"commit {sequence.id}, step {number} of {len(sequence.steps)} ({step.describe()})"
