"""Outputs of one run agree: what they share is evaluated once, whatever it calls."""

import uuid
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.without_spark import rows_of
from tidegate.domain.model import Dataset, Program
from tidegate.domain.model.dataset import EvaluateOnce
from tidegate.domain.model.table_format import DatasetFormat
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication import evaluate_once
from tidegate.spark_jobs.publication.evaluate_once import shared_plans
from tidegate.spark_jobs.publication.table import Publication
from tidegate.spark_jobs.repair.orphans import find_orphans, remove_orphans
from tidegate.spark_jobs.runner import run_program

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

FORMATS: dict[str, DatasetFormat] = {"whole": "parquet", "even": "iceberg", "third": "parquet"}


def changing(spark: SparkSession) -> DataFrame:
    """Rows that are others at each evaluation. Spark takes the function for a deterministic one."""
    new_id = sf.udf(lambda _: str(uuid.uuid4()))
    return spark.range(8).select(
        "id", sf.current_timestamp().alias("at"), sf.rand().alias("chance"), new_id("id").alias("name")
    )


def three_outputs(spark: SparkSession, inputs: object, params: Any) -> dict[str, DataFrame]:
    """A program whose outputs share one frame, and two of them another one."""
    first = changing(spark)
    second = first.where("id % 2 = 0").withColumn("again", sf.udf(lambda _: str(uuid.uuid4()))("id"))
    return {
        "third": first.select("name", "id"),
        "even": second,
        "whole": first.join(second.select("id", "again"), "id"),
    }


class Runs:
    """Runs the program above."""

    def __init__(self, folder: Path, spark: SparkSession, app: str) -> None:
        self.spark, self.app, self.store = spark, app, MemoryCommitStepStore()
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.datasets = {name: Dataset(name=name, format=format) for name, format in FORMATS.items()}

    def run(self, how: EvaluateOnce) -> dict[str, dict[int, Any]]:
        """The rows of each output, by id."""
        run_program(
            self.spark,
            self.warehouse,
            self.store,
            app=self.app,
            program=Program(
                name="p", run=f"{__name__}.three_outputs", writes=tuple(FORMATS), evaluate_once=how
            ),
            datasets=self.datasets,
            params=Params(),
            commit=f"c-{how}",
        )
        return {name: self.rows(name) for name in FORMATS}

    def rows(self, name: str) -> dict[int, Any]:
        found = rows_of(self.spark, dataset_ref(self.app, self.datasets[name]), self.warehouse)
        return {row["id"]: row for row in found}


@pytest.fixture
def runs(tmp_path: Path, spark: SparkSession, request: pytest.FixtureRequest) -> Runs:
    return Runs(tmp_path, spark, f"once{abs(hash(request.node.name))}")


def differences(found: dict[str, dict[int, Any]]) -> set[str]:
    """The columns in which the outputs disagree."""
    whole, even, third = (found[name] for name in FORMATS)
    assert (len(whole), len(even), len(third)) == (4, 4, 8)
    pairs = [(whole[id], even[id], c) for id in whole for c in ("at", "chance", "name", "again")]
    pairs += [(whole[id], third[id], "name") for id in whole]
    return {column for one, other, column in pairs if one[column] != other[column]}


def test_outputs_agree_in_what_they_share(runs: Runs) -> None:
    context: Any = runs.spark.sparkContext
    # The session is that of all tests of this worker: some leave frames of Iceberg's procedures.
    before = set(context._jsc.getPersistentRDDs())
    assert differences(runs.run("cache")) == set()
    assert set(context._jsc.getPersistentRDDs()) <= before, "nothing stays in memory"


def test_evaluated_for_each_output_they_differ(runs: Runs) -> None:
    assert differences(runs.run("never")) >= {"at", "name", "again"}


@pytest.mark.parametrize(("how", "agree"), [("cache", False), ("checkpoint", True)])
def test_rows_of_a_lost_executor_are_read_from_the_checkpoint(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, how: EvaluateOnce, agree: bool
) -> None:
    stage = Publication.stage

    def losing(self: Publication, *given: Any, **named: Any) -> None:
        stage(self, *given, **named)
        context: Any = runs.spark.sparkContext
        for id in list(context._jsc.getPersistentRDDs()):
            context._jsc.sc().env().blockManager().removeRdd(id)

    monkeypatch.setattr(Publication, "stage", losing)
    assert (differences(runs.run(how)) == set()) is agree
    assert runs.warehouse.files.list(runs.warehouse.checkpoints()) == ()


def test_checkpoints_of_a_killed_run_are_orphans(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*_: object, **__: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(Publication, "stage", dies)
        patch.setattr(evaluate_once.ExitStack, "__exit__", lambda *_: None)
        with pytest.raises(SystemExit):
            runs.run("checkpoint")
    runs.spark.catalog.clearCache()

    refs = [dataset_ref(runs.app, dataset) for dataset in runs.datasets.values()]
    (orphan,) = find_orphans(refs, runs.warehouse, runs.store, lambda: runs.spark)
    assert orphan.place == runs.warehouse.checkpoints(1)
    remove_orphans([orphan], refs, runs.warehouse, lambda: runs.spark)
    assert find_orphans(refs, runs.warehouse, runs.store, lambda: runs.spark) == ()


def test_only_what_may_differ_is_kept(spark: SparkSession) -> None:
    plain = spark.range(9).withColumn("twice", sf.col("id") * 2)
    assert shared_plans([plain.where("id > 3"), plain.groupBy("twice").count()]) == []
    for frame in (
        plain.limit(3),
        plain.sample(0.5),
        plain.dropDuplicates(["twice"]),
        plain.withColumn("x", sf.expr("now()")),
        plain.withColumn("x", sf.current_date()),
        plain.withColumn("x", sf.expr("uuid()")),
        plain.mapInPandas(lambda rows: rows, plain.schema),
        spark.createDataFrame(spark.sparkContext.parallelize([(1,)]), "x int"),
    ):
        (found,) = shared_plans([frame.select("*", sf.lit(1)), frame.select("*", sf.lit(2))])
        java: Any = frame._jdf
        assert found.semanticHash() == java.queryExecution().analyzed().semanticHash()
        assert shared_plans([frame, plain]) == []
