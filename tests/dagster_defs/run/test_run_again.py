"""Runs that are tried again, with real Spark and real tables: every row once, by whatever cause.

A program appends one row to one table and replaces a partition of another. A failure in it is put
at the worst places: before anything was promised, after all was promised, and after all was done.
Each test runs with one table, or with two that differ in what is right; with the others in a soak.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from dagster import AssetKey, DagsterInstance, ExecuteInProcessResult
from pyspark.sql import DataFrame, SparkSession

from tests.dagster_defs.instance import repository_of
from tests.dagster_defs.sample import DAILY, NOW, deploy, location_of
from tests.doubles.reference.store import ReferenceStore
from tests.effort import only
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.run import program_op
from tidegate.domain.model import App, Dataset, Program
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import Job, JobState, LaunchPlan
from tidegate.spark_jobs.commit import publish as publishing
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, dataset_ref
from tidegate.spark_jobs.publication.table import read

pytestmark = [pytest.mark.dagster, pytest.mark.spark]

DAY = "2023-03-09"
CALLS: list[str] = []
"""One entry for each time that the program was called."""

DATASETS = {
    "log": Dataset(name="log", partitions=DAILY, write="append"),
    "day": Dataset(name="day", partitions=DAILY),
    "iceberg": Dataset(name="iceberg", partitions=DAILY, format="iceberg", write="append"),
}
PROGRAMS = {
    name: Program(name=name, run=f"{__name__}.write", writes=writes)
    for name, writes in (("adds", ("log",)), ("replaces", ("day",)), ("adds_to_iceberg", ("iceberg",)))
}


def write(spark: SparkSession, inputs: Any, params: Any) -> DataFrame:
    """A program: one row, numbered by its call."""
    CALLS.append(params.job)
    return spark.createDataFrame([(len(CALLS),)], "call int")


@pytest.fixture(autouse=True)
def calls() -> Iterator[None]:
    CALLS.clear()
    yield


@pytest.fixture
def location(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Location:
    store = ReferenceStore()
    deploy(store, App(name="again", datasets=DATASETS, programs=PROGRAMS))
    # The tests' own session, not one by the location's settings.
    monkeypatch.setattr(program_op, "session", lambda _: spark)
    monkeypatch.setattr(program_op, "RETRY_WAIT_SECONDS", 0)
    return location_of(store, tmp_path)


class World:
    """Runs of one program, and what its table holds."""

    def __init__(
        self, location: Location, instance: DagsterInstance, spark: SparkSession, dataset: str
    ) -> None:
        self.location, self.instance, self.spark = location, instance, spark
        self.dataset = dataset
        self.ref: DatasetRef = dataset_ref("again", DATASETS[dataset])

    def run(
        self, parent: ExecuteInProcessResult | None = None, tags: dict[str, str] | None = None
    ) -> ExecuteInProcessResult:
        again = (
            {"dagster/parent_run_id": parent.run_id, "dagster/root_run_id": parent.run_id} if parent else {}
        )
        job = repository_of(self.location).get_job("__ASSET_JOB")
        chosen = job.get_subset(asset_selection={AssetKey(["again", self.dataset])})
        return chosen.execute_in_process(
            instance=self.instance, partition_key=DAY, tags={**(tags or {}), **again}, raise_on_error=False
        )

    @property
    def rows(self) -> list[int]:
        frame = read(self.spark, self.ref, self.location.warehouse)
        return sorted(row["call"] for row in frame.collect()) if frame is not None else []

    @property
    def events(self) -> int:
        with self.location.open_store().reading() as reader:
            return len(reader.events(key_prefix="partition:"))


def with_tables(*names: str) -> pytest.MarkDecorator:
    """The tables of a test; in a soak it has the others too."""
    return pytest.mark.parametrize("world", only(DATASETS, *names), indirect=True)


@pytest.fixture
def world(
    request: pytest.FixtureRequest, location: Location, instance: DagsterInstance, spark: SparkSession
) -> World:
    if request.param == "iceberg":
        # The session's catalog outlives the test.
        spark.sql("DROP TABLE IF EXISTS tidegate.again.iceberg")
    return World(location, instance, spark, request.param)


Break = Callable[[pytest.MonkeyPatch], None]


def before_put(patch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the run dies")

    patch.setattr(publishing, "_put", broken)


def after_put(patch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the run dies")

    patch.setattr(publishing, "finish", broken)


def after_all(patch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the run dies")

    patch.setattr(program_op, "report", broken)


FAILURES = [
    (name, dies, computed)
    for name in DATASETS
    for dies, computed in ((before_put, 2), (after_put, 1), (after_all, 1))
]


@pytest.mark.parametrize(
    ("world", "dies", "computed"),
    only(FAILURES, ("log", before_put, 2), ("iceberg", after_put, 1), ("day", after_all, 1)),
    indirect=["world"],
)
def test_run_again_after_a_failure_it_goes_on_where_it_was(
    world: World, monkeypatch: pytest.MonkeyPatch, dies: Break, computed: int
) -> None:
    with monkeypatch.context() as patch:
        dies(patch)
        first = world.run()
    assert not first.success

    second = world.run(parent=first)

    assert second.success
    assert (len(CALLS), len(world.rows), world.events) == (computed, 1, 1)


@with_tables("log", "day")
def test_run_again_after_a_success_only_what_is_replaced_is_computed_anew(world: World) -> None:
    first = world.run()

    second = world.run(parent=first)

    assert second.success
    said = "\n".join(entry.user_message for entry in world.instance.all_logs(second.run_id))
    if world.ref.write == "append":
        assert (world.rows, len(CALLS), world.events) == ([1], 1, 1)
        assert "is already published; skipping the run" in said
    else:
        assert (world.rows, len(CALLS), world.events) == ([2], 2, 2)
        assert "skipping the run" not in said


@with_tables("day", "iceberg")
def test_a_fresh_run_by_hand_is_new_work(world: World) -> None:
    world.run()
    world.run()

    assert world.rows == ([1, 2] if world.ref.write == "append" else [2])
    assert world.events == 2


@with_tables("iceberg")
def test_the_next_run_finishes_what_a_dead_one_has_promised(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        after_put(patch)
        world.run()

    assert world.run().success

    assert world.rows == ([1, 2] if world.ref.write == "append" else [2])
    assert world.events == 2
    reports = world.instance.fetch_materializations(AssetKey(["again", world.dataset]), limit=10).records
    descriptions = [
        record.asset_materialization and record.asset_materialization.description for record in reports
    ]
    assert sorted(map(str, descriptions)) == [
        "None",
        "published by a run that ended before it reported the partition",
    ]


@with_tables("log")
def test_a_retry_of_a_jobs_run_by_the_daemon_is_the_same_work(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dagster's automatic retry is a run of its own, with its parent's tags and two more."""
    program = next(name for name, one in PROGRAMS.items() if world.dataset in one.writes)
    launch = LaunchPlan(program=program, partitions=(DAY,))
    job = Job(id="again.s-1", schedule="again/s", state=JobState.PENDING_LAUNCH, opened_at=NOW, launch=launch)
    with world.location.open_store().transaction() as transaction:
        transaction.put_jobs([job])
    tags = {"tidegate/job": job.id, "tidegate/attempt": "1", "tidegate/program": f"again/{program}"}
    with monkeypatch.context() as patch:
        after_put(patch)
        first = world.run(tags=tags)

    second = world.run(parent=first, tags={**tags, "dagster/retry_number": "1"})
    third = world.run(parent=first, tags={**tags, "dagster/retry_number": "2"})

    assert (first.success, second.success, third.success) == (False, True, True)
    assert (world.rows, len(CALLS), world.events) == ([1], 1, 1)
    assert world.location.open_commits().result(job.id) is not None


INSTANCE = Instance(
    key="2023-03-10", scheduled=NOW, start=NOW, business=NOW - timedelta(days=1), business_date=DAY
)


def instance_of(world: World, **changes: Any) -> dict[str, str]:
    """An instance of a task whose launch is decided; returns the tags of its run."""
    program = next(name for name, one in PROGRAMS.items() if world.dataset in one.writes)
    launch = LaunchPlan(program=program, partitions=(DAY,))
    job = Job(
        id="again.nightly-0123456789ab",
        schedule="again/nightly",
        state=JobState.PENDING_LAUNCH,
        opened_at=NOW,
        launch=launch,
        instance=INSTANCE,
        **changes,
    )
    with world.location.open_store().transaction() as transaction:
        transaction.put_jobs([job])
    tags = {"tidegate/job": job.id, "tidegate/attempt": str(job.attempt), "tidegate/program": program}
    return tags if job.commit == 1 else {**tags, "tidegate/commit": f"{job.id}.r{job.commit}"}


@with_tables("iceberg")
def test_an_instance_that_is_run_again_publishes_again_under_another_id(world: World) -> None:
    assert world.run(tags=instance_of(world)).success

    again = world.run(tags=instance_of(world, attempt=2, commit=2))

    assert again.success
    assert (world.rows, len(CALLS)) == ([1, 2] if world.ref.write == "append" else [2], 2)
    assert world.events == 2
    commits = world.location.open_commits()
    for commit in ("again.nightly-0123456789ab", "again.nightly-0123456789ab.r2"):
        assert commits.result(commit) is not None


@with_tables("log")
def test_a_retry_of_an_instance_that_is_run_again_is_the_same_work(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        after_put(patch)
        assert not world.run(tags=instance_of(world, attempt=2, commit=2)).success

    assert world.run(tags=instance_of(world, attempt=3, commit=2)).success

    assert (world.rows, len(CALLS), world.events) == ([1], 1, 1)


@with_tables("iceberg")
def test_a_run_whose_instance_was_paused_while_it_worked_publishes_nothing_and_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.location.open_commits(), "_over", lambda _: True)

    fenced = world.run(tags=instance_of(world))

    assert not fenced.success
    (event,) = [event for event in fenced.all_events if event.is_step_failure]
    assert "was paused or is run again, so its attempt is over" in str(event.step_failure_data)
    assert (world.rows, world.events, len(CALLS)) == ([], 0, 1)
    assert world.location.open_commits().list_unfinished() == ()


@with_tables("log")
def test_a_step_that_is_retried_in_its_run_is_the_same_work(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish, tries = publishing.finish, iter([True])

    def cut(*arguments: Any) -> Any:
        if next(tries, False):
            raise ConnectionResetError("the file system went away")
        return finish(*arguments)

    monkeypatch.setattr(publishing, "finish", cut)

    assert world.run().success
    assert (world.rows, len(CALLS), world.events) == ([1], 1, 1)


@with_tables("iceberg")
def test_after_its_commit_was_abandoned_a_run_computes_anew(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        after_put(patch)
        first = world.run()
    commits = world.location.open_commits()
    (commit,) = commits.list_unfinished()
    assert commits.abandon(commit, "wrong rows", NOW)

    second = world.run(parent=first)
    third = world.run(parent=first)

    assert (second.success, third.success) == (True, True)
    assert (world.rows, len(CALLS), world.events) == ([2], 2, 1)
