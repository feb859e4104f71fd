"""Hours of flights and a day of weather come late: with repairs the final tables are those of pandas.

The engine decides, and what it launches runs on Spark and publishes as ever. The programs take their rows
from the manifest of their run, so a late part alone would replace the day.
"""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.flights.reference import flights_of, weather_of
from tests.spark_jobs.without_spark import PlainRow, rows_of
from tests.worlds.world import World, at, compiled_app
from tidegate.scheduler.intake.published import PublishedEvents
from tidegate.scheduler.launch.outbox import LaunchRequest
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.runner import run_program

pytestmark = pytest.mark.spark

DAY = "2013-12-23"
HOURS = [f"{DAY}-{hour:02}:00" for hour in range(24)]
LATE, CUT = HOURS[20:], HOURS[8]
"""Hours that come late, and one that comes in time with few of its flights."""

APP = """
app: a
timezone: America/New_York
datasets:
  departures: {partitions: {cycle: hour, start: 2013-01-01-00:00}, path: landing/departures}
  weather: {partitions: {cycle: day, start: 2013-01-01}, path: landing/weather}
  totals: {partitions: {cycle: day, start: 2013-01-01}}
  conditions: {partitions: {cycle: day, start: 2013-01-01}}
  city: {partitions: {cycle: day, start: 2013-01-01}}
programs:
  totals: {run: HERE.totals, reads: [departures], writes: [totals]}
  conditions: {run: HERE.conditions, reads: [totals, weather], writes: [conditions]}
  city: {run: HERE.city, reads: [conditions], writes: [city]}
schedules:
  totals:
    program: totals
    for_each: day
    trigger: {partitions: {dataset: departures, complete: day}, wait_at_most: 2h}
    repair: true
    status: active
  conditions:
    program: conditions
    for_each: day
    trigger: {all: [{partitions: {dataset: totals}}, {partitions: {dataset: weather}}], wait_at_most: 1h}
    repair: {after: 10m}
    status: active
  city: {program: city, for_each: day, trigger: {partitions: {dataset: conditions}}, status: active}
"""


# --- the programs ---


def totals(spark: SparkSession, inputs: dict[str, DataFrame], params: Any) -> DataFrame:
    """The flights of a day from each airport, of the hours in the manifest."""
    flights = inputs["departures"].where(sf.col("departs").isin(*params.manifest["departures"]))
    counted = flights.groupBy("day", "origin")
    return counted.agg(sf.count("*").alias("flights"), sf.count_if(sf.isnull("dep_delay")).alias("cancelled"))


def conditions(spark: SparkSession, inputs: dict[str, DataFrame | None], params: Any) -> DataFrame:
    """The same with the strongest wind of the day, which is null until there is weather."""
    found, weather = inputs["totals"], inputs["weather"]
    assert found is not None
    if "weather" not in params.manifest or weather is None:
        return found.withColumn("wind", sf.lit(None).cast("double"))
    return found.join(weather.groupBy("origin").agg(sf.max("wind_speed").alias("wind")), "origin", "left")


def city(spark: SparkSession, inputs: dict[str, DataFrame], params: Any) -> DataFrame:
    """All airports of a day together."""
    rows = inputs["conditions"].groupBy("day")
    return rows.agg(
        *(sf.sum(name).alias(name) for name in ("flights", "cancelled")), sf.max("wind").alias("wind")
    )


# --- the world ---


class LateWorld(World):
    """The engine, and runs on Spark that publish into a temporary warehouse."""

    compiled = staticmethod(compiled_app)

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        super().__init__(APP.replace("HERE", __name__))
        self.spark = spark
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.commits = MemoryCommitStepStore()
        self.launched: list[tuple[str, str, bool, bool]] = []

    def land(self, clock: str, dataset: str, key: str, rows: pd.DataFrame) -> None:
        """A file lands, and is reported."""
        ref = dataset_ref("a", self.app.datasets[dataset])
        file = self.warehouse.project / f"landing/{dataset}" / ref.partition_folder(key) / "part.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        rows.to_parquet(file)
        self.arrive(clock, dataset, key)

    def work(self, clock: str) -> None:
        """Decide, and run what is launched, until nothing more is."""
        self.tick(clock)
        while requests := self.offer_launches(clock):
            for request in requests:
                self._run(request, clock)
            self.tick(clock)

    def table(self, name: str) -> list[PlainRow]:
        return rows_of(self.spark, dataset_ref("a", self.app.datasets[name]), self.warehouse)

    def _run(self, request: LaunchRequest, clock: str) -> None:
        launch, run = request.launch, f"run-{request.job}"
        assert self.claim(clock, request.job, run).won
        self.launched.append((clock, launch.program, bool(launch.provisional), launch.repairs is not None))
        run_program(
            self.spark,
            self.warehouse,
            self.commits,
            app="a",
            program=self.app.programs[launch.program],
            datasets=self.app.datasets,
            params=Params(
                partitions=launch.partitions, manifest=launch.manifest, provisional=launch.provisional
            ),
            commit=request.job,
            events=PublishedEvents(lambda: self.store, lambda: at(clock), run),
        )
        self.run(clock, launch.program, "succeeded", run, request.job)


def test_late_hours_and_late_weather_end_in_the_tables_of_pandas(spark: SparkSession, tmp_path: Path) -> None:
    world = LateWorld(spark, tmp_path)
    flights, weather = flights_of(DAY), weather_of(DAY)
    by_hour = {hour: flights[flights["departs"] == hour] for hour in HOURS}

    for hour in HOURS[:20]:
        world.land("10:00", "departures", hour, by_hour[hour].head(3) if hour == CUT else by_hour[hour])
    for clock in ("10:00", "12:00", "13:00"):
        world.work(clock)
    early = world.table("city")
    for hour in (*LATE, CUT):
        world.land("15:00", "departures", hour, by_hour[hour])
    for clock in ("15:00", "15:10"):
        world.work(clock)
    world.land("18:00", "weather", DAY, weather)
    world.work("18:00")

    assert world.launched == [
        ("12:00", "totals", True, False),
        ("13:00", "conditions", True, False),
        ("13:00", "city", False, False),
        ("15:00", "totals", False, True),
        ("15:10", "conditions", True, True),
        ("15:10", "city", False, True),
        ("18:00", "conditions", False, True),
        ("18:00", "city", False, True),
    ]
    grouped = flights.groupby("origin")
    expected = pd.DataFrame(
        {
            "flights": grouped.size(),
            "cancelled": grouped["dep_delay"].apply(lambda delays: int(delays.isna().sum())),
            "wind": weather.groupby("origin")["wind_speed"].max(),
        }
    )
    found = {
        row["origin"]: (row["flights"], row["cancelled"], row["wind"]) for row in world.table("conditions")
    }
    assert found == {origin: tuple(row) for origin, row in expected.astype(object).iterrows()}
    (whole,) = world.table("city")
    assert (whole["flights"], whole["wind"]) == (len(flights), weather["wind_speed"].max())
    assert early[0]["flights"] < whole["flights"] and early[0]["wind"] is None
