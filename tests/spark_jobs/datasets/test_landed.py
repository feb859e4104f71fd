"""Landed partitions without files: which fail a run, which have no rows, and whose columns those have."""

import logging
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.staging import DAILY
from tidegate.domain.model import Dataset, Program
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, dataset_ref
from tidegate.spark_jobs.datasets.landed import read_landed, refuse_missing
from tidegate.spark_jobs.errors import SourceError
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication.table import read
from tidegate.spark_jobs.runner import run_program

D21, D22, D23 = "2013-12-21", "2013-12-22", "2013-12-23"
LANDED = DatasetRef(app="test", name="landed", scheme=DAILY, path="landing/landed")


class Landing:
    """A landed dataset, and a program that copies its days."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.root = folder / "landing" / "landed"
        self.spark = spark
        self.store = MemoryCommitStepStore()
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self._numbers = count(1)

    def land(self, key: str, name: str = "a.parquet") -> None:
        folder = self.root / f"day={key}"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"id": pa.array([1], pa.int64())}), folder / name)

    def run(self, *keys: str, reported: tuple[str, ...], allow_empty: bool = False) -> int:
        """Run the program for some days, and return the rows of its output."""
        landed = Dataset(name="landed", partitions=DAILY, path="landing/landed", allow_empty=allow_empty)
        output = Dataset(name="copy", partitions=DAILY)
        run_program(
            self.spark,
            self.warehouse,
            self.store,
            app="test",
            program=Program(
                name="copy",
                run="tests.spark_jobs.incremental.orders_feed.copied",
                reads=("landed",),
                writes=("copy",),
            ),
            datasets={"landed": landed, "copy": output},
            params=Params(partitions=keys, manifest={"landed": reported}, job="job"),
            commit=f"c{next(self._numbers)}",
        )
        frame = read(self.spark, dataset_ref("test", output), self.warehouse)
        return 0 if frame is None else frame.count()


@pytest.fixture
def landing(tmp_path: Path, spark: SparkSession) -> Landing:
    return Landing(tmp_path, spark)


@pytest.mark.spark
def test_a_reported_partition_without_files_fails_with_the_folder(landing: Landing) -> None:
    landing.land(D21)
    (landing.root / f"day={D22}").mkdir()
    with pytest.raises(SourceError) as failed:
        landing.run(D22, reported=(D22,))
    assert f"test/landed: partition {D22} was reported" in failed.value.message
    assert f"no files in {landing.root}/day={D22}" in failed.value.message
    assert "allow_empty: true" in failed.value.hint
    # Nothing was published, so a later attempt finds the files.
    landing.land(D22)
    assert landing.run(D22, reported=(D22,)) == 1


@pytest.mark.spark
def test_it_fails_too_where_nothing_was_ever_landed_and_for_the_first_of_several(landing: Landing) -> None:
    with pytest.raises(SourceError, match=f"partition {D21} was reported.* and 1 more have none"):
        landing.run(D21, D22, reported=(D22, D21))


@pytest.mark.spark
def test_where_it_is_allowed_a_reported_partition_may_be_empty(landing: Landing) -> None:
    landing.land(D21)
    assert landing.run(D22, reported=(D22,), allow_empty=True) == 0


@pytest.mark.spark
def test_partitions_that_the_run_does_not_read_or_was_not_launched_for_may_be_missing(
    landing: Landing,
) -> None:
    landing.land(D21)
    assert landing.run(D21, reported=(D21, D22)) == 1
    assert landing.run(D22, reported=()) == 1


@pytest.mark.spark
def test_the_partition_that_gives_the_columns_is_named(
    landing: Landing, caplog: pytest.LogCaptureFixture
) -> None:
    landing.land(D21)
    landing.land(D23)
    with caplog.at_level(logging.INFO):
        frame = read_landed(landing.spark, LANDED, landing.warehouse, lambda key: key == D22)
    assert frame is not None
    assert (frame.count(), frame.columns) == (0, ["id", "day"])
    assert f"its columns are those of {D23}" in caplog.text
    (landing.root / f"day={D23}" / "a.parquet").write_bytes(b"not a Parquet file")
    with pytest.raises(SourceError) as failed:
        read_landed(landing.spark, LANDED, landing.warehouse, lambda key: key == D22)
    assert f"the newest partition {D23}, and {landing.root}/day={D23} cannot be read" in failed.value.message
    assert f"the files of {D23}" in failed.value.hint


def test_only_what_was_reported_must_be_there() -> None:
    refuse_missing(LANDED, "/landed", {}, ())
    refuse_missing(LANDED, "/landed", {D21: "/landed/day=2013-12-21"}, (D21,))
    with pytest.raises(SourceError, match=r"no files in /landed/day=2013-12-22;"):
        refuse_missing(LANDED, "/landed", {D21: "/landed/day=2013-12-21"}, (D22, D21))
