"""The main job, whole: feeds land, the real daemon reacts, real Spark publishes, tables equal pandas.

On three days with the daemon killed in the middle; with more effort (`tests.effort`) also undisturbed, on the
default days, as `make demo` runs it.
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from dagster import DagsterInstance
from pyspark.sql import SparkSession

from tests.effort import some
from tests.spark_jobs.flights.reference import Reference, Row
from tests.spark_jobs.flights.test_flights import assert_same, collected
from tidegate.demo.feed import days_from, feed_plan
from tidegate.demo.project import make_project, replacements
from tidegate.demo.run import REFERENCE, WEEKLY, Demo
from tidegate.project.settings.settings import Settings
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store

pytestmark = [
    pytest.mark.spark,
    pytest.mark.dagster,
    pytest.mark.timeout(900),
]


SUMMARY = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from tidegate.scheduler.store.open import open_store
from tidegate.demo.summary import print_summary
from tidegate.project.settings.settings import load_settings

settings = load_settings(Path(sys.argv[1]))
with open_store(settings.store_url).reading() as reader:
    print_summary(reader, settings, datetime.now(UTC), print)
"""


class Finished:
    """What a demo left behind."""

    def __init__(self, settings: Settings, demo: Demo, days: Sequence[date]) -> None:
        self.settings = settings
        self.days = [str(day) for day in days]
        self.jobs = demo.jobs()
        with demo.store.reading() as reader:
            self.ledger = reader.ledger()
            self.events = reader.events(limit=100_000)
        store = open_sql_store(settings.store_url)
        commits = SqlCommitStepStore(store.engine)
        self.unfinished = commits.list_unfinished()
        self.watermarks = dict(commits.watermarks("flights/clean_flights", "flights/raw_flights"))
        store.close()
        with DagsterInstance.from_config(str(demo.site.home)) as instance:
            self.dagster_runs = instance.get_runs()
            self.reported = {
                name: instance.get_materialized_partitions(_asset(name))
                for name in ("raw_flights", "raw_weather")
            }

    def table(self, spark: SparkSession, name: str) -> list[Row]:
        """The rows of a published table, as any other reader of Iceberg finds them by its folder."""
        folder = Path(self.settings.warehouse) / "flights" / name
        return collected(spark.read.format("iceberg").load(str(folder)))


def _asset(name: str):
    from dagster import AssetKey

    return AssetKey(["flights", name])


def run_demo(folder: Path, days: Sequence[date], disturb: Callable[[Demo], None]) -> Finished:
    """A demo from start to rest."""
    settings = make_project(folder / "project", replacements(datetime.now(UTC)))
    with Demo(settings, disturb) as demo:
        demo.deploy()
        demo.start()
        demo.land(feed_plan(days, seed=1))
        demo.settle([str(day) for day in days])
        return Finished(settings, demo, days)


class Killer:
    """Kills the daemon once, when the first runs have ended and others are under way, and starts it again."""

    def __init__(self) -> None:
        self.killed_with: Counter[str] = Counter()

    def __call__(self, demo: Demo) -> None:
        states = Counter(str(job.state) for job in demo.jobs())
        if self.killed_with or not states[JobState.SUCCEEDED] or not states[JobState.LAUNCHED]:
            return
        self.killed_with = states
        demo.daemon.kill()
        demo.daemon = demo.processes.start_daemon()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The default demo."""
    days = days_from(date(2013, 12, 22), 10)
    return run_demo(tmp_path_factory.mktemp("undisturbed"), days, lambda demo: None)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Three days, among them the short one and the one without weather; the daemon dies in the middle."""
    killer = Killer()
    finished = run_demo(tmp_path_factory.mktemp("killed"), days_from(date(2013, 12, 29), 3), killer)
    assert killer.killed_with, "the demo ended before the daemon could be killed"
    return finished


@pytest.fixture(params=some(["killed", "undisturbed"], 1), scope="module")
def finished(request: pytest.FixtureRequest) -> Iterator[Finished]:
    yield request.getfixturevalue(request.param)


@pytest.mark.parametrize("table", ["clean_flights", "clean_weather", "delays_by_weather", "carrier_report"])
def test_the_tables_equal_pandas_row_for_row(finished: Finished, spark: SparkSession, table: str) -> None:
    expected = getattr(Reference(finished.days), table)()

    assert_same(finished.table(spark, table), expected)


@pytest.mark.parametrize("table", ["planes", "airlines", "airports"])
def test_the_reference_tables_equal_their_files(finished: Finished, spark: SparkSession, table: str) -> None:
    assert_same(finished.table(spark, table), Reference.reference_table(table))


def test_every_landed_file_of_flights_was_loaded_once(finished: Finished) -> None:
    parts = [f"{day}|{origin}" for day in finished.days for origin in ("EWR", "JFK", "LGA")]

    assert {part: mark.number for part, mark in finished.watermarks.items()} == dict.fromkeys(parts, 1)
    assert finished.unfinished == ()


def test_no_job_runs_twice(finished: Finished) -> None:
    tagged = Counter(run.tags["tidegate/job"] for run in finished.dagster_runs if "tidegate/job" in run.tags)
    launched = {job.id for job in finished.jobs if job.launched_at is not None}

    assert set(tagged) == launched
    assert set(tagged.values()) == {1}


def test_every_job_that_was_launched_succeeded(finished: Finished) -> None:
    assert {job.state for job in finished.jobs} == {JobState.SUCCEEDED}


def test_every_landed_delivery_is_an_event_and_none_is_lost(finished: Finished) -> None:
    expected = {
        "raw_flights": {f"{day}|{origin}" for day in finished.days for origin in ("EWR", "JFK", "LGA")},
        "raw_weather": {day for day in finished.days if day != "2013-12-31"},
    }
    assert finished.reported == expected
    for dataset, keys in expected.items():
        key = f"partition:flights/{dataset}"
        assert {event.partition for event in finished.events if event.key == key} == keys


def test_the_ledger_balances_with_nothing_pending(finished: Finished) -> None:
    rows = {row.schedule: row for row in finished.ledger}
    days = len(finished.days)
    weather = days - ("2013-12-31" in finished.days)

    assert rows["flights/clean_flights_daily"].consumed == 3 * days
    assert rows["flights/clean_weather_as_it_comes"].consumed == weather
    assert all(row.pending == 0 for row in rows.values())
    # The only events without a run are those of the schedule that is suspended.
    given_up = {name: row.discarded for name, row in rows.items() if row.discarded}
    assert set(given_up) == {"flights/carrier_report_after_each_day"}
    assert set(given_up["flights/carrier_report_after_each_day"]) == {"D-SUSPENDED"}


def test_at_most_two_days_of_flights_were_cleaned_at_once(finished: Finished) -> None:
    spans = [
        (job.decided_at, job.ended_at)
        for job in finished.jobs
        if job.schedule == "flights/clean_flights_daily"
    ]
    for start, _ in spans:
        running = [span for span in spans if span[0] <= start < span[1]]
        assert len(running) <= 2


def test_the_day_without_weather_ran_after_its_wait(finished: Finished) -> None:
    job = _job(finished.jobs, "flights/delays_by_weather_nightly", "2013-12-31")

    assert job.launch is not None
    assert set(job.launch.manifest) == {"clean_flights"}
    assert job.first_event_at is not None and job.satisfied_at is not None
    assert (job.satisfied_at - job.first_event_at).total_seconds() == 60


def test_the_report_and_the_reference_ran(finished: Finished) -> None:
    schedules = Counter(job.schedule for job in finished.jobs)

    assert schedules[REFERENCE] == 1
    assert schedules[WEEKLY] >= 1


def test_the_summary_reads_the_report_from_the_published_table(finished: Finished) -> None:
    """In a process of its own, as the command is: the session of the tests knows another warehouse."""
    said = subprocess.run(
        [sys.executable, "-c", SUMMARY, str(finished.settings.project)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()

    report = said[said.index("The first rows of carrier_report") :]
    first = max(Reference(finished.days).carrier_report(), key=lambda row: int(str(row[3])))
    assert report[3].split()[0] == first[0]
    assert str(first[3]) in report[3].split()


def _job(jobs: Sequence[Job], schedule: str, key: str) -> Job:
    return next(job for job in jobs if job.schedule == schedule and job.key == key)
