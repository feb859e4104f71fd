"""What a commit sequence promises to publish into an Iceberg table, as it is stored.

The step `publish_iceberg` performs it with a `Publisher`, within the fences of other publishes.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from tidegate.domain.model import OnForeign, WriteMode
from tidegate.domain.value import Value
from tidegate.spark_jobs.datasets.table_state import TableState
from tidegate.spark_jobs.iceberg.catalog.catalog import STAGING_NAMESPACE, IcebergCatalog
from tidegate.spark_jobs.iceberg.staging.files import StagedFiles, read_manifest, table_or_draft
from tidegate.spark_jobs.iceberg.staging.merge import Merge
from tidegate.spark_jobs.iceberg.staging.staging import files_of


class PromisedPublish(Value, kw_only=True):
    """The staged data files that are to be added to a table.

    Attributes:
        table: namespace and name.
        staging: name under which they are staged.
        manifest: the list of the staged files, see `staging.files`; "" if they are in a staging table.
        snapshot: id of the staging table's snapshot, which identifies it; 0 without one.
        mode: how existing rows are treated.
        merge_keys: columns that identify a row within its partition.
        dimensions: the partition columns.
        new_columns: staged columns that the table did not have, or had with a narrower type.
        columns: columns of the output; the staged files have those of the table too.
        partitions: the values of the partition columns of each written partition, by key.
        commit: commit id of the publish.
        token: fencing token of the run.
        job: the job's key, or the id of a run started by hand.
        base: number of publishes of the table when the output was staged.
        state: the table when the run began.
        reads: whether the program reads the table that it writes.
        on_foreign: what to do about changes by other writers since the run began.
        facts: further entries of the snapshot's summary, for example the manifest and the watermarks.
    """

    table: tuple[str, str]
    staging: str
    manifest: str = ""
    snapshot: int
    mode: WriteMode
    merge_keys: tuple[str, ...]
    dimensions: tuple[str, ...]
    new_columns: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    partitions: dict[str, tuple[str, ...]]
    commit: str
    token: int
    job: str
    base: int
    state: TableState
    reads: bool = False
    on_foreign: OnForeign = "refuse"
    facts: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    @property
    def may_conflict(self) -> bool:
        """Whether the publish takes rows away, or depends on rows that the program has read."""
        return self.mode != "append" or self.reads

    def merge(self, partitions: Sequence[Sequence[str]]) -> Merge:
        """Return the merge of the staged rows into some partitions, given by their values in order."""
        return Merge(
            staging=self.staging,
            columns=tuple(dict.fromkeys((*self.dimensions, *self.merge_keys))),
            dimensions=self.dimensions,
            partitions=partitions,
        )


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
    return None if place is None else read_manifest(catalog, step.manifest, place.io(), len(step.dimensions))


def _of_table(catalog: IcebergCatalog, step: PromisedPublish) -> StagedFiles | None:
    table = catalog.table((STAGING_NAMESPACE, step.staging))
    staged = None if table is None else files_of(catalog, table, len(step.dimensions))
    return staged if staged is not None and staged.snapshot == step.snapshot else None
