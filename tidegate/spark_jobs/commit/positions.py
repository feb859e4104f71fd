"""Watermarks as all faces show them: who reads what incrementally, and how far.

Moves watermarks without a publish, as a person does who resets them. Such a move is a commit sequence too:
it excludes runs that would move the same watermarks, and each of them shows its commit id.
"""

from collections.abc import Mapping, Sequence

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import Watermark
from tidegate.domain.error import UserError
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.value import Value
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


class IncrementalRead(Value, kw_only=True):
    """A program that reads a dataset incrementally.

    Attributes:
        consumer: "app/program".
        source: "app/dataset".
        parts: how many have a watermark.
        moving: the unfinished commits that move them.
    """

    consumer: str
    source: str
    parts: int
    moving: tuple[str, ...]


class Position(Value, kw_only=True):
    """How far a program has read a part of a dataset.

    Attributes:
        part: of the dataset; "" for all of it.
        moves: how often it has moved.
        position: as `watermarks reset --to` takes it.
        commit: that moved it last.
    """

    part: str
    moves: int
    position: str
    commit: str


def incremental_read(commits: CommitStepStore, consumer: str, source: str) -> IncrementalRead:
    """Return what a program has read of a dataset."""
    return IncrementalRead(
        consumer=consumer,
        source=source,
        parts=len(commits.watermarks(consumer, source)),
        moving=tuple(commits.list_unfinished(watermark_resource(consumer, source))),
    )


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


def position_of(part: str, mark: Watermark) -> Position:
    """Return the position of a part."""
    return Position(part=part, moves=mark.number, position=mark.position, commit=mark.commit)
