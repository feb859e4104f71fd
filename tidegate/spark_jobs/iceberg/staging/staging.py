"""The private staging table into which one attempt of a commit writes its rows, with Iceberg's own writer.

    _tidegate_staging.<commit's digest>_<token>       its metadata, which no reader uses
    <table>/data/_<the same name>/day=2013-12-22/…    its data files, in their final place

It has the columns, field ids and partitions of the table itself, so publishing
adds the same data files to the table: no row is written twice, the table's history does not show
staging, and attempts never share a table. Iceberg's `remove_orphan_files` skips folders with
a leading underscore, so it never removes unpublished files. Files in a staging folder
that were not published are removed with the staging table.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from tidegate.spark_jobs.iceberg.catalog.catalog import STAGING_NAMESPACE, IcebergCatalog, TableName, sql_name
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.iceberg.catalog.half_created import remove_half_created, staged_names
from tidegate.spark_jobs.iceberg.table.table import FORMAT_VERSION, added_files, columns_of

DIGEST_DIGITS = 32
DATA_PATH = "write.data.path"
WRITE_PROPERTIES = "write."
ELSEWHERE = ("data.path", "folder-storage.", "location-provider.", "metadata.", "object-storage.", "wap.")
"""The write properties, without `write.`, that set where data and metadata files are stored."""
_LOCATION = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?(/.*)", re.DOTALL)


def staging_prefix(table: TableName, commit: str) -> str:
    """Return the prefix of the names of all staging tables of a commit into a table."""
    digest = hashlib.sha256("\0".join((*table, commit)).encode()).hexdigest()[:DIGEST_DIGITS]
    return f"s{digest}_"


def staging_name(table: TableName, commit: str, token: int) -> str:
    """Return the name of one attempt's staging table."""
    return f"{staging_prefix(table, commit)}{token}"


def write_staging(
    catalog: IcebergCatalog, name: str, table: Any, rows: DataFrame, schema: Any | None = None
) -> Any:
    """Write rows into a new staging table of `table`, and return the staging table.

    Columns that the rows do not have get null values.

    Args:
        schema: the columns; None for those of the table.

    Raises:
        OSError: the staging table was dropped during the write, or Iceberg failed.
    """
    private, like = (STAGING_NAMESPACE, name), table.operations().current()
    wide = like.schema() if schema is None else schema
    given = catalog.properties(table)
    root = given.get(DATA_PATH) or f"{table.location()}/data"
    properties = _inherited(given) | {
        "format-version": FORMAT_VERSION,
        DATA_PATH: f"{root}/_{name}",
        # Dropping the staging table must keep the data files: they may be published.
        "gc.enabled": "false",
    }
    columns, numbered_alike = columns_of(catalog, wide)
    # A new table assigns new field ids to its columns; the data files need those of the real table. Where
    # these are equal, so are its partitions and their number, and the files fit the real table as they are.
    # Otherwise the partitions come below, with the field ids.
    spec = like.spec() if numbered_alike else catalog.api.PartitionSpec.unpartitioned()
    draft = catalog.draft(private, wide, spec, properties)
    with java_failures(f"create {sql_name(private)}"):
        alike = (
            catalog.api.TableMetadata.buildFrom(draft.currentMetadata())
            .setCurrentSchema(wide, max(like.lastColumnId(), wide.highestFieldId()))
            .setDefaultPartitionSpec(like.spec())
            .setDefaultSortOrder(like.sortOrder())
            .build()
        )
        draft.underlyingOps().commit(None, alike)
    _picked(rows, columns).writeTo(sql_name(private)).append()
    written = catalog.table(private)
    if written is None:
        raise OSError(f"{sql_name(private)} was dropped while it was written")
    return written


def _picked(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Return rows with these columns; those that they do not have are null."""
    if tuple(rows.columns) == tuple(columns):
        return rows
    have = {column.lower(): column for column in rows.columns}
    return rows.select(
        *(
            sf.col(f"`{have[c.lower()]}`").alias(c) if c.lower() in have else sf.lit(None).alias(c)
            for c in columns
        )
    )


def drop_staging(
    catalog: IcebergCatalog, names: Sequence[str], published: frozenset[str] | None = frozenset()
) -> None:
    """Remove staging tables, and the files in their folders that were not published.

    Args:
        published: locations of the data files to keep; None when they are unknown: then all files are kept.
    """
    kept = frozenset(_path_of(location) for location in published or ())
    for name in names:
        staging = catalog.table((STAGING_NAMESPACE, name))
        if staging is None:
            remove_half_created(catalog, name)
            continue
        if published is not None:
            folder, io = staging.properties().get(DATA_PATH), staging.io()
            inside = f"{_path_of(folder)}/"
            stay = sum(location.startswith(inside) for location in kept)
            if not stay:
                catalog.files.delete(folder, io)
            elif catalog.files.count_below(folder, io) > stay:
                for file in catalog.files.below(folder, io):
                    if _path_of(file) not in kept:
                        catalog.files.delete(file, io)
        catalog.drop_metadata((STAGING_NAMESPACE, name))


def staged_with(catalog: IcebergCatalog, table: TableName, commit: str) -> tuple[str, ...]:
    """Return the names of the staging tables of a commit into a table, of all its attempts."""
    prefix = staging_prefix(table, commit)
    return tuple(sorted(name for name in staged_names(catalog) if name.startswith(prefix)))


def published_locations(table: Any, snapshot: int) -> frozenset[str] | None:
    """Return the data files that a publish has added to the table; None when its snapshot has expired."""
    found = table.snapshot(snapshot)
    if found is None:
        return None
    return frozenset(file.location() for file in added_files(table, found))


def _inherited(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of a table that define how, but not where, its files are written."""
    elsewhere = tuple(f"{WRITE_PROPERTIES}{name}" for name in ELSEWHERE)
    return {
        name: value
        for name, value in properties.items()
        if name.startswith(WRITE_PROPERTIES) and not name.startswith(elsewhere)
    }


def _path_of(location: str) -> str:
    """Return a location without its scheme: Hadoop writes "file:/x" and Iceberg "/x" for the same file."""
    found = _LOCATION.fullmatch(location)
    return found[1] if found else location
