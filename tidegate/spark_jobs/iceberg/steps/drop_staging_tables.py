"""The step that removes the staging tables of a commit after it was published.

It removes those of all attempts, because a failed attempt leaves its table and data files behind.
Published data files are kept, all other files in the staging folders are deleted. When the
publish's snapshot has expired, the published files are unknown, and all files are kept.
"""

from typing import ClassVar

from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect, Verified, step_kind
from tidegate.spark_jobs.iceberg.catalog import IcebergCatalog, sql_name
from tidegate.spark_jobs.iceberg.staging import drop_staging, published_locations, staged_with
from tidegate.spark_jobs.iceberg.table import log_of


@step_kind("drop_staging_tables")
class DropStagingTables(Value, kw_only=True):
    """Drops the staging tables of the commit `commit` into the table `table`."""

    effect: ClassVar[Effect] = Effect.CLEANS

    table: tuple[str, str]
    commit: str

    def verify(self, context: CommitContext) -> Verified:
        """See `CommitStep.verify`."""
        catalog = IcebergCatalog(context.spark())
        return NOT_DONE if staged_with(catalog, self.table, self.commit) else DONE

    def execute(self, context: CommitContext) -> None:
        """See `CommitStep.execute`."""
        catalog = IcebergCatalog(context.spark())
        table = catalog.table(self.table)
        ours = None if table is None else log_of(table).find(self.commit)
        published = None if ours is None else published_locations(table, ours.snapshot)
        drop_staging(catalog, staged_with(catalog, self.table, self.commit), published)

    def describe(self) -> str:
        """See `CommitStep.describe`."""
        return f"drop the staging tables of {sql_name(self.table)}"
