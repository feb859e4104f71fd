"""The crash table for assets of `TidegateIOManager`: a run dies at each point, and is executed again.

A multi-asset appends to an Iceberg and to a Parquet table in one commit. It has no watermarks: a run that
was killed before its put computes again, and one that was killed after it adds nothing.
"""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from dagster import AssetOut, AssetsDefinition, DagsterInstance, multi_asset
from dagster._core.test_utils import instance_for_test
from pyspark.sql import DataFrame, SparkSession

from tests.crashes.processes import SIGKILL, end, kill_self
from tests.crashes.strikes import before
from tests.dagster_defs.io_manager.house import House
from tests.effort import some
from tests.spark_jobs.crash_table import driver
from tests.spark_jobs.crash_table.oracle import Oracle, Rows
from tests.spark_jobs.crash_table.points import BOTH, POINTS, Point
from tests.spark_jobs.frames import frame_of
from tidegate import TidegateIOManager, io_manager
from tidegate.dagster_defs.io_manager.step_outputs import StepOutputs

# Processes are killed.
pytestmark = [pytest.mark.spark, pytest.mark.dagster, pytest.mark.endurance, pytest.mark.iceberg]

OUTPUTS = {"lake": "iceberg", "files": "parquet"}
CHOSEN = [
    Point(row="P0", where="between two outputs", install=before(StepOutputs, "take", 2), promised=False),
    *(point for point in POINTS if point.formats == BOTH and point.row != "P6"),
]
"""An asset has no watermarks, and only one output of each format."""

_apps = count(1)


class Killed:
    """The tables of one app, and runs in processes of their own."""

    def __init__(self, folder: Path, instance: DagsterInstance, spark: SparkSession, catalog: Path) -> None:
        self.app, self._ref, self._spark = f"assets_{next(_apps)}", instance.get_ref(), spark
        self.house = House(folder, instance, spark)
        self._tables = {"lake": catalog / self.app / "lake", "files": folder / "house" / self.app / "files"}
        self._oracle = Oracle()

    def assets(self, ids: list[int]) -> AssetsDefinition:
        """A multi-asset that appends rows with these ids to both tables."""

        @multi_asset(
            name="load",
            outs={
                name: AssetOut(
                    key_prefix=self.app, metadata={"tidegate/write": "append", "tidegate/format": kind}
                )
                for name, kind in OUTPUTS.items()
            },
        )
        def load() -> tuple[DataFrame, DataFrame]:
            frame = frame_of(self._spark, [(number,) for number in ids], "id long")
            return frame, frame

        return load

    def run(self, ids: list[int], point: Point | None = None, again: str = "") -> int:
        """One run; its exit code."""

        def work() -> None:
            with DagsterInstance.from_ref(self._ref) as instance:
                self.house.instance = instance
                if again:
                    self.house.again(again, self.assets(ids))
                else:
                    self.house.run(self.assets(ids))

        def prepare() -> None:
            # Connections do not survive a fork.
            io_manager._open_store.cache_clear()
            if point is not None:
                point.install(kill_self)

        return end(driver.start(work, prepare))

    def rows(self) -> tuple[Rows, Rows]:
        """What is in the two tables now."""
        return self._oracle.iceberg(self._tables["lake"]), self._oracle.parquet(self._tables["files"])


@pytest.fixture
def killed(
    tmp_path: Path, spark: SparkSession, iceberg_warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Killed]:
    # Each process that is forked has another connection to this JVM.
    monkeypatch.setattr(TidegateIOManager, "spark_session", property(lambda _: spark))
    with instance_for_test(temp_dir=str(tmp_path)) as instance:
        yield Killed(tmp_path, instance, spark, iceberg_warehouse)


def test_runs_that_die_are_executed_again(killed: Killed) -> None:
    assert killed.run([1, 2]) == 0
    published = Rows([1, 2])
    for number, point in enumerate(some(CHOSEN, 2), start=1):
        ids = [10 * number + 1, 10 * number + 2]

        assert killed.run(ids, point) == SIGKILL, point
        died = killed.house.instance.get_run_records(limit=1)[0].dagster_run.run_id
        seen, unfinished = killed.rows(), killed.house.commits().list_unfinished()
        assert killed.run(ids, again=died) == 0, point

        commit, after = f"{died}.load", published + Rows(ids)
        assert all(rows in (published, after) for rows in seen), point
        assert unfinished == ((commit,) if point.promised and not point.finished else ()), point
        assert killed.rows() == (after, after), point
        assert killed.house.commits().list_unfinished() == ()
        assert killed.house.materialised(f"{killed.app}/files")[-1] == (None, 2, commit), point
        published = after
