"""What is staged for Iceberg tables: the dataset of each item, and its removal.

Staged files are found in the folder of their dataset's table. The dataset of a staging table follows only
from the folder of its data files, which is inside that of the dataset's table. `repair.orphans` decides what
is an orphan.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.datasets.table_report import Orphan
from tidegate.spark_jobs.iceberg.catalog.catalog import STAGING_NAMESPACE, IcebergCatalog, sql_name
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.iceberg.catalog.half_created import STAGING_TABLE, half_created, place_of
from tidegate.spark_jobs.iceberg.output import table_name
from tidegate.spark_jobs.iceberg.staging.files import staging_folder
from tidegate.spark_jobs.iceberg.staging.names import DATA_PATH, data_root
from tidegate.spark_jobs.iceberg.staging.staging import drop_staging
from tidegate.spark_jobs.iceberg.table.table import draft_table

FORMAT = "iceberg"


def staged_items(refs: Sequence[DatasetRef], catalog: IcebergCatalog) -> Iterable[Orphan]:
    """Yield all that is staged for these datasets. Other staging may belong to another project."""
    for ref in refs:
        folder = staging_folder(catalog, table_name(ref))
        for name in folder.names() if folder is not None else ():
            found = STAGING_TABLE.fullmatch(name)
            if folder is not None and found is not None:
                yield Orphan(
                    token=int(found[1]), dataset=ref.id, place=folder.place(name), format=FORMAT, table=name
                )
    yield from _staging_tables(refs, catalog)


def _staging_tables(refs: Sequence[DatasetRef], catalog: IcebergCatalog) -> Iterable[Orphan]:
    """Yield the staging tables of these datasets.

    A half-created one is yielded too, whatever its dataset, which is not known: it holds no rows.
    """
    names = [name for name in catalog.names(STAGING_NAMESPACE) if STAGING_TABLE.fullmatch(name)]
    tables = list(refs) if names else []
    folders = {folder: ref.id for ref in tables if (folder := _data_folder(catalog, ref))}
    without_table = [ref for ref in tables if ref.id not in folders.values()]
    for name in names:
        found = STAGING_TABLE.fullmatch(name)
        staging = catalog.table((STAGING_NAMESPACE, name))
        if found is None or staging is None:
            continue
        folder = str(staging.properties().get(DATA_PATH) or "").rpartition("/")[0]
        dataset = folders.get(folder) or _dataset_of_draft(catalog, folder, staging.schema(), without_table)
        if dataset is not None:
            place = sql_name((STAGING_NAMESPACE, name))
            yield Orphan(token=int(found[1]), dataset=dataset, place=place, format=FORMAT, table=name)
    for name in half_created(catalog):
        found = STAGING_TABLE.fullmatch(name)
        if found is not None:
            place = place_of(catalog, name)
            yield Orphan(token=int(found[1]), dataset="", place=place, format=FORMAT, table=name)


def _data_folder(catalog: IcebergCatalog, ref: DatasetRef) -> str | None:
    table = catalog.table(table_name(ref))
    return None if table is None else data_root(table)


def _dataset_of_draft(
    catalog: IcebergCatalog, folder: str, schema: Any, refs: Sequence[DatasetRef]
) -> str | None:
    """Return the dataset whose first publish would create a table with its data in this folder."""
    for ref in refs:
        if folder == data_root(draft_table(catalog, table_name(ref), schema, ()).table()):
            return ref.id
    return None


def drop_orphan(catalog: IcebergCatalog, name: str, ref: DatasetRef | None) -> None:
    """Remove what is staged under a name, except the files that were published.

    Every existing snapshot of the dataset's table is searched for them, because the commit may be
    finished and only its last step, which cleans up, have failed. Without a dataset, all files are kept.
    """
    published = None if ref is None else _published_files(catalog, name, ref)
    drop_staging(catalog, [name], published)
    folder = None if ref is None else staging_folder(catalog, table_name(ref))
    if folder is not None:
        folder.remove(name, published)


def _published_files(catalog: IcebergCatalog, name: str, ref: DatasetRef) -> frozenset[str]:
    table = table_name(ref)
    if catalog.table(table) is None:
        return frozenset()
    with java_failures(f"list the files of {sql_name(table)}"):
        files: Any = catalog.spark.read.format("iceberg").load(f"{sql_name(table)}.all_data_files")
        ours = files.where(files.file_path.contains(f"/_{name}/")).select("file_path").distinct()
        return frozenset(row[0] for row in ours.collect())
