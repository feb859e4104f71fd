"""Iceberg as a table format; for the contract see `publication.table_format.TableFormat`."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.commit_store import CommitStepStore
from tidegate.spark_jobs.commit.step import CommitStep, PublishStep
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.increment import Increment, IncrementalRead
from tidegate.spark_jobs.datasets.table_report import DECLARED_OTHERWISE, Orphan, TableReport, not_listed
from tidegate.spark_jobs.datasets.table_state import TableState
from tidegate.spark_jobs.iceberg.catalog.catalog import catalog_of, sql_name
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.iceberg.new_rows import read_new_snapshots
from tidegate.spark_jobs.iceberg.orphans import drop_orphan, staged_items
from tidegate.spark_jobs.iceberg.output import (
    StagedIceberg,
    discard,
    read_table,
    stage,
    table_name,
    table_state,
)
from tidegate.spark_jobs.iceberg.publish.unfit import unfit
from tidegate.spark_jobs.iceberg.steps.drop_staging_tables import DropStagingTables
from tidegate.spark_jobs.iceberg.steps.publish_iceberg import PublishIceberg
from tidegate.spark_jobs.iceberg.table.data_files import missing_data
from tidegate.spark_jobs.iceberg.table.lineage import Place, lineage_of, withdrawn
from tidegate.spark_jobs.iceberg.table.log import PublishLog
from tidegate.spark_jobs.iceberg.table.table import log_of

Spark = Callable[[], SparkSession]


class IcebergFormat:
    """Tables of an Iceberg catalog; one commit publishes one table."""

    steps: tuple[type[CommitStep], ...] = (PublishIceberg, DropStagingTables)

    def read(
        self,
        spark: SparkSession,
        ref: DatasetRef,
        warehouse: Warehouse,
        selects: Callable[[str], bool],
        reported: Iterable[str] = (),
    ) -> DataFrame | None:
        return read_table(spark, ref, selects)

    def read_new(self, spark: SparkSession, request: IncrementalRead) -> Increment:
        return read_new_snapshots(spark, request)

    def state(self, ref: DatasetRef, warehouse: Warehouse, spark: Spark) -> TableState:
        return table_state(spark(), ref)

    def stage(
        self,
        frame: DataFrame,
        ref: DatasetRef,
        keys: tuple[str, ...],
        warehouse: Warehouse,
        *,
        commit: str,
        token: int,
        job: str,
        facts: Mapping[str, str],
        state: TableState | None,
        reads: bool,
    ) -> StagedIceberg:
        return stage(
            frame, ref, keys, commit=commit, token=token, job=job, facts=facts, state=state, reads=reads
        )

    def unfit(self, step: PublishStep, ref: DatasetRef, warehouse: Warehouse, spark: Spark) -> str | None:
        if not isinstance(step, PublishIceberg):
            return DECLARED_OTHERWISE
        if (step.table, step.mode, step.dimensions) != (table_name(ref), ref.write, ref.dimensions()):
            return DECLARED_OTHERWISE
        return unfit(catalog_of(spark()), step)

    def discard(
        self, ref: DatasetRef, warehouse: Warehouse, spark: Spark, *, commit: str, token: int
    ) -> None:
        discard(spark(), ref, commit=commit, token=token)

    def prune(self, ref: DatasetRef, warehouse: Warehouse, store: CommitStepStore) -> None:
        """Nothing to do, as Iceberg expires its own snapshots."""

    def staged(self, refs: Sequence[DatasetRef], warehouse: Warehouse, spark: Spark) -> Iterable[Orphan]:
        return staged_items(refs, catalog_of(spark()))

    def remove(
        self,
        orphans: Sequence[Orphan],
        refs: Mapping[str, DatasetRef],
        warehouse: Warehouse,
        spark: Spark,
    ) -> None:
        catalog = catalog_of(spark())
        for one in orphans:
            drop_orphan(catalog, one.table, refs.get(one.dataset))

    def show(self, ref: DatasetRef, warehouse: Warehouse) -> bool:
        """Every reader asks the catalog."""
        return False

    def report(self, ref: DatasetRef, warehouse: Warehouse, spark: Spark) -> TableReport:
        catalog, name = catalog_of(spark()), table_name(ref)
        table = catalog.table(name)
        if table is None:
            return TableReport()
        commits = tuple(one.commit for one in log_of(table).recent)
        return TableReport(commits=commits, missing=missing_data(catalog, name))

    def commits(self, ref: DatasetRef, warehouse: Warehouse, spark: Spark) -> tuple[str, ...]:
        table = catalog_of(spark()).table(table_name(ref))
        return () if table is None else tuple(one.commit for one in log_of(table).recent)

    def is_empty(self, ref: DatasetRef, warehouse: Warehouse, spark: Spark) -> bool:
        """Other writers may have deleted its rows."""
        table = catalog_of(spark()).table(table_name(ref))
        current = None if table is None else table.currentSnapshot()
        return current is None or current.summary().get("total-records") == "0"

    def withdrawn(
        self, ref: DatasetRef, warehouse: Warehouse, commits: Collection[str], spark: Spark
    ) -> Mapping[str, str]:
        """A rollback leaves the log as it is, a new table has none."""
        catalog, name = catalog_of(spark()), table_name(ref)
        table = catalog.table(name)
        log = PublishLog() if table is None else log_of(table)
        if log.since(0) is not None:
            found = {one: not_listed(sql_name(name), one) for one in commits if log.find(one) is None}
        else:
            found = dict[str, str]()
        if table is not None:
            lineage = lineage_of(catalog, table, log)
            found |= {
                one.commit: withdrawn(name, one)
                for one in reversed(log.recent)
                if one.commit in commits and lineage.place(one) is Place.WITHDRAWN
            }
        return found

    def read_positions(self, ref: DatasetRef, spark: Spark) -> Mapping[str, Mapping[str, Any]]:
        """They are in the summaries of the snapshots."""
        table = catalog_of(spark()).table(table_name(ref))
        found: dict[str, Mapping[str, Any]] = {}
        if table is not None:
            with java_failures(f"list the snapshots of {ref.id}"):
                for snapshot in table.snapshots():
                    summary = snapshot.summary()
                    text = summary.get("tidegate.watermarks")
                    if text is not None:
                        found[str(summary.get("tidegate.commit"))] = json.loads(str(text))
        return found
