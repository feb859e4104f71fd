"""Iceberg tables that programs write: staging, the steps that publish it, and reading.

A run writes its rows into data files that no table has yet (staging/files.py; for a merge, in a private
staging table) and publishes them by one commit on the table itself, which adds data, commit id and token at
once (steps/publish_iceberg.py). Readers read one snapshot. The publishing step applies the write mode
to the existing rows.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import AtomicType, StructType

from tidegate.domain.partition_key import SEPARATOR
from tidegate.domain.published import PublishedPartition
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.step import CommitStep
from tidegate.spark_jobs.datasets.dataset_ref import MAX_NAME_BYTES, DatasetRef
from tidegate.spark_jobs.datasets.merge_keys import (
    key_columns,
    refuse_incomparable,
    refuse_missing,
    refuse_repeated,
)
from tidegate.spark_jobs.datasets.partition_columns import (
    by_partition,
    in_all_tasks,
    in_partitions,
    refuse_surplus,
    with_partition_columns,
)
from tidegate.spark_jobs.datasets.table_state import TableState
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.files.scheme import scheme_of
from tidegate.spark_jobs.iceberg.catalog.catalog import (
    STAGING_NAMESPACE,
    IcebergCatalog,
    TableName,
    catalog_of,
    sql_name,
)
from tidegate.spark_jobs.iceberg.catalog.half_done import may_exist, staged_names
from tidegate.spark_jobs.iceberg.staging.files import (
    StagedFiles,
    rows_of_staged,
    stage_files,
    staging_folder,
)
from tidegate.spark_jobs.iceberg.staging.names import partition_folders, staging_name
from tidegate.spark_jobs.iceberg.staging.staging import drop_staging, published_locations, write_staging
from tidegate.spark_jobs.iceberg.steps.drop_staging_tables import DropStagingTables
from tidegate.spark_jobs.iceberg.steps.publish_iceberg import PublishIceberg
from tidegate.spark_jobs.iceberg.table.required import without_nulls
from tidegate.spark_jobs.iceberg.table.table import (
    KnownTable,
    known_table,
    log_of,
    nested_columns,
    spark_columns,
    write_target,
)

FOLDERS = ("", "file", "hdfs", "viewfs", "webhdfs", "swebhdfs")
"""Where a part of a path is the name of a folder."""
SHOWN_CHARACTERS = 40
DISTRIBUTION = "write.distribution-mode"
"""A property of Iceberg's tables; the default of those with partitions is "hash"."""
SESSION_DISTRIBUTION = "spark.sql.iceberg.distribution-mode"
"""What a session says in its place."""


class StagedPartition(Value, kw_only=True):
    """The staged rows of one partition. `bytes` is the size of its data files."""

    rows: int = 0
    bytes: int = 0
    files: int = 0


class StagedIceberg(Value, kw_only=True):
    """The staged output of one dataset.

    Attributes:
        step: the step that publishes it.
        root: the folder of the table's data.
        partitions: every partition that the run writes, by key.
    """

    ref: DatasetRef
    step: PublishIceberg
    root: str
    partitions: dict[str, StagedPartition]

    def folder_steps(self) -> tuple[CommitStep, ...]:
        """None, as the data files are already in their final place."""
        return ()

    def version_step(self) -> PublishIceberg:
        return self.step

    def view_steps(self) -> tuple[CommitStep, ...]:
        """None, as every reader asks the catalog."""
        return ()

    def cleaning_step(self) -> CommitStep:
        return DropStagingTables(table=self.step.table, commit=self.step.commit, root=self.root)

    def files(self, spark: SparkSession) -> tuple[str, ...]:
        if self.step.snapshot:
            # A staging table, which has what a merge writes.
            return ()
        staged = catalog_of(spark).staged[self.step.staging].listed
        found = tuple(file.location for file in staged)
        return found if all(file.endswith(".parquet") for file in found) else ()

    def rows(self, spark: SparkSession) -> AbstractContextManager[DataFrame]:
        catalog = catalog_of(spark)
        if self.step.snapshot:
            return nullcontext(spark.table(sql_name((STAGING_NAMESPACE, self.step.staging))))
        return rows_of_staged(catalog, catalog.staged[self.step.staging])

    def result(self) -> tuple[PublishedPartition, ...]:
        return tuple(
            PublishedPartition(
                dataset=self.ref.name, key=key, rows=part.rows, bytes=part.bytes, files=part.files
            )
            for key, part in self.partitions.items()
        )


def table_name(ref: DatasetRef) -> TableName:
    """Return the name of a dataset's table."""
    return ref.place


def _moves_no_rows(frame: DataFrame, properties: Mapping[str, str]) -> bool:
    """Return whether Iceberg leaves the rows of a partition in their tasks when it writes them.

    Mostly it brings them together, so that they would be shuffled twice.
    """
    mode = frame.sparkSession.conf.get(SESSION_DISTRIBUTION, "") or properties.get(DISTRIBUTION, "")
    return mode.lower() == "none"


def stage(
    frame: DataFrame,
    ref: DatasetRef,
    keys: tuple[str, ...],
    *,
    commit: str,
    token: int,
    job: str,
    facts: Mapping[str, str] | None = None,
    state: TableState | None = None,
    reads: bool = False,
) -> StagedIceberg:
    """Run the program's plan and write its rows where no reader sees them.

    Args:
        state: the table when the run began; None for its current state.
        reads: whether the program reads this table.

    Raises:
        OutputError: the columns do not fit the table, or rows are outside `keys`, or two rows
            of a merge have the same keys.
    """
    catalog, name = catalog_of(frame.sparkSession), table_name(ref)
    dimensions, known = ref.dimensions(), known_table(catalog, name)
    state = state or _state_of(known.table)
    frame = with_partition_columns(frame, ref, keys)
    frame = _fitting(catalog, ref, keys, frame, known)
    target = write_target(catalog, name, known, frame.schema, dimensions)
    properties = catalog.properties(target.table)
    frame = by_partition(frame, dimensions, keys, rebalance=_moves_no_rows(frame, properties))
    log, own = log_of(target.table, properties), staging_name(name, commit, token)
    write = write_staging if ref.write == "merge" else stage_files
    values = {key: tuple(ref.parts(key)[dimension] for dimension in dimensions) for key in keys}
    with in_all_tasks(frame.sparkSession, keys):
        staged = write(
            catalog, own, target.table, frame, len(dimensions), target.schema,
            folders=[partition_folders(dimensions, one) for one in values.values()], properties=properties,
        )  # fmt: skip
    catalog.staged[own] = staged
    partitions = dict.fromkeys(keys, StagedPartition())
    for file in staged.listed:
        key = _key(file.values)
        so_far = partitions.get(key, StagedPartition())
        partitions[key] = StagedPartition(
            rows=so_far.rows + file.rows, bytes=so_far.bytes + file.bytes, files=so_far.files + 1
        )
    refuse_surplus(ref, keys, {key: part.rows for key, part in partitions.items()})
    if ref.write == "merge":
        refuse_repeated(ref, frame.sparkSession.table(sql_name((STAGING_NAMESPACE, own))))
    step = PublishIceberg(
        table=name,
        staging=own,
        manifest=staged.manifest,
        snapshot=staged.snapshot,
        mode=ref.write,
        merge_keys=ref.merge_keys,
        dimensions=dimensions,
        new_columns=target.new_columns,
        columns=tuple(frame.columns),
        partitions=values,
        commit=commit,
        token=token,
        job=job,
        base=log.number,
        state=state,
        reads=reads,
        on_foreign=ref.on_foreign,
        facts=dict(facts or {}),
    )
    return StagedIceberg(ref=ref, step=step, root=staged.root, partitions=partitions)


def _fitting(
    catalog: IcebergCatalog, ref: DatasetRef, keys: tuple[str, ...], frame: DataFrame, known: KnownTable
) -> DataFrame:
    """Return the output as its table takes it, or refuse what could not be published.

    Raises:
        OutputError: see `stage`.
    """
    _refuse_long(ref, keys, known.table)
    if ref.write == "merge":
        refuse_missing(ref, frame)
        refuse_incomparable(ref, frame, _columns_of_keys(catalog, ref, frame.schema, known))
    return without_nulls(ref.name, frame, known.columns)


def _columns_of_keys(
    catalog: IcebergCatalog, ref: DatasetRef, columns: StructType, known: KnownTable
) -> StructType | None:
    """Return the columns of the table if a merge key is of no plain type, there or in the output."""
    nested = {field.name.lower() for field in columns.fields if not isinstance(field.dataType, AtomicType)}
    nested |= nested_columns(known)
    if known.table is None or nested.isdisjoint(key.lower() for key in key_columns(ref)):
        return None
    return spark_columns(catalog, known)


def _refuse_long(ref: DatasetRef, keys: tuple[str, ...], table: Any | None) -> None:
    """Refuse a partition whose folder would have a longer name than file systems of folders take."""
    for key in keys:
        for name, value in ref.parts(key).items():
            length = len(*partition_folders([name], [value]))
            if length > MAX_NAME_BYTES:
                if table is not None and scheme_of(str(table.location())) not in FOLDERS:
                    return
                raise OutputError(
                    f"{ref.name}: the partition {key[:SHOWN_CHARACTERS]}… would be a folder whose name has "
                    f"{length} bytes, at most {MAX_NAME_BYTES} are possible",
                    "use shorter keys, and put the long text into a column of its own",
                )


def discard(spark: SparkSession, ref: DatasetRef, *, commit: str, token: int) -> None:
    """Remove what an attempt has staged whose commit was never stored, or is finished.

    The data files that were published stay: they belong to the table, even if only the last step of the
    sequence, which cleans up, has failed.
    """
    catalog, name = catalog_of(spark), table_name(ref)
    mine = staging_name(name, commit, token)
    known: StagedFiles | None = catalog.staged.pop(mine, None)
    folder = staging_folder(catalog, name, "" if known is None else known.root)
    # With what a process that died in a merge has written.
    staged = [one for one in (folder.names() if folder else ()) if _is_of(mine, one)]
    tables = [one for one in staged_names(catalog) if _is_of(mine, one)] if may_exist(catalog, mine) else []
    if not staged and not tables:
        return
    table = catalog.table(name)
    ours = None if table is None else log_of(table).find(commit)
    published = frozenset[str]() if ours is None else published_locations(table, ours.snapshot)
    drop_staging(catalog, tables, published)
    if folder is not None:
        for one in staged:
            folder.remove(one, published)


def _is_of(attempt: str, name: str) -> bool:
    return name == attempt or name.startswith(f"{attempt}_")


def table_state(spark: SparkSession, ref: DatasetRef) -> TableState:
    """Return the current state of a dataset's table."""
    return _state_of(catalog_of(spark).table(table_name(ref)))


def _state_of(table: Any | None) -> TableState:
    if table is None:
        return TableState()
    log, snapshot = log_of(table), table.currentSnapshot()
    current = 0 if snapshot is None else int(snapshot.snapshotId())
    return TableState(token=log.top_token, number=log.number, snapshot=current)


def read_table(spark: SparkSession, ref: DatasetRef, selects: Callable[[str], bool]) -> DataFrame | None:
    """Return the rows of the selected partitions in the current snapshot; None for a table without one."""
    name = table_name(ref)
    table = catalog_of(spark).table(name)
    snapshot = None if table is None else table.currentSnapshot()
    if snapshot is None:
        return None
    rows = spark.read.option("snapshot-id", str(snapshot.snapshotId())).table(sql_name(name))
    dimensions = ref.dimensions()
    if not dimensions:
        return rows if selects("") else rows.where(sf.lit(False))
    present = (
        spark.read.format("iceberg")
        .option("snapshot-id", str(snapshot.snapshotId()))
        .load(f"{sql_name(name)}.partitions")
        .select(*(f"partition.`{dimension}`" for dimension in dimensions))
        .collect()
    )
    found = [tuple(row) for row in present]
    taken = [values for values in found if None not in values and selects(_key(values))]
    return rows if len(taken) == len(found) else rows.where(in_partitions(dimensions, taken))


def _key(values: Sequence[str]) -> str:
    return SEPARATOR.join(values)
