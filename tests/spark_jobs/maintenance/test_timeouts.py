"""The timeout of an operation during a real Spark job: it ends FAILED, with what it has done by then."""

import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark_jobs.iceberg.house import D22, D23, DAILY
from tests.spark_jobs.maintenance.yard import REWRITE, Steered, Yard
from tidegate.domain.maintenance.reported import Ended, Ending
from tidegate.spark_jobs.commit.clock import SystemClock
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.maintenance import slicing
from tidegate.spark_jobs.maintenance.iceberg import rewriter
from tidegate.spark_jobs.maintenance.parquet import compaction

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

ENDLESS = 10**15
"""Rows that no test sees the end of."""
LONGEST_SECONDS = 60


class Impatient(SystemClock):
    """Asks every hundredth of a second whether the timeout is over."""

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        return stop.wait(0.01)


class Timeout(Steered):
    """Over as soon as Spark runs the job that has no end."""

    def __init__(self, spark: SparkSession) -> None:
        super().__init__()
        self.spark, self.slow = spark, threading.Event()

    def should_stop(self) -> bool:
        return self.slow.is_set() and bool(self.spark.sparkContext.statusTracker().getActiveJobsIds())


@pytest.fixture
def yard(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Yard:
    """Each partition is committed by itself."""
    monkeypatch.setattr(slicing, "LEAST_SLICE_BYTES", 1)
    found = Yard(tmp_path, spark)
    found.clock = Impatient()
    return found


def from_the_second_on(work: Callable[..., Any], slow: Callable[..., Any]) -> Callable[..., Any]:
    """The work, but another one from its second call on."""
    calls: list[None] = []

    def done(*given: Any) -> Any:
        calls.append(None)
        return (work if len(calls) == 1 else slow)(*given)

    return done


def assert_timed_out(ended: Ended, began: float) -> None:
    assert (ended.ending, ended.detail) == (Ending.FAILED, "its timeout is over")
    done = [ended.results[name] for name in ("files_rewritten", "files_added", "commits")]
    assert (ended.changed, done) == (True, [5, 1, 1])
    assert ended.bytes > ended.results["bytes_added"] > 0
    assert (ended.before["files"], ended.after["files"]) == (10, 6)
    assert monotonic() - began < LONGEST_SECONDS


def test_of_an_iceberg_table(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    yard.make()
    for number in range(5):
        yard.insert((D22, number), (D23, number))
    rows, timeout, began = yard.all_rows(), Timeout(yard.spark), monotonic()

    def endless(*_: object) -> None:
        timeout.slow.set()
        yard.spark.range(ENDLESS).selectExpr("sum(hash(id))").collect()

    with monkeypatch.context() as patch:
        patch.setattr(rewriter, "_rewrite", from_the_second_on(rewriter._rewrite, endless))
        ended = yard.run(REWRITE, control=timeout)
    assert_timed_out(ended, began)
    assert yard.all_rows() == rows
    again = yard.run(REWRITE)
    assert (again.ending, again.after["files"], yard.all_rows()) == (Ending.SUCCEEDED, 2, rows)


def test_of_a_parquet_table(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    ref = DatasetRef(app=yard.app, name="t", scheme=DAILY, write="append")
    for number in range(5):
        yard.publish(yard.frame((D22, number, "a"), (D23, number, "b")), ref, D22, D23)
    rows, timeout, began = yard.rows(ref), Timeout(yard.spark), monotonic()

    def endless(*given: Any) -> DataFrame:
        timeout.slow.set()
        found, numbers = read(*given), yard.spark.range(ENDLESS).selectExpr("id AS n")
        return found.crossJoin(numbers.where("hash(n) = n")).drop("n")

    read = compaction.read_folders
    with monkeypatch.context() as patch:
        patch.setattr(compaction, "read_folders", from_the_second_on(read, endless))
        ended = yard.run(REWRITE, ref, control=timeout)
    assert_timed_out(ended, began)
    assert yard.rows(ref) == rows
    assert yard.store.list_unfinished() == ()
    assert not [each for each in Path(ref.root(yard.warehouse)).glob("_staging/*/*") if each.is_file()]
    again = yard.run(REWRITE, ref)
    assert (again.ending, again.after["files"], yard.rows(ref)) == (Ending.SUCCEEDED, 2, rows)
