"""The watermarks of incremental reads: how far one has come, and how they are moved without a publish.

A person who resets them moves them without a publish. Such a move is a commit sequence too:
it excludes runs that would move the same watermarks, and each of them shows its commit id.
"""

from collections.abc import Mapping, Sequence

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import Watermark
from tidegate.domain.error import UserError
from tidegate.domain.suggest import did_you_mean
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


def known_watermarks(commits: CommitStepStore, consumer: str, source: str) -> Mapping[str, Watermark]:
    """Return the watermarks of a program in a dataset, by part, sorted.

    Raises:
        UserError: the program has no watermark in the dataset.
    """
    marks = commits.watermarks(consumer, source)
    if not marks:
        known = [" ".join(pair) for pair in commits.followers()]
        hint = did_you_mean(f"{consumer} {source}", known, "watermarks")
        raise UserError(f"{consumer} has no watermark in {source}", hint)
    return dict(sorted(marks.items()))
