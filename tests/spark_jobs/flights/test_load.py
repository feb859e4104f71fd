"""The load of landed flights: each file once, whatever is delivered late, again, corrected or twice."""

from collections import Counter
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.spark_jobs.flights.app import FlightsProject
from tests.spark_jobs.flights.reference import Reference
from tests.spark_jobs.flights.test_flights import assert_same
from tidegate.demo.feed import Chunk, Landed, land
from tidegate.spark_jobs.errors import OutputError

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

DAY = date(2013, 12, 22)
KEY = str(DAY)
EWR, JFK, LGA = 304, 312, 279
"""Flights of that day."""


class Load:
    """A project whose flights of one day land airport by airport."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.project = FlightsProject(folder, spark)
        self.landing = folder / "landing"

    def land(self, *origins: str) -> Landed:
        return [land(self.landing, Chunk(kind="flights", day=str(DAY), origin=origin)) for origin in origins][
            -1
        ]

    def run(self) -> int:
        """Runs the program for the day; the number of rows that it loaded."""
        (published,) = self.project.run("clean_flights", KEY)
        return published.rows

    def check(self) -> None:
        """The table is what pandas makes of the source."""
        assert_same(self.project.tuples("clean_flights"), Reference([KEY]).clean_flights())

    def delays(self) -> dict[str, Counter[int]]:
        """The delays of the flights that have departed, by airport."""
        found: dict[str, Counter[int]] = {origin: Counter() for origin in ("EWR", "JFK", "LGA")}
        for row in self.project.rows("clean_flights"):
            found[row["origin"]].update([] if row["dep_delay"] is None else [row["dep_delay"]])
        return found


@pytest.fixture
def load(tmp_path: Path, spark: SparkSession) -> Load:
    return Load(tmp_path, spark)


def _rewrite(file: str, table: pa.Table, name: str = "flights.parquet") -> None:
    pq.write_table(table, Path(file).with_name(name))


def _delayed(file: str, minutes: int) -> pa.Table:
    table = pq.ParquetFile(file).read()
    place = table.schema.get_field_index("dep_delay")
    delays = [None if delay is None else delay + minutes for delay in table["dep_delay"].to_pylist()]
    return table.set_column(
        place, table.schema.field(place), pa.array(delays, table.schema.field(place).type)
    )


@pytest.mark.soak  # demo/test_demo.py: each landed file was loaded once
def test_each_run_loads_what_has_landed_since_the_one_before(load: Load) -> None:
    load.land("JFK")
    assert load.run() == JFK
    assert load.run() == 0
    load.land("EWR", "LGA")
    assert load.run() == EWR + LGA

    load.check()


def test_a_file_that_is_delivered_again_changes_nothing_and_a_corrected_one_its_own_rows(load: Load) -> None:
    load.land("EWR", "JFK", "LGA")
    load.run()
    file = load.land("JFK").file

    assert load.run() == JFK
    load.check()

    before = load.delays()
    _rewrite(file, _delayed(file, 100))

    assert load.run() == JFK

    assert len(load.project.rows("clean_flights")) == EWR + JFK + LGA
    corrected = Counter({delay + 100: flights for delay, flights in before["JFK"].items()})
    assert load.delays() == before | {"JFK": corrected}


def test_rows_that_come_in_two_files_are_one(load: Load) -> None:
    load.land("EWR", "LGA")
    file = load.land("JFK").file
    _rewrite(file, pq.ParquetFile(file).read(), name="flights-again.parquet")

    assert load.run() == EWR + JFK + LGA
    load.check()


def test_two_files_that_disagree_load_nothing_until_one_is_gone(load: Load) -> None:
    load.land("EWR", "LGA")
    file = load.land("JFK").file
    _rewrite(file, _delayed(file, 100), name="flights-other.parquet")
    with pytest.raises(OutputError, match="several rows with the same merge keys"):
        load.run()

    Path(file).with_name("flights-other.parquet").unlink()

    assert load.run() == EWR + JFK + LGA
    load.check()
