"""The step that removes the staging tables of a commit after it was published.

It removes those of all attempts, because a failed attempt leaves its table and data files behind.
Published data files are kept, all other files in the staging folders are deleted. When the
publish's snapshot has expired, the published files are unknown, and all files are kept.
"""

from typing import ClassVar

from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect, Verified, step_kind
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, catalog_of, sql_name
from tidegate.spark_jobs.iceberg.staging.staging import drop_staging, published_locations, staged_with
from tidegate.spark_jobs.iceberg.table.table import log_of


@step_kind("drop_staging_tables")
class DropStagingTables(Value, kw_only=True):
    """Drops the staging tables of the commit `commit` into the table `table`."""

    effect: ClassVar[Effect] = Effect.CLEANS
    compares: ClassVar[bool] = True

    table: tuple[str, str]
    commit: str

    def verify(self, context: CommitContext) -> Verified:
        """See `CommitStep.verify`."""
        catalog = catalog_of(context.spark())
        return NOT_DONE if staged_with(catalog, self.table, self.commit) else DONE

    def execute(self, context: CommitContext) -> None:
        """See `CommitStep.execute`."""
        catalog = catalog_of(context.spark())
        staged = staged_with(catalog, self.table, self.commit)
        if staged:
            drop_staging(catalog, staged, self._published(catalog))

    def _published(self, catalog: IcebergCatalog) -> frozenset[str] | None:
        """Return the data files that the commit has added; None when they are unknown."""
        known = catalog.published.pop((self.table, self.commit), None)
        if known is not None:
            return known
        table = catalog.table(self.table)
        ours = None if table is None else log_of(table).find(self.commit)
        return None if ours is None else published_locations(table, ours.snapshot)

    def describe(self) -> str:
        """See `CommitStep.describe`."""
        return f"drop the staging tables of {sql_name(self.table)}"
