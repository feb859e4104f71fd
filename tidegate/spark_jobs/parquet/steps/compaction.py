"""The step that switches partitions of a table to compacted folders, which have the same rows.

    read the log ─► is the commit in it? ─no► replace the folders that are still there ─► put the next version
         ▲                 └──yes──► done                                                   │
         └──────────── another process has put that number first ◄─────────────────────────┘

Nothing that others publish is in the way. Rows that were appended since the folders were read are in further
folders, which stay. A partition that was replaced or merged since has none of the folders any more, and is
left as it is. Commit and token of a partition remain those of the publish that changed its rows.
"""

from typing import ClassVar

from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import CommitStep, Effect, Verified, step_kind
from tidegate.spark_jobs.errors import CommitConflict
from tidegate.spark_jobs.parquet.partition_entry import Compaction
from tidegate.spark_jobs.parquet.steps.owned import in_table, refuse_commit
from tidegate.spark_jobs.parquet.steps.version import CONFLICT_TRIES, seen_in_log
from tidegate.spark_jobs.parquet.version_log import head, put_version


@step_kind("publish_compaction")
class PublishCompaction(Value, kw_only=True):
    """Adds a version with compacted partitions to the table at `root`.

    Attributes:
        root: absolute path of the table.
        commit: commit id of the compaction.
        base: number of the newest version when the sequence was created.
        partitions: the compacted folders, by key.
    """

    effect: ClassVar[Effect] = Effect.PUBLISHES

    root: str
    commit: str
    base: int
    partitions: dict[str, Compaction]

    def verify(self, context: CommitContext) -> Verified:
        return seen_in_log(context.files, self.root, self.commit, self.base)

    def execute(self, context: CommitContext) -> None:
        for _ in range(CONFLICT_TRIES):
            now = head(context.files, self.root)
            if now.refuses(self.commit) or self.commit in now.recent:
                return
            if put_version(context.files, self.root, now.with_compaction(self.commit, self.partitions)):
                return
        raise OSError(f"{self.root}: other runs published first {CONFLICT_TRIES} times in a row; try again")

    @property
    def repeatable(self) -> bool:
        """It adds no rows."""
        return True

    def conflict(self, context: CommitContext) -> CommitConflict | None:
        """What others have changed is left as it is."""
        return None

    def refuse(self, context: CommitContext) -> None:
        refuse_commit(context.files, self.root, self.commit)

    def owns(self, step: CommitStep) -> bool:
        return step == self or in_table(self.root, step)

    def describe(self) -> str:
        return f"compact {len(self.partitions)} partitions of {self.root}"
