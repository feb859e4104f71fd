"""A Parquet table for tests of what readers see that know nothing of versions."""

from pathlib import Path

import pyarrow.parquet as pq

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.staging import Rows, begin, daily, stage_rows
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.commit.sequence import CommitSequence
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.parquet import view
from tidegate.spark_jobs.parquet.version_log import TableVersion, head
from tidegate.spark_jobs.publication.table import sequence_of

D21, D22, D23 = "2013-12-21", "2013-12-22", "2013-12-23"
DAILY = daily("table")


class Table:
    """A table that is published into, and what a plain reader sees of it."""

    def __init__(self, folder: Path) -> None:
        self.warehouse = Warehouse(path=folder, project=folder)
        self.files = self.warehouse.files
        self.store = MemoryCommitStepStore()
        self.context = CommitContext(files=self.files)
        self.root = Path(DAILY.root(self.warehouse))

    def sequence(self, commit: str, rows: Rows, ref: DatasetRef = DAILY) -> CommitSequence:
        token = begin(self.store, commit, [ref.id])
        staged = stage_rows(self.warehouse, ref, rows, commit=commit, token=token)
        return sequence_of(commit, token, [staged])

    def publish(self, commit: str, rows: Rows, ref: DatasetRef = DAILY) -> None:
        publish(self.sequence(commit, rows, ref), self.store, self.context)

    def shown(self) -> list[int]:
        """The values that one file after the other of the link has."""
        return values_in(self.root / view.CURRENT)

    def current(self) -> TableVersion:
        return head(self.files, str(self.root))


def values_in(folder: Path) -> list[int]:
    return sorted(v for file in folder.iterdir() for v in pq.read_table(file)["value"].to_pylist())
