"""A project with an Iceberg dataset and a lake of others' tables, and Dagster running on it for real.

This module is also a program: a Spark session of the project, in a process of its own. It does what each line
of its input says, and prints a line of JSON after it:

    make    makes the tables, of many small files
    more    adds small files to the table of others
    look    the answer has their files and rows
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dagster import AssetKey, AssetObservation, AssetRecordsFilter
from pyspark.sql import SparkSession

from tests.dagster_defs.live.project import INTERPRETED, LiveProject
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.project.settings.settings import load_settings
from tidegate.project.spark import spark_settings, warehouse
from tidegate.scheduler.commands.by_hand.manual import trigger
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.live import Scope
from tidegate.scheduler.commands.maintain import run_by_hand
from tidegate.scheduler.launch.owners import owners
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.maintenance import OperationRun, Record
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.runner import run_program
from tidegate.spark_jobs.session.session import session

SALES, EVENTS = "shop/sales", "lake.raw.events"
SPARK_NAMES = {SALES: "tidegate.shop.sales", EVENTS: EVENTS}
APPENDS = 3
DAYS, INSERTS = 20, 2
WRITER_ENDS_SECONDS = 60

YAML = """
app: shop
datasets:
  sales: {format: iceberg, write: append}
programs:
  fill: {run: yard_programs.fill, writes: [sales]}
schedules:
  urgent:
    program: fill
    priority: high
    trigger: {cron: "0 0 29 2 *"}
    constraints: [{concurrency: {max: 1, group: spark}}]
    args: {number: 3}
policies:
  own:
    tables: shop/sales
    operations:
      rewrite_data_files: {interval: 1h, options: {min_input_files: 2}, when: {any: [{small_files: 3}]}}
  lake:
    tables: "lake.*.*"
    operations:
      rewrite_data_files: {interval: 1h, options: {min_input_files: 2}}
maintenance: {poll: 2s, auto_pools: {spark: 1}}
"""

PROGRAMS = '''
def fill(spark, inputs, params):
    """A few rows of one append."""
    number = params.args["number"]
    return spark.createDataFrame([(number, item) for item in range(10)], "number int, item int").coalesce(1)
'''


def app() -> App:
    compiled = compile_files({"shop.yaml": YAML.encode()})
    assert compiled.ok, compiled.diagnostics
    return compiled.apps["shop"].app


class Yard(LiveProject):
    """The project in a folder, with Dagster. A run takes a Spark that was kept from the run before."""

    pause_seconds = 0.05
    mode = "warm"

    def __init__(self, folder: Path) -> None:
        (folder / "schedules").mkdir()
        (folder / "tidegate.toml").write_text(
            '[spark]\nmaster = "local[1]"\n[spark.conf]\n"spark.ui.enabled" = "false"\n'
            f"{INTERPRETED}"
            '"spark.sql.catalog.lake" = "org.apache.iceberg.spark.SparkCatalog"\n'
            '"spark.sql.catalog.lake.type" = "hadoop"\n'
            f'"spark.sql.catalog.lake.warehouse" = "{folder}/lake"\n'
        )
        (folder / "yard_programs.py").write_text(PROGRAMS)
        self._writer: subprocess.Popen[str] | None = None
        super().__init__(folder)

    def start(self) -> None:
        """Deploy, start the processes, and make the tables before anything looks at them."""
        with self.store.transaction() as transaction:
            deploy(
                transaction,
                {"shop": app()},
                datetime.now(UTC),
                scope=Scope(project=self.settings.name),
                by=CLI,
            )
        self.processes.__enter__()
        with ThreadPoolExecutor(1) as pool:
            made = pool.submit(self.spark, "make")
            self.processes.start_code_server()
            made.result()
        self.processes.start_daemon()
        self.open_instance()

    def stop(self) -> None:
        try:
            if self._writer is not None:
                self._writer.communicate(timeout=WRITER_ENDS_SECONDS)
        finally:
            super().stop()

    def spark(self, what: str) -> dict[str, Any]:
        """Let the Spark session of the project do something; return what it answers."""
        if self._writer is None:
            command = [sys.executable, "-m", __name__, str(self.folder)]
            self._writer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._writer.stdin is not None and self._writer.stdout is not None
        self._writer.stdin.write(f"{what}\n")
        self._writer.stdin.flush()
        answer = next((line for line in self._writer.stdout if line.startswith("{")), None)
        assert answer is not None, f"Spark has ended, and was to {what}"
        return json.loads(answer)

    def look(self) -> dict[str, Any]:
        """The number of files and the sorted rows of each table."""
        return self.spark("look")

    # --- what can be seen ---

    def runs(self, table: str) -> tuple[OperationRun, ...]:
        """The runs of operations on a table, the oldest first."""
        with self.store.reading() as reader:
            return reader.operation_runs(tables=(table,))

    def ended(self, table: str, number: int) -> OperationRun:
        """A run on a table, once it has ended."""

        def look() -> OperationRun | None:
            runs = self.runs(table)
            return runs[number] if len(runs) > number and runs[number].ending is not None else None

        found = self.until(f"run {number} on {table}", look)
        assert found is not None
        return found

    def maintain(self, table: str) -> None:
        """A person starts the operations on a table."""
        with self.store.transaction() as transaction:
            run_by_hand(transaction, table, datetime.now(UTC), by=CLI)

    def trigger(self, schedule: str) -> Job:
        """A person triggers a schedule."""
        with self.store.transaction() as transaction:
            return trigger(transaction, schedule, datetime.now(UTC), by=CLI)

    def record(self, table: str) -> Record:
        with self.store.reading() as reader:
            (found,) = reader.records(tables=(table,))
        return found

    def job(self, id: str) -> Job:
        with self.store.reading() as reader:
            (found,) = reader.jobs(ids=(id,))
        return found

    def process_of(self, run: OperationRun) -> int:
        """The process that works on a run."""
        run_id = self.job(run.job).run_id
        with self.store.reading() as reader:
            return int(owners(reader)[run_id or ""].process.split("/")[1])

    def data_files(self) -> int:
        """The number of data files in the folder of the lake's table, whether or not the table has them."""
        return len(list((self.folder / "lake" / "raw" / "events" / "data").glob("*/*.parquet")))

    def observations(self, *key: str) -> list[AssetObservation]:
        """What Dagster shows of a table, the oldest first."""
        found = self.instance.fetch_observations(AssetRecordsFilter(AssetKey(key)), limit=10, ascending=True)
        return [each for record in found.records if (each := record.asset_observation) is not None]


# --- in a process of its own ------------------------------------------------------------


def make(folder: Path) -> None:
    settings = load_settings(folder)
    sys.path.insert(0, str(folder))
    spark, store, shop = session(spark_settings(settings)), open_store(settings.store_url), app()
    assert isinstance(store, SqlStore)
    for number in range(APPENDS):
        run_program(
            spark,
            warehouse(settings),
            SqlCommitStepStore(store.engine),
            app="shop",
            program=shop.programs["fill"],
            datasets=shop.datasets,
            params=Params(args={"number": number}, job=f"append-{number}"),
            commit_id=f"append-{number}",
        )
    spark.sql("CREATE TABLE lake.raw.events (day string, number bigint) USING iceberg PARTITIONED BY (day)")
    insert(spark, 0)
    store.close()


def insert(spark: SparkSession, first: int) -> None:
    for number in range(first, first + INSERTS):
        rows = f"SELECT concat('d', id) AS day, id + {number} AS number FROM range({DAYS})"
        spark.sql(f"INSERT INTO lake.raw.events {rows}")


def more(folder: Path) -> None:
    insert(current(folder), INSERTS)


def look(folder: Path) -> dict[str, Any]:
    spark = current(folder)
    return {
        name: {
            "files": spark.read.format("iceberg").load(f"{table}.files").count(),
            "rows": sorted([list(row) for row in spark.table(table).collect()]),
        }
        for name, table in SPARK_NAMES.items()
    }


def current(folder: Path) -> SparkSession:
    """The session, once it knows what others have done to the tables."""
    spark = session(spark_settings(load_settings(folder)))
    for table in SPARK_NAMES.values():
        spark.sql(f"REFRESH TABLE {table}")
    return spark


def serve(folder: Path) -> None:
    """Do what each line of the input says, to its end."""
    works = {"make": make, "more": more, "look": look}
    for line in sys.stdin:
        print(json.dumps(works[line.strip()](folder) or {}), flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
