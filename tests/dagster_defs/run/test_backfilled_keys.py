"""A key of a schedule that is backfilled, with real Spark: its rows are those of the live job of the key.

One part of the day is there without a report. The live job reads it, since a run reads by what it
writes; the job of a backfill has a manifest of what was reported, and must not be cut by that.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dagster import AssetKey, DagsterInstance, RunRequest
from pyspark.sql import DataFrame, SparkSession

from tests.dagster_defs.instance import evaluate, report, repository_of
from tests.dagster_defs.sample import NOW, location_of
from tests.doubles.reference.store import ReferenceStore
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.dagster_defs.run import program_op
from tidegate.domain.model import App
from tidegate.scheduler.commands.backfills.request import Wanted
from tidegate.scheduler.commands.backfills.start import start_backfill
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication.table import read

pytestmark = [pytest.mark.dagster, pytest.mark.spark]

DAY = "2023-03-09"
REPORTED = ["2023-03-09|EWR", "2023-03-09|JFK"]
ROWS = [("EWR", 1), ("JFK", 2), ("LGA", 3)]

PARAMS: list[Params] = []
"""What each call of the program got."""

YAML = f"""
app: filled
datasets:
  parts:
    partitions: {{day: {{cycle: day, start: 2023-01-01}}, origin: [EWR, JFK, LGA]}}
    format: parquet
    path: landing/parts
  copies: {{partitions: {{cycle: day, start: 2023-01-01}}}}
programs:
  copy: {{run: {__name__}.copy, reads: [parts], writes: [copies]}}
schedules:
  daily:
    program: copy
    for_each: day
    trigger: {{partitions: {{dataset: parts}}}}
    args: {{day: "{{{{ key }}}}", of: "{{{{ trigger.partitions }}}}", count: "{{{{ trigger.count }}}}"}}
    status: active
"""


def copy(spark: SparkSession, inputs: Any, params: Params) -> DataFrame:
    """A program: the rows that the run reads."""
    PARAMS.append(params)
    return inputs["parts"].selectExpr("day", "origin", "number")


class Filled:
    """The app, its files, its table, and Dagster in this process."""

    def __init__(self, folder: Path, spark: SparkSession, instance: DagsterInstance) -> None:
        self.folder, self.spark, self.instance = folder, spark, instance
        self.store = ReferenceStore()
        compiled = compile_files({"filled.yaml": YAML.encode()})
        assert compiled.ok, compiled.diagnostics
        self.app: App = compiled.apps["filled"].app
        with self.store.transaction() as transaction:
            deploy(transaction, {"filled": self.app}, NOW - timedelta(days=1), by=CLI)
        self.location = location_of(self.store, folder)

    def land(self) -> None:
        for origin, number in ROWS:
            part = self.folder / "landing" / "parts" / f"day={DAY}" / f"origin={origin}"
            part.mkdir(parents=True)
            pq.write_table(pa.table({"number": [number]}), part / "rows.parquet")

    def launch(self) -> RunRequest:
        """The dispatcher asks for one run, and it runs."""
        repository = repository_of(self.location)
        (request,) = evaluate(self.instance, repository).run_requests or ()
        chosen = repository.get_job("__ASSET_JOB").get_subset(
            asset_selection={AssetKey(["filled", "copies"])}
        )
        result = chosen.execute_in_process(
            instance=self.instance, partition_key=request.partition_key, tags=request.tags
        )
        assert result.success
        return request

    def rows(self) -> list[tuple[str, int]]:
        frame = read(self.spark, dataset_ref("filled", self.app.datasets["copies"]), self.location.warehouse)
        assert frame is not None
        return sorted((row["origin"], row["number"]) for row in frame.collect())


@pytest.fixture
def filled(
    spark: SparkSession, tmp_path: Path, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> Filled:
    # The tests' own session, not one by the location's settings.
    monkeypatch.setattr(program_op, "session", lambda _: spark)
    PARAMS.clear()
    return Filled(tmp_path, spark, instance)


def test_a_backfilled_key_has_the_rows_of_its_live_job(filled: Filled) -> None:
    filled.land()
    for key in REPORTED:
        report(filled.instance, "parts", key, "filled")
    filled.launch()
    assert filled.rows() == ROWS

    with filled.store.transaction() as transaction:
        wanted = Wanted(app="filled", task="daily", keys=(DAY,))
        start_backfill(transaction, wanted, NOW, CLI)
    request = filled.launch()

    live, backfilled = PARAMS
    assert filled.rows() == ROWS
    assert backfilled.job != live.job
    for params in PARAMS:
        assert (params.key, params.partitions, params.scheduled_time) == (DAY, (DAY,), None)
        assert params.manifest == {"parts": tuple(REPORTED)}
        assert params.args == {"day": DAY, "of": REPORTED, "count": 2}
    own = {
        name: request.tags.get(f"tidegate/{name}")
        for name in ("kind", "backfill", "key", "origin", "schedule")
    }
    assert own == {
        "kind": "backfill",
        "backfill": "1",
        "key": DAY,
        "origin": "backfill",
        "schedule": "filled/daily",
    }
