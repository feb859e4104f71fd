"""Publishes frames into tables of an app, one after the other, as runs do."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.effort import only
from tests.spark_jobs.staging import begin
from tests.spark_jobs.without_spark import rows_of
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.publication.table import Publication, read

FORMATS = ("parquet", "iceberg")

_apps = (f"published{number}" for number in count())


def with_formats(*usual: str) -> pytest.MarkDecorator:
    """The formats of a test; in a soak it has both."""
    return pytest.mark.parametrize("format", only(FORMATS, *usual))


class Publisher:
    """An app of its own; its tables have no dataset in any YAML."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.app, self.spark, self.store = next(_apps), spark, MemoryCommitStepStore()
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self._commits = (f"c{number}" for number in count(1))

    def ref(self, **facts: Any) -> DatasetRef:
        return DatasetRef(app=self.app, name="table", **facts)

    def staged(self, ref: DatasetRef, frame: DataFrame, *keys: str) -> Publication:
        commit = next(self._commits)
        token = begin(self.store, commit, [ref.id])
        publication = Publication(
            self.warehouse, self.store, commit=commit, token=token, spark=lambda: self.spark
        )
        try:
            publication.refuse(frame, ref)
            publication.stage(frame, ref, keys or ("",))
        except Exception:
            publication.discard()
            raise
        return publication

    def publish(self, ref: DatasetRef, frame: DataFrame, *keys: str) -> tuple[PublishedPartition, ...]:
        return self.staged(ref, frame, *keys).publish()

    def rows(self, ref: DatasetRef) -> list[tuple[Any, ...]]:
        """As Tidegate reads them, and as any other reader does, which must be the same."""
        frame = read(self.spark, ref, self.warehouse)
        found = [] if frame is None else [row.asDict(recursive=True) for row in frame.collect()]
        assert sorted(map(str, found)) == sorted(map(str, rows_of(self.spark, ref, self.warehouse)))
        return sorted((tuple(row.values()) for row in found), key=str)
