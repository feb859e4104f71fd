"""A program writes three tables and one of them is lost: what happens to the other two.

A person abandons one output, and the rest is finished; or the whole commit, and the next run of the work
writes only what is not published. The commands run as from a shell, on tables that Spark has written: in
one format, and in the other in a soak.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.effort import only
from tests.spark_jobs.iceberg.house import DAILY
from tests.tidegate.promised import now, run
from tidegate.cli.commits.project import CommitsProject
from tidegate.domain.error import UserError
from tidegate.domain.model import App, Dataset, Program
from tidegate.domain.model.table_format import DatasetFormat
from tidegate.domain.published import PublishedPartition
from tidegate.project.environment import PROJECT_VARIABLE, STORE_VARIABLE
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.intake.published import PublishedEvents
from tidegate.scheduler.model.deployed import APPS, DeployedApp
from tidegate.scheduler.model.event import publish_event_id
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.spark_jobs.attempt import Output, OutputAttempt
from tidegate.spark_jobs.commit import publish as publishing
from tidegate.spark_jobs.commit.outputs import outputs_in
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication.table import read
from tidegate.spark_jobs.runner import run_program

pytestmark = pytest.mark.spark

DAY = "2013-12-22"
NAMES = ("a", "b", "c")
_apps = (f"three{number}" for number in count())


def write_three(spark: SparkSession, inputs: object, params: Any) -> dict[str, DataFrame]:
    """A program: one row with the number of the run for each of its outputs."""
    frame = spark.createDataFrame([(params.args["run"],)], "run int")
    return dict.fromkeys(NAMES, frame)


class Died(Exception):
    """The process ends here."""


def dies(*_: object, **__: object) -> None:
    raise Died


@dataclass(frozen=True, kw_only=True)
class Three:
    """A project in which one program appends to three tables."""

    app: App
    spark: SparkSession
    engine_store: SqlStore
    warehouse: Warehouse

    @property
    def commits(self) -> SqlCommitStepStore:
        return SqlCommitStepStore(self.engine_store.engine)

    def run(self, number: int) -> tuple[PublishedPartition, ...]:
        """The run with the commit id cN, which appends the row N."""
        return run_program(
            self.spark,
            self.warehouse,
            self.commits,
            app=self.app.name,
            program=self.app.programs["three"],
            datasets=self.app.datasets,
            params=Params(partitions=(DAY,), args={"run": number}),
            commit=f"c{number}",
            events=PublishedEvents(lambda: self.engine_store, now),
        )

    def rows(self) -> list[list[int]]:
        frames = [self.read(name) for name in NAMES]
        return [[] if frame is None else sorted(row.run for row in frame.collect()) for frame in frames]

    def read(self, name: str) -> DataFrame | None:
        return read(self.spark, dataset_ref(self.app.name, self.app.datasets[name]), self.warehouse)

    def name(self, name: str) -> str:
        return f"{self.app.name}/{name}"

    def drop(self, name: str) -> None:
        ref = dataset_ref(self.app.name, self.app.datasets[name])
        if ref.format == "iceberg":
            IcebergCatalog(self.spark).drop((ref.app, name))
        else:
            shutil.rmtree(ref.root(self.warehouse))

    def events(self, commit: str) -> set[str]:
        """The datasets whose partition the commit has reported."""
        ids = {publish_event_id(commit, self.name(name), DAY): name for name in NAMES}
        with self.engine_store.reading() as reader:
            return {ids[event.id] for event in reader.events(ids=list(ids))}


FORMATS = ("iceberg", "parquet")
OF_ICEBERG = pytest.mark.parametrize("three", only(FORMATS, "iceberg"), indirect=True)
OF_PARQUET = pytest.mark.parametrize("three", only(FORMATS, "parquet"), indirect=True)


@pytest.fixture
def three(
    request: pytest.FixtureRequest, tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Three]:
    """One run has published; the next one has published `a` and `b` and died, and `c` is lost."""
    (tmp_path / "tidegate.toml").write_text('[warehouse]\ndefault_format = "parquet"\n')
    monkeypatch.setenv(PROJECT_VARIABLE, str(tmp_path))
    monkeypatch.delenv(STORE_VARIABLE, raising=False)
    monkeypatch.setattr(CommitsProject, "spark", lambda _: spark)
    format: DatasetFormat = request.param
    app = App(
        name=next(_apps),
        datasets={n: Dataset(name=n, partitions=DAILY, format=format, write="append") for n in NAMES},
        programs={"three": Program(name="three", run=f"{__name__}.write_three", writes=NAMES)},
    )
    store = open_sql_store(load_settings().store_url)
    with store.transaction() as transaction:
        transaction.put_records(APPS, [DeployedApp(app=app, revision=1, deployed_at=now())])
    warehouse = Warehouse(path=tmp_path / "warehouse", project=tmp_path)
    three = Three(app=app, spark=spark, engine_store=store, warehouse=warehouse)
    three.run(1)
    with monkeypatch.context() as patch:
        patch.setattr(publishing, "finish", dies)
        with pytest.raises(Died):
            three.run(2)
    project = CommitsProject(settings=load_settings(), store=store)
    sequence = project.sequence("c2")
    assert sequence is not None
    lost = outputs_in(sequence)[2].step
    for step in sequence.steps[: sequence.steps.index(lost)]:
        step.execute(project.context)
    three.drop("c")
    yield three
    store.close()


@OF_ICEBERG
def test_one_output_is_abandoned_and_the_others_are_finished(
    three: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert three.rows() == [[1, 2], [1, 2], []]
    with pytest.raises(UserError, match="1 of 1 commits could not be finished"):
        run("recover")
    for names, message in [("x", "has no output .*/x"), (NAMES, "has no other output"), ("a", "published")]:
        with pytest.raises(UserError, match=message):
            run("abandon", "c2", "--yes", *(f"--output={three.name(name)}" for name in names))
    lost = ("abandon", "c2", "--yes", "--output", three.name("c"), "--reason", "it was dropped")
    with monkeypatch.context() as patch:
        patch.setattr(SqlCommitStepStore, "abandon_output", dies)
        with pytest.raises(Died):
            run(*lost)  # The table refuses the commit, and the store does not know of it.

    printed = run(*lost)

    assert f"{three.name('c')} will not have the rows of this commit." in printed
    assert f"{three.name('c')}: abandoned; it can be written again" in printed
    assert f"output {three.name('c')} was abandoned" in run("show", "c2")
    heading, _, line = run("list").splitlines()
    assert heading.split()[-1] == "abandoned" and line.split()[-1] == three.name("c")
    assert "c2: finished, 2 partitions published" in run("recover")
    assert ": it was dropped" in run("show", "c2")
    assert three.rows() == [[1, 2], [1, 2], []]
    assert three.events("c2") == {"a", "b"}
    assert [part.dataset for part in three.run(2)] == ["a", "b"], "a further attempt repeats nothing"
    assert [part.dataset for part in three.run(3)] == ["a", "b", "c"]
    assert three.rows() == [[1, 2, 3], [1, 2, 3], [3]]
    assert not list(Path(three.warehouse.path).glob("*/*/_staging/*/*"))


@OF_PARQUET
def test_what_an_abandoned_commit_has_published_is_not_appended_twice(three: Three) -> None:
    printed = run("abandon", "c2", "--yes")

    both = f"{three.name('a')}, {three.name('b')}"
    assert f"Published already, and not written again by the next run of this work: {both}." in printed
    assert f"output {three.name('a')} was published before, and is not written again" in run("show", "c2")
    assert three.events("c2") == set()
    assert [(part.dataset, part.rows) for part in three.run(2)] == [("a", 1), ("b", 1), ("c", 1)]
    assert three.rows() == [[1, 2], [1, 2], [2]]
    assert three.events("c2~2") == {"a", "b", "c"}
    assert len(three.run(2)) == 3, "a further attempt repeats nothing"
    assert three.rows() == [[1, 2], [1, 2], [2]]


@OF_ICEBERG
def test_nor_by_an_io_manager(three: Three) -> None:
    run("abandon", "c2", "--yes")
    outputs = {
        name: Output(ref=dataset_ref(three.app.name, three.app.datasets[name]), keys=(DAY,)) for name in NAMES
    }
    attempt = OutputAttempt(
        three.warehouse,
        three.commits,
        commit="c2",
        outputs=outputs,
        job="",
        by="step make",
        spark=lambda: three.spark,
        events=lambda _: PublishedEvents(lambda: three.engine_store, now),
    )
    attempt.begin()
    assert attempt.published.keys() == {"a", "b"}
    for name in NAMES:
        attempt.stage(name, three.spark.createDataFrame([(2,)], "run int"))
    attempt.publish()
    assert attempt.published.keys() == {*NAMES}
    assert three.rows() == [[1, 2], [1, 2], [2]]


@OF_PARQUET
def test_when_all_outputs_are_published_only_their_events_are_left(three: Three) -> None:
    run("abandon", "c2", "--yes", "--output", three.name("c"))
    run("abandon", "c2", "--yes")
    program = three.app.programs["three"]
    fewer = Program(name="three", run=program.run, writes=("a", "b"))
    app = App(name=three.app.name, datasets=three.app.datasets, programs={"three": fewer})
    again = Three(app=app, spark=three.spark, engine_store=three.engine_store, warehouse=three.warehouse)

    assert [part.dataset for part in again.run(2)] == ["a", "b"]

    assert three.rows() == [[1, 2], [1, 2], []]
    assert three.events("c2~2") == {"a", "b"}
