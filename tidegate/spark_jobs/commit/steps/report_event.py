"""Reports the partitions published by a commit to the scheduler, which starts the jobs waiting for them.

It follows the publish and the watermarks, so a run that it triggers finds the data. A run that
dies after its `put` may never report to Dagster; the process that finishes its sequence reports for it.
The id of an event consists of commit, dataset and partition key. The copy that arrives through
Dagster's log has the same id, so both count once, in either order.
"""

from typing import ClassVar

from tidegate.domain.published import PartitionFact
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect, Verified, step_kind


@step_kind("report_event")
class ReportEvent(Value, kw_only=True):
    """Reports partitions as published by a commit: all of them at once, because there may be thousands."""

    effect: ClassVar[Effect] = Effect.FOLLOWS

    commit: str
    partitions: tuple[PartitionFact, ...]

    def verify(self, context: CommitContext) -> Verified:
        return DONE if context.events.reported(self.commit, self.partitions) else NOT_DONE

    def execute(self, context: CommitContext) -> None:
        context.events.report(self.commit, self.partitions)

    def describe(self) -> str:
        datasets = ", ".join(dict.fromkeys(part.dataset for part in self.partitions))
        return f"report {len(self.partitions)} partitions of {datasets}"
