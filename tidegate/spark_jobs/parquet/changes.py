"""The changes of a Parquet table since a run began, and which of them its publish would lose.

Only Tidegate puts versions, so each change is a commit of ours. Two versions are compared by their entries:
each publish into a partition leaves its commit there, and a compaction, which changes no row, does not.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from pyspark.sql import DataFrame

from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.datasets.changed_rows import rows_differ
from tidegate.spark_jobs.datasets.conflicts import read_and_written, same_keys
from tidegate.spark_jobs.errors import CommitConflict
from tidegate.spark_jobs.parquet.folders.read_folders import read_folders
from tidegate.spark_jobs.parquet.version_log import TableVersion, read_version


class Begun(NamedTuple):
    """The table of a publish, and its version when the run began; 0 for a table without versions."""

    root: str
    commit: str
    version: int


def changed_partitions(context: CommitContext, begun: Begun, now: TableVersion) -> frozenset[str]:
    """Return the partitions that others have written, replaced or removed since the run began."""
    if now.number == begun.version:
        return frozenset()
    before = _version(context, begun)
    if before is not None:
        return frozenset(
            key
            for key in {*before.partitions, *now.partitions}
            if key not in before.partitions or not before.partitions[key].same_rows(now.partitions.get(key))
        )
    # It was pruned. What no commit since has written is unchanged.
    since = now.recent[-(now.number - begun.version) :]
    return frozenset(key for key, entry in now.partitions.items() if entry.commit in since)


def written_meanwhile(
    context: CommitContext, begun: Begun, now: TableVersion, keys: Collection[str] | None
) -> CommitConflict | None:
    """Return the conflict of a run that reads the table that it writes; None if no other run has written it.

    Args:
        keys: the partitions that it writes; None for the whole table.
    """
    changed = changed_partitions(context, begun, now)
    where = sorted(changed if keys is None else changed & frozenset(keys))
    if not where:
        return None
    entry = now.partitions.get(where[0])
    by = f"commit {entry.commit}" if entry is not None else "another run"
    return read_and_written(begun.commit, begun.root, where, by)


def merged_meanwhile(
    context: CommitContext,
    begun: Begun,
    now: TableVersion,
    keys: Collection[str],
    *,
    staged: Sequence[str],
    schema: str,
    columns: Collection[str],
) -> CommitConflict | None:
    """Return the conflict of a merge; None if no row with a staged key has changed since the run began.

    Args:
        keys: the partitions to look at.
        staged: absolute paths of folders with the staged rows, at least those of these partitions.
        schema: Spark's JSON of the staged columns.
        columns: the columns that identify a row.
    """
    changed = changed_partitions(context, begun, now) & frozenset(keys)
    if not changed or not staged:
        return None
    before = _version(context, begun)
    if before is not None:
        spark = context.spark()

        def rows(version: TableVersion) -> DataFrame | None:
            entries = [version.partitions[key] for key in sorted(changed) if key in version.partitions]
            folders = [f"{begun.root}/{path}" for entry in entries for path in entry.folders]
            narrower = version.narrower(begun.root)
            return read_folders(spark, version.schema, folders, narrower) if folders else None

        new = read_folders(spark, schema, staged).select(*(f"`{column}`" for column in columns)).distinct()
        if not rows_differ(rows(before), rows(now), new):
            return None
    return same_keys(begun.commit, begun.root, sorted(changed))


def _version(context: CommitContext, begun: Begun) -> TableVersion | None:
    """Return the version at the begin of the run; None if it was pruned."""
    if begun.version == 0:
        return TableVersion()
    return read_version(context.files, begun.root, begun.version)
