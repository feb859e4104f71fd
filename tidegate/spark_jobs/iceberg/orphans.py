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
from tidegate.spark_jobs.iceberg.catalog.half_done import STAGING_TABLE, half_created, place_of
from tidegate.spark_jobs.iceberg.output import table_name
from tidegate.spark_jobs.iceberg.staging.files import staging_folder
from tidegate.spark_jobs.iceberg.staging.staging import drop_staging, root_of

FORMAT = "iceberg"


def staged_items(refs: Sequence[DatasetRef], catalog: IcebergCatalog) -> Iterable[Orphan]:
    """Yield all that is staged for these datasets. Other staging may belong to another project.

    A half-created staging table is yielded too, whatever its dataset, which is not known: it holds no rows.
    """
    tables = {name: catalog.table((STAGING_NAMESPACE, name)) for name in catalog.names(STAGING_NAMESPACE)}
    datasets: dict[str, str] = {}
    for ref in refs:
        folder = staging_folder(catalog, table_name(ref))
        if folder is not None:
            datasets[folder.root] = ref.id
            yield from (_orphan(name, ref.id, folder.place(name)) for name in folder.names())
    for name, staging in tables.items():
        dataset = None if staging is None else datasets.get(root_of(staging))
        if dataset is not None and STAGING_TABLE.fullmatch(name):
            yield _orphan(name, dataset, sql_name((STAGING_NAMESPACE, name)))
    for name in half_created(catalog):
        if STAGING_TABLE.fullmatch(name):
            yield _orphan(name, "", place_of(catalog, name))


def _orphan(name: str, dataset: str, place: str) -> Orphan:
    token = int(name.split("_")[1])
    return Orphan(token=token, dataset=dataset, place=place, format=FORMAT, table=name)


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
