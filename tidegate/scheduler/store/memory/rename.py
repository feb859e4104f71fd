"""New names for all rows of renamed apps, programs and datasets; see `scheduler.store.sql.rename`."""

import msgspec

from tidegate.compiler.plan.renames import Renames
from tidegate.scheduler.decision.changes.renamed import renamed_event, renamed_owner
from tidegate.scheduler.store.memory.tables import Tables
from tidegate.scheduler.store.renamed_maintenance import (
    renamed_operation,
    renamed_resource,
    renamed_run,
)


def rename_tables(tables: Tables, names: Renames) -> None:
    """Give rows their new names; apps and schedules are put by the caller, records are moved apart."""
    tables.own("events", "deliveries", "jobs", "launches", "runs", "journal", "cursors")
    tables.events = {id: renamed_event(event, names) for id, event in tables.events.items()}
    tables.deliveries = {
        job: {
            (event, names.schedule(schedule), leaf): mark for (event, schedule, leaf), mark in marks.items()
        }
        for job, marks in tables.deliveries.items()
    }
    tables.jobs = {
        id: renamed_operation(msgspec.structs.replace(job, schedule=renamed_owner(job, names)), names)
        for id, job in tables.jobs.items()
    }
    tables.cursors = {_renamed_cursor(name, names): value for name, value in tables.cursors.items()}
    tables.launches = {
        holder: (names.programs.get(program, program), at)
        for holder, (program, at) in tables.launches.items()
    }
    tables.runs = {
        id: msgspec.structs.replace(run, program=names.programs.get(run.program, run.program))
        for id, run in tables.runs.items()
    }
    tables.journal = [
        entry
        if entry.schedule is None
        else msgspec.structs.replace(entry, schedule=names.schedule(entry.schedule))
        for entry in tables.journal
    ]
    tables.own("slots", "operation_runs")
    tables.slots = {renamed_resource(resource, names): holders for resource, holders in tables.slots.items()}
    tables.operation_runs = {job: renamed_run(run, names) for job, run in tables.operation_runs.items()}


def _renamed_cursor(name: str, names: Renames) -> str:
    """Return the name of a cursor; that of a report of instances has the task in it."""
    for old, new in names.schedules.items():
        if name.startswith(f"report:{old}:"):
            return f"report:{new}:" + name.removeprefix(f"report:{old}:")
    return name
