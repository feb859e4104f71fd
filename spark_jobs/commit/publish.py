"""Works through commit sequences: publish a new one, or finish what a dead process left.

Neither needs Spark unless a step does, and neither keeps a lock. Two processes may finish one sequence at the
same time: each step is verified before and after, so the slower one finds it done. What
must never happen is told by an exception that leaves the sequence in the store: the next
writer of the dataset meets it again, and nothing is published over it meanwhile.
"""

import logging
from collections.abc import Sequence

from spark_jobs.commit.context import CommitContext
from spark_jobs.commit.sequence import (
    CommitSequence,
    decode_result,
    decode_sequence,
    encode_result,
    encode_sequence,
)
from spark_jobs.commit.step import CommitStep, Verdict
from spark_jobs.commit.store import CommitStepStore
from spark_jobs.errors import CommitFailed, CommitUnknown
from spark_jobs.io.published import PublishedPartition

log = logging.getLogger(__name__)


def publish(
    sequence: CommitSequence, store: CommitStepStore, context: CommitContext
) -> tuple[PublishedPartition, ...]:
    """Publishes what a run has staged.

    Returns the result of the sequence that was published under this id: this one, or an
    earlier attempt's, of which this one is then only a repetition.

    Raises:
        CommitUnknown, CommitFailed: see `finish`.
    """
    if store.put(sequence.id, sequence.datasets, sequence.token, encode_sequence(sequence)):
        return finish(sequence, store, context)
    log.warning("commit %s was put by another attempt; this one publishes nothing", sequence.id)
    published = resolve(sequence.id, store, context)
    if published is None:
        raise CommitFailed(
            f"commit {sequence.id} can be neither stored nor found", "look at it with: tidegate commits show"
        )
    return published


def resolve(
    commit: str, store: CommitStepStore, context: CommitContext
) -> tuple[PublishedPartition, ...] | None:
    """The result of a commit, finished now if it was not; None when it never was put."""
    body = store.get(commit)
    if body is not None:
        return finish(_decode(commit, body), store, context)
    result = store.result(commit)
    return None if result is None else decode_result(result)


def recover(datasets: Sequence[str], store: CommitStepStore, context: CommitContext) -> tuple[str, ...]:
    """Finishes every unfinished sequence that writes one of these datasets, oldest first.

    Returns the ids of those that were finished here.

    Raises:
        CommitUnknown, CommitFailed: see `finish`; the dataset may not be written.
    """
    finished: list[str] = []
    for dataset in datasets:
        for commit in store.list_unfinished(dataset):
            body = store.get(commit)
            if body is not None:
                finish(_decode(commit, body), store, context)
                finished.append(commit)
                log.warning("finished commit %s, which an earlier run had left unfinished", commit)
    return tuple(finished)


def finish(
    sequence: CommitSequence, store: CommitStepStore, context: CommitContext
) -> tuple[PublishedPartition, ...]:
    """Does every step of a stored sequence that is not done, in order, and removes it.

    Raises:
        CommitUnknown: a step cannot tell whether it was done. Nothing after it is done.
        CommitFailed: a step that readers depend on did not hold after it was executed.
    """
    for number, step in enumerate(sequence.steps, start=1):
        _do(step, sequence, number, store, context)
    store.remove(sequence.id, encode_result(sequence.result))
    return sequence.result


def _do(
    step: CommitStep, sequence: CommitSequence, number: int, store: CommitStepStore, context: CommitContext
) -> None:
    if _verified(step, sequence, number, store, context):
        return
    failure: Exception | None = None
    try:
        step.execute(context)
    except OSError as error:
        # Another process may have done it in the same moment, and then it failed for us.
        failure = error
    if _verified(step, sequence, number, store, context):
        return
    undone = f"{_name(step, sequence, number)} was executed and is not done: {failure or 'no error came'}"
    if step.only_cleans:
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


def _decode(commit: str, body: str) -> CommitSequence:
    try:
        return decode_sequence(body)
    except (ValueError, KeyError, TypeError) as error:
        raise CommitUnknown(
            f"commit {commit} cannot be read: {error}", "finish it with the version of tidegate that wrote it"
        ) from error
