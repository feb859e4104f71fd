"""Small values for the store's tests, each with only what a test wants to say about it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from tidegate.domain.commits import CheckVerdict
from tidegate.domain.launch_input import UpstreamRun
from tidegate.domain.model import App, CronTrigger, Operation, Schedule
from tidegate.scheduler.model.deployed import DeployedApp, ScheduleState
from tidegate.scheduler.model.event import Delivery, Event, EventKind
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.maintenance import Ending, OperationRun, Record, TableState, Work
from tidegate.scheduler.model.run import Gauge, Launched, Run, RunStatus

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def at(minutes: float) -> datetime:
    """An instant, in minutes after noon."""
    return NOON + timedelta(minutes=minutes)


def app(name: str, **fields: Any) -> DeployedApp:
    """A deployed app without anything in it."""
    return DeployedApp(app=App(name=name), **{"revision": 1, "deployed_at": NOON, **fields})


def schedule(ref: str, **fields: Any) -> ScheduleState:
    """A deployed schedule, active unless said otherwise."""
    spec = Schedule(name=ref.partition("/")[2], program="p", trigger=CronTrigger(cron="0 6 * * *"))
    given = {"spec": spec, "fingerprint": "f", "status": "active", "deployed_at": NOON, **fields}
    return ScheduleState(ref=ref, **given)


def event(id: str, minutes: float = 0, **fields: Any) -> Event:
    """An event that arrived some minutes after noon."""
    given = {"kind": EventKind.PARTITION, "key": "partition:a/d", "time": NOON, **fields}
    return Event(id=id, arrived=at(minutes), **given)


def delivery(of: Event, schedule: str = "a/s", leaf: str = "", **fields: Any) -> Delivery:
    """A delivery of an event to a leaf."""
    return Delivery(event=of, schedule=schedule, leaf=leaf, **{"at": NOON, **fields})


def job(id: str, schedule: str = "a/s", **fields: Any) -> Job:
    """A job, waiting for its trigger unless said otherwise."""
    return Job(id=id, schedule=schedule, **{"opened_at": NOON, **fields})


def run(id: str, status: RunStatus = RunStatus.STARTED, **fields: Any) -> Run:
    """A run of program a/p."""
    return Run(run_id=id, status=status, **{"program": "a/p", "seen_at": NOON, **fields})


def upstream(id: str = "u", **fields: Any) -> UpstreamRun:
    """What is known of a run of program a/up that triggered another."""
    return UpstreamRun(id=id, **{"program": "a/up", "status": "succeeded", **fields})


def launched(holder: str, minutes: float = 0, program: str = "a/p") -> Launched:
    """A launch some minutes after noon."""
    return Launched(program=program, holder=holder, at=at(minutes))


def gauge(name: str, value: float = 1.5, minutes: float = 0) -> Gauge:
    """A number that was reported some minutes after noon."""
    return Gauge(name=name, value=value, reported_at=at(minutes))


def entry(kind: EntryKind = EntryKind.WAITING, **fields: Any) -> Entry:
    """A line of the journal."""
    return Entry(kind=kind, **{"at": NOON, **fields})


def verdict(dataset: str, name: str, found: str, **fields: Any) -> CheckVerdict:
    """What a check has found: it failed and blocks, and is one of rows, unless said otherwise."""
    given = {"kind": "rows", "severity": "block", "passed": False, **fields}
    return CheckVerdict(dataset=dataset, name=name, found=found, **given)


def table(name: str, **fields: Any) -> TableState:
    """A table; one with a name like "app/dataset" is that of the dataset."""
    return TableState(name=name, **{"dataset": name if "/" in name else None, **fields})


def record(
    table: str = "a/d",
    operation: Operation = Operation.EXPIRE_SNAPSHOTS,
    policy: str = "a/nightly",
    **fields: Any,
) -> Record:
    """A record of an operation of policy a/nightly."""
    return Record(table=table, operation=operation, policy=policy, **{"seen_at": NOON, **fields})


def operation_run(job: str, table: str = "a/d", minutes: float = 0, **fields: Any) -> OperationRun:
    """A run of an operation that began some minutes after noon, and has an hour."""
    given = {"operation": Operation.EXPIRE_SNAPSHOTS, "policy": "a/nightly", **fields}
    return OperationRun(
        job=job, table=table, **{"started_at": at(minutes), "closes_at": at(minutes + 60), **given}
    )


def ended(run: OperationRun, minutes: float = 0, **fields: Any) -> OperationRun:
    """The run, which has ended some minutes after noon."""
    given = {"ending": Ending.FAILED, "ended_at": at(minutes), **fields}
    return msgspec.structs.replace(run, **given)


def operation_job(id: str, table: str = "a/d", policy: str = "a/nightly", **fields: Any) -> Job:
    """The job of an operation on a table."""
    app, _, name = policy.partition("/")
    work = Work(table=table, operation=Operation.EXPIRE_SNAPSHOTS, policy=policy)
    given = {"key": f"{table} expire_snapshots", "maintenance": work, **fields}
    return job(id, f"{app}/policy:{name}", **given)
