"""A project with maintenance policies, and what happens to its tables.

It is deployed now, so that what commands do at the present instant is soon after it. The window of
`expire_snapshots` opens in some hours.
"""

from datetime import UTC, datetime, timedelta

from tests.tidegate.project import Project
from tidegate.domain.maintenance.measures import HEALTHY
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.intake.tables import (
    TableFound,
    forget_health,
    report_gone,
    report_health,
    report_tables,
)
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.launch.run_report import claim, end_operation
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.maintenance import Ended, Ending, Health
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.tick.clock import engine_clock
from tidegate.scheduler.tick.tick import tick

SHOP = """\
app: shop
datasets:
  raw: {partitions: {cycle: day, start: 2026-01-01}, path: landing/raw}
  report: {partitions: {cycle: day, start: 2026-01-01}}
programs:
  make_report: {run: programs.make_report, reads: [raw], writes: [report]}
schedules:
  report_daily:
    program: make_report
    for_each: day
    trigger: {partitions: {dataset: raw}}
    constraints: [{delay: 1h}]
    status: active
policies:
  nightly:
    tables: [warehouse.analytics.*, shop/report]
    operations:
      rewrite_data_files:
        interval: 1d
        when: {any: [{small_file_percent: 20}, {small_files: 100}], min_interval: 1h, at_latest: 2d}
      expire_snapshots:
        interval: 1d
        window: {from: "FROM", to: "TO"}
        options: {older_than: 7d, retain_last: 5}
  hot:
    tables: warehouse.analytics.orders
    priority: 10
    operations:
      rewrite_data_files: {interval: 1h, when: {all: [{small_files: 100}]}}
      rewrite_manifests: {enabled: false}
  idle:
    tables: warehouse.analytics.*
    enabled: false
    operations: {rewrite_manifests: {}}
maintenance:
  budget: {tables_per_poll: 1, operations_per_poll: 5, bytes_per_hour: 500GB}
  auto_pools: {spark: 1}
"""

ORDERS, EVENTS, REPORT = "warehouse.analytics.orders", "warehouse.analytics.events", "shop/report"


def instant_of(text: str) -> datetime:
    """Return an instant of a JSON answer: as a text, one with a fraction of a second sorts too early."""
    return datetime.fromisoformat(text)


class TableProject:
    """A project with three tables that policies match, deployed now, and what happens to them."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.now = datetime.now(UTC)
        opens = self.now + timedelta(hours=3)
        self.yaml = SHOP.replace("FROM", f"{opens:%H:%M}").replace(
            "TO", f"{opens + timedelta(hours=1):%H:%M}"
        )
        (project.folder / "schedules/sales.yaml").unlink()
        project.write("shop", self.yaml)
        project.run("deploy")
        self.store = open_store(load_settings().store_url, create=False)
        tick(self.store, datetime.now(UTC))
        self.found(ORDERS, EVENTS)
        with self.store.transaction() as transaction:
            # Its table exists, without any partition that a pipeline could write.
            forget_health(transaction, [REPORT], datetime.now(UTC))

    def found(self, *tables: str) -> None:
        """Tables of the catalog are listed."""
        with self.store.transaction() as transaction:
            report_tables(transaction, [TableFound(catalog_name=each) for each in tables], datetime.now(UTC))

    def gone(self, table: str) -> None:
        """A table is dropped."""
        with self.store.transaction() as transaction:
            report_gone(transaction, [table], datetime.now(UTC))

    def measured(
        self,
        table: str,
        *,
        ago: timedelta = timedelta(0),
        failure: str = "",
        note: str = "",
        **values: float,
    ) -> None:
        """A table is measured; what is not named is healthy. A poll may have gone ahead of the clock."""
        with self.store.reading() as reader:
            now = max(datetime.now(UTC), engine_clock(reader) or self.now)
        known = {} if failure else {**HEALTHY, **values}
        found = Health(measured_at=now - ago, values=known, failure=failure, note=note)
        with self.store.transaction() as transaction:
            report_health(transaction, {table: found}, now)

    def written(self, dataset: str, *keys: str) -> None:
        """Partitions of a dataset are written, and the store takes note of it."""
        self._events(dataset, keys)

    def arrive(self, *days: str) -> None:
        """Days of `raw` arrive: their jobs wait for their delay, and will write the same days of `report`."""
        self._events("shop/raw", days)

    def _events(self, dataset: str, keys: tuple[str, ...]) -> None:
        now = datetime.now(UTC)
        app, _, name = dataset.partition("/")
        events = [
            Event(
                id=f"{dataset}:{key}",
                kind=EventKind.PARTITION,
                key=partition_event_key(app, name),
                time=now,
                arrived=now,
                partition=key,
            )
            for key in keys
        ]
        with self.store.transaction() as transaction:
            transaction.add_events(events)
        tick(self.store, datetime.now(UTC))

    def poll(self) -> None:
        """The next poll is made, although its instant has not come."""
        tick(self.store, datetime.now(UTC) + timedelta(minutes=1))

    def jobs(self) -> list[Job]:
        """The jobs of operations, oldest first."""
        with self.store.reading() as reader:
            return [job for job in reader.jobs() if job.maintenance is not None]

    def launched(self) -> str:
        """The only decided launch of an operation gets its run; returns the job's id."""
        now = datetime.now(UTC)
        with self.store.transaction() as transaction:
            (request,) = [each for each in offer_launches(transaction, now, "shop") if each.maintenance]
        assert claim(self.store, request.job, request.attempt, f"run-of-{request.job}", now).won
        return request.job

    def ended(self, job: str, ending: Ending = Ending.SUCCEEDED, **result: object) -> None:
        """The run of an operation reports its end."""
        with self.store.transaction() as transaction:
            ended = Ended(ending=ending, **result)
            assert end_operation(transaction, job, 1, ended, datetime.now(UTC))
