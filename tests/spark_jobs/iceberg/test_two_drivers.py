"""Two drivers, each a process with a JVM of its own, publish into the same Iceberg tables at once.

Both stage, wait for each other, and publish: so every round is a race for the swap. Rounds
are of the same commit, as two attempts of one job are, and of different ones; the first
round finds no table yet, so both would create it.
"""

import json
import multiprocessing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark_jobs.frames import frame_of
from tests.spark_jobs.iceberg.house import D22, D23, DAILY, staged_below
from tests.spark_jobs.staging import begin, parts_of
from tidegate.domain.model import WriteMode
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.commit.state import commit_to_publish
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.errors import CommitConflict, SparkJobError
from tidegate.spark_jobs.iceberg.catalog.catalog import STAGING_NAMESPACE, IcebergCatalog
from tidegate.spark_jobs.iceberg.catalog.failures import StaleTable
from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings
from tidegate.spark_jobs.publication.table import Publication, read, top_token
from tidegate.spark_jobs.session.session import SparkSettings, session

pytestmark = [pytest.mark.spark, pytest.mark.endurance]  # it starts a second JVM

APP = "twodrivers"
MEETING_SECONDS = 300
"""How long one driver waits for the other, which may be starting its JVM."""
BOTH = ("a", "b")

Row = tuple[str, int, str]
"""Day, id, and the driver that wrote it."""


@dataclass(kw_only=True)
class Driver:
    """One of the two."""

    name: str
    spark: SparkSession
    folder: Path
    meet: Callable[[], object]
    tokens: dict[str, int] = field(default_factory=dict[str, int])
    outcomes: dict[str, list[Any] | str] = field(default_factory=dict[str, list[Any] | str])
    conflicts: list[str] = field(default_factory=list[str])
    stale: int = 0

    def all_rounds(self) -> None:
        """What both do."""
        me, other_day = self.name, D22 if self.name == "a" else D23
        number = BOTH.index(me) + 1
        self._count_races()
        for turn in range(2):
            self._write(f"same{turn}", "append", "added", (D22, turn, "both"))
            self._write(f"append {me}{turn}", "append", "added", (D22, 10 * number + turn, me))
            self._write(f"merge {me}{turn}", "merge", "merged", (D22, 0, me), (D22, number, f"{me}{turn}"))
        self._write(f"other {me}", "overwrite_partitions", "parts", (other_day, 1, me))
        self._write(f"equal {me}", "overwrite_partitions", "equal", (D22, 1, me), (D22, 2, me))
        self._write(f"full {me}", "full", "whole", (other_day, 1, me))

    def _write(self, commit: str, mode: WriteMode, name: str, *rows: Row) -> None:
        """What a run does, but that it waits for the other before it publishes; again after a conflict."""
        ref = ref_of(name, mode)
        store = SqlCommitStepStore(open_sql_store(f"sqlite:///{self.folder / 'store.db'}").engine)
        warehouse = Warehouse(path=self.folder / "warehouse", project=self.folder)
        context = CommitContext(files=warehouse.files, spark=lambda: self.spark)
        self.meet()
        for wait in (self.meet, lambda: None):
            recover([ref.id], store, context)
            current = commit_to_publish(commit, store)
            assert parts_of(current, store, context) is None
            token = begin(store, current, [ref.id], top_token(ref, warehouse, lambda: self.spark))
            publication = Publication(warehouse, store, commit=current, token=token, spark=lambda: self.spark)
            frame = frame_of(self.spark, rows, "day string, id int, value string")
            publication.stage(frame, ref, tuple(sorted({row[0] for row in rows})))
            wait()
            self.tokens[commit] = token
            try:
                self.outcomes[commit] = [(one.key, one.rows) for one in publication.publish()]
            except CommitConflict as conflict:
                # Both merge the row 0: the slower one is run again.
                publication.discard()
                self.conflicts.append(conflict.message)
            except SparkJobError as failure:
                self.outcomes[commit] = str(failure)
                return
            else:
                return

    def _count_races(self) -> None:
        real = IcebergCatalog.swap

        def counted(*args: Any) -> None:
            try:
                real(*args)
            except StaleTable:
                self.stale += 1
                raise

        IcebergCatalog.swap = counted


def ref_of(name: str, mode: WriteMode) -> DatasetRef:
    keys = ("id",) if mode == "merge" else ()
    return DatasetRef(app=APP, name=name, format="iceberg", scheme=DAILY, write=mode, merge_keys=keys)


@pytest.mark.soak  # forks: crash_table/test_two_drivers.py; JVMs: two runs at once in demo/test_demo.py
def test_two_drivers_at_once(
    tmp_path: Path, spark: SparkSession, iceberg_warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = multiprocessing.get_context("fork")
    barrier = processes.Barrier(2, timeout=MEETING_SECONDS)
    open_sql_store(f"sqlite:///{tmp_path / 'store.db'}").engine.dispose()
    answer = tmp_path / "b.json"

    def second() -> None:
        own = session(
            SparkSettings(
                master="local[1]",
                conf={"spark.driver.memory": "1g"},
                iceberg=IcebergSettings(warehouse=str(iceberg_warehouse)),
            )
        )
        driver = Driver(name="b", spark=own, folder=tmp_path, meet=barrier.wait)
        try:
            driver.all_rounds()
        except BaseException:
            barrier.abort()
            raise
        answer.write_text(json.dumps([driver.tokens, driver.outcomes, driver.stale, driver.conflicts]))
        own.stop()

    monkeypatch.setattr(IcebergCatalog, "swap", IcebergCatalog.swap)  # put back at the end
    child = processes.Process(target=second)
    child.start()
    first = Driver(name="a", spark=spark, folder=tmp_path, meet=barrier.wait)
    try:
        first.all_rounds()
    finally:
        child.join(MEETING_SECONDS)
    assert child.exitcode == 0
    tokens, outcomes, stale, conflicts = json.loads(answer.read_text())

    assert first.stale + stale > 0, "no driver was ever too late: the drivers did not race"
    failures = [text for one in (first.outcomes, outcomes) for text in one.values() if isinstance(text, str)]
    assert failures == []
    assert first.conflicts or conflicts, "of two merges of the same new row, one is a conflict"
    for turn in range(2):
        assert first.outcomes[f"same{turn}"] == [tuple(one) for one in outcomes[f"same{turn}"]] == [(D22, 1)]

    rows = {name: _rows(spark, tmp_path, name) for name in ("added", "merged", "parts", "equal", "whole")}
    assert rows["added"] == [
        (D22, 0, "both"), (D22, 1, "both"),
        (D22, 10, "a"), (D22, 11, "a"), (D22, 20, "b"), (D22, 21, "b"),
    ]  # fmt: skip
    assert [row[:2] for row in rows["merged"]] == [(D22, 0), (D22, 1), (D22, 2)]
    assert rows["merged"][1:] == [(D22, 1, "a1"), (D22, 2, "b1")]
    assert rows["parts"] == [(D22, 1, "a"), (D23, 1, "b")]
    later = _later({**first.tokens, **tokens}, "equal")
    assert rows["equal"] == [(D22, 1, later), (D22, 2, later)]
    later = _later({**first.tokens, **tokens}, "full")
    assert rows["whole"] == [(D22 if later == "a" else D23, 1, later)]

    catalog = IcebergCatalog(spark)
    assert [len(list(catalog.table((APP, name)).snapshots())) for name in rows] == [6, 4, 2, 2, 2]
    assert not [name for name in catalog.names(STAGING_NAMESPACE) if _is_ours(catalog, name)]
    for name in rows:
        location = str(catalog.table((APP, name)).location())
        assert staged_below(Path(location.removeprefix("file:"))) == []


def _rows(spark: SparkSession, folder: Path, name: str) -> list[Row]:
    warehouse = Warehouse(path=folder / "warehouse", project=folder)
    frame = read(spark, ref_of(name, "append"), warehouse)
    assert frame is not None
    return sorted(tuple(row) for row in frame.collect())


def _later(tokens: Mapping[str, int], what: str) -> str:
    """The driver whose run began later."""
    return max(BOTH, key=lambda name: tokens[f"{what} {name}"])


def _is_ours(catalog: IcebergCatalog, staging: str) -> bool:
    return f"/{APP}/" in catalog.table((STAGING_NAMESPACE, staging)).properties()["write.data.path"]
