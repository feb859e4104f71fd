"""What a crash leaves half done in a `hadoop` catalog: staging tables, and the hint of the newest metadata.

Staging tables that a full disk or a crash has left half-created in a `hadoop` catalog. Such a catalog
creates a table as a folder, and then the metadata in it. A folder without whole metadata is not a table:
the catalog neither loads nor drops it. It has no rows, since these are written after the metadata. Other
catalogs create a table by one change of their own.

The hint which metadata of a table is the newest, for readers that know a table by its folder only. A
`hadoop` catalog replaces `metadata/version-hint.text` after each commit: it deletes the file, and renames a
new one. A process that dies in between leaves an old hint, or none. The catalog finds the newest metadata
all the same; pyiceberg and DuckDB would read an old table, or none, until the next commit.
"""

import re
from typing import Any

from tidegate.spark_jobs.iceberg.catalog.catalog import STAGING_NAMESPACE, IcebergCatalog
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.iceberg.catalog.table_files import TableFiles

STAGING_TABLE = re.compile(r"s[0-9a-f]{32}_([0-9]+)(?:_[0-9a-f]{32})?")
"""The name of a staging table; one with the survivors of a merge has the longer form."""


def staged_names(catalog: IcebergCatalog) -> tuple[str, ...]:
    """Return the names of staging tables, also of half-created ones, in any order.

    Only the names of a folder are listed where that is the catalog: it would look into each table.
    """
    folder = _folder(catalog)
    return catalog.files.entries_in(folder, STAGING_TABLE) if folder else catalog.names(STAGING_NAMESPACE)


def may_exist(catalog: IcebergCatalog, name: str) -> bool:
    """Return whether there may be a staging table, or a half-created one."""
    if _folder(catalog):
        return catalog.files.exists(place_of(catalog, name))
    return catalog.exists((STAGING_NAMESPACE, name))


def half_created(catalog: IcebergCatalog) -> tuple[str, ...]:
    """Return the names of the half-created staging tables, sorted."""
    folder = _folder(catalog)
    names = catalog.files.folders_in(folder) if folder else ()
    return tuple(name for name in names if catalog.table((STAGING_NAMESPACE, name)) is None)


def place_of(catalog: IcebergCatalog, name: str) -> str:
    """Return the folder of a half-created staging table."""
    return f"{_folder(catalog)}/{name}"


def remove_half_created(catalog: IcebergCatalog, name: str) -> None:
    """Remove what exists of a staging table, unless it is a table by now."""
    if _folder(catalog) and catalog.table((STAGING_NAMESPACE, name)) is None:
        catalog.files.delete(place_of(catalog, name))


def _folder(catalog: IcebergCatalog) -> str | None:
    """Return the folder of the staging tables; None unless the catalog is of type `hadoop`."""
    warehouse = catalog.hadoop_warehouse
    return None if warehouse is None else f"{warehouse}/{STAGING_NAMESPACE}"


HADOOP_TABLE = "org.apache.iceberg.hadoop.HadoopTableOperations"
HINT = "version-hint.text"
TRIES = 10
"""How many commits in a row may come between reading a table and writing its hint."""

_VERSION = re.compile(r"v([0-9]+)\.")


def mend_version_hint(files: TableFiles, table: Any) -> None:
    """Let the hint name the newest metadata, if a process has died before it did so.

    Args:
        table: Iceberg's table; if its catalog is not of type `hadoop`, it has no hint.

    Raises:
        OSError: the hint cannot be read or written.
    """
    with java_failures("read the newest metadata of a table"):
        operations = table.operations()
        if operations.getClass().getName() != HADOOP_TABLE:
            return
        newest = operations.current()
    for _ in range(TRIES):
        with java_failures("read the newest metadata of a table"):
            folder, _, name = str(newest.metadataFileLocation()).rpartition("/")
        version = _VERSION.match(name)
        hint = files.first_line(f"{folder}/{HINT}")
        if version is None or (hint is not None and hint.isdecimal() and int(hint) >= int(version[1])):
            return
        files.replace(f"{folder}/{HINT}", version[1])
        with java_failures("read the newest metadata of a table"):
            newest = operations.refresh()
