"""The main job, whole: feeds land, the real daemon reacts, real Spark publishes, tables equal pandas.

While its processes are killed at random and files go on landing (`chaos`): two days, and more of them with
more effort (`tests.effort`); then also undisturbed, on the default days, as `make demo` runs it.
"""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from dagster import DagsterEventType, DagsterInstance
from pyiceberg.table import StaticTable

from tests.demo.chaos import KILLS, Chaos
from tests.effort import longer, much, some
from tests.spark_jobs.flights.reference import Reference, Row
from tests.spark_jobs.flights.test_flights import assert_same
from tidegate.demo.feed import Chunk, days_from, feed_plan
from tidegate.demo.project import PATIENCE, make_project, replacements
from tidegate.demo.run import BACKFILLED_DAYS, REFERENCE, WEEKLY, Demo
from tidegate.demo.summary import print_summary
from tidegate.project.settings.settings import Settings
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.maintenance import Ending, OperationRun
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.sql.open import open_sql_store

pytestmark = [
    pytest.mark.spark,
    pytest.mark.iceberg,
    pytest.mark.dagster,
    pytest.mark.endurance,
    pytest.mark.timeout(longer(900)),
]

SEED = 1
CLEANED_SECONDS = 150
"""The recovery job runs each minute, and takes a Spark session."""

POLL_SECONDS = 10

PATIENCE_WITH_KILLS = timedelta(seconds=60)
"""Weather is cleaned late where its runs are killed; the join must wait for it all the same."""

LAST_DAY = date(2013, 12, 31)
KILLED_DAYS = min(10, much(2))
"""How many days land while processes are killed, the last ones of the year: the short one is among them."""


class Finished:
    """What a demo left behind."""

    def __init__(
        self,
        settings: Settings,
        demo: Demo,
        days: Sequence[date],
        compacted: OperationRun,
        found_by_fsck: str,
        patience: timedelta,
    ) -> None:
        self.settings = settings
        self.patience = patience
        self.compacted = compacted
        self.found_by_fsck = found_by_fsck
        self.days = [str(day) for day in days]
        self.jobs = demo.jobs()
        with demo.store.reading() as reader:
            self.ledger = reader.ledger()
            self.events = reader.events(limit=100_000)
            self.claims = {entry.run_id for entry in reader.journal() if entry.kind is EntryKind.CLAIM}
        store = open_sql_store(settings.store_url)
        commits = SqlCommitStepStore(store.engine)
        self.unfinished = commits.list_unfinished()
        self.watermarks = dict(commits.watermarks("flights/clean_flights", "flights/raw_flights"))
        store.close()
        with DagsterInstance.from_config(str(demo.site.home)) as instance:
            self.records = instance.get_run_records()
            self.dagster_runs = [record.dagster_run for record in self.records]
            self.published = {
                run.run_id
                for run in self.dagster_runs
                if instance.all_logs(run.run_id, of_type=DagsterEventType.ASSET_MATERIALIZATION)
            }
            self.reported = {
                name: instance.get_materialized_partitions(_asset(name))
                for name in ("raw_flights", "raw_weather")
            }

    def table(self, name: str) -> list[Row]:
        """The rows of a published table, as a reader of Iceberg without Spark finds them by its folder."""
        folder = Path(self.settings.warehouse) / "flights" / name
        rows = StaticTable.from_metadata(str(folder)).scan().to_arrow().to_pylist()
        return [tuple(_plain(value) for value in row.values()) for row in rows]


def _plain(value: object) -> object:
    """An instant as naive UTC, as the reference has it."""
    return value.astimezone(UTC).replace(tzinfo=None) if isinstance(value, datetime) else value


def _asset(name: str):
    from dagster import AssetKey

    return AssetKey(["flights", name])


def found_by_fsck(settings: Settings) -> str:
    """What `tidegate commits fsck` finds, as soon as the recovery job has left nothing, or after a while."""
    until = time.monotonic() + CLEANED_SECONDS
    _await_recovery(settings, until)
    while True:
        command = [sys.executable, "-m", "tidegate.cli.main", "commits", "fsck"]
        answer = subprocess.run(
            command, cwd=settings.project, check=False, capture_output=True, text=True, timeout=300
        )
        if answer.returncode == 0 or time.monotonic() > until:
            return (answer.stdout + answer.stderr * answer.returncode).strip()
        time.sleep(POLL_SECONDS)


def _await_recovery(settings: Settings, until: float) -> None:
    """Wait until no attempt and no sequence is open, for which the store needs no Spark."""
    with closing(open_sql_store(settings.store_url)) as store:
        commits = SqlCommitStepStore(store.engine)
        while (commits.attempts() or commits.list_unfinished()) and time.monotonic() < until:
            time.sleep(POLL_SECONDS)


def run_demo(
    folder: Path,
    days: Sequence[date],
    disturb: Callable[[Demo], None],
    land: Callable[[Demo, Sequence[Chunk]], None] = Demo.land,
    patience: timedelta = PATIENCE,
) -> Finished:
    """A demo from start to rest.

    Args:
        disturb: called at every poll, and after each delivery.
        land: lands the deliveries.
        patience: how long the join waits for missing weather.
    """
    settings = make_project(folder / "project", replacements(datetime.now(UTC), patience))
    with Demo(settings, disturb) as demo:
        demo.deploy()
        demo.start()
        land(demo, feed_plan(days, seed=1))
        demo.settle([str(day) for day in days])
        demo.backfill([str(day) for day in days])
        return Finished(settings, demo, days, demo.maintain(), found_by_fsck(settings), patience)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The default demo."""
    days = days_from(date(2013, 12, 22), 10)
    return run_demo(tmp_path_factory.mktemp("undisturbed"), days, lambda demo: None)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Some days, among them the short one and the one without weather, while processes are killed."""
    chaos = Chaos(seed=SEED)
    days = days_from(LAST_DAY - timedelta(days=KILLED_DAYS - 1), KILLED_DAYS)
    finished = run_demo(tmp_path_factory.mktemp("killed"), days, chaos, chaos.land, PATIENCE_WITH_KILLS)
    assert chaos.killed.total() == KILLS, f"the demo ended after {chaos.killed}"
    return finished


@pytest.fixture(params=some(["killed", "undisturbed"], 1), scope="module")
def finished(request: pytest.FixtureRequest) -> Iterator[Finished]:
    yield request.getfixturevalue(request.param)


@pytest.mark.parametrize("table", ["clean_flights", "clean_weather", "delays_by_weather", "carrier_report"])
def test_the_tables_equal_pandas_row_for_row(finished: Finished, table: str) -> None:
    expected = getattr(Reference(finished.days), table)()

    assert_same(finished.table(table), expected)


def test_the_backfill_equals_pandas_row_for_row(finished: Finished) -> None:
    expected = Reference(finished.days[:BACKFILLED_DAYS]).daily_totals()

    assert_same(finished.table("daily_totals"), expected)


def test_the_log_of_readings_is_compacted_and_has_each_of_them_once(finished: Finished) -> None:
    """No hour is repeated in winter, so the log has the rows of the cleaned table."""
    compacted = finished.compacted
    assert compacted.ending is Ending.SUCCEEDED
    assert (compacted.after["files"], compacted.changed) == (1, compacted.before["files"] > 1)
    assert_same(finished.table("weather_log"), Reference(finished.days).clean_weather())


@pytest.mark.parametrize("table", ["planes", "airlines", "airports"])
def test_the_reference_tables_equal_their_files(finished: Finished, table: str) -> None:
    assert_same(finished.table(table), Reference.reference_table(table))


def test_every_landed_file_of_flights_was_loaded_once(finished: Finished) -> None:
    parts = [f"{day}|{origin}" for day in finished.days for origin in ("EWR", "JFK", "LGA")]

    assert {part: mark.number for part, mark in finished.watermarks.items()} == dict.fromkeys(parts, 1)
    assert finished.unfinished == ()


def test_no_job_runs_twice(finished: Finished) -> None:
    """A run of its own for each attempt, and no further attempt after a success.

    A host and a dispatcher may both make a run while one takes over from the other; one of them claims the
    attempt. A job that recovery has finished may wait for an attempt that never gets a run.
    """
    of_jobs = [
        run
        for run in finished.dagster_runs
        if "tidegate/job" in run.tags and "tidegate/operation" not in run.tags
    ]
    worked = [run for run in of_jobs if run.run_id in finished.claims]
    attempts = Counter((run.tags["tidegate/job"], int(run.tags["tidegate/attempt"])) for run in worked)
    succeeded = Counter(run.tags["tidegate/job"] for run in worked if run.is_success)

    assert set(attempts.values()) == {1}
    assert set(succeeded.values()) == {1}
    assert [run.run_id for run in of_jobs if run not in worked and run.run_id in finished.published] == []
    for job in finished.jobs:
        made = {int(run.tags["tidegate/attempt"]) for run in of_jobs if run.tags["tidegate/job"] == job.id}
        last = job.attempt if job.launched_at is not None else len(made)
        assert made == set(range(1, last + 1))
        well = job.reason is Reason.D_REPAIRED or job.detail.startswith("recovery finished the publish")
        assert succeeded[job.id] or not made or well


def test_nothing_is_left_over(finished: Finished) -> None:
    """No unfinished sequence, no attempt of a dead run, no orphaned staging."""
    assert finished.found_by_fsck == "no problems found"


def test_every_job_that_was_launched_succeeded(finished: Finished) -> None:
    """On a slow machine the repair of a job may begin before the job itself, which is discarded then."""
    ends = {job.state if job.reason is None else job.reason for job in finished.jobs}
    assert JobState.SUCCEEDED in ends and ends <= {JobState.SUCCEEDED, Reason.D_REPAIRED}


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
    # The only events without a run are those of the schedule that is suspended; others may be in a repair.
    given_up = {(name, reason) for name, row in rows.items() for reason in row.discarded}
    assert {each for each in given_up if each[1] != Reason.D_REPAIRED} == {
        ("flights/carrier_report_after_each_day", "D-SUSPENDED")
    }


def test_at_most_two_days_of_flights_were_cleaned_at_once(finished: Finished) -> None:
    """By the runs: a job that waits for another attempt, or for its recovery, holds no slot."""
    spans = [
        (record.start_time or 0.0, record.end_time or 0.0)
        for record in finished.records
        if record.dagster_run.tags.get("tidegate/schedule") == "flights/clean_flights_daily"
        and record.dagster_run.run_id in finished.claims
    ]
    assert len(spans) >= len(finished.days)
    for start, _ in spans:
        running = [span for span in spans if span[0] <= start < span[1]]
        assert len(running) <= 2


def test_the_day_without_weather_ran_after_its_wait(finished: Finished) -> None:
    job = _job(finished.jobs, "flights/delays_by_weather_nightly", "2013-12-31")

    assert job.launch is not None
    assert set(job.launch.manifest) == {"clean_flights"}
    assert job.first_event_at is not None and job.satisfied_at is not None
    assert job.satisfied_at - job.first_event_at == finished.patience


def test_the_report_and_the_reference_ran(finished: Finished) -> None:
    schedules = Counter(job.schedule for job in finished.jobs)

    # One by its cron and one by hand, if its minute comes while the files land.
    assert schedules[REFERENCE] in (1, 2)
    assert schedules[WEEKLY] >= 1


def test_the_summary_reads_the_report_from_the_published_table(
    finished: Finished, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a reader that knows nothing of Spark."""
    with closing(open_store(finished.settings.store_url)) as store, store.reading() as reader:
        print_summary(reader, finished.settings, datetime.now(UTC), print)
    said = capsys.readouterr().out.splitlines()

    report = said[said.index("The first rows of carrier_report") :]
    first = max(Reference(finished.days).carrier_report(), key=lambda row: int(str(row[3])))
    assert report[3].split()[0] == first[0]
    assert str(first[3]) in report[3].split()


def _job(jobs: Sequence[Job], schedule: str, key: str) -> Job:
    return next(job for job in jobs if job.schedule == schedule and job.key == key)
