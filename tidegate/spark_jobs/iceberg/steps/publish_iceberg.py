"""The step that publishes a staged Iceberg output by one commit, which readers see whole or not at all.

    read the table ─► is the commit in its log? ─no► conflict? ─no► data files by mode ─► compare and swap
          ▲                  └──yes──► done             └─yes─► CommitConflict                  │
          └───────────────────────── the table has changed since ◄──────────────────────────────┘

The new metadata replaces only the metadata that was read, without Iceberg's own retries, which would not
read the log again. The commit adds the rows, the entry in the table's log that `verify` searches for, and a
summary for users: commit id, token, job and partitions. Snapshot ids are not evidence: snapshots expire.
`iceberg.publish.publisher` makes the tries.

A table refuses an abandoned commit, so that a driver which wakes up after that adds no rows. The id is
written into the log of publishes by compare and swap. A publish that has read the table before loses its
swap, reads the log again and finds the id; one that reads later finds it at once. A table that does not
exist yet is created without rows, with only its partition columns: it reads like one that does not exist.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from pyspark.sql.types import StringType, StructField, StructType

from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import (
    NOT_DONE,
    CommitStep,
    Effect,
    Verdict,
    Verified,
    step_kind,
    unknown,
)
from tidegate.spark_jobs.errors import CommitConflict, OutputError, TableDamaged
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, TableName, catalog_of, sql_name
from tidegate.spark_jobs.iceberg.catalog.failures import StaleTable, java_failures
from tidegate.spark_jobs.iceberg.publish.fences import fences
from tidegate.spark_jobs.iceberg.publish.promised_publish import PromisedPublish, staged_files
from tidegate.spark_jobs.iceberg.publish.publisher import Publisher
from tidegate.spark_jobs.iceberg.staging.files import manifest_path
from tidegate.spark_jobs.iceberg.steps.drop_staging_tables import DropStagingTables
from tidegate.spark_jobs.iceberg.table.data_files import lost_data_files
from tidegate.spark_jobs.iceberg.table.lineage import verify_publish
from tidegate.spark_jobs.iceberg.table.log import PROPERTY, PublishLog, encode_log
from tidegate.spark_jobs.iceberg.table.table import draft_table, keys_of, log_of
from tidegate.spark_jobs.java.permissions import permissions_by_java

SHOWN_FILES = 3
CONFLICT_TRIES = 100
"""How many times in a row another commit may change the table before the step fails."""


@step_kind("publish_iceberg")
class PublishIceberg(PromisedPublish, kw_only=True):
    """Adds staged data files to a table."""

    effect: ClassVar[Effect] = Effect.PUBLISHES
    compares: ClassVar[bool] = True

    def verify(self, context: CommitContext) -> Verified:
        catalog = catalog_of(context.spark())
        table = catalog.table(self.table)
        answer = self._logged(catalog, table)
        if answer.verdict is not Verdict.NOT_DONE:
            return answer
        staged = staged_files(catalog, self, table)
        lost = () if staged is None else lost_data_files(catalog, staged.io, staged.listed)
        if staged is not None and not lost:
            return answer
        # Staging is dropped only after the publish: another process may have done both since the first read.
        answer = self._logged(catalog, catalog.table(self.table))
        if answer.verdict is not Verdict.NOT_DONE:
            return answer
        if lost:
            return unknown(
                f"{len(lost)} of its staged data files do not exist or have another length than was written: "
                f"{', '.join(lost[:SHOWN_FILES])}; restore them, or abandon the commit and run it again"
            )
        missing = (
            f"the list of its staged files, {manifest_path(catalog, self.manifest)},"
            if self.manifest
            else (f"its staging table {self.staging}")
        )
        return unknown(f"{sql_name(self.table)} does not list the commit, and {missing} does not exist")

    def execute(self, context: CommitContext) -> None:
        last: StaleTable | None = None
        catalog = catalog_of(context.spark())
        with permissions_by_java(catalog.spark), Publisher(catalog, self) as publisher:
            for _ in range(CONFLICT_TRIES):
                try:
                    publisher.attempt()
                except StaleTable as stale:
                    last = stale
                except OutputError as error:
                    raise OSError(str(error)) from error
                else:
                    return
        raise OSError(
            f"other runs committed first {CONFLICT_TRIES} times in a row; try again: {last}"
        ) from last

    @property
    def repeatable(self) -> bool:
        return self.mode != "append" and not self.reads

    def conflict(self, context: CommitContext) -> CommitConflict | None:
        return Publisher(catalog_of(context.spark()), self).conflict() if self.may_conflict else None

    def refuse(self, context: CommitContext) -> None:
        catalog = catalog_of(context.spark())
        refuse_commit(catalog, self.table, self.commit, self.dimensions, create=not self.base)

    def owns(self, step: CommitStep) -> bool:
        return step == self or (isinstance(step, DropStagingTables) and step.table == self.table)

    def describe(self) -> str:
        return f"{self.mode.replace('_', ' ')} in {sql_name(self.table)}, {len(self.partitions)} partitions"

    def _logged(self, catalog: IcebergCatalog, table: Any | None) -> Verified:
        """Return what the table's log shows about this publish."""
        if table is None and self.base:
            return unknown(f"{sql_name(self.table)} does not exist, but existed when the commit began")
        try:
            log = PublishLog() if table is None else log_of(table)
        except TableDamaged as error:
            return unknown(f"the property {PROPERTY} of {sql_name(self.table)} cannot be read: {error}")
        ours = log.find(self.commit)
        if ours is not None:
            return verify_publish(catalog, self.table, table, log, ours)
        if self.commit in log.abandoned:
            return unknown(
                f"{sql_name(self.table)} refuses the commit, because it was abandoned", refused=True
            )
        since = log.since(self.base)
        if since is None:
            return unknown(
                f"{sql_name(self.table)} has had {log.number} publishes, and had {self.base} when the commit "
                f"began; its log lists only the last {len(log.recent)}"
            )
        if any(keys_of(table, one) is None for one in fences(self, log)):
            return unknown(
                "the partitions that later runs have written are unknown: their snapshots have expired"
            )
        return NOT_DONE


REFUSAL_TRIES = 100
"""How many times in a row another commit may change the table before the refusal fails."""


def refuse_commit(
    catalog: IcebergCatalog, name: TableName, commit: str, dimensions: Sequence[str], *, create: bool
) -> None:
    """Write a commit id into the log of a table as abandoned, unless the log lists it as published.

    Args:
        create: create the table if it does not exist.

    Raises:
        OSError: the catalog failed, or others changed the table `REFUSAL_TRIES` times in a row.
    """
    for _ in range(REFUSAL_TRIES):
        table = catalog.table(name)
        if table is None and not create:
            # The commit was staged for a table that existed, so it is never published into a new one.
            return
        try:
            if _refused(catalog, name, table, commit, dimensions):
                return
        except StaleTable:
            continue
    raise OSError(f"{sql_name(name)}: other runs committed first {REFUSAL_TRIES} times in a row; try again")


def _refused(
    catalog: IcebergCatalog, name: TableName, table: Any | None, commit: str, dimensions: Sequence[str]
) -> bool:
    with java_failures(f"refuse a commit in {sql_name(name)}"):
        if table is None:
            transaction = draft_table(catalog, name, _partition_columns(catalog, dimensions), dimensions)
        else:
            transaction = table.newTransaction()
        read = None if table is None else transaction.startMetadata()
        log = log_of(transaction.table())
        if log.find(commit) is None and commit not in log.abandoned:
            properties = transaction.updateProperties()
            properties.set(PROPERTY, encode_log(log.with_abandoned(commit))).commit()
            catalog.swap(name, transaction.underlyingOps(), read, transaction.currentMetadata())
        return True


def _partition_columns(catalog: IcebergCatalog, dimensions: Sequence[str]) -> Any:
    columns = StructType([StructField(dimension, StringType()) for dimension in dimensions])
    types: Any = catalog.java.org.apache.spark.sql.types.DataType
    return catalog.api.spark.SparkSchemaUtil.convert(types.fromJson(columns.json()))
