"""Programs that read only what is new: whole runs on Spark, for all three kinds of source.

What must hold: the appended table equals the source up to the watermarks as a multiset,
whatever was repeated, died, or ran beside it.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.effort import much
from tests.spark_jobs.incremental import orders_feed
from tests.spark_jobs.staging import DAILY
from tests.spark_jobs.without_spark import rows_of
from tidegate.domain.model import Dataset, Program
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.commit.sequence import watermark_resource
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.spark_jobs.errors import CommitConflict, SourceError, StoreBehind
from tidegate.spark_jobs.iceberg.catalog.catalog import catalog_of
from tidegate.spark_jobs.iceberg.steps.publish_iceberg import PublishIceberg
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.runner import run_program

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

FEED = "tests.spark_jobs.incremental.orders_feed"
D22, D23 = "2013-12-22", "2013-12-23"
_apps = (f"runs{number}" for number in count())

DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(name="landed", partitions=DAILY, path="landing/landed", allow_empty=True),
        Dataset(name="orders"),
        Dataset(name="lake", partitions=DAILY, format="iceberg", write="append"),
        Dataset(name="copy", partitions=DAILY, format="iceberg", write="append"),
        Dataset(name="all", format="iceberg", write="append"),
        Dataset(name="files", partitions=DAILY, write="append"),
    )
}


def program(name: str, source: str, output: str, how: bool | str = True) -> Program:
    return Program(
        name=name, run=f"{FEED}.copied", reads=(source,), writes=(output,), incremental={source: how}
    )


LOAD = program("load", "landed", "lake")
LOAD_TOO = program("load_too", "landed", "copy")
LOAD_FILES = program("load_files", "landed", "files")
FOLLOW = program("follow", "lake", "copy")
GATHER = program("gather", "lake", "all")
ORDER = program("order", "orders", "all", FEED)

Row = tuple[int, str]


class House:
    """An app with feeds, run by run."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.app = next(_apps)
        self.spark = spark
        self.folder = folder
        self.store = MemoryCommitStepStore()
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self._numbers = count(1)

    def land(self, key: str, *ids: int) -> None:
        """Lands one more file."""
        folder = self.folder / "landing" / "landed" / f"day={key}"
        folder.mkdir(parents=True, exist_ok=True)
        columns = {"id": pa.array(ids, pa.int64())}
        pq.write_table(pa.table(columns), folder / f"part {next(self._numbers)} [a].parquet")

    def run(self, what: Program, *keys: str, commit: str = "") -> tuple[PublishedPartition, ...]:
        return run_program(
            self.spark,
            self.warehouse,
            self.store,
            app=self.app,
            program=what,
            datasets=DATASETS,
            params=Params(partitions=keys, manifest={what.reads[0]: keys}, job="job"),
            commit=commit or f"c{next(self._numbers)}",
        )

    def rows(self, name: str) -> list[Row]:
        found = rows_of(self.spark, dataset_ref(self.app, DATASETS[name]), self.warehouse)
        return sorted((row["id"], row["day"]) for row in found)

    def marks(self, what: Program) -> dict[str, int]:
        """The numbers of a program's watermarks."""
        marks = self.store.watermarks(f"{self.app}/{what.name}", f"{self.app}/{what.reads[0]}")
        return {part: mark.number for part, mark in marks.items()}

    def commits(self, name: str) -> list[str]:
        """The commit ids of the snapshots with rows, from the oldest one."""
        return [one["tidegate.commit"] for one in self.summaries(name) if int(one.get("added-records", 0))]

    def summaries(self, name: str) -> list[dict[str, str]]:
        table: Any = catalog_of(self.spark).table((self.app, name))
        return [dict(snapshot.summary()) for snapshot in table.snapshots()]


@pytest.fixture(autouse=True)
def feed() -> Iterator[None]:
    for held in (orders_feed.ORDERS, orders_feed.ASKED, orders_feed.SEEN, orders_feed.MEANWHILE):
        held.clear()
    yield


@pytest.fixture
def house(tmp_path: Path, spark: SparkSession) -> House:
    return House(tmp_path, spark)


def test_landed_files_are_loaded_once_each_with_a_watermark_for_each_day(house: House) -> None:
    house.land(D22, 1, 2)
    house.land(D23, 3)
    house.run(LOAD, D22)
    house.land(D22, 4)
    house.run(LOAD, D22, D23)
    assert house.rows("lake") == [(1, D22), (2, D22), (3, D23), (4, D22)]
    assert orders_feed.SEEN == [2, 2]
    assert house.marks(LOAD) == {D22: 2, D23: 1}


def test_the_first_run_of_an_empty_feed_gets_none_and_a_later_one_an_empty_frame(house: House) -> None:
    house.run(LOAD, D22)
    house.land(D22, 1)
    house.run(LOAD, D22)
    house.run(LOAD, D22)
    assert orders_feed.SEEN == [None, 1, 0]
    assert house.rows("lake") == [(1, D22)]


@pytest.mark.soak  # below: two programs follow one table
def test_two_programs_that_read_one_source_keep_apart(house: House) -> None:
    house.land(D22, 1)
    house.run(LOAD, D22)
    house.land(D22, 2)
    house.run(LOAD_TOO, D22)
    house.run(LOAD, D22)
    assert house.rows("lake") == house.rows("copy") == [(1, D22), (2, D22)]


def test_parquet_tables_are_appended_to_as_well(house: House) -> None:
    house.land(D22, 1)
    house.run(LOAD_FILES, D22)
    house.land(D22, 2)
    house.run(LOAD_FILES, D22)
    assert house.rows("files") == [(1, D22), (2, D22)]


def test_what_was_appended_to_a_table_is_followed(house: House) -> None:
    house.land(D22, 1)
    house.land(D23, 2)
    house.run(LOAD, D22, D23)
    house.run(FOLLOW, D22)
    house.run(GATHER)
    house.land(D22, 3)
    house.run(LOAD, D22)
    house.run(LOAD, D23)  # a publish without rows
    house.run(FOLLOW, D22, D23)
    house.run(GATHER)
    house.run(GATHER)
    assert house.rows("copy") == house.rows("all") == [(1, D22), (2, D23), (3, D22)]
    assert orders_feed.SEEN[2:] == [2, 1, 0, 2, 1, 0]
    assert house.marks(GATHER) == {"": 2}


def test_a_source_of_ones_own_is_asked_for_ranges(house: House) -> None:
    orders_feed.ORDERS.update({"eu": [D22, D23], "us": [D22]})
    house.run(ORDER)
    orders_feed.ORDERS["eu"].append(D23)
    house.run(ORDER)
    house.run(ORDER)
    assert orders_feed.ASKED == [{"eu": (None, 2), "us": (None, 1)}, {"eu": (2, 3)}, {}]
    assert house.rows("all") == [(0, D22), (0, D22), (1, D23), (2, D23)]
    assert house.marks(ORDER) == {"eu": 2, "us": 1}


def test_the_snapshot_says_what_it_was_made_from(house: House) -> None:
    orders_feed.ORDERS["eu"] = [D22]
    house.run(ORDER)
    summary = house.summaries("all")[-1]
    assert json.loads(summary["tidegate.watermarks"]) == {f"{house.app}/orders": {"eu": "1"}}
    assert len(summary["tidegate.manifest"]) == 16


def test_a_run_that_died_after_the_publish_only_moves_the_watermark_when_it_is_taken_up(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.land(D22, 1)
    with monkeypatch.context() as patch:
        patch.setattr(SetWatermark, "execute", _die)
        with pytest.raises(KeyboardInterrupt):
            house.run(LOAD, D22, commit="first")
    resource = watermark_resource(f"{house.app}/load", f"{house.app}/landed")
    assert house.store.list_unfinished(resource) == ("first",)
    assert (house.rows("lake"), house.marks(LOAD)) == ([(1, D22)], {})
    _expire(house.store)

    house.land(D22, 2)
    house.run(LOAD, D22, commit="second")

    assert house.commits("lake") == ["first", "second"]
    assert house.rows("lake") == [(1, D22), (2, D22)]
    assert house.marks(LOAD) == {D22: 2}


@pytest.mark.soak  # test_watermark_crash.py: killed before the sequence is put; on Spark: the last test below
def test_a_run_that_died_before_its_commit_is_repeated_from_the_old_watermark(house: House) -> None:
    house.land(D22, 1)
    orders_feed.MEANWHILE.append(_die)
    with pytest.raises(KeyboardInterrupt):
        house.run(LOAD, D22, commit="first")
    house.land(D22, 2)
    house.run(LOAD, D22, commit="first")
    house.run(LOAD, D22, commit="first")
    assert house.rows("lake") == [(1, D22), (2, D22)]
    assert house.marks(LOAD) == {D22: 1}


def test_of_two_runs_that_read_the_same_rows_one_publishes_and_the_other_is_run_again(house: House) -> None:
    house.land(D22, 1)
    orders_feed.MEANWHILE.append(lambda: house.run(LOAD, D22, commit="quick"))
    with pytest.raises(CommitConflict, match=r"has read the new rows .* meanwhile"):
        house.run(LOAD, D22, commit="slow")
    assert house.rows("lake") == [(1, D22)]
    house.land(D22, 2)
    house.run(LOAD, D22, commit="slow")
    assert house.rows("lake") == [(1, D22), (2, D22)]


def test_runs_of_different_days_do_not_disturb_each_other(house: House) -> None:
    house.land(D22, 1)
    house.land(D23, 2)
    orders_feed.MEANWHILE.append(lambda: house.run(LOAD, D23))
    house.run(LOAD, D22)
    assert house.rows("lake") == [(1, D22), (2, D23)]


def test_a_file_that_is_landed_anew_under_the_run_stops_it_before_it_publishes(house: House) -> None:
    house.land(D22, 1)
    (file,) = (house.folder / "landing").rglob("*.parquet")
    orders_feed.MEANWHILE.append(lambda: pq.write_table(pa.table({"id": [7, 8]}), file))
    with pytest.raises(SourceError, match="was landed again while it was read"):
        house.run(LOAD, D22)
    assert house.rows("lake") == []
    house.run(LOAD, D22)
    assert house.rows("lake") == [(7, D22), (8, D22)]


def test_a_file_that_vanishes_under_the_run_stops_it_though_the_program_lets_spark_skip_it(
    house: House,
) -> None:
    house.land(D22, 1)
    house.land(D22, 2)
    file = sorted((house.folder / "landing").rglob("*.parquet"))[0]
    setting = "spark.sql.files.ignoreMissingFiles"

    def lose() -> None:
        house.spark.conf.set(setting, "true")
        file.unlink()

    orders_feed.MEANWHILE.append(lose)
    try:
        with pytest.raises(
            (SourceError, PySparkException, Py4JJavaError), match=r"does not exist|FILE_NOT_EXIST"
        ):
            house.run(LOAD, D22)
    finally:
        house.spark.conf.set(setting, "false")
    assert house.rows("lake") == []


def test_a_store_that_is_older_than_its_tables_stops_the_run(house: House) -> None:
    house.land(D22, 1)
    house.run(LOAD, D22)
    house.store = MemoryCommitStepStore()
    with pytest.raises(StoreBehind, match=r"/lake: its newest token is 1, but .* has given only 0") as caught:
        house.run(LOAD, D22, commit="again")
    assert house.rows("lake") == [(1, D22)]
    assert caught.value.hint.endswith(f"tidegate commits adopt {house.app}/lake")


@pytest.mark.parametrize("seed", range(much(1)))
def test_however_landings_runs_and_crashes_are_cut_the_tables_equal_what_was_landed(
    house: House, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)
    landed: Counter[Row] = Counter()
    for commit in (f"turn {turn}" for turn in range(6)):
        for _ in range(chance.randrange(3)):
            number = landed.total() + 1
            key = chance.choice([D22, D23])
            # Doubled rows are rows: the multiset must be equal.
            house.land(key, number // 2)
            landed[number // 2, key] += 1
        what = chance.choice([LOAD, LOAD, FOLLOW])
        keys = chance.choice([(D22,), (D23,), (D22, D23)])
        step = chance.choice([None, "before", PublishIceberg, SetWatermark])
        if step is not None:
            with monkeypatch.context() as patch:
                if step == "before":
                    orders_feed.MEANWHILE.append(_die)
                else:
                    for name in ("execute", "execute_all"):
                        patch.setattr(step, name, _die, raising=False)
                try:
                    house.run(what, *keys, commit=commit)
                except KeyboardInterrupt:
                    _expire(house.store)
                orders_feed.MEANWHILE.clear()
        house.run(what, *keys, commit=commit)
    house.run(LOAD, D22, D23)
    house.run(FOLLOW, D22, D23)
    assert Counter(house.rows("lake")) == landed
    assert Counter(house.rows("copy")) == landed


def _die(*_: object) -> None:
    raise KeyboardInterrupt


def _expire(store: MemoryCommitStepStore) -> None:
    """Lets the leases of those who have died run out."""
    for commit in store.list_unfinished():
        state = store.recovery_state(commit)
        assert state is not None
        store.release(commit, state.owner)
