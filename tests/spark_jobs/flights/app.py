"""The flights example as values, with its feeds landed in a temporary project.

The datasets are written out here, not read from schedules/flights.yaml: these tests are
about the programs, and must not depend on the compiler. A test of the YAML compares both.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from itertools import count
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.without_spark import PlainRow, rows_of
from tidegate.demo import flights
from tidegate.demo.feed import REFERENCES, feed_plan, land
from tidegate.domain.model import (
    Cycle,
    Dataset,
    PartitionScheme,
    Program,
    SqlQuery,
    StaticDimension,
    TimeDimension,
)
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication.table import read
from tidegate.spark_jobs.runner import run_program

DAY = TimeDimension(name="day", cycle="day", start="2013-01-01", timezone="America/New_York")
DAILY = PartitionScheme(time=DAY)


def _by(cycle: Cycle, start: str = "2013-01-01") -> PartitionScheme:
    return PartitionScheme(
        time=TimeDimension(name=cycle, cycle=cycle, start=start, timezone="America/New_York")
    )


BY_AIRPORT = PartitionScheme(time=DAY, static=StaticDimension(name="origin", keys=("EWR", "JFK", "LGA")))

DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset(name="raw_flights", partitions=BY_AIRPORT, path="landing/flights"),
        Dataset(name="raw_weather", partitions=DAILY, path="landing/weather"),
        *(Dataset(name=f"raw_{name}", path=f"landing/{name}") for name in REFERENCES),
        *(Dataset(name=name, format="iceberg") for name in REFERENCES),
        *(
            Dataset(name=name, partitions=DAILY, format="iceberg")
            for name in ("clean_weather", "delays_by_weather")
        ),
        Dataset(
            name="clean_flights",
            partitions=DAILY,
            format="iceberg",
            write="merge",
            merge_keys=("origin", "carrier", "flight"),
        ),
        Dataset(name="weather_log", format="iceberg", write="append"),
        Dataset(name="carrier_report", format="iceberg"),
        Dataset(name="weather_by_hour", partitions=_by("hour", "2013-01-01-00:00"), format="iceberg"),
        Dataset(name="daily_totals", partitions=DAILY, format="iceberg"),
        Dataset(name="carrier_week", partitions=_by("week", "2012-12-30"), format="iceberg"),
        Dataset(name="month_close", partitions=_by("month"), format="iceberg"),
    )
}


def _program(name: str, reads: str, writes: str, **given: Any) -> Program:
    return Program(
        name=name,
        run=f"tidegate.demo.flights.{name}",
        reads=tuple(reads.split()),
        writes=tuple(writes.split()),
        **given,
    )


PROGRAMS: dict[str, Program] = {
    program.name: program
    for program in (
        _program("clean_flights", "raw_flights", "clean_flights", incremental={"raw_flights": True}),
        _program("clean_weather", "raw_weather", "clean_weather weather_log"),
        _program("delays_by_weather", "clean_flights clean_weather", "delays_by_weather"),
        _program("carrier_report", "delays_by_weather airlines", "carrier_report"),
        _program("weather_by_hour", "clean_weather", "weather_by_hour"),
        _program("daily_totals", "clean_flights", "daily_totals"),
        _program("carrier_week", "clean_flights", "carrier_week"),
        _program("month_close", "daily_totals", "month_close"),
        _program("refresh_reference", "raw_planes raw_airlines raw_airports", "planes airlines airports"),
    )
}

REPORT = Path(flights.__file__).with_name("carrier_report.sql")
REPORT_SQL = Dataset(name="carrier_report_sql", format="iceberg")
"""The report as a query, which is beside the function in the example and not in its YAML."""
BESIDE_THE_YAML = Program(
    name="carrier_report_sql",
    sql=(SqlQuery(output=REPORT_SQL.name, file=REPORT.name, text=REPORT.read_text()),),
    reads=("delays_by_weather", "airlines"),
    writes=(REPORT_SQL.name,),
)


_numbers = count(1)


class FlightsProject:
    """A project folder with landed feeds, a warehouse and a commit store.

    The Iceberg catalog is that of the session, and belongs to all tests: each project is an app of its own.
    """

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.app = f"flights_{next(_numbers)}"
        self.spark = spark
        self.folder = folder
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.store = MemoryCommitStepStore()
        self._runs = 0

    def land(self, days: Iterable[date]) -> None:
        for chunk in feed_plan(days, seed=7):
            land(self.folder / "landing", chunk)

    def run(
        self, program: str, *keys: str, commit: str | None = None, **args: object
    ) -> tuple[PublishedPartition, ...]:
        self._runs += 1
        return run_program(
            self.spark,
            self.warehouse,
            self.store,
            app=self.app,
            program={**PROGRAMS, BESIDE_THE_YAML.name: BESIDE_THE_YAML}[program],
            datasets={**DATASETS, REPORT_SQL.name: REPORT_SQL},
            params=Params(partitions=keys, args=args),
            commit=commit or f"run-{self._runs}",
        )

    def read(self, dataset: str, *keys: str) -> DataFrame:
        found = {**DATASETS, REPORT_SQL.name: REPORT_SQL}[dataset]
        frame = read(self.spark, dataset_ref(self.app, found), self.warehouse, keys or None)
        assert frame is not None
        return frame

    def rows(self, dataset: str) -> list[PlainRow]:
        """The rows of a table, with instants as naive UTC."""
        found = rows_of(self.spark, dataset_ref(self.app, DATASETS[dataset]), self.warehouse)
        return [{name: _plain(value) for name, value in row.items()} for row in found]

    def tuples(self, dataset: str) -> list[tuple[object, ...]]:
        """The same without the names of their columns."""
        return [tuple(row.values()) for row in self.rows(dataset)]


def _plain(value: object) -> object:
    return value.astimezone(UTC).replace(tzinfo=None) if isinstance(value, datetime) else value
