"""Records and operations under the new names of datasets, schedules and apps, in any store.

The table of a dataset has the dataset's name, and a policy that of its app. Jobs keep their ids. Records
that a part left behind long ago under a name that another one has now are replaced. Apps, subscriptions and
overrides are put by the caller, and specifications stay what was deployed.
"""

from collections.abc import Callable, Collection
from typing import Any, TypeVar

import msgspec

from tidegate.compiler.plan.renames import Renames
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.model.job import Job, LaunchPlan
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.maintenance import (
    MAINTAINED_TABLES,
    MAINTENANCE_RECORDS,
    OperationRun,
    Record,
    TableHistory,
    TableState,
    table_resource,
)
from tidegate.scheduler.model.records.expected import (
    EXPECTED_DATA,
    EXPECTED_PERIODS,
    LATE_TOTALS,
    LateTotal,
)
from tidegate.scheduler.model.records.judged_run import CHECK_RESULTS
from tidegate.scheduler.model.records.last_launch import LAST_LAUNCHES, LastLaunch
from tidegate.scheduler.model.records.watched import WATCHED_FOLDERS, WATCHED_PARTITIONS
from tidegate.scheduler.model.records.withheld import WITHHELD_EVENTS
from tidegate.scheduler.store.engine_rows import ChangedRecords


def renamed_table(table: TableState, names: Renames) -> TableState:
    """Return the table under the new names."""
    return msgspec.structs.replace(
        table,
        name=_table(table.name, names),
        dataset=None if table.dataset is None else _table(table.dataset, names),
        health_policy=None if table.health_policy is None else names.policy(table.health_policy),
        history=_renamed_history(table.history, names),
    )


def _renamed_history(history: TableHistory, names: Renames) -> TableHistory:
    matched = {names.policy(policy): at for policy, at in history.matched_at.items()}
    return msgspec.structs.replace(history, matched_at=matched)


def renamed_record(record: Record, names: Renames) -> Record:
    """Return the record under the new names."""
    return msgspec.structs.replace(
        record, policy=names.policy(record.policy), table=_table(record.table, names)
    )


def renamed_run(run: OperationRun, names: Renames) -> OperationRun:
    """Return the run under the new names."""
    return msgspec.structs.replace(run, policy=names.policy(run.policy), table=_table(run.table, names))


def renamed_resource(resource: str, names: Renames) -> str:
    """Return the resource under the new names, if it is that of a table."""
    for old, new in names.datasets.items():
        if resource == table_resource(old):
            return table_resource(new)
    return resource


def renamed_operation(job: Job, names: Renames) -> Job:
    """Return the job under the new names, if it is an operation on a table; but not its schedule."""
    work = job.maintenance
    if work is None:
        return job
    then = tuple((operation, names.policy(policy)) for operation, policy in work.then)
    renamed = msgspec.structs.replace(
        work, table=_table(work.table, names), policy=names.policy(work.policy), then=then
    )
    changed = msgspec.structs.replace(job, maintenance=renamed)
    return changed if renamed.table == work.table else _of_table(changed, work.table)


def _table(name: str, names: Renames) -> str:
    return names.datasets.get(name, name)


def _of_table(job: Job, former: str) -> Job:
    """Return the job with the name of its table instead of the former one everywhere."""
    work = job.work
    resources = {table_resource(former): table_resource(work.table)}
    return msgspec.structs.replace(
        job,
        key=f"{work.table} {work.operation}",
        resources=tuple(resources.get(each, each) for each in job.resources),
        blocked_on=None if job.blocked_on is None else resources.get(job.blocked_on, job.blocked_on),
        launch=None if job.launch is None else _launch(job.launch, former, work.table),
    )


def _launch(launch: LaunchPlan, former: str, table: str) -> LaunchPlan:
    args = {
        name: table if name in ("table", "dataset") and value == former else value
        for name, value in launch.args.items()
    }
    return msgspec.structs.replace(launch, args=args)


V = TypeVar("V", bound=Value)

OF_DATASETS: tuple[Kind[Any], ...] = (
    WATCHED_FOLDERS,
    WATCHED_PARTITIONS,
    EXPECTED_DATA,
    EXPECTED_PERIODS,
    WITHHELD_EVENTS,
    CHECK_RESULTS,
)
"""Kinds whose keys begin with a dataset."""


def rename_records(store: ChangedRecords, names: Renames) -> None:
    """Give records their new names."""
    for kind in OF_DATASETS:
        moved = store.records(kind, dataset=names.datasets)
        store.drop_records(kind, {*names.datasets, *names.datasets.values()})
        renamed = [msgspec.structs.replace(each, dataset=names.datasets[each.dataset]) for each in moved]
        store.put_records(kind, renamed)
    move_records(store, MAINTAINED_TABLES, lambda table: renamed_table(table, names))
    move_records(store, MAINTENANCE_RECORDS, lambda record: renamed_record(record, names))
    move_records(store, LAST_LAUNCHES, lambda last: _renamed_launch(last, names))
    left = [total for total in store.records(LATE_TOTALS) if _is_left(total, names)]
    move_records(store, LATE_TOTALS, lambda total: _renamed_total(total, names), left)


def move_records(
    store: ChangedRecords, kind: Kind[V], renamed: Callable[[V], V], left: Collection[V] = ()
) -> None:
    """Move the records that have other names now; those that were left under the new ones go."""
    pairs = [(old, renamed(old)) for old in store.records(kind)]
    moved = [(old, new) for old, new in pairs if old != new]
    store.drop_records(kind, [kind.key_of(each) for each in (*left, *(old for old, _ in moved))])
    store.put_records(kind, [new for _, new in moved])


def _renamed_launch(last: LastLaunch, names: Renames) -> LastLaunch:
    return msgspec.structs.replace(last, schedule=names.schedule(last.schedule))


def _renamed_total(total: LateTotal, names: Renames) -> LateTotal:
    of_dataset = total.kind == "dataset"
    new = names.datasets.get(total.name, total.name) if of_dataset else names.schedule(total.name)
    return msgspec.structs.replace(total, name=new)


def _is_left(total: LateTotal, names: Renames) -> bool:
    """Return whether a total is of an earlier part with a name that a renamed one has now."""
    if total.kind == "dataset":
        return total.name in names.datasets.values()
    return total.name in names.schedules.values() or app_of(total.name) in names.apps.values()
