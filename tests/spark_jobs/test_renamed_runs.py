"""Runs on Spark before and after a rename: no row is read again, and none is appended twice.

A program that follows a landed feed, its source and its output get new names between two runs, and where the
output is an Iceberg table, a program that follows that table too. YAML is deployed to a real store.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.databases import new_url
from tests.spark_jobs.incremental import orders_feed
from tests.spark_jobs.without_spark import rows_of
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.runner import run_program

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

DAY = "2013-12-22"
DAILY = "partitions: {cycle: day, start: 2013-01-01}"
COPIED = "run: tests.spark_jobs.incremental.orders_feed.copied"
BEFORE = f"""
app: APP
datasets:
  landed: {{{DAILY}, path: landing}}
  lake: {{{DAILY}, format: FORMAT, write: append}}
  copy: {{{DAILY}, format: FORMAT, write: append}}
programs:
  load: {{{COPIED}, reads: [{{dataset: landed, incremental: true}}], writes: [lake]}}
"""
FOLLOW = f"  follow: {{{COPIED}, reads: [{{dataset: lake, incremental: true}}], writes: [copy]}}\n"
AFTER = f"""
app: APP_new
renamed_from: APP
datasets:
  feed: {{{DAILY}, path: landing, renamed_from: landed}}
  water: {{{DAILY}, format: FORMAT, write: append, renamed_from: lake}}
  copy: {{{DAILY}, format: FORMAT, write: append}}
programs:
  ingest: {{{COPIED}, reads: [{{dataset: feed, incremental: true}}], writes: [water], renamed_from: load}}
"""
FOLLOW_AFTER = f"""\
  trail: {{{COPIED}, reads: [{{dataset: water, incremental: true}}], writes: [copy], renamed_from: follow}}
"""


class Project:
    """A project whose YAML changes, and runs of what is deployed."""

    def __init__(self, folder: Path, spark: SparkSession, url: str) -> None:
        self.folder = folder
        self.store = open_sql_store(url)
        self._spark = spark
        self._warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self._commits = SqlCommitStepStore(self.store.engine)
        self._number = 0

    def deploy(self, text: str) -> None:
        compilation = compile_files({"app.yaml": text.encode()})
        assert compilation.ok, compilation.diagnostics
        with self.store.transaction() as transaction:
            deploy(transaction, compilation.models(), datetime.now(UTC), by=CLI)

    def land(self, *ids: int) -> None:
        folder = self.folder / "landing" / f"day={DAY}"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"id": pa.array(ids, pa.int64())}), folder / f"{ids[0]}.parquet")

    def run(self, name: str) -> None:
        app, self._number = self._app(), self._number + 1
        program = app.programs[name]
        run_program(
            self._spark,
            self._warehouse,
            self._commits,
            app=app.name,
            program=program,
            datasets=app.datasets,
            params=Params(partitions=(DAY,), manifest={program.reads[0]: (DAY,)}, job="job"),
            commit=f"c{self._number}",
        )

    def ids(self, name: str) -> list[int]:
        app = self._app()
        found = rows_of(self._spark, dataset_ref(app.name, app.datasets[name]), self._warehouse)
        return sorted(row["id"] for row in found)

    def _app(self) -> App:
        with self.store.reading() as reader:
            (app,) = deployed_apps(reader).values()
        return app


@pytest.fixture(
    params=[("parquet", "sqlite"), pytest.param(("iceberg", "postgres"), marks=pytest.mark.store)]
)
def written_as(
    request: pytest.FixtureRequest, tmp_path: Path, spark: SparkSession
) -> Iterator[tuple[str, Project]]:
    """A format of tables, and a new project on a kind of store."""
    format, kind = request.param
    project = Project(tmp_path, spark, new_url(kind, request, tmp_path))
    orders_feed.SEEN.clear()
    yield format, project
    project.store.close()


def test_renamed_programs_and_tables_go_on_where_they_were(written_as: tuple[str, Project]) -> None:
    format, project = written_as
    follows = format == "iceberg"

    def yaml(text: str, follow: str) -> str:
        return (text + follow * follows).replace("FORMAT", format).replace("APP", f"renamed_{format}")

    project.deploy(yaml(BEFORE, FOLLOW))
    project.land(1, 2)
    for program in ("load", "follow")[: 1 + follows]:
        project.run(program)
    assert [2, 2][: 1 + follows] == orders_feed.SEEN

    project.deploy(yaml(AFTER, FOLLOW_AFTER))
    project.land(3)
    for _ in range(2):  # the second time nothing is new
        for program in ("ingest", "trail")[: 1 + follows]:
            project.run(program)

    assert orders_feed.SEEN[1 + follows :] == ([1, 1, 0, 0] if follows else [1, 0])
    assert project.ids("water") == [1, 2, 3]
    assert project.ids("copy") == ([1, 2, 3] if follows else [])
