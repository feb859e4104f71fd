"""The step that switches a table to its new partitions, the only one whose effect readers see.

It is verified by the commit id in the table's version log. The log lists the last
`RECENT_COMMITS` commits, and every version adds one. Up to that many versions
after the sequence was created, a commit id that is missing was certainly not published.
Later, or when the log is older than the sequence, the answer is "unknown".
"""

from typing import ClassVar

from tidegate.domain.model import WriteMode
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, CommitStep, Effect, Verified, step_kind, unknown
from tidegate.spark_jobs.datasets.columns import ColumnClash
from tidegate.spark_jobs.datasets.conflicts import other_columns
from tidegate.spark_jobs.datasets.table_state import TableState
from tidegate.spark_jobs.errors import CommitConflict
from tidegate.spark_jobs.files.filesystem import FileSystem
from tidegate.spark_jobs.parquet.changes import Begun, written_meanwhile
from tidegate.spark_jobs.parquet.partition_entry import PartitionEntry
from tidegate.spark_jobs.parquet.steps.owned import in_table, refuse_commit
from tidegate.spark_jobs.parquet.version_log import RECENT_COMMITS, TableVersion, head, put_version

CONFLICT_TRIES = 1000
"""How many times in a row another publish may take the version number before the step fails."""


@step_kind("publish_version")
class PublishVersion(Value, kw_only=True):
    """Adds a version with the partitions of a commit to the table at `root`.

    Attributes:
        root: absolute path of the table.
        commit: commit id of the publish.
        token: fencing token of the run.
        base: number of the newest version when the sequence was created.
        schema: Spark's JSON of the columns.
        partitions: the written partitions, by key.
        mode: how existing rows are treated; for `merge` see `publish_merge`.
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
    mode: WriteMode = "overwrite_partitions"
    state: TableState
    reads: bool = False

    def verify(self, context: CommitContext) -> Verified:
        return seen_in_log(context.files, self.root, self.commit, self.base)

    def execute(self, context: CommitContext) -> None:
        files = context.files
        for _ in range(CONFLICT_TRIES):
            now = head(files, self.root)
            if now.refuses(self.commit) or self.commit in now.recent:
                return
            conflict = self._conflict(context, now)
            if conflict is not None:
                raise conflict
            if put_version(files, self.root, self._after(now)):
                return
        raise OSError(f"{self.root}: other runs published first {CONFLICT_TRIES} times in a row; try again")

    @property
    def repeatable(self) -> bool:
        return self.mode != "append" and not self.reads

    def conflict(self, context: CommitContext) -> CommitConflict | None:
        """A run that does not read the table is fenced by tokens alone."""
        if not self.reads:
            return None
        now = head(context.files, self.root)
        return None if self.commit in now.recent else self._conflict(context, now)

    def refuse(self, context: CommitContext) -> None:
        refuse_commit(context.files, self.root, self.commit)

    def owns(self, step: CommitStep) -> bool:
        return step == self or in_table(self.root, step)

    def describe(self) -> str:
        return f"{self.mode.replace('_', ' ')} in {self.root}, {len(self.partitions)} partitions"

    def _conflict(self, context: CommitContext, now: TableVersion) -> CommitConflict | None:
        if not self.reads:
            return None
        filled = [key for key, entry in self.partitions.items() if entry.folders or self.mode != "append"]
        begun = Begun(root=self.root, commit=self.commit, version=self.state.number)
        return written_meanwhile(context, begun, now, None if self.mode == "full" else filled)

    def _after(self, now: TableVersion) -> TableVersion:
        try:
            return now.with_commit(
                commit=self.commit,
                schema=self.schema,
                token=self.token,
                partitions=self.partitions,
                mode=self.mode,
            )
        except ColumnClash as clash:
            raise other_columns(self.commit, self.root, clash) from clash


def seen_in_log(files: FileSystem, root: str, commit: str, base: int) -> Verified:
    """Return whether the table's log shows a commit, or "unknown" when it no longer can.

    Args:
        base: number of the newest version when the commit's sequence was created.
    """
    now = head(files, root)
    if commit in now.recent:
        return DONE
    if now.refuses(commit):
        return unknown(f"{root} refuses the commit, because it was abandoned", refused=True)
    if now.number < base:
        return unknown(f"{root} is at version {now.number}, but was at version {base} when the commit began")
    if now.number - base > RECENT_COMMITS:
        return unknown(
            f"{root} has had {now.number - base} publishes since the commit began, "
            f"and its log lists only the last {RECENT_COMMITS}"
        )
    return NOT_DONE
