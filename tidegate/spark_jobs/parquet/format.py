"""Parquet as a table format; see `publication.table_format.TableFormat` for the contract of each method."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.commit_store import CommitStepStore
from tidegate.spark_jobs.commit.step import CommitStep, PublishStep
from tidegate.spark_jobs.datasets.columns import ColumnClash, union_columns
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.increment import Increment, IncrementalRead
from tidegate.spark_jobs.datasets.landed import read_landed
from tidegate.spark_jobs.datasets.table_report import (
    DECLARED_OTHERWISE,
    MissingData,
    Orphan,
    TableReport,
    not_listed,
)
from tidegate.spark_jobs.datasets.table_state import TableState
from tidegate.spark_jobs.parquet import prune
from tidegate.spark_jobs.parquet.folders.copy_folder import CopyFolder
from tidegate.spark_jobs.parquet.folders.publish_folder import PublishFolder, harm_of
from tidegate.spark_jobs.parquet.new_rows import read_new_files
from tidegate.spark_jobs.parquet.output import (
    STAGING_FOLDER,
    StagedParquet,
    read_table,
    stage,
    staging_folder,
    table_state,
    write_mode,
)
from tidegate.spark_jobs.parquet.steps.compaction import PublishCompaction
from tidegate.spark_jobs.parquet.steps.merge import PublishMerge
from tidegate.spark_jobs.parquet.steps.show_version import ShowVersion
from tidegate.spark_jobs.parquet.steps.version import PublishVersion
from tidegate.spark_jobs.parquet.version_log import head, stray_files
from tidegate.spark_jobs.parquet.view import show_newest, stale

Spark = Callable[[], SparkSession]


class ParquetFormat:
    """Folders of Parquet files under a log of versions. Only a merge needs Spark to be published."""

    steps: tuple[type[CommitStep], ...] = (
        PublishFolder,
        CopyFolder,
        PublishVersion,
        PublishMerge,
        PublishCompaction,
        ShowVersion,
    )

    def read(
        self,
        spark: SparkSession,
        ref: DatasetRef,
        warehouse: Warehouse,
        selects: Callable[[str], bool],
        reported: Iterable[str] = (),
    ) -> DataFrame | None:
        version = head(warehouse.files, ref.root(warehouse))
        if version.is_published:
            return read_table(spark, ref, version, warehouse, selects)
        # Never published into. A dataset with its own `path` may have been landed there.
        return read_landed(spark, ref, warehouse, selects, reported) if ref.path is not None else None

    def read_new(self, spark: SparkSession, request: IncrementalRead) -> Increment:
        return read_new_files(spark, request)

    def state(self, ref: DatasetRef, warehouse: Warehouse, spark: Spark) -> TableState:
        return table_state(head(warehouse.files, ref.root(warehouse)))

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
    ) -> StagedParquet:
        """A version file does not record `job` and `facts`."""
        return stage(frame, ref, keys, warehouse, commit=commit, token=token, state=state, reads=reads)

    def discard(
        self, ref: DatasetRef, warehouse: Warehouse, spark: Spark, *, commit: str, token: int
    ) -> None:
        warehouse.files.delete(staging_folder(ref.root(warehouse), commit, token))

    def unfit(self, step: PublishStep, ref: DatasetRef, warehouse: Warehouse, spark: Spark) -> str | None:
        if not isinstance(step, PublishVersion | PublishMerge):
            return DECLARED_OTHERWISE
        root = ref.root(warehouse)
        mode = step.mode if isinstance(step, PublishVersion) else "merge"
        if (step.root, mode) != (root, write_mode(ref)):
            return DECLARED_OTHERWISE
        try:
            if mode != "full":
                union_columns(head(warehouse.files, root).schema, step.schema)
        except ColumnClash as clash:
            return f"another run has changed the columns of {root}: {clash}"
        return None

    def prune(self, ref: DatasetRef, warehouse: Warehouse, store: CommitStepStore) -> None:
        files, root = warehouse.files, ref.root(warehouse)
        if prune.is_due(files, root):
            prune.prune_table(files, root, ref.id, store)

    def staged(self, refs: Sequence[DatasetRef], warehouse: Warehouse, spark: Spark) -> Iterable[Orphan]:
        files = warehouse.files
        for ref in refs:
            staging = f"{ref.root(warehouse)}/{STAGING_FOLDER}"
            for commit in files.list(staging):
                for attempt in files.list(f"{staging}/{commit.name}"):
                    if attempt.is_folder and attempt.name.isdecimal():
                        place = f"{staging}/{commit.name}/{attempt.name}"
                        yield Orphan(token=int(attempt.name), dataset=ref.id, place=place, format=ref.format)

    def remove(
        self,
        orphans: Sequence[Orphan],
        refs: Mapping[str, DatasetRef],
        warehouse: Warehouse,
        spark: Spark,
    ) -> None:
        for one in orphans:
            warehouse.files.delete(one.place)

    def show(self, ref: DatasetRef, warehouse: Warehouse) -> bool:
        return show_newest(warehouse.files, ref.root(warehouse), repair=True)

    def report(self, ref: DatasetRef, warehouse: Warehouse, spark: Spark) -> TableReport:
        files, root = warehouse.files, ref.root(warehouse)
        version = head(files, root)
        missing = tuple(
            MissingData(key=key, what=f"its version {version.number} refers to {folder}, {fault}")
            for key, entry in sorted(version.partitions.items())
            for folder in entry.folders
            # A newer version may have been published meanwhile, and the folder pruned.
            if (fault := harm_of(files, f"{root}/{folder}")) and head(files, root).number == version.number
        )
        outdated = stale(files, root)
        return TableReport(
            commits=version.commits(),
            missing=missing,
            outdated=outdated or "",
            strays=stray_files(files, root),
        )

    def commits(self, ref: DatasetRef, warehouse: Warehouse, spark: Spark) -> tuple[str, ...]:
        return head(warehouse.files, ref.root(warehouse)).commits()

    def is_empty(self, ref: DatasetRef, warehouse: Warehouse, spark: Spark) -> bool:
        version = head(warehouse.files, ref.root(warehouse))
        return not any(entry.rows for entry in version.partitions.values())

    def withdrawn(
        self, ref: DatasetRef, warehouse: Warehouse, commits: Collection[str], spark: Spark
    ) -> Mapping[str, str]:
        """Versions vanish with their files."""
        root = ref.root(warehouse)
        version = head(warehouse.files, root)
        if version.number > len(version.recent):
            return {}
        return {commit: not_listed(root, commit) for commit in commits if commit not in version.recent}

    def read_positions(self, ref: DatasetRef, spark: Spark) -> Mapping[str, Mapping[str, Any]]:
        """A version file does not record them."""
        return {}
