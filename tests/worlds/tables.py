"""A small world for maintenance: policies in YAML, tables, and a catalog that measures; time is an argument.

Times are those of `tests.worlds.world`. What is measured of a table stays the same until a test
says otherwise; unless `blind` it is measured before each tick, wherever nothing recent is known. The run of
an operation is claimed by `launch` and ended by `end`.
"""

from datetime import datetime
from pathlib import Path

import pytest

from tests.doubles.quick_sqlite import quick_sqlite
from tests.doubles.reference.store import ReferenceStore
from tests.worlds.by import CLI
from tests.worlds.operations import EXPIRE, MANIFESTS, ORPHANS, REWRITE
from tests.worlds.world import Arriving, at, compiled_app
from tidegate.domain.maintenance.measures import HEALTHY
from tidegate.domain.model import App, Operation
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.maintain import run_by_hand
from tidegate.scheduler.decision.maintenance.health import fresh
from tidegate.scheduler.explain.operations.maintenance import OperationStatus, operation_status
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.intake.tables import TableFound, report_gone, report_health, report_tables
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.launch.run_report import claim, end_operation
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import By, Entry
from tidegate.scheduler.model.maintenance import (
    MAINTAINED_TABLES,
    MAINTENANCE_RECORDS,
    Ended,
    Ending,
    Health,
    OperationRun,
    Record,
    TableState,
)
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.instant import TickReport
from tidegate.scheduler.tick.maintenance.policies import load_policies
from tidegate.scheduler.tick.tick import tick

SHORT = {REWRITE: "rewrite", MANIFESTS: "manifests", EXPIRE: "expire", ORPHANS: "orphans"}
BY = By(actor="a person")

HEAD = """
app: a
datasets:
  raw: {partitions: {cycle: day, start: 2026-01-01}}
  out: {partitions: {cycle: day, start: 2026-01-01}}
  whole: {}
programs:
  p: {run: programs.p, writes: [out]}
  w: {run: programs.w, writes: [whole]}
  q: {run: programs.q}
"""

UNMET = "{interval: 1h, when: {all: [{snapshots: 1000}]}}"
HOURLY = "nightly: {tables: 'w.a.*', operations: {rewrite_data_files: {interval: 1h}}}"
WRITES_OUT = """
s:
  program: p
  for_each: day
  status: active
  trigger: {partitions: {dataset: raw}}
  constraints: [{delay: 9h}]
"""
"""A schedule of which each job waits for nine hours, and then writes a partition of a/out."""


def app_of(policies: str = "", schedules: str = "", maintenance: str = "", head: str = HEAD) -> App:
    """The app with these sections."""
    sections = {"schedules": schedules, "policies": policies}
    text = head + "".join(
        f"{name}:\n" + "\n".join(f"  {line}" for line in section.strip("\n").splitlines()) + "\n"
        for name, section in sections.items()
        if section
    )
    text += f"maintenance: {{{maintenance}}}\n" if maintenance else ""
    return compiled_app(text)


class TableWorld(Arriving):
    """An app with policies in a store, tables, and hands to do things to them."""

    def __init__(
        self,
        policies: str = HOURLY,
        *tables: str,
        start: str = "00:00",
        store: Store | None = None,
        blind: bool = False,
        **sections: str,
    ) -> None:
        super().__init__(store)
        self.blind = blind
        self.measures: dict[str, dict[str, float] | None] = {}
        self.deploy(start, policies, **sections)
        if tables:
            self.found(start, *tables)

    # --- what happens ---

    def deploy(self, clock: str, policies: str = HOURLY, **sections: str) -> None:
        self.deploy_apps(clock, app_of(policies, **sections))

    def deploy_apps(self, clock: str, *apps: App) -> None:
        with self.store.transaction() as transaction:
            deploy(transaction, {app.name: app for app in apps}, at(clock), by=CLI)

    def found(self, clock: str, *tables: str, listed: tuple[str, ...] = ()) -> tuple[str, ...]:
        """These tables exist."""
        with self.store.transaction() as transaction:
            found = [TableFound(catalog_name=name) for name in tables]
            return report_tables(transaction, found, at(clock), listed=listed)

    def gone(self, clock: str, *tables: str) -> None:
        with self.store.transaction() as transaction:
            report_gone(transaction, tables, at(clock))

    def sick(self, table: str, **values: float) -> None:
        """From now on this is measured of a table; what is not named is healthy."""
        self.measures[table] = {**HEALTHY, **values}

    def measure(self, clock: str, *tables: str) -> None:
        """Measure all tables of which nothing recent is known, or those that are named."""
        with self.store.reading() as reader:
            wanted = tables or [
                table.name
                for table in reader.records(MAINTAINED_TABLES)
                if not table.gone and fresh(table.health, at(clock)) is None
            ]
        if not wanted:
            return
        found = {name: self._measured(name, clock) for name in wanted}
        with self.store.transaction() as transaction:
            report_health(transaction, found, at(clock))

    def _measured(self, table: str, clock: str) -> Health:
        values = self.measures.get(table, HEALTHY)
        if values is None:
            return Health(measured_at=at(clock), failure="no such catalog")
        return Health(measured_at=at(clock), values=values)

    def tick(self, clock: str) -> TickReport:
        if not self.blind:
            self.measure(clock)
        return tick(self.store, at(clock))

    def launch(self, clock: str) -> dict[str, str]:
        """Offer and claim all that may start; returns the jobs by "table operation". The run is `run-JOB`."""
        with self.store.transaction() as transaction:
            requests = offer_launches(transaction, at(clock), "a")
        for request in requests:
            assert claim(self.store, request.job, request.attempt, f"run-{request.job}", at(clock)).won
        return {
            f"{work.table} {SHORT[work.operation]}" if work is not None else request.schedule: request.job
            for request in requests
            for work in [request.maintenance]
        }

    def poll(self, clock: str) -> list[str]:
        """Tick and launch; returns what has started, as "table operation", in the order of the tick's starts.

        What earlier instants have started, which were replayed before, comes last.
        """
        before = {run.job for run in self.runs()}
        launched = self.tick(clock).launched
        begun = {job: name for name, job in self.launch(clock).items() if job not in before}
        return [begun.pop(job) for job in launched] + sorted(begun.values())

    def end(
        self,
        clock: str,
        job: str,
        ending: str = "succeeded",
        *,
        changed: bool = True,
        bytes: int = 0,
        detail: str = "",
    ) -> bool:
        """The run of a job reports its end."""
        ended = Ended(ending=Ending(ending), changed=changed, bytes=bytes, detail=detail)
        with self.store.transaction() as transaction:
            return end_operation(transaction, job, 1, ended, at(clock))

    def end_all(self, clock: str, ending: str = "succeeded", *, changed: bool = True, bytes: int = 0) -> None:
        """All runs report their end."""
        for run in self.running():
            assert self.end(clock, run.job, ending, changed=changed, bytes=bytes)

    def observe(self, clock: str, job: str, status: str) -> None:
        """Dagster says what became of a run."""
        with self.store.reading() as reader:
            (found,) = reader.jobs(ids=(job,))
        assert found.launch is not None
        seen = RunObservation(
            run_id=f"run-{job}",
            program=f"a/{found.launch.program}",
            job=job,
            attempt=1,
            status=RunStatus(status),
            at=at(clock),
        )
        with self.store.transaction() as transaction:
            observe_runs(transaction, [seen], at(clock))

    def by_hand(
        self, clock: str, table: str, operation: Operation | None = None, policy: str | None = None
    ) -> tuple[Job, ...]:
        with self.store.transaction() as transaction:
            return run_by_hand(transaction, table, at(clock), operation=operation, policy=policy, by=BY)

    # --- what can be seen ---

    def status(self, clock: str, table: str, operation: Operation = REWRITE) -> OperationStatus:
        with self.store.reading() as reader:
            policies = load_policies(reader, at(clock))
            found = operation_status(reader, self.table(table), policies, at(clock))
        return next(status for status in found if status.operation is operation)

    def reason(self, clock: str, table: str, operation: Operation = REWRITE) -> tuple[str | None, str | None]:
        """The reason that holds an operation back, and the clock of `next`."""
        status = self.status(clock, table, operation)
        return (None if status.reason is None else str(status.reason), shown(status.next))

    def jobs(self, *ids: str) -> tuple[Job, ...]:
        with self.store.reading() as reader:
            return tuple(job for job in reader.jobs(ids=ids or None) if job.maintenance is not None)

    def pipeline_jobs(self, schedule: str) -> tuple[Job, ...]:
        with self.store.reading() as reader:
            return reader.jobs(schedules=(schedule,))

    def waiting(self) -> dict[str, str]:
        """The reasons of all waiting operations."""
        found = (job for job in self.jobs() if job.state is JobState.PENDING_CONSTRAINT)
        return {f"{job.work.table} {SHORT[job.work.operation]}": str(job.reason) for job in found}

    def runs(self, table: str | None = None) -> tuple[OperationRun, ...]:
        with self.store.reading() as reader:
            return reader.operation_runs(tables=None if table is None else (table,))

    def running(self) -> tuple[OperationRun, ...]:
        with self.store.reading() as reader:
            return reader.operation_runs(running=True)

    def starts(self) -> list[str]:
        """All starts so far, as "clock table operation"."""
        return [f"{shown(run.started_at)} {run.table} {SHORT[run.operation]}" for run in self.runs()]

    def record(self, table: str, operation: Operation = REWRITE, policy: str = "a/nightly") -> Record | None:
        with self.store.reading() as reader:
            found = reader.records(MAINTENANCE_RECORDS, table=(table,))
        return next((r for r in found if (r.operation, r.policy) == (operation, policy)), None)

    def table(self, name: str) -> TableState:
        with self.store.reading() as reader:
            (found,) = reader.records(MAINTAINED_TABLES, name=(name,))
        return found

    def journal(self, job: str) -> tuple[Entry, ...]:
        with self.store.reading() as reader:
            return reader.journal(job=job)

    def slots(self) -> dict[str, int]:
        """What is taken, of the pools."""
        with self.store.reading() as reader:
            return {name: n for name, n in reader.slots(["runs", "table:w.a.x", "group:spark"]).items() if n}


def policy(operation="{interval: 1h}", name="nightly", tables="w.a.*", **what):
    """The YAML of a policy that compacts the tables of w.a; `what` are its other keys."""
    head = "".join(f"{key}: {value}, " for key, value in what.items())
    return f"{name}: {{tables: '{tables}', {head}operations: {{rewrite_data_files: {operation}}}}}"


SICK = policy("{interval: 1h, when: {any: [{snapshots: 100}]}}")
"""A policy whose only operation waits until a table has many snapshots."""


def ran(operation="{interval: 1h}", **sections) -> TableWorld:
    """An operation that has run from midnight to ten past."""
    world = TableWorld(policy(operation), "w.a.x", **sections)
    assert world.poll("00:00") == ["w.a.x rewrite"]
    world.end_all("00:10")
    return world


def shown(instant: datetime | None) -> str | None:
    """The clock of an instant, as `at` reads it."""
    if instant is None:
        return None
    found = instant - at("00:00")
    days, seconds = found.days, found.seconds
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
    text += f":{seconds % 60:02}" if seconds % 60 else ""
    return f"{days}d {text}" if days else text


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path):
    """Every kind of store that needs no server."""
    made = ReferenceStore() if request.param == "memory" else quick_sqlite(tmp_path)
    yield made
    made.close()
