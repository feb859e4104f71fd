"""Publishes the staged output of a run: puts its commit sequence, and works through it.

    put ──► stored ──► finish              the one moment at which a run promises everything
     ├────► known ───► finish that one     another attempt of the same commit was first
     └────► fenced, moved ──► an error, and nothing was or ever will be published

What a dead process has left is finished by `recovery`, how steps are done is told in `finish`.
Neither needs Spark unless a step does.
"""

import logging

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import Put
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.commit.clock import SYSTEM_CLOCK, Clock
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.finish import abandoned, finish, read_sequence
from tidegate.spark_jobs.commit.lease import fenced
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.commit.sequence import CommitSequence, decode_result, encode_sequence
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.errors import CommitConflict

__all__ = ["finish", "id_to_publish", "publish", "recover", "resolve"]

log = logging.getLogger(__name__)


def publish(
    sequence: CommitSequence, store: CommitStepStore, context: CommitContext, clock: Clock = SYSTEM_CLOCK
) -> tuple[PublishedPartition, ...]:
    """Publishes what a run has staged.

    Returns the result of the sequence that was published under this id: this one, or an
    earlier attempt's, of which this one is then only a repetition.

    Raises:
        CommitConflict: another run has moved, or is about to move, a watermark that this one has read.
        CommitFenced: this attempt was given up. After these two nothing was, or ever will be, published.
        CommitUnknown, CommitFailed, CommitBusy: see `finish`.
    """
    match _put(sequence, store):
        case "stored":
            return finish(sequence, store, context, clock)
        case "fenced":
            raise fenced(sequence.id)
        case "moved":
            raise _conflict(sequence)
        case "known":
            log.warning("commit %s was put by another attempt; this one publishes nothing", sequence.id)
            published = resolve(sequence.id, store, context, clock)
            if published is None:
                raise abandoned(sequence.id)
            return published


def id_to_publish(commit: str, store: CommitStepStore) -> str:
    """The commit id under which a run's work can be published: the one given, unless that was abandoned.

    What an abandoned sequence has published stands in its tables under its id, and would be taken for
    what the new one is to publish. So the new one is another commit, "c~2", for every attempt the same.
    """
    current, number = commit, 1
    while store.was_abandoned(current):
        number += 1
        current = f"{commit}~{number}"
    return current


def resolve(
    commit: str, store: CommitStepStore, context: CommitContext, clock: Clock = SYSTEM_CLOCK
) -> tuple[PublishedPartition, ...] | None:
    """The result of a commit, finished now if it was not; None when it never was put."""
    body = store.get(commit)
    if body is not None:
        return finish(read_sequence(commit, body), store, context, clock)
    result = store.result(commit)
    return None if result is None else decode_result(result)


def _put(sequence: CommitSequence, store: CommitStepStore) -> Put:
    moves = [
        (step.consumer, step.source, step.part, step.number)
        for step in sequence.steps
        if isinstance(step, SetWatermark)
    ]
    try:
        return store.put(sequence.id, sequence.datasets, sequence.token, encode_sequence(sequence), moves)
    except Exception:
        # Perhaps only the answer was lost. Once the attempt is closed, what stands there is final.
        store.end(sequence.token)
        if store.exists(sequence.id) or store.result(sequence.id) is not None:
            log.warning("commit %s was stored, though the store's answer was lost", sequence.id)
            return "known"
        raise


def _conflict(sequence: CommitSequence) -> CommitConflict:
    steps = [step for step in sequence.steps if isinstance(step, SetWatermark)]
    read = sorted({f"{step.source}, as {step.consumer}" for step in steps})
    return CommitConflict(
        f"commit {sequence.id}: another run has read the new rows of {'; '.join(read)} meanwhile",
        "nothing was published, run it again",
    )
