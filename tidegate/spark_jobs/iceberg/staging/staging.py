"""The private staging table into which one attempt of a merge writes its rows, with Iceberg's own writer.

    _tidegate_staging.<commit's digest>_<token>       its metadata, which no reader uses
    <table>/data/_<the same name>/day=2013-12-22/…    its data files, in their final place

A merge reads its rows again, to check their keys and to compare them with the table; what is only added is
staged without a table, see `staging.files`.
Files in the staging folder that were not published are removed with the staging table.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame

from tidegate.spark_jobs.iceberg.catalog.catalog import STAGING_NAMESPACE, IcebergCatalog, TableName, sql_name
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.iceberg.catalog.half_done import remove_half_created, staged_names
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.iceberg.staging.files import StagedFiles, picked, remove_unpublished
from tidegate.spark_jobs.iceberg.staging.names import (
    DATA_PATH,
    data_folder,
    first_spec,
    like_table,
    of_commit,
    root_and_properties,
)
from tidegate.spark_jobs.iceberg.table.data_files import data_files
from tidegate.spark_jobs.iceberg.table.table import added_files, columns_of, file_under


def write_staging(
    catalog: IcebergCatalog,
    name: str,
    table: Any,
    rows: DataFrame,
    dimensions: int,
    schema: Any,
    *,
    folders: Collection[Sequence[str]],
    properties: Mapping[str, str],
) -> StagedFiles:
    """Write rows into a new staging table of `table`, and return its files.

    Columns that the rows do not have get null values.

    Args:
        dimensions: the number of partition columns.
        schema: the columns.
        folders: see `stage_files`.
        properties: those of `table`.

    Raises:
        OSError: the staging table was dropped during the write, or Iceberg failed.
    """
    private = (STAGING_NAMESPACE, name)
    like = table.operations().current()
    columns, root = _create(catalog, name, table, properties, schema, like.spec(), like.sortOrder())
    with catalog.files.with_folders(data_folder(root, name), folders, table.io()):
        picked(rows, columns).writeTo(sql_name(private)).append()
    written = catalog.table(private)
    staged = None if written is None else files_of(catalog, written, dimensions, root)
    if staged is None:
        raise OSError(f"{sql_name(private)} was dropped while it was written")
    return staged


def files_of(catalog: IcebergCatalog, staging: Any, dimensions: int, root: str = "") -> StagedFiles | None:
    """Return the data files of a staging table; None before they were written.

    Args:
        dimensions: the number of partition columns.
        root: what `root_of` returns, if known.
    """
    snapshot = staging.currentSnapshot()
    if snapshot is None:
        return None
    io = staging.io()
    with java_failures("list the staged files"):
        files = catalog.listed(snapshot.addedDataFiles(io))
        listed = data_files(catalog, files, dimensions)
    return StagedFiles(
        files=files,
        listed=listed,
        schema=staging.schema(),
        spec=staging.spec(),
        io=io,
        root=root or root_of(staging),
        snapshot=int(snapshot.snapshotId()),
    )


def root_of(staging: Any) -> str:
    """Return the folder of the data of the table that a staging table is for."""
    return str(staging.properties().get(DATA_PATH) or "").rpartition("/")[0]


def rows_of_files(catalog: IcebergCatalog, name: str, table: Any, staged: StagedFiles) -> DataFrame:
    """Return the rows of staged files, through a new staging table of `table` that refers to them."""
    private = (STAGING_NAMESPACE, name)
    _create(catalog, name, table, catalog.properties(table), staged.schema, staged.spec)
    made = catalog.table(private)
    if made is None:
        raise OSError(f"{sql_name(private)} was dropped before it was read")
    with java_failures(f"fill {sql_name(private)}"):
        change = made.newAppend()
        for file in each(staged.files):
            change.appendFile(file_under(catalog, made.spec(), file))
        change.commit()
    return catalog.spark.table(sql_name(private))


def _create(
    catalog: IcebergCatalog,
    name: str,
    table: Any,
    known: Mapping[str, str],
    schema: Any,
    spec: Any,
    order: Any | None = None,
) -> tuple[tuple[str, ...], str]:
    """Create a staging table, and return its columns and the folder of the data of `table`."""
    private = (STAGING_NAMESPACE, name)
    # Dropping the staging table must keep the data files: they may be published.
    root, properties = root_and_properties(name, known, str(table.location()))
    properties |= {"gc.enabled": "false"}
    columns, numbered_alike = columns_of(catalog, schema)
    first = first_spec(catalog, spec, numbered_alike=numbered_alike)
    draft = catalog.draft(private, schema, first, properties)
    with java_failures(f"create {sql_name(private)}"):
        alike = like_table(catalog, draft.currentMetadata(), schema, spec, order)
        draft.underlyingOps().commit(None, alike)
    return columns, root


def drop_staging(
    catalog: IcebergCatalog, names: Sequence[str], published: frozenset[str] | None = frozenset()
) -> None:
    """Remove staging tables, and the files in their folders that were not published.

    Args:
        published: locations of the data files to keep; None when they are unknown: then all files are kept.
    """
    for name in names:
        staging = catalog.table((STAGING_NAMESPACE, name))
        if staging is None:
            remove_half_created(catalog, name)
            continue
        remove_unpublished(catalog, staging.properties().get(DATA_PATH), staging.io(), published)
        catalog.drop_metadata((STAGING_NAMESPACE, name))


def staged_with(catalog: IcebergCatalog, table: TableName, commit: str) -> tuple[str, ...]:
    """Return the names of the staging tables of a commit into a table, of all its attempts."""
    return of_commit(staged_names(catalog), table, commit)


def published_locations(table: Any, snapshot: int) -> frozenset[str] | None:
    """Return the data files that a publish has added to the table; None when its snapshot has expired."""
    found = table.snapshot(snapshot)
    if found is None:
        return None
    return frozenset(file.location() for file in added_files(table, found))
