"""What a publish must leave alone: the partitions of later runs, and rows that its run has not read.

Tokens fence whole partitions: the result is the same as if all runs had published in the order in which they
began. Where that would lose rows (those of other writers; those that another run merged; those that a program
which reads its own table has not read), the publish is a conflict.
"""

from collections.abc import Collection, Mapping
from typing import Any

from tidegate.domain.partition_key import SEPARATOR
from tidegate.spark_jobs.errors import CommitConflict
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, sql_name
from tidegate.spark_jobs.iceberg.publish.promised_publish import PromisedPublish
from tidegate.spark_jobs.iceberg.staging.files import StagedFiles
from tidegate.spark_jobs.iceberg.staging.merge import merged_rows_differ
from tidegate.spark_jobs.iceberg.table.changes import History, Replaced, find_conflict
from tidegate.spark_jobs.iceberg.table.log import Publish, PublishLog
from tidegate.spark_jobs.iceberg.table.table import keys_of, log_of

Partitions = Mapping[str, tuple[str, ...]]
"""The values of the partition columns of each partition, by key."""


def fences(step: PromisedPublish, log: PublishLog) -> tuple[Publish, ...]:
    """Return the publishes of runs that began later, whose partitions this one must not replace.

    Added rows replace nothing, and a merge is fenced by conflicts.
    """
    if step.mode in ("append", "merge"):
        return ()
    begun = min(step.base, step.state.number)
    since = log.since(begun) or log.since(step.base) or ()
    return tuple(one for one in since if one.token > step.token)


def keys_to_write(
    step: PromisedPublish, table: Any, log: PublishLog
) -> tuple[Partitions, frozenset[str] | None]:
    """Return the partitions to write, and those that later runs wrote; None for the whole table.

    Raises:
        OSError: what a later run wrote is not known any more.
    """
    later = fences(step, log)
    if any(one.whole for one in later):
        return {}, None
    kept: set[str] = set()
    for one in later:
        written = keys_of(table, one)
        if written is None:
            raise OSError(f"{sql_name(step.table)}: the snapshot of commit {one.commit} has expired")
        kept.update(written)
    return {key: values for key, values in step.partitions.items() if key not in kept}, frozenset(kept)


def has_changed(step: PromisedPublish, table: Any) -> bool:
    """Return whether a publish may conflict and the table has another snapshot than when its run began."""
    if not step.may_conflict:
        return False
    current = table.currentSnapshot()
    return (0 if current is None else int(current.snapshotId())) != step.state.snapshot


def conflict_of(
    catalog: IcebergCatalog, step: PromisedPublish, history: History, table: Any, staged: StagedFiles
) -> CommitConflict | None:
    """Return what the publish into this state of the table would lose; None for nothing.

    Args:
        history: the changes of the table.
        staged: what is published.
    """
    if not has_changed(step, table):
        return None
    since = step.state.snapshot
    keys, kept = step.partitions, frozenset[str]()
    if not step.reads:
        # What later runs have written is not replaced, so it is not lost.
        keys, kept = keys_to_write(step, table, log_of(table))
    if step.mode in ("append", "merge"):
        filled = {SEPARATOR.join(file.values) for file in staged.listed}
        keys = {key: values for key, values in keys.items() if key in filled}
    publish = Replaced(
        table=sql_name(step.table),
        commit=step.commit,
        since=since,
        keys=keys,
        whole=step.mode == "full" and kept is not None,
        mode=step.mode,
        reads=step.reads,
        on_foreign=step.on_foreign,
    )

    def rows_differ(where: Collection[str]) -> bool:
        return merged_rows_differ(
            catalog, step.table, table, since, step.merge([step.partitions[key] for key in where])
        )

    return find_conflict(history, table, publish, rows_differ)
