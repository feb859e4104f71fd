"""Tells the scheduler of the partitions that a commit has published, so that what waits for them starts.

It follows the publish and the watermarks, so whoever is started by it finds the data. A run that
dies after its `put` may never speak to Dagster again; whoever finishes its sequence tells for it.
An event has an id made of commit, dataset and partition key, and the copy of it that comes from
Dagster's log has the same one: together they count once, in whichever order they come.
"""

from typing import ClassVar

from tidegate.domain.published import PartitionFact
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect, Verified, step_kind


@step_kind("report_event")
class ReportEvent(Value, kw_only=True):
    """Reports partitions as published by a commit: all of them at once, for there may be thousands."""

    effect: ClassVar[Effect] = Effect.FOLLOWS

    commit: str
    partitions: tuple[PartitionFact, ...]

    def verify(self, context: CommitContext) -> Verified:
        """See `CommitStep.verify`."""
        return DONE if context.events.reported(self.commit, self.partitions) else NOT_DONE

    def execute(self, context: CommitContext) -> None:
        """See `CommitStep.execute`."""
        context.events.report(self.commit, self.partitions)

    def describe(self) -> str:
        """See `CommitStep.describe`."""
        datasets = ", ".join(dict.fromkeys(part.dataset for part in self.partitions))
        return f"report {len(self.partitions)} partitions of {datasets}"
