"""Switches a table to its new partitions: the one step that readers see.

Verified by the commit id in the table's version log. The log remembers the last
`RECENT_COMMITS` commits and every version adds one, so while fewer than that many versions
have come since the sequence was made, a commit id that is not there is a certain "no".
After that, or when the log is older than the sequence, the answer is "unknown".
"""

from typing import ClassVar

from compiler.value import Value
from spark_jobs.commit.context import CommitContext
from spark_jobs.commit.step import DONE, NOT_DONE, Verified, step_kind, unknown
from spark_jobs.io.version_log import RECENT_COMMITS, PartitionEntry, head, put_version

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
    """

    only_cleans: ClassVar[bool] = False

    root: str
    commit: str
    token: int
    base: int
    schema: str
    partitions: dict[str, PartitionEntry]

    def verify(self, context: CommitContext) -> Verified:
        """See `CommitStep.verify`."""
        now = head(context.files, self.root)
        if self.commit in now.recent:
            return DONE
        if now.number < self.base:
            return unknown(
                f"{self.root} stands at version {now.number}, but was at {self.base} when this began"
            )
        if now.number - self.base > RECENT_COMMITS:
            return unknown(
                f"{self.root} has had {now.number - self.base} publishes since; the evidence is gone"
            )
        return NOT_DONE

    def execute(self, context: CommitContext) -> None:
        """See `CommitStep.execute`."""
        files = context.files
        for _ in range(CONFLICT_TRIES):
            now = head(files, self.root)
            if self.commit in now.recent:
                return
            wanted = now.then(
                commit=self.commit, schema=self.schema, token=self.token, partitions=self.partitions
            )
            if put_version(files, self.root, wanted):
                return
        raise OSError(f"{self.root}: {CONFLICT_TRIES} other publishes came in between; try again")

    def describe(self) -> str:
        """See `CommitStep.describe`."""
        return f"switch {len(self.partitions)} partitions of {self.root}"
