"""New names for all rows of renamed apps, programs and datasets; see `scheduler.store.sql.rename`."""

import msgspec

from tidegate.compiler.plan.renames import Renames
from tidegate.scheduler.decision.renamed import renamed_event
from tidegate.scheduler.store.memory.tables import Tables


def rename_tables(tables: Tables, names: Renames) -> None:
    """Give rows their new names; apps and schedules are put by the caller."""
    tables.own("events", "deliveries", "jobs", "launches", "runs", "journal")
    tables.events = {id: renamed_event(event, names) for id, event in tables.events.items()}
    tables.deliveries = {
        job: {
            (event, names.schedule(schedule), leaf): mark for (event, schedule, leaf), mark in marks.items()
        }
        for job, marks in tables.deliveries.items()
    }
    tables.jobs = {
        id: msgspec.structs.replace(job, schedule=names.schedule(job.schedule))
        for id, job in tables.jobs.items()
    }
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
