"""A shop with policies for its tables, deployed in a store, and what its dispatcher asks of Dagster."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dagster import DagsterInstance, ExecuteInProcessResult, RunRequest

from tests.dagster_defs.instance import evaluate, repository_of
from tests.dagster_defs.sample import location_of
from tests.doubles.reference.store import ReferenceStore
from tests.doubles.wired import Happens, quiet, wired
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import MAINTENANCE
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.live import Scope
from tidegate.scheduler.intake.tables import TableFound, report_health, report_tables
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, Health, OperationRun, TableState
from tidegate.scheduler.store.error import StoreAway
from tidegate.scheduler.tick.tick import tick

NOW = datetime(2023, 3, 10, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SALES, EVENTS = "shop/sales", "lake.raw.events"

YAML = """
app: shop
datasets:
  sales: {format: iceberg}
  notes: {format: parquet}
programs:
  fill: {run: shop_programs.fill, writes: [notes]}
policies:
  tidy:
    tables: TABLES
    operations:
      rewrite_data_files: {interval: 1h, timeout: 10m, options: {min_input_files: 2}}
"""

THEIRS = "app: their\ndatasets: {sales: {format: iceberg}}\n"
"""An app of another project."""


def shop_app(tables: str = SALES, yaml: str = YAML) -> App:
    """The app; its policy is for these tables."""
    compiled = compile_files({"shop.yaml": yaml.replace("TABLES", tables).encode()})
    assert compiled.ok, compiled.diagnostics
    (app,) = compiled.apps.values()
    return app.app


def away_at_every_other_reading() -> Happens:
    """The server of the store is away at the first reading, and at each second one after it."""
    readings: list[bool] = []

    def happens(method: str) -> None:
        if method == "reading":
            readings.append(True)
            if len(readings) % 2:
                raise StoreAway("the server is restarted")

    return happens


class Shop:
    """A store in which apps are deployed, a Dagster instance, and a clock.

    Attributes:
        before: what happens before each call of the store by the code location.
    """

    def __init__(self, instance: DagsterInstance, *apps: App, folder: Path = Path("/nowhere")) -> None:
        self.instance = instance
        self.store = ReferenceStore()
        self.now = NOW
        self.before: Happens = quiet
        self._location = location_of(self.store, folder)
        self.deploy(*apps)

    def deploy(self, *apps: App, project: str = NO_PROJECT) -> None:
        """Deploy apps as those of a project, and load them."""
        with self.store.transaction() as transaction:
            deploy(
                transaction, {app.name: app for app in apps}, self.now, scope=Scope(project=project), by=CLI
            )
        self.repository = repository_of(self.location)

    @property
    def location(self) -> Location:
        """The code location, with the clock of this world."""
        made = self._location
        return Location(
            open_store=lambda: wired(self.store, before=lambda method: self.before(method)),
            open_commits=made.open_commits,
            warehouse=made.warehouse,
            clock=lambda: self.now,
        )

    # --- what happens ---

    def find(self, *tables: str) -> None:
        """A listing has found tables."""
        with self.store.transaction() as transaction:
            report_tables(transaction, [TableFound(catalog_name=name) for name in tables], self.now)

    def measure(self, table: str, **values: float) -> None:
        """A table was measured."""
        with self.store.transaction() as transaction:
            report_health(transaction, {table: Health(measured_at=self.now, values=values)}, self.now)

    def tick(self) -> None:
        tick(self.store, self.now)

    def requests(self) -> list[RunRequest]:
        """What a tick of the dispatcher asks of Dagster."""
        return list(evaluate(self.instance, self.repository).run_requests or ())

    def request(self) -> RunRequest:
        """The request of the only operation that is started."""
        (found,) = [each for each in self.requests() if each.job_name == MAINTENANCE]
        return found

    def execute(self, job: str, tags: Mapping[str, str] | None = None) -> ExecuteInProcessResult:
        """A run of a job, in this process."""
        return self.repository.get_job(job).execute_in_process(
            instance=self.instance, tags=dict(tags or {}), raise_on_error=False
        )

    # --- what can be seen ---

    def job(self) -> Job:
        """The newest job of an operation."""
        with self.store.reading() as reader:
            jobs = [job for job in reader.jobs(states=tuple(JobState)) if job.maintenance is not None]
        return max(jobs, key=lambda job: job.opened_at)

    def run(self) -> OperationRun:
        """The newest run of an operation."""
        with self.store.reading() as reader:
            return reader.operation_runs()[-1]

    def table(self, name: str) -> TableState:
        with self.store.reading() as reader:
            (found,) = reader.records(MAINTAINED_TABLES, name=(name,))
        return found
