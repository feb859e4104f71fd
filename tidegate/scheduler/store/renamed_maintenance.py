"""What the store knows of maintenance, under the new names of datasets and apps. Pure.

The table of a dataset has the dataset's name, and a policy that of its app. Jobs keep their ids.
"""

import msgspec

from tidegate.compiler.plan.renames import Renames
from tidegate.scheduler.model.job import Job, LaunchPlan
from tidegate.scheduler.model.maintenance import (
    OperationRun,
    Record,
    TableHistory,
    TableState,
    table_resource,
)


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
