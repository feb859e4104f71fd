"""Switches a table to its new partitions: the one step that readers see.

Verified by the commit id in the table's version log. The log remembers the last
`RECENT_COMMITS` commits and every version adds one, so while fewer than that many versions
have come since the sequence was made, a commit id that is not there is a certain "no".
After that, or when the log is older than the sequence, the answer is "unknown".
"""

from typing import ClassVar

from tidegate.domain.model import WriteMode
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect, Verified, step_kind, unknown
from tidegate.spark_jobs.datasets.columns import ColumnClash
from tidegate.spark_jobs.files.filesystem import FileSystem
from tidegate.spark_jobs.parquet.version_log import (
    RECENT_COMMITS,
    PartitionEntry,
    TableVersion,
    head,
    put_version,
)

CONFLICT_TRIES = 1000
"""How many publishes of others may come between our reading the log and writing it, in a row."""


@step_kind("publish_version")
class PublishVersion(Value, kw_only=True):
    """Puts partitions into the version log of the table at `root`.

    Attributes:
        root: absolute path of the table.
        commit: commit id of the publish.
        token: fencing token of the run.
        base: number of the newest version when the sequence was made.
        schema: Spark's JSON of the columns.
        partitions: where each written partition stands.
        mode: what happens to the rows that stand there; `merge` is another step's part.
    """

    effect: ClassVar[Effect] = Effect.PUBLISHES

    root: str
    commit: str
    token: int
    base: int
    schema: str
    partitions: dict[str, PartitionEntry]
    mode: WriteMode = "overwrite_partitions"

    def verify(self, context: CommitContext) -> Verified:
        """See `CommitStep.verify`."""
        return seen_in_log(context.files, self.root, self.commit, self.base)

    def execute(self, context: CommitContext) -> None:
        """See `CommitStep.execute`."""
        files = context.files
        for _ in range(CONFLICT_TRIES):
            now = head(files, self.root)
            if self.commit in now.recent or put_version(files, self.root, self._after(now)):
                return
        raise OSError(f"{self.root}: {CONFLICT_TRIES} other publishes came in between; try again")

    def describe(self) -> str:
        """See `CommitStep.describe`."""
        return f"{self.mode.replace('_', ' ')} in {self.root}, {len(self.partitions)} partitions"

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
            raise OSError(f"{self.root} has had other columns put into it meanwhile: {clash}") from clash


def seen_in_log(files: FileSystem, root: str, commit: str, base: int) -> Verified:
    """Whether a commit is in a table, as far as the table's log can tell.

    Args:
        base: number of the newest version when the commit's sequence was made.
    """
    now = head(files, root)
    if commit in now.recent:
        return DONE
    if now.number < base:
        return unknown(f"{root} stands at version {now.number}, but was at {base} when this began")
    if now.number - base > RECENT_COMMITS:
        return unknown(f"{root} has had {now.number - base} publishes since; the evidence is gone")
    return NOT_DONE
