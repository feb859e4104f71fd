"""Staging tables in the catalog: which datasets they were made for, and how one is removed.

A staging table names its dataset only through the folder of its data files, which lies under that of
the dataset's table. `repair.orphans` says which of them are needed no more.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.datasets.table_report import Orphan
from tidegate.spark_jobs.iceberg.catalog import STAGING_NAMESPACE, IcebergCatalog, java_failures, sql_name
from tidegate.spark_jobs.iceberg.output import table_name
from tidegate.spark_jobs.iceberg.staging import DATA_PATH, drop_staging
from tidegate.spark_jobs.iceberg.table import draft_table

FORMAT = "iceberg"
STAGING_TABLE = re.compile(r"s[0-9a-f]{32}_([0-9]+)(?:_[0-9a-f]{32})?")
"""The name of a staging table; what a merge keeps of replaced files is in one with a longer name."""


def staging_tables(refs: Sequence[DatasetRef], catalog: IcebergCatalog) -> Iterable[Orphan]:
    """The staging tables of these datasets. Others in the catalog may be those of another project."""
    names = [name for name in catalog.names(STAGING_NAMESPACE) if STAGING_TABLE.fullmatch(name)]
    tables = list(refs) if names else []
    folders = {folder: ref.id for ref in tables if (folder := _data_folder(catalog, ref))}
    unborn = [ref for ref in tables if ref.id not in folders.values()]
    for name in names:
        found = STAGING_TABLE.fullmatch(name)
        staging = catalog.table((STAGING_NAMESPACE, name))
        if found is None or staging is None:
            continue
        folder = str(staging.properties().get(DATA_PATH) or "").rpartition("/")[0]
        dataset = folders.get(folder) or _would_stand_in(catalog, folder, staging.schema(), unborn)
        if dataset is not None:
            place = sql_name((STAGING_NAMESPACE, name))
            yield Orphan(token=int(found[1]), dataset=dataset, place=place, format=FORMAT, table=name)


def _data_folder(catalog: IcebergCatalog, ref: DatasetRef) -> str | None:
    table = catalog.table(table_name(ref))
    return None if table is None else _folder_of(table)


def _would_stand_in(
    catalog: IcebergCatalog, folder: str, schema: Any, refs: Sequence[DatasetRef]
) -> str | None:
    """The dataset whose first publish would make a table with its data in this folder."""
    for ref in refs:
        if folder == _folder_of(draft_table(catalog, table_name(ref), schema, ()).table()):
            return ref.id
    return None


def _folder_of(table: Any) -> str:
    return str(table.properties().get(DATA_PATH) or f"{table.location()}/data")


def drop_orphan(catalog: IcebergCatalog, name: str, ref: DatasetRef | None) -> None:
    """Drops a staging table, and its data files but for those that the table has taken over.

    Those are looked for in every snapshot that the table still has: this one's commit may be
    finished, and only the broom at its end have failed. Where the dataset is not known, all stay.
    """
    published = None if ref is None else _taken_over(catalog, name, ref)
    drop_staging(catalog, [name], published)


def _taken_over(catalog: IcebergCatalog, name: str, ref: DatasetRef) -> frozenset[str]:
    table = table_name(ref)
    if catalog.table(table) is None:
        return frozenset()
    with java_failures(f"list the files of {sql_name(table)}"):
        files: Any = catalog.spark.read.format("iceberg").load(f"{sql_name(table)}.all_data_files")
        ours = files.where(files.file_path.contains(f"/_{name}/")).select("file_path").distinct()
        return frozenset(row[0] for row in ours.collect())
