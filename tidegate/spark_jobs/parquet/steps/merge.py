"""The step that merges staged rows into partitions and switches the table to them.

    read the log ─► is the commit in it? ─no► conflict? ─no► merge with that version ─► put the next version
         ▲                 └──yes──► done         └─yes─► CommitConflict                      │
         └──────────── another process has put that number first ◄────────────────────────────┘

A conflict is a row with the key of a staged one that has changed since the run began: the run has not read
it. The new version directly follows the version that was merged with, so no other publish is lost. When
another publish comes first, only the partitions that it changed are merged again. Earlier steps have moved
the staged folders to their final place. The step is verified like `publish_version`.
"""

from collections.abc import Collection, Sequence
from typing import ClassVar

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import CommitStep, Effect, Verified, step_kind
from tidegate.spark_jobs.datasets.changed_rows import is_never_computed
from tidegate.spark_jobs.datasets.columns import ColumnClash
from tidegate.spark_jobs.datasets.conflicts import never_computed, other_columns
from tidegate.spark_jobs.datasets.table_state import TableState
from tidegate.spark_jobs.errors import CommitConflict
from tidegate.spark_jobs.parquet.changes import Begun, merged_meanwhile, written_meanwhile
from tidegate.spark_jobs.parquet.merge import merged_partitions
from tidegate.spark_jobs.parquet.partition_entry import PartitionEntry
from tidegate.spark_jobs.parquet.steps.owned import in_table, refuse_commit
from tidegate.spark_jobs.parquet.steps.version import CONFLICT_TRIES, seen_in_log
from tidegate.spark_jobs.parquet.version_log import TableVersion, head, put_version


@step_kind("publish_merge")
class PublishMerge(Value, kw_only=True):
    """Merges partitions into the table at `root`.

    Attributes:
        root: absolute path of the table.
        commit: commit id of the publish.
        token: fencing token of the run.
        base: number of the newest version when the sequence was created.
        schema: Spark's JSON of the columns.
        partitions: the folders of the staged rows, by key; partitions without rows are omitted.
        columns: columns that identify a row.
        dimensions: the partition columns.
        staging: absolute path of the run's staging folder.
        state: the table when the run began.
        reads: whether the program reads the table that it writes.
    """

    effect: ClassVar[Effect] = Effect.PUBLISHES

    root: str
    commit: str
    token: int
    base: int
    schema: str
    partitions: dict[str, PartitionEntry]
    columns: tuple[str, ...]
    dimensions: tuple[str, ...]
    staging: str
    state: TableState
    reads: bool = False

    def verify(self, context: CommitContext) -> Verified:
        return seen_in_log(context.files, self.root, self.commit, self.base)

    def execute(self, context: CommitContext) -> None:
        merged_into: dict[str, PartitionEntry | None] = {}
        merged: dict[str, PartitionEntry] = {}
        for _ in range(CONFLICT_TRIES):
            now = head(context.files, self.root)
            if self.commit in now.recent or now.refuses(self.commit):
                # Another process has published, and may have deleted the staging folder before this write.
                context.files.delete(self.staging)
                return
            changed = {
                key: entry
                for key, entry in self.partitions.items()
                if key not in merged or merged_into[key] != now.partitions.get(key)
            }
            try:
                staged = [f"{self.root}/{path}" for entry in changed.values() for path in entry.folders]
                conflict = self._conflict(context, now, changed, staged)
                if conflict is not None:
                    raise conflict
                merged |= self._merged(context, now, changed)
                wanted = now.with_commit(
                    commit=self.commit, schema=self.schema, token=self.token, partitions=merged, mode="merge"
                )
            except ColumnClash as clash:
                raise other_columns(self.commit, self.root, clash) from clash
            except (PySparkException, Py4JError) as error:
                if is_never_computed(error):
                    # Computed again, it is refused before anything is promised.
                    raise never_computed(self.commit, self.root, error) from error
                # Also when another process has finished the sequence and deleted the files that we use.
                raise OSError(f"the merge into {self.root} failed: {error}") from error
            merged_into |= {key: now.partitions.get(key) for key in changed}
            if put_version(context.files, self.root, wanted):
                return
        raise OSError(f"{self.root}: other runs published first {CONFLICT_TRIES} times in a row; try again")

    @property
    def repeatable(self) -> bool:
        return not self.reads

    def conflict(self, context: CommitContext) -> CommitConflict | None:
        """The staged rows are still in the run's staging folder."""
        now = head(context.files, self.root)
        if self.commit in now.recent:
            return None
        try:
            return self._conflict(context, now, self.partitions, (self.staging,) if self.partitions else ())
        except (PySparkException, Py4JError) as error:
            raise OSError(f"the rows of {self.root} cannot be compared: {error}") from error

    def refuse(self, context: CommitContext) -> None:
        refuse_commit(context.files, self.root, self.commit)

    def owns(self, step: CommitStep) -> bool:
        return step == self or in_table(self.root, step)

    def describe(self) -> str:
        return f"merge into {self.root}, {len(self.partitions)} partitions"

    def _conflict(
        self, context: CommitContext, now: TableVersion, keys: Collection[str], staged: Sequence[str]
    ) -> CommitConflict | None:
        """Return the conflict in some partitions, whose staged rows are in the folders `staged`."""
        begun = Begun(root=self.root, commit=self.commit, version=self.state.number)
        if self.reads:
            return written_meanwhile(context, begun, now, keys)
        return merged_meanwhile(
            context, begun, now, keys, staged=staged, schema=self.schema, columns=self.columns
        )

    def _merged(
        self, context: CommitContext, now: TableVersion, incoming: dict[str, PartitionEntry]
    ) -> dict[str, PartitionEntry]:
        return merged_partitions(
            context,
            self.root,
            now,
            incoming,
            schema=self.schema,
            columns=self.columns,
            dimensions=self.dimensions,
            staging=self.staging,
        )
