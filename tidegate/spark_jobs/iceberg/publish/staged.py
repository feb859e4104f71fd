"""Finds what a commit sequence has promised to publish, in the same process or in another one."""

from typing import Any

from tidegate.spark_jobs.iceberg.catalog.catalog import STAGING_NAMESPACE, IcebergCatalog
from tidegate.spark_jobs.iceberg.publish.promised_publish import PromisedPublish
from tidegate.spark_jobs.iceberg.staging.files import StagedFiles, read_manifest, table_or_draft
from tidegate.spark_jobs.iceberg.staging.staging import files_of


def staged_files(catalog: IcebergCatalog, step: PromisedPublish, table: Any | None) -> StagedFiles | None:
    """Return the staged files of a publish; None when their list or staging table does not exist.

    Args:
        table: the table that they are published into; None when it does not exist yet.
    """
    if not step.manifest:
        return _of_table(catalog, step)
    known: StagedFiles | None = catalog.staged.get(step.staging)
    if known is not None and known.manifest == step.manifest:
        return known
    place = table_or_draft(catalog, step.table) if table is None else table
    return None if place is None else read_manifest(catalog, step.manifest, place.io())


def _of_table(catalog: IcebergCatalog, step: PromisedPublish) -> StagedFiles | None:
    table = catalog.table((STAGING_NAMESPACE, step.staging))
    staged = None if table is None else files_of(table)
    return staged if staged is not None and staged.snapshot == step.snapshot else None
