"""Staging tables that a full disk or a crash has left half-created in a `hadoop` catalog.

Such a catalog creates a table as a folder, and then the metadata in it. A folder without whole metadata is
not a table: the catalog neither loads nor drops it. It has no rows, since these are written after the
metadata. Other catalogs create a table by one change of their own.
"""

from tidegate.spark_jobs.iceberg.catalog import CATALOG, STAGING_NAMESPACE, IcebergCatalog


def half_created(catalog: IcebergCatalog) -> tuple[str, ...]:
    """Return the names of the half-created staging tables, sorted."""
    folder = _folder(catalog)
    names = catalog.folders_in(folder) if folder else ()
    return tuple(name for name in names if catalog.table((STAGING_NAMESPACE, name)) is None)


def place_of(catalog: IcebergCatalog, name: str) -> str:
    """Return the folder of a half-created staging table."""
    return f"{_folder(catalog)}/{name}"


def remove_half_created(catalog: IcebergCatalog, name: str) -> None:
    """Remove what exists of a staging table, unless it is a table by now."""
    if _folder(catalog) and catalog.table((STAGING_NAMESPACE, name)) is None:
        catalog.delete(place_of(catalog, name))


def _folder(catalog: IcebergCatalog) -> str | None:
    """Return the folder of the staging tables; None unless the catalog is of type `hadoop`."""
    prefix = f"spark.sql.catalog.{CATALOG}"
    if catalog.spark.conf.get(f"{prefix}.type", None) != "hadoop":
        return None
    return f"{str(catalog.spark.conf.get(f'{prefix}.warehouse')).rstrip('/')}/{STAGING_NAMESPACE}"
