"""An app with an Iceberg dataset and a policy, and a lake of others' tables, in the live project."""

from datetime import UTC, datetime
from typing import Any

from dagster import AssetKey, AssetObservation, AssetRecordsFilter
from pyiceberg.table import StaticTable

from tests.dagster_defs.live.project import LiveApp, LiveProject
from tests.worlds.by import CLI
from tidegate.scheduler.commands.by_hand.manual import trigger
from tidegate.scheduler.commands.maintain import run_by_hand
from tidegate.scheduler.launch.owners import owners
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.maintenance import MAINTENANCE_RECORDS, OperationRun, Record

SALES, EVENTS = "shop/sales", "lake.raw.events"
FOLDERS = {SALES: "warehouse/shop/sales", EVENTS: "lake/raw/events"}
APPENDS = 3
DAYS, INSERTS = 20, 2

YAML = """
app: shop
datasets:
  sales: {format: iceberg, write: append}
programs:
  fill: {run: yard_programs.fill, writes: [sales]}
  lake: {run: yard_programs.lake}
schedules:
  first: {program: fill, trigger: {cron: "0 0 29 2 *"}, args: {number: 0}, status: active}
  second: {program: fill, trigger: {cron: "0 0 29 2 *"}, args: {number: 1}, status: active}
  third: {program: fill, trigger: {cron: "0 0 29 2 *"}, args: {number: 2}, status: active}
  lake: {program: lake, trigger: {cron: "0 0 29 2 *"}, status: active}
  urgent:
    program: fill
    priority: high
    trigger: {cron: "0 0 29 2 *"}
    constraints: [{concurrency: {max: 1, group: spark}}]
    args: {number: 3}
policies:
  own:
    tables: shop/sales
    enabled: ENABLED
    operations:
      rewrite_data_files: {interval: 1h, options: {min_input_files: 2}, when: {any: [{small_files: 3}]}}
  lake:
    tables: "lake.*.*"
    enabled: ENABLED
    operations:
      rewrite_data_files: {interval: 1h, options: {min_input_files: 2}}
maintenance: {poll: 2s, auto_pools: {spark: 1}}
"""

PROGRAMS = f'''
def fill(spark, inputs, params):
    """A few rows of one append."""
    number = params.args["number"]
    return spark.createDataFrame([(number, item) for item in range(10)], "number int, item int").coalesce(1)


def lake(spark, inputs, params):
    """Small files in each partition of the lake's table."""
    columns = "(day string, number bigint) USING iceberg PARTITIONED BY (day)"
    spark.sql(f"CREATE TABLE IF NOT EXISTS lake.raw.events {{columns}}")
    first = spark.table("lake.raw.events").where("day = 'd0'").count()
    for number in range(first, first + {INSERTS}):
        rows = f"SELECT concat('d', id) AS day, id + {{number}} AS number FROM range({DAYS})"
        spark.sql(f"INSERT INTO lake.raw.events {{rows}}")
    return {{}}
'''

CONF = """\
"spark.sql.catalog.lake" = "org.apache.iceberg.spark.SparkCatalog"
"spark.sql.catalog.lake.type" = "hadoop"
"spark.sql.catalog.lake.warehouse" = "{folder}/lake"
"""
"""Lines of `[spark.conf]`: the catalog of the lake."""


class Yard(LiveApp):
    """The app, deployed before the processes start; its policies are enabled once there are tables."""

    def __init__(self, project: LiveProject) -> None:
        super().__init__(project)
        (self.folder / "yard_programs.py").write_text(PROGRAMS)
        project.deploy_beside("shop.yaml", YAML.replace("ENABLED", "false"))

    def start(self) -> None:
        """Make the tables, of many small files, and let the policies look at them from now on."""
        made = [self.trigger(f"shop/{name}") for name in ("first", "second", "third", "lake")]

        def done() -> bool:
            jobs = [self.job(each.id) for each in made]
            assert not any(job.state is JobState.FAILED for job in jobs), [job.detail for job in jobs]
            return all(job.state is JobState.SUCCEEDED for job in jobs)

        self.until("the tables", done)
        self.project.deploy_beside("shop.yaml", YAML.replace("ENABLED", "true"))

    def more(self) -> None:
        """Add small files to the table of others."""
        more = self.trigger("shop/lake")
        self.until("more files", lambda: self.job(more.id).state is JobState.SUCCEEDED)

    def look(self) -> dict[str, Any]:
        """The number of files and the sorted rows of each table, as a reader without Spark finds them."""
        tables = {
            name: StaticTable.from_metadata(str(self.folder / folder)) for name, folder in FOLDERS.items()
        }
        return {
            name: {
                "files": len(list(table.scan().plan_files())),
                "rows": sorted(list(row.values()) for row in table.scan().to_arrow().to_pylist()),
            }
            for name, table in tables.items()
        }

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
            (found,) = reader.records(MAINTENANCE_RECORDS, table=(table,))
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
