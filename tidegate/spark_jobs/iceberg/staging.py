"""The private table into which one attempt of a commit writes its rows, by Iceberg's own writer.

    _tidegate_staging.<commit's digest>_<token>       its metadata, seen by nobody
    <table>/data/_<the same name>/day=2013-12-22/…    its data files, in their final place

It has the columns, field ids and partitions of the table itself, so that publishing is to
add the very same data files there: no row is written twice, the table's history knows no
staging, and attempts never meet. Iceberg's `remove_orphan_files` passes over folders with
an underscore, so it takes nothing that waits to be published. The files of a staging folder
that no publish has taken over are removed with its table.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from tidegate.spark_jobs.iceberg.catalog import (
    STAGING_NAMESPACE,
    IcebergCatalog,
    TableName,
    each,
    java_failures,
    sql_name,
)
from tidegate.spark_jobs.iceberg.table import FORMAT_VERSION, added_files, column_names

DIGEST_DIGITS = 32
DATA_PATH = "write.data.path"
WRITE_PROPERTIES = "write."
ELSEWHERE = ("data.path", "folder-storage.", "location-provider.", "metadata.", "object-storage.", "wap.")
"""Those of them that would put staged files, or what names them, into other places than ours."""
_LOCATION = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?(/.*)", re.DOTALL)


def staging_prefix(table: TableName, commit: str) -> str:
    """What the names of all staging tables of a commit into a table begin with."""
    digest = hashlib.sha256("\0".join((*table, commit)).encode()).hexdigest()[:DIGEST_DIGITS]
    return f"s{digest}_"


def staging_name(table: TableName, commit: str, token: int) -> str:
    """The staging table of one attempt."""
    return f"{staging_prefix(table, commit)}{token}"


def write_staging(
    catalog: IcebergCatalog, name: str, table: Any, rows: DataFrame, schema: Any | None = None
) -> Any:
    """Writes rows into a new staging table of `table`, and gives the staging table.

    Columns that the rows lack have no values.

    Args:
        schema: the columns, where the table itself is yet to get some of them.
    """
    private, like = (STAGING_NAMESPACE, name), table.operations().current()
    wide = like.schema() if schema is None else schema
    root = table.properties().get(DATA_PATH) or f"{table.location()}/data"
    properties = _inherited(catalog, table) | {
        "format-version": FORMAT_VERSION,
        DATA_PATH: f"{root}/_{name}",
        # Dropping the staging table must leave the data files alone: they are published by then.
        "gc.enabled": "false",
    }
    draft = catalog.draft(private, wide, table.spec(), properties)
    with java_failures(f"lay out {sql_name(private)}"):
        # A new table numbers its columns anew; data files must carry the numbers of the real one.
        alike = (
            catalog.api.TableMetadata.buildFrom(draft.currentMetadata())
            .setCurrentSchema(wide, max(like.lastColumnId(), wide.highestFieldId()))
            .setDefaultPartitionSpec(like.spec())
            .setDefaultSortOrder(like.sortOrder())
            .build()
        )
        draft.underlyingOps().commit(None, alike)
        columns = column_names(catalog, wide)
    have = {column.lower(): column for column in rows.columns}
    picked = [
        sf.col(f"`{have[c.lower()]}`").alias(c) if c.lower() in have else sf.lit(None).alias(c)
        for c in columns
    ]
    rows.select(*picked).writeTo(sql_name(private)).append()
    written = catalog.table(private)
    if written is None:
        raise OSError(f"{sql_name(private)} was dropped while it was written")
    return written


def drop_staging(
    catalog: IcebergCatalog, names: Sequence[str], published: frozenset[str] | None = frozenset()
) -> None:
    """Removes staging tables, and the files in their folders that were not published.

    Args:
        published: locations of the data files that stay; None when that is not known, and all stay.
    """
    kept = frozenset(_path(location) for location in published or ())
    for name in names:
        staging = catalog.table((STAGING_NAMESPACE, name))
        if staging is None:
            continue
        if published is not None:
            folder, io = staging.properties().get(DATA_PATH), staging.io()
            inside = f"{_path(folder)}/"
            stay = sum(location.startswith(inside) for location in kept)
            if not stay:
                catalog.delete(folder, io)
            elif catalog.count_below(folder, io) > stay:
                for file in catalog.files_below(folder, io):
                    if _path(file) not in kept:
                        catalog.delete(file, io)
        catalog.drop((STAGING_NAMESPACE, name))


def staged_with(catalog: IcebergCatalog, table: TableName, commit: str) -> tuple[str, ...]:
    """The staging tables of a commit into a table, those of dead attempts too."""
    prefix = staging_prefix(table, commit)
    return tuple(name for name in catalog.names(STAGING_NAMESPACE) if name.startswith(prefix))


def published_locations(table: Any, snapshot: int) -> frozenset[str] | None:
    """The data files that a publish has brought into the table; None when its snapshot is gone."""
    found = table.snapshot(snapshot)
    if found is None:
        return None
    return frozenset(file.location() for file in added_files(table, found))


def _inherited(catalog: IcebergCatalog, table: Any) -> dict[str, str]:
    """The properties of a table that say how its files are written, and not where."""
    found = catalog.api.util.PropertyUtil.propertiesWithPrefix(table.properties(), WRITE_PROPERTIES)
    keys = () if found.isEmpty() else each(found.keySet())
    return {f"{WRITE_PROPERTIES}{key}": found.get(key) for key in keys if not key.startswith(ELSEWHERE)}


def _path(location: str) -> str:
    """A location without its scheme: Hadoop spells "file:/x" what Iceberg spells "/x"."""
    found = _LOCATION.fullmatch(location)
    return found[1] if found else location
