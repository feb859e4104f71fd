"""One run of a program: what it reads, what it refuses, and what a second attempt does."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.flights.app import BY_AIRPORT, DAILY, FlightsProject
from tests.spark_jobs.frames import frame_of
from tidegate.domain.model import Dataset, Program
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.commit import publish as publishing
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.errors import OutputError, ProgramError
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.runner import run_program

pytestmark = pytest.mark.spark

DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(name="raw_flights", partitions=BY_AIRPORT, path="landing/flights"),
        Dataset(name="by_airport", partitions=BY_AIRPORT),
        Dataset(name="by_day", partitions=DAILY),
        Dataset(name="total"),
        Dataset(name="test/by_day", partitions=DAILY),
        Dataset(name="lake", partitions=DAILY, format="iceberg", write="append"),
    )
}


@dataclass
class Calls:
    """What the programs below were called with, and what they do."""

    seen: list[dict[str, int]] = field(default_factory=list[dict[str, int]])
    params: list[Any] = field(default_factory=list[Any])
    fail: bool = False


CALLS = Calls()


@pytest.fixture(autouse=True)
def calls() -> Iterator[Calls]:
    CALLS.__init__()
    yield CALLS


def count_keys(spark: SparkSession, inputs: dict[str, DataFrame | None], params: Any) -> DataFrame:
    """A program: the number of rows of each input, in one row without partition columns."""
    CALLS.params.append(params)
    CALLS.seen.append({name: -1 if frame is None else frame.count() for name, frame in inputs.items()})
    if CALLS.fail:
        raise RuntimeError("the program fails")
    return frame_of(spark, [(len(CALLS.seen),)], "attempt int")


def two_outputs(
    spark: SparkSession, inputs: dict[str, DataFrame | None], params: Any
) -> dict[str, DataFrame]:
    """A program with two outputs."""
    frame = count_keys(spark, inputs, params)
    return {"by_day": frame, "total": frame}


def wrong_kind(spark: SparkSession, inputs: dict[str, DataFrame | None], params: Any) -> object:
    """A program that returns something else."""
    return 7


class Runs:
    """Runs programs of this module over landed flights."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.spark = spark
        self.store = MemoryCommitStepStore()
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        FlightsProject(folder, spark).land([date(2013, 12, 22), date(2013, 12, 23)])

    def run(
        self,
        function: str,
        writes: str,
        *keys: str,
        reads: str = "raw_flights",
        commit: str = "c1",
        app: str = "test",
        elsewhere: tuple[str, ...] = (),
        **given: Any,
    ) -> tuple[PublishedPartition, ...]:
        program = Program(
            name="p", run=f"{__name__}.{function}", reads=tuple(reads.split()), writes=tuple(writes.split())
        )
        return run_program(
            self.spark,
            self.warehouse,
            self.store,
            app=app,
            program=program,
            datasets=DATASETS,
            elsewhere=elsewhere,
            params=Params(partitions=keys, **given),
            commit=commit,
        )


@pytest.fixture
def runs(tmp_path: Path, spark: SparkSession) -> Runs:
    return Runs(tmp_path, spark)


@pytest.mark.parametrize(
    ("writes", "keys", "rows_read"),
    [
        ("by_day", ("2013-12-22",), 895),  # all three airports of the day
        ("by_airport", ("2013-12-22|JFK",), 312),  # the same partition
        ("total", (), 895 + 985),  # everything
    ],
)
def test_a_run_reads_what_lies_inside_what_it_writes(
    runs: Runs, calls: Calls, writes: str, keys: tuple[str, ...], rows_read: int
) -> None:
    runs.run("count_keys", writes, *keys)
    assert calls.seen == [{"raw_flights": rows_read}]


def test_the_table_of_another_app_is_read_where_that_app_wrote_it(runs: Runs, calls: Calls) -> None:
    runs.run("count_keys", "by_day", "2013-12-22")
    runs.run("count_keys", "by_day", "2013-12-23", commit="c2")
    theirs = {"reads": "test/by_day", "app": "finance", "commit": "f1", "elsewhere": ("test/by_day",)}
    runs.run("count_keys", "total", **theirs)
    assert calls.seen[-1] == {"test/by_day": 2}


def test_data_of_another_project_that_is_not_here_is_an_error(runs: Runs, tmp_path: Path) -> None:
    place = f"{tmp_path}/warehouse/test/by_day"
    words = f"test/by_day belongs to another project, and no data of it is in {place}"
    with pytest.raises(ProgramError, match=words):
        runs.run("count_keys", "total", reads="test/by_day", app="finance", elsewhere=("test/by_day",))
    runs.run("count_keys", "total", reads="test/by_day", app="finance")


def test_a_coarser_input_is_read_around_the_output(runs: Runs, calls: Calls) -> None:
    runs.run("count_keys", "by_day", "2013-12-22")
    runs.run("count_keys", "by_day", "2013-12-23", commit="c2")
    runs.run("count_keys", "by_airport", "2013-12-23|JFK", reads="by_day total", commit="c3")
    assert calls.seen[-1] == {"by_day": 1, "total": -1}


def test_the_program_is_told_what_it_was_launched_for(runs: Runs, calls: Calls) -> None:
    given = {"args": {"x": [1]}, "manifest": {"raw_flights": ("2013-12-22|JFK",)}, "job": "j", "attempt": 2}
    runs.run("count_keys", "by_day", "2013-12-22", **given)
    (params,) = calls.params
    assert params.args == {"x": [1]}
    assert params.partitions == ("2013-12-22",)
    assert params.manifest == {"raw_flights": ("2013-12-22|JFK",)}
    assert (params.job, params.attempt) == ("j", 2)


def test_a_second_attempt_after_the_commit_repeats_nothing(runs: Runs, calls: Calls) -> None:
    """The run died after its commit and before it could report: same commit id, same answer."""
    first = runs.run("count_keys", "by_day", "2013-12-22")
    assert runs.run("count_keys", "by_day", "2013-12-22") == first
    assert len(calls.seen) == 1


@pytest.mark.iceberg
def test_an_append_is_made_once_for_each_commit_and_can_be_read(runs: Runs, calls: Calls) -> None:
    for commit in ("c1", "c1", "c2"):
        runs.run("count_keys", "lake", "2013-12-22", commit=commit)
    runs.run("count_keys", "total", reads="lake", commit="c3")
    assert calls.seen[-1] == {"lake": 2}
    assert len(calls.seen) == 3


def test_a_known_result_starts_no_spark(runs: Runs) -> None:
    first = runs.run("count_keys", "by_day", "2013-12-22")

    def no_session() -> SparkSession:
        raise AssertionError("a session was started")

    again = run_program(
        no_session,
        runs.warehouse,
        runs.store,
        app="test",
        program=Program(name="p", run="not.even.looked.at", writes=("by_day",)),
        datasets=DATASETS,
        params=Params(partitions=("2013-12-22",)),
        commit="c1",
    )
    assert again == first


def test_a_failed_attempt_leaves_nothing_and_the_next_one_runs(runs: Runs, calls: Calls) -> None:
    calls.fail = True
    with pytest.raises(RuntimeError, match="the program fails"):
        runs.run("count_keys", "by_day", "2013-12-22")
    calls.fail = False
    assert [one.rows for one in runs.run("count_keys", "by_day", "2013-12-22")] == [1]


def test_an_attempt_that_died_half_way_is_finished_by_the_next(
    runs: Runs, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(publishing, "finish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            runs.run("two_outputs", "by_day total", "2013-12-22")
    assert runs.store.list_unfinished("test/total") == ("c1",)

    # Another run that writes one of the two datasets finishes both, then does its own work.
    runs.run("count_keys", "total", commit="c2")

    assert runs.store.list_unfinished() == ()
    assert [one.dataset for one in runs.run("two_outputs", "by_day total", "2013-12-22")] == [
        "by_day",
        "total",
    ]
    assert len(calls.seen) == 2


@pytest.mark.parametrize(
    ("function", "writes", "keys", "message"),
    [
        ("count_keys", "by_day", (), "has partitions, but the run was launched without partitions to write"),
        ("count_keys", "by_day", ("2013-12-22|JFK",), "has no partition"),
        ("count_keys", "by_day by_airport", ("2013-12-22",), "has no partition"),
        ("count_keys", "unknown", (), "uses the dataset unknown, which app test does not declare"),
        ("count_keys", "by_day total", ("2013-12-22",), "returned one DataFrame, but writes 2 datasets"),
        (
            "two_outputs",
            "by_day",
            ("2013-12-22",),
            "return exactly the datasets named under `writes`: by_day",
        ),
        ("wrong_kind", "by_day", ("2013-12-22",), "returned int"),
        ("not_here", "by_day", ("2013-12-22",), "has no function not_here"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(
    runs: Runs, function: str, writes: str, keys: tuple[str, ...], message: str
) -> None:
    with pytest.raises((OutputError, ProgramError)) as caught:
        runs.run(function, writes, *keys)
    assert message in str(caught.value)
    assert caught.value.hint
    assert runs.store.list_unfinished() == ()


def only_noted(spark: SparkSession, inputs: dict[str, DataFrame | None], params: Any) -> dict[str, Any]:
    """A program without outputs."""
    CALLS.params.append(params)
    return {}


def test_a_program_without_outputs_is_called(spark: SparkSession, calls: Calls, tmp_path: Path) -> None:
    run_program(
        spark,
        Warehouse(path=tmp_path / "warehouse", project=tmp_path),
        MemoryCommitStepStore(),
        app="test",
        program=Program(name="notify", run=f"{__name__}.only_noted"),
        datasets={},
        params=Params(),
        commit="c1",
    )
    assert len(calls.params) == 1
