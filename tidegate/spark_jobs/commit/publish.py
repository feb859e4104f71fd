"""Publishes the staged output of a run: puts its commit sequence and finishes it.

    put ──► stored ──► finish              from here on the publish will be finished
     ├────► known ───► finish that one     another attempt of the same commit was first
     └────► fenced, over, moved ──► an error; nothing is published, now or later

`finish` executes the steps of a sequence; `recovery` finishes the sequences that dead processes left.
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
from tidegate.spark_jobs.errors import CommitConflict, RunOver

__all__ = ["finish", "id_to_publish", "is_known", "publish", "recover", "resolve"]

log = logging.getLogger(__name__)


def publish(
    sequence: CommitSequence, store: CommitStepStore, context: CommitContext, clock: Clock = SYSTEM_CLOCK
) -> tuple[PublishedPartition, ...]:
    """Publish the staged output of a run.

    Return the result of the sequence that was published under this id: this one, or that of an
    earlier attempt of the same commit.

    Raises:
        CommitConflict: another run has moved, or is about to move, a watermark that this one has read.
            Nothing of this sequence is published, now or later.
        CommitFenced: the lease of this attempt expired. Nothing is published, now or later.
        RunOver: the job of this run was stopped, or is run again. Nothing is published, now or later.
        CommitUnknown, CommitFailed, CommitBusy: see `finish`.
    """
    match _put(sequence, store):
        case "stored":
            return finish(sequence, store, context, clock)
        case "fenced":
            raise fenced(sequence.id)
        case "over":
            raise _over(sequence)
        case "moved":
            raise _conflict(sequence)
        case "known":
            log.warning("another attempt has put commit %s; this one publishes nothing", sequence.id)
            published = resolve(sequence.id, store, context, clock)
            if published is None:
                raise abandoned(sequence.id)
            return published


def id_to_publish(commit: str, store: CommitStepStore) -> str:
    """Return the commit id under which a run can publish: the given id, unless that was abandoned.

    The tables may hold part of an abandoned sequence under its id, which `verify` would mistake for the new
    publish. So the new publish is another commit, "c~2", the same for every attempt.
    """
    current, number = commit, 1
    while store.was_abandoned(current):
        number += 1
        current = f"{commit}~{number}"
    return current


def is_known(commit: str, store: CommitStepStore) -> bool:
    """Return whether a commit was ever put into the store."""
    # Unfinished first: a commit that finishes between the two queries is found by the second.
    return store.exists(commit) or store.result(commit) is not None or store.was_abandoned(commit)


def resolve(
    commit: str, store: CommitStepStore, context: CommitContext, clock: Clock = SYSTEM_CLOCK
) -> tuple[PublishedPartition, ...] | None:
    """Return the result of a commit, finishing it first if necessary; None when it was never put."""
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
        # Perhaps only the response was lost. Once the attempt is closed, the content of the store is final.
        store.end(sequence.token)
        if store.exists(sequence.id) or store.result(sequence.id) is not None:
            log.warning("commit %s was stored, although the store's response was lost", sequence.id)
            return "known"
        raise


def _over(sequence: CommitSequence) -> RunOver:
    return RunOver(
        f"commit {sequence.id}: the instance that this run works for was paused or is run again, so its"
        " attempt is over",
        "nothing was published; if it is paused, resume it",
    )


def _conflict(sequence: CommitSequence) -> CommitConflict:
    steps = [step for step in sequence.steps if isinstance(step, SetWatermark)]
    read = sorted({f"{step.source}, as {step.consumer}" for step in steps})
    return CommitConflict(
        f"commit {sequence.id}: another run has read the new rows of {'; '.join(read)} meanwhile",
        "nothing was published; run it again",
    )
