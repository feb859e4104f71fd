"""Moves watermarks without a publish, as a person does who resets them.

Such a move is a commit sequence too: it excludes runs that would move the same watermarks, and each of them
shows its commit id.
"""

from collections.abc import Sequence

from tidegate.domain.commit_store import CommitStepStore
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.lease import AttemptLease
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.commit.sequence import CommitSequence, watermark_resource
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark


def set_watermarks(store: CommitStepStore, context: CommitContext, steps: Sequence[SetWatermark]) -> None:
    """Move watermarks of one consumer in one source.

    Args:
        steps: at least one, all of the same commit.

    Raises:
        CommitConflict, CommitFenced, CommitFailed: see `publish`.
    """
    commit, resource = steps[0].commit, watermark_resource(steps[0].consumer, steps[0].source)
    with AttemptLease(store, commit, (resource,)) as token:
        sequence = CommitSequence(id=commit, datasets=(resource,), token=token, steps=tuple(steps), result=())
        publish(sequence, store, context)
