"""New names for all rows of renamed apps, programs and datasets; see `scheduler.store.sql.rename`."""

from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

import msgspec

from tidegate.compiler.plan.renames import Renames
from tidegate.scheduler.decision.changes.renamed import renamed_event, renamed_owner
from tidegate.scheduler.model.maintenance import Record, TableState
from tidegate.scheduler.store.memory.tables import RecordKey, Tables
from tidegate.scheduler.store.renamed_maintenance import (
    renamed_operation,
    renamed_record,
    renamed_resource,
    renamed_run,
    renamed_table,
)

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def rename_tables(tables: Tables, names: Renames) -> None:
    """Give rows their new names; apps and schedules are put by the caller."""
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
    _rename_maintenance(tables, names)
    _rename_watched(tables, names)
    _rename_expected(tables, names)


def _renamed_cursor(name: str, names: Renames) -> str:
    """Return the name of a cursor; that of a report of instances has the task in it."""
    for old, new in names.schedules.items():
        if name.startswith(f"report:{old}:"):
            return f"report:{new}:" + name.removeprefix(f"report:{old}:")
    return name


def _rename_maintenance(tables: Tables, names: Renames) -> None:
    tables.own("slots", "maintained", "records", "operation_runs")
    tables.slots = {renamed_resource(resource, names): holders for resource, holders in tables.slots.items()}
    tables.maintained = _renamed(tables.maintained, lambda table: renamed_table(table, names), _name)
    tables.records = _renamed(tables.records, lambda record: renamed_record(record, names), _key)
    tables.operation_runs = {job: renamed_run(run, names) for job, run in tables.operation_runs.items()}


def _rename_watched(tables: Tables, names: Renames) -> None:
    tables.own("watched_folders", "watched_partitions")
    for old, new in names.datasets.items():
        tables.watched_folders.pop(new, None)
        for dataset, key in [each for each in tables.watched_partitions if each[0] == new]:
            del tables.watched_partitions[dataset, key]
        folder = tables.watched_folders.pop(old, None)
        if folder is not None:
            tables.watched_folders[new] = msgspec.structs.replace(folder, dataset=new)
        for dataset, key in [each for each in tables.watched_partitions if each[0] == old]:
            partition = tables.watched_partitions.pop((dataset, key))
            tables.watched_partitions[new, key] = msgspec.structs.replace(partition, dataset=new)


def _rename_expected(tables: Tables, names: Renames) -> None:
    tables.own("expected_data", "expected_periods", "late_totals")
    for old, new in names.datasets.items():
        tables.expected_data.pop(new, None)
        for dataset, key in [each for each in tables.expected_periods if each[0] == new]:
            del tables.expected_periods[dataset, key]
        data = tables.expected_data.pop(old, None)
        if data is not None:
            tables.expected_data[new] = msgspec.structs.replace(data, dataset=new)
        for dataset, key in [each for each in tables.expected_periods if each[0] == old]:
            period = tables.expected_periods.pop((dataset, key))
            tables.expected_periods[new, key] = msgspec.structs.replace(period, dataset=new)
        _move_total(tables, ("dataset", old), new)
    for old, new in names.schedules.items():
        for kind, name in [each for each in tables.late_totals if each[1] == old and each[0] != "dataset"]:
            _move_total(tables, (kind, name), new)
    for old, new in names.apps.items():
        for kind, name in [each for each in tables.late_totals if each[1].startswith(f"{new}/")]:
            if kind != "dataset":
                del tables.late_totals[kind, name]
        for kind, name in [each for each in tables.late_totals if each[1].startswith(f"{old}/")]:
            if kind != "dataset":
                _move_total(tables, (kind, name), new + name.removeprefix(old))


def _move_total(tables: Tables, key: tuple[str, str], new: str) -> None:
    tables.late_totals.pop((key[0], new), None)
    total = tables.late_totals.pop(key, None)
    if total is not None:
        tables.late_totals[key[0], new] = msgspec.structs.replace(total, name=new)


def _name(table: TableState) -> str:
    return table.name


def _key(record: Record) -> RecordKey:
    return record.key


def _renamed(values: Mapping[K, V], rename: Callable[[V], V], key: Callable[[V], K]) -> dict[K, V]:
    """Return values under their new names; one that was renamed replaces what was left under its name."""
    kept = {each: value for each, value in values.items() if rename(value) == value}
    moved = [rename(value) for value in values.values() if rename(value) != value]
    return kept | {key(value): value for value in moved}
