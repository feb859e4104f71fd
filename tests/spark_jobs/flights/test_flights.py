"""The flights programs on real Spark, row for row against pandas over the raw files."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import TimestampType

from tests.effort import EFFORT, pick
from tests.spark_jobs.flights.app import FlightsProject
from tests.spark_jobs.flights.reference import Reference, Row
from tidegate.demo.feed import days_from
from tidegate.demo.flights.clean_weather import LOG_FILES

pytestmark = pytest.mark.spark

DEFAULT = days_from(date(2013, 12, 22), 10)
SOME = [date(2013, 12, day) for day in (23, 30, 31)]
"""Among them the short day and the one without weather."""
WINTER = SOME if EFFORT <= 1 else DEFAULT
END_OF_SUMMER_TIME = date(2013, 11, 3)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def collected(frame: DataFrame) -> list[Row]:
    """Rows with instants as naive UTC: Spark collects them in the zone of this machine otherwise."""
    instants = [field.name for field in frame.schema if isinstance(field.dataType, TimestampType)]
    seconds = frame.select(
        [sf.unix_micros(name).alias(name) if name in instants else sf.col(name) for name in frame.columns]
    )
    places = [seconds.columns.index(name) for name in instants]
    rows: list[Row] = []
    for row in seconds.collect():
        values = list(row)
        for place in places:
            values[place] = (EPOCH + timedelta(microseconds=values[place])).replace(tzinfo=None)
        rows.append(tuple(values))
    return rows


def assert_same(found: Sequence[Row], expected: Sequence[Row]) -> None:
    """The same rows, in any order, each as often."""
    assert expected
    assert sorted(found, key=repr) == sorted(expected, key=repr)


@pytest.fixture(scope="module")
def winter(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> FlightsProject:
    """Days of the example, each program run the way the schedules do: day by day, weather pooled."""
    project = FlightsProject(tmp_path_factory.mktemp("winter"), spark)
    project.land(WINTER)
    for day in WINTER:
        project.run("clean_flights", str(day))
    half = len(WINTER) // 2
    project.run("clean_weather", *(str(day) for day in WINTER[:half]))
    project.run("clean_weather", *(str(day) for day in WINTER[half:-1]))
    for day in WINTER:
        project.run("delays_by_weather", str(day), late_after_minutes=15)
    project.run("refresh_reference")
    project.run("carrier_report", minimum_flights=1)
    project.run("carrier_report_sql", minimum_flights=1)
    return project


@pytest.fixture(scope="module")
def expected() -> Reference:
    return Reference([str(day) for day in WINTER])


@pytest.mark.soak  # equal to pandas row for row: demo/test_demo.py
@pytest.mark.parametrize("table", ["clean_flights", "clean_weather", "delays_by_weather", "carrier_report"])
def test_days_in_winter_equal_pandas(winter: FlightsProject, expected: Reference, table: str) -> None:
    assert_same(collected(winter.read(table)), getattr(expected, table)())


@pytest.mark.iceberg
def test_the_report_as_a_query_equals_pandas_too(winter: FlightsProject, expected: Reference) -> None:
    assert_same(collected(winter.read("carrier_report_sql")), expected.carrier_report())


@pytest.mark.soak  # equal to pandas row for row: demo/test_demo.py
@pytest.mark.parametrize("table", pick(["planes", "airlines", "airports"], 1))
def test_reference_tables_equal_their_files(winter: FlightsProject, table: str) -> None:
    assert_same(collected(winter.read(table)), Reference.reference_table(table))


@pytest.mark.soak  # equal to pandas row for row: demo/test_demo.py
def test_the_last_day_has_no_weather_and_says_so(winter: FlightsProject) -> None:
    last = winter.read("delays_by_weather", "2013-12-31")
    assert last.agg(sf.sum("flights")).first() == (776,)
    assert {tuple(row) for row in last.select("weather_complete", "temp").distinct().collect()} == {
        (False, None)
    }


@pytest.mark.soak  # equal to pandas row for row: demo/test_demo.py
def test_the_day_with_57_readings_is_complete_up_to_the_hour_of_the_last(winter: FlightsProject) -> None:
    assert winter.read("clean_weather", "2013-12-30").count() == 57
    by_hour = winter.read("delays_by_weather", "2013-12-30").select("hour", "weather_complete").distinct()
    assert all(row.weather_complete == (row.hour <= 18) for row in by_hour.collect())


@pytest.mark.soak  # equal to pandas row for row: demo/test_demo.py
def test_cancelled_and_diverted_flights_stay(winter: FlightsProject) -> None:
    statuses = winter.read("clean_flights", "2013-12-23").groupBy("status").count().collect()
    assert {row.status: row["count"] for row in statuses} == {"flown": 960, "cancelled": 21, "diverted": 4}
    cancelled = winter.read("clean_flights").where("status = 'cancelled'")
    assert cancelled.where("dep_delay IS NOT NULL OR arr_delay IS NOT NULL").count() == 0


@pytest.mark.iceberg
def test_a_late_weather_completes_the_day_when_it_is_run_again(spark: SparkSession, tmp_path: Path) -> None:
    project = FlightsProject(tmp_path, spark)
    project.land([date(2013, 12, 22)])
    project.run("clean_flights", "2013-12-22")
    project.run("delays_by_weather", "2013-12-22")
    assert {row["weather_complete"] for row in project.rows("delays_by_weather")} == {False}

    project.run("clean_weather", "2013-12-22")
    project.run("delays_by_weather", "2013-12-22")

    assert_same(project.tuples("delays_by_weather"), Reference(["2013-12-22"]).delays_by_weather())
    assert {row["weather_complete"] for row in project.rows("delays_by_weather")} == {True}


@pytest.mark.iceberg
def test_the_doubled_hour_keeps_its_later_reading(spark: SparkSession, tmp_path: Path) -> None:
    """2013-11-03: daylight saving ends, and each airport has two readings for the hour from 1 to 2."""
    project = FlightsProject(tmp_path, spark)
    project.land([END_OF_SUMMER_TIME])
    for program in ("clean_flights", "clean_weather", "delays_by_weather"):
        project.run(program, str(END_OF_SUMMER_TIME))
    expected = Reference([str(END_OF_SUMMER_TIME)])

    for table in ("clean_weather", "clean_flights", "delays_by_weather"):
        assert_same(project.tuples(table), getattr(expected, table)())
    readings, log = project.rows("clean_weather"), project.rows("weather_log")
    assert {(row["origin"], row["temp"]) for row in readings if row["hour"] == 1} == {
        ("EWR", 50.0),
        ("JFK", 51.98),
        ("LGA", 53.96),
    }
    assert len(readings) == 69
    assert [row["hour"] for row in log].count(1) == 6
    assert len(log) == 72
    # What the demo compacts: a few rows in each of several files.
    files = project.read("weather_log").select(sf.input_file_name()).distinct().count()
    assert files == LOG_FILES


@pytest.mark.iceberg
def test_programs_cope_with_feeds_that_have_never_come(spark: SparkSession, tmp_path: Path) -> None:
    project = FlightsProject(tmp_path, spark)
    for program, outputs in (("clean_flights", 1), ("clean_weather", 2), ("delays_by_weather", 1)):
        assert [one.rows for one in project.run(program, "2013-12-22")] == [0] * outputs
    assert [one.rows for one in project.run("refresh_reference")] == [0, 0, 0]
    assert [one.rows for one in project.run("carrier_report")] == [0]
    assert project.rows("carrier_report") == []
