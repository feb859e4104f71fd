"""Engine values to rows and back, one pair of functions for each table.

Most columns have a field's name and hold its value; the types in `columns` do the rest. What
is written out here is only what differs: enums, and the derived columns behind the indexes.
"""

from typing import Any

import msgspec
from sqlalchemy import RowMapping

from compiler.model import Priority
from scheduler.deployed import DeployedApp, ScheduleState
from scheduler.event import Delivery, Event, EventKind
from scheduler.job import ByHand, Job, JobState
from scheduler.journal import Entry, EntryKind
from scheduler.reason import Reason
from scheduler.run import Gauge, Run, RunStatus
from scheduler.store.protocol import Launched
from scheduler.store.tables import NO_JOB

Fields = dict[str, Any]


def app_row(deployed: DeployedApp) -> Fields:
    """The row of an app."""
    return {
        "name": deployed.name,
        "spec": deployed.app,
        "revision": deployed.revision,
        "deployed_at": deployed.deployed_at,
    }


def app_of(row: RowMapping) -> DeployedApp:
    """The app of a row."""
    return DeployedApp(app=row["spec"], revision=row["revision"], deployed_at=row["deployed_at"])


def schedule_row(state: ScheduleState) -> Fields:
    """The row of a schedule."""
    return {
        **msgspec.structs.asdict(state),
        "app": state.app,
        "due_at": state.next_fire_at if state.active or state.holding else None,
    }


def schedule_of(row: RowMapping) -> ScheduleState:
    """The schedule of a row."""
    fields = dict(row)
    del fields["app"], fields["due_at"]
    return ScheduleState(**fields)


def event_row(event: Event) -> Fields:
    """The row of an event that is not routed yet."""
    return {**msgspec.structs.asdict(event), "unrouted_since": event.arrived}


def event_of(row: RowMapping) -> Event:
    """The event of a row; columns of a joined table that follow are ignored."""
    found: Fields = {name: row[name] for name in Event.__struct_fields__}
    found["kind"] = EventKind(found["kind"])
    return Event(**found)


def delivery_row(delivery: Delivery) -> Fields:
    """The row of a delivery."""
    return {
        "job": NO_JOB if delivery.job is None else delivery.job,
        "event": delivery.event.id,
        "schedule": delivery.schedule,
        "leaf": delivery.leaf,
        "reason": delivery.reason,
        "at": delivery.at,
    }


def delivery_of(row: RowMapping) -> Delivery:
    """The delivery of a row of the query that joins deliveries with their events."""
    return Delivery(
        event=event_of(row),
        schedule=row["to_schedule"],
        leaf=row["to_leaf"],
        job=None if row["to_job"] == NO_JOB else row["to_job"],
        reason=row["why"],
        at=row["delivered_at"],
    )


def job_row(job: Job) -> Fields:
    """The row of a job."""
    return {
        **msgspec.structs.asdict(job),
        "app": job.app,
        "due_at": job.next_check_at if job.waiting else None,
    }


def job_of(row: RowMapping) -> Job:
    """The job of a row."""
    fields = dict(row)
    del fields["app"], fields["due_at"]
    fields["state"] = JobState(fields["state"])
    fields["priority"] = Priority(fields["priority"])
    if fields["reason"] is not None:
        fields["reason"] = Reason(fields["reason"])
    if fields["by_hand"] is not None:
        fields["by_hand"] = ByHand(fields["by_hand"])
    return Job(**fields)


def run_row(run: Run) -> Fields:
    """The row of a run."""
    return msgspec.structs.asdict(run)


def run_of(row: RowMapping) -> Run:
    """The run of a row."""
    fields = dict(row)
    fields["status"] = RunStatus(fields["status"])
    return Run(**fields)


def launched_row(launched: Launched) -> Fields:
    """The row of a launch."""
    return msgspec.structs.asdict(launched)


def gauge_row(gauge: Gauge) -> Fields:
    """The row of a gauge."""
    return msgspec.structs.asdict(gauge)


def gauge_of(row: RowMapping) -> Gauge:
    """The gauge of a row."""
    return Gauge(**row)


def entry_row(entry: Entry) -> Fields:
    """The row of an entry of the journal; the database gives it its number."""
    return msgspec.structs.asdict(entry)


def entry_of(row: RowMapping) -> Entry:
    """The entry of a row."""
    fields = dict(row)
    del fields["number"]
    fields["kind"] = EntryKind(fields["kind"])
    return Entry(**fields)
