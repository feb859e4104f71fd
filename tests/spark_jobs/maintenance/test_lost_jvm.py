"""An operation whose JVM dies: what it has committed is reported, and no other JVM is started to measure."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.spark_jobs.maintenance.yard import REWRITE, Steered
from tidegate.domain.maintenance.reported import Ended, Ending, Health
from tidegate.spark_jobs.errors import SparkLost
from tidegate.spark_jobs.maintenance import operation
from tidegate.spark_jobs.maintenance.iceberg import format
from tidegate.spark_jobs.maintenance.progress import Progress
from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest, TableTarget

BEFORE, AFTER = {"files": 10.0}, {"files": 1.0}


class Jvm:
    """A session whose JVM may die, and what is measured of its table."""

    def __init__(self) -> None:
        self.lost = False
        self.measured = 0

    @property
    def sparkContext(self) -> "Jvm":
        return self

    def cancelAllJobs(self) -> None:
        raise AssertionError("no timeout is over")

    def measure(self, *_: object, **__: object) -> Health:
        self.measured += 1
        if self.lost:
            raise SparkLost("the JVM of Spark has ended while it was measured")
        return Health(measured_at=datetime.now(UTC), values=BEFORE if self.measured == 1 else AFTER)


class Table:
    """A table that is never loaded."""

    def mend_version_hint(self) -> None:
        pass


@pytest.fixture
def spark(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = Jvm()
    monkeypatch.setattr(operation, "measure", made.measure)
    monkeypatch.setattr(format, "CatalogTable", lambda *_: Table())
    monkeypatch.setattr("tidegate.spark_jobs.java.jvm.has_ended", lambda: made.lost)
    return made


def run(spark: Any, monkeypatch: pytest.MonkeyPatch, work: Callable[[Progress], None]) -> Ended:
    done = {REWRITE: lambda *args: work(args[-1])}
    monkeypatch.setattr(format, "OPERATIONS", done)
    request = OperationRequest(table=TableTarget(name="a.b.c"), operation=REWRITE)
    return operation.run_operation(MaintenanceContext(spark=lambda: spark), request, Steered())


def commit(progress: Progress) -> None:
    progress.bytes += 700
    progress.add(files_rewritten=10, commits=1)


def test_what_was_committed_before_counts(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(progress: Progress) -> None:
        commit(progress)
        spark.lost = True
        raise OSError("Connection reset by peer")

    ended = run(spark, monkeypatch, work)
    assert ended.detail.startswith("the JVM of Spark has ended during rewrite_data_files; it was killed")
    assert ended == Ended(
        ending=Ending.FAILED,
        changed=True,
        bytes=700,
        before=BEFORE,
        results={"files_rewritten": 10, "commits": 1},
        detail=ended.detail,
    )
    assert spark.measured == 1


def test_a_success_that_cannot_be_measured_is_one(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(progress: Progress) -> None:
        commit(progress)
        spark.lost = True

    ended = run(spark, monkeypatch, work)
    assert (ended.ending, ended.detail, ended.bytes, ended.after) == (Ending.SUCCEEDED, "", 700, {})


def test_before_it_has_begun_there_is_nothing_to_report(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    spark.lost = True
    with pytest.raises(SparkLost):
        run(spark, monkeypatch, commit)


def test_without_a_loss_it_is_measured_again(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(spark, monkeypatch, commit).after == AFTER
