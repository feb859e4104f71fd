"""The tasks of the flights example that the demo leaves out: each is launched, and equals pandas.

A backfill makes the instances; the dispatcher asks for their runs, and Dagster executes these in this
process, in the Spark session of the tests. Only the clean tables are written without the engine.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pandas as pd
import pytest
from dagster import AssetKey, DagsterInstance
from pyspark.sql import SparkSession

from tests.dagster_defs.instance import evaluate, repository_of
from tests.doubles.reference.store import ReferenceStore
from tests.spark_jobs.flights.app import FlightsProject
from tests.spark_jobs.flights.reference import Reference, Row
from tests.spark_jobs.flights.test_flights import assert_same
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.run import program_op
from tidegate.scheduler.commands.backfills.request import Wanted
from tidegate.scheduler.commands.backfills.start import start_backfill
from tidegate.scheduler.commands.by_hand.manual import resume
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.tasks.instances import InstanceName, act
from tidegate.scheduler.decision.instances.actions import Action, status_of
from tidegate.scheduler.model.instance import Status
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import By

pytestmark = [pytest.mark.spark, pytest.mark.dagster, pytest.mark.iceberg]

EXAMPLE = Path(__file__).parents[2] / "schedules/flights.yaml"
BY = By(actor="test")

DAYS = [date(2013, 11, 30), date(2013, 12, 22), date(2013, 12, 30)]
"""The first is in another month, the last in another week: its readings end with the hour 18."""

OF_WEEK, OF_MONTH = DAYS[1:2], DAYS[1:]
HOURS = [f"2013-12-30-{hour:02}:00" for hour in (0, 12, 23)]

CLEAN_FLIGHTS = (
    "date origin carrier flight tailnum dest hour scheduled_at status dep_delay arr_delay air_time distance"
)
CLEAN_WEATHER = (
    "date origin hour observed_at temp dewp humid wind_dir wind_speed wind_gust precip pressure visib"
)

ROUNDS_MAX = 10
"""A round launches what is ready: the hours at once, then each lot of the others."""


class Airline:
    """The example, deployed, with some days of clean flights and weather."""

    def __init__(self, project: FlightsProject, instance: DagsterInstance) -> None:
        self.project = project
        self.instance = instance
        self.store = ReferenceStore()
        text = EXAMPLE.read_text("utf-8").replace("app: flights\n", f"app: {project.app}\n")
        compiled = compile_files({"flights.yaml": text.encode()})
        assert compiled.ok, compiled.diagnostics
        with self.store.transaction() as transaction:
            deploy(transaction, {project.app: compiled.apps[project.app].app}, self.now(), by=CLI)
            resume(transaction, f"{project.app}/weather_by_hour", self.now(), by=CLI)

    @staticmethod
    def now() -> datetime:
        return datetime.now(UTC)

    def backfill(self, task: str, first: str, last: str) -> int:
        """Make the instances of one task; returns the number of the backfill."""
        wanted = Wanted(app=self.project.app, task=task, from_=first, to=last, lot=7)
        with self.store.transaction() as transaction:
            return start_backfill(transaction, wanted, self.now(), BY).number

    def mark(self, task: str, number: int, keys: list[str]) -> None:
        """Mark instances of a backfill as successful, by business date."""
        with self.store.transaction() as transaction:
            for key in keys:
                name = InstanceName(business_date=key, number=number)
                act(
                    transaction,
                    f"{self.project.app}/{task}",
                    name,
                    Action.MARK_SUCCESSFUL,
                    self.now(),
                    BY,
                )

    def run_all(self) -> None:
        """Execute what the dispatcher asks for, until it asks for nothing more."""
        location = Location(
            open_store=lambda: self.store,
            open_commits=lambda: self.project.store,
            warehouse=self.project.warehouse,
            clock=self.now,
        )
        repository = repository_of(location)
        job = repository.get_job("__ASSET_JOB")
        for _ in range(ROUNDS_MAX):
            asked = evaluate(self.instance, repository).run_requests or ()
            requests = [each for each in asked if "tidegate/task" in each.tags]
            if not requests:
                return
            for each in requests:
                chosen = job.get_subset(asset_selection=set(each.asset_selection or ()))
                result = chosen.execute_in_process(
                    instance=self.instance, partition_key=each.partition_key, tags=each.tags
                )
                assert result.success
        raise AssertionError("the dispatcher goes on asking for runs")

    def instances(self, task: str) -> list[Job]:
        """The instances of a task without its empty runs, by their business dates."""
        with self.store.reading() as reader:
            jobs = reader.jobs(schedules=[f"{self.project.app}/{task}"])
        return sorted(
            (job for job in jobs if not job.of_task.empty), key=lambda job: job.of_task.business_date
        )

    def table(self, name: str) -> list[Row]:
        return self.project.tuples(name)

    def materialised(self, name: str) -> set[str]:
        return self.instance.get_materialized_partitions(AssetKey([self.project.app, name]))


@pytest.fixture(scope="module")
def airline(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Airline]:
    """The week, the month and three hours are done."""
    project = FlightsProject(tmp_path_factory.mktemp("flight tasks"), spark)
    project.land(DAYS)
    for program in ("clean_flights", "daily_totals", "clean_weather"):
        project.run(program, *map(str, DAYS))
    with pytest.MonkeyPatch.context() as patch, DagsterInstance.ephemeral() as instance:
        patch.setattr(program_op, "session", lambda settings: spark)
        made = Airline(project, instance)
        hours = made.backfill("weather_by_hour", "2013-12-30", "2013-12-30")
        others = [f"2013-12-30-{hour:02}:00" for hour in range(24)]
        made.mark("weather_by_hour", hours, [key for key in others if key not in HOURS])
        made.backfill("carrier_week", "2013-12-22", "2013-12-28")
        made.backfill("month_close", "2013-12-31", "2013-12-31")
        made.run_all()
        yield made


def clean(name: str, columns: str, days: list[date]) -> pd.DataFrame:
    rows = getattr(Reference([str(day) for day in days]), name)()
    return pd.DataFrame(rows, columns=pd.Index(columns.split()))


def rows_of(partition: str, grouped: pd.DataFrame) -> list[Row]:
    """The rows of a partition: its key, the group, and the sums."""
    return [(partition, *row) for row in grouped.reset_index().itertuples(index=False, name=None)]


def test_each_instance_was_launched_once_and_is_successful(airline: Airline) -> None:
    found = {
        task: [(job.of_task.business_date, job.of_task.attempt) for job in airline.instances(task)]
        for task in ("carrier_week", "month_close")
    }
    assert found == {"carrier_week": [("2013-12-28", 1)], "month_close": [("2013-12-31", 1)]}
    hours = airline.instances("weather_by_hour")
    assert [job.of_task.business_date for job in hours if not job.of_task.marked] == HOURS
    jobs = [*hours, *airline.instances("carrier_week"), *airline.instances("month_close")]
    assert {status_of(job) for job in jobs} == {Status.SUCCESSFUL}
    launched = [job.id for job in jobs if not job.of_task.marked]
    assert {job for job in launched if airline.project.store.result(job) is None} == set()
    assert len(airline.instance.get_runs()) == len(launched) == 5
    assert airline.project.store.list_unfinished() == ()


def test_an_hour_has_the_readings_of_its_business_hour(airline: Airline) -> None:
    weather = clean("clean_weather", CLEAN_WEATHER, DAYS[-1:])
    expected = [
        (f"2013-12-30-{hour:02}:00", *reading)
        for hour, *reading in weather[["hour", "origin", "temp", "wind_speed", "precip"]].itertuples(
            index=False, name=None
        )
        if f"2013-12-30-{hour:02}:00" in HOURS
    ]
    assert {row[0] for row in expected} == set(HOURS[:2]), "the readings of that day end before 23:00"
    assert_same(airline.table("weather_by_hour"), expected)
    assert airline.materialised("weather_by_hour") == set(HOURS)


def test_a_week_has_the_flights_of_its_days_by_carrier(airline: Airline) -> None:
    by_carrier = clean("clean_flights", CLEAN_FLIGHTS, OF_WEEK).groupby("carrier")
    expected = rows_of("2013-12-22", by_carrier.agg(flights=("date", "size")))
    assert_same(airline.table("carrier_week"), expected)
    assert airline.materialised("carrier_week") == {"2013-12-22"}


def test_a_month_has_the_sums_of_its_days_by_airport(airline: Airline) -> None:
    flights = clean("clean_flights", CLEAN_FLIGHTS, OF_MONTH)
    by_airport = flights.assign(cancelled=flights.status == "cancelled").groupby("origin")
    summed = by_airport.agg(
        days=("date", "nunique"), flights=("date", "size"), cancelled=("cancelled", "sum")
    )
    expected = rows_of("2013-12-01", summed)
    assert_same(airline.table("month_close"), expected)
    assert airline.materialised("month_close") == {"2013-12-01"}


@pytest.mark.parametrize(
    ("program", "key"),
    [
        ("weather_by_hour", "2013-12-24-05:00"),
        ("carrier_week", "2013-12-15"),
        ("month_close", "2013-01-01"),
    ],
)
def test_without_any_input_a_task_publishes_no_rows(
    spark: SparkSession, tmp_path: Path, program: str, key: str
) -> None:
    project = FlightsProject(tmp_path, spark)
    assert [one.rows for one in project.run(program, key)] == [0]
    assert project.rows(program) == []
