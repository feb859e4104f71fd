"""Staging tables that a full disk or a crash has left half-created in a `hadoop` catalog.

Such a catalog creates a table as a folder, and then the metadata in it. A folder without whole metadata is
not a table: the catalog neither loads nor drops it. It has no rows, since these are written after the
metadata. Other catalogs create a table by one change of their own.
"""

import re

from tidegate.spark_jobs.iceberg.catalog.catalog import STAGING_NAMESPACE, IcebergCatalog

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
