"""The step that removes what was staged for a commit after it was published.

It removes what all attempts have staged, because a failed attempt leaves its data files behind.
Published data files are kept, all other files in the staging folders are deleted. When the
publish's snapshot has expired, the published files are unknown, and all files are kept.
"""

from typing import ClassVar

from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect, Verified, step_kind
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, catalog_of, sql_name
from tidegate.spark_jobs.iceberg.catalog.half_done import mend_version_hint
from tidegate.spark_jobs.iceberg.staging.files import StagingFolder, staging_folder
from tidegate.spark_jobs.iceberg.staging.staging import drop_staging, published_locations, staged_with
from tidegate.spark_jobs.iceberg.table.table import log_of


@step_kind("drop_staging_tables")
class DropStagingTables(Value, kw_only=True):
    """Removes what was staged for the commit `commit` into the table `table`.

    Attributes:
        root: the folder of the table's data when it was staged.
    """

    effect: ClassVar[Effect] = Effect.CLEANS
    compares: ClassVar[bool] = True

    table: tuple[str, str]
    commit: str
    root: str

    def verify(self, context: CommitContext) -> Verified:
        catalog = catalog_of(context.spark())
        folder = self._folder(catalog)
        left = staged_with(catalog, self.table, self.commit) or (
            folder is not None and folder.names_of(self.table, self.commit)
        )
        return NOT_DONE if left else DONE

    def execute(self, context: CommitContext) -> None:
        catalog = catalog_of(context.spark())
        folder = self._folder(catalog)
        names = () if folder is None else folder.names_of(self.table, self.commit)
        tables = staged_with(catalog, self.table, self.commit)
        if not names and not tables:
            return
        published = catalog.published.pop((self.table, self.commit), None)
        if published is None:
            published = self._published_by_another(catalog)
        drop_staging(catalog, tables, published)
        if folder is not None:
            for name in names:
                folder.remove(name, published)

    def _folder(self, catalog: IcebergCatalog) -> StagingFolder | None:
        return staging_folder(catalog, self.table, self.root)

    def _published_by_another(self, catalog: IcebergCatalog) -> frozenset[str] | None:
        """Return the data files that the commit has added; None when they are unknown.

        The process that has published them may have died before all readers could find them.
        """
        table = catalog.table(self.table)
        if table is None:
            return None
        mend_version_hint(catalog.files, table)
        ours = log_of(table).find(self.commit)
        return None if ours is None else published_locations(table, ours.snapshot)

    def describe(self) -> str:
        return f"remove what was staged for {sql_name(self.table)}"
