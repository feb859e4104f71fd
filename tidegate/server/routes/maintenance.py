"""Maintenance of tables: run operations by hand, why one does not run, what comes next, and what has run."""

from typing import Annotated, Any

import anyio
import anyio.to_thread
import msgspec
from fastapi import APIRouter, Depends, Query, Response

from tidegate.domain.model import Operation
from tidegate.domain.value import Value
from tidegate.listings.jobs import Job
from tidegate.listings.queries.jobs import public_jobs
from tidegate.listings.shown_job import OperationOfJob
from tidegate.listings.status_of_table import ShownTable, shown_table, table_status
from tidegate.listings.tables import TABLES
from tidegate.scheduler.commands.maintain import run_by_hand
from tidegate.scheduler.explain.operations.by_hand import AskedFor, Progress, asked_for
from tidegate.scheduler.explain.operations.planned import PlannedPoll, planned_polls
from tidegate.scheduler.model.maintenance import OperationRun
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.server.access import OPERATE, READ, Called, Caller
from tidegate.server.body import as_form, read_object
from tidegate.server.contract import contract, json_answer, listed, page_of
from tidegate.server.listing import add_route
from tidegate.server.page import Page, WholeNumber
from tidegate.server.problem import Problem, refused_as
from tidegate.server.service import Here, Service
from tidegate.server.tables import TablesSeen, table_at, table_named

router = APIRouter(prefix="/api/v1", tags=["maintenance"])

POLLS_MAX = 100
WAIT_SECONDS_MAX = 300
LOOK_SECONDS = 1.0
"""How often a caller that waits is looked after."""

ACCEPTED, FAILED = 202, 500

PRINTED = r"^[^\x00-\x1f]*$"
"""No control characters, which PostgreSQL does not store."""

Name = Annotated[str, msgspec.Meta(max_length=500, pattern=PRINTED)]


class Trigger(Value, kw_only=True, forbid_unknown_fields=True, rename={"policy_name": "policyName"}):
    """The body of a run by hand.

    Attributes:
        catalog: of the table; left out: any.
        namespace: of the table, or the app of a dataset. Without it `table` is any name of the table.
        operation: left out: all that are configured, one after the other.
        policy_name: "app/policy", or its name; left out: the one that counts.
    """

    catalog: Name | None = None
    namespace: Name | None = None
    table: Name
    operation: Operation | None = None
    policy_name: str | None = None
    reason: str = ""


class JobOfOperation(Job, kw_only=True):
    """A job on a table.

    Attributes:
        maintenance: what makes it one.
    """

    maintenance: OperationOfJob


class Triggered(Value, kw_only=True):
    """The operations that were asked for.

    Attributes:
        table: which.
        progress: "none" if the policies configure no operation.
        jobs: the first one; with `wait` also those that have followed.
        runs: of the jobs that have started.
    """

    table: str
    progress: str
    jobs: list[JobOfOperation]
    runs: list[OperationRun]


EXAMPLE = {
    "catalog": "warehouse",
    "namespace": "analytics",
    "table": "orders",
    "operation": "rewrite_data_files",
    "policyName": "nightly",
}

Wait = Annotated[
    int,
    WholeNumber,
    Query(ge=0, le=WAIT_SECONDS_MAX, description="Seconds to wait for the end of the operations."),
]


@router.post(
    "/maintenance/trigger",
    dependencies=[OPERATE],
    **contract(Triggered, body=Trigger, example=EXAMPLE, errors=(409, 500), also={ACCEPTED: Triggered}),
)
async def trigger(
    service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_object)], wait: Wait = 0
) -> Response:
    """Run operations on a table now, whatever their schedule and their conditions say."""
    wanted = as_form(body, Trigger)
    table, job = await anyio.to_thread.run_sync(_start, service, caller, wanted)
    if job is None:
        return json_answer(Triggered(table=table, progress="none", jobs=[], runs=[]))
    found, shown = await anyio.to_thread.run_sync(_look, service, job)
    deadline = anyio.current_time() + wait
    while found.progress in (Progress.WAITING, Progress.RUNNING) and anyio.current_time() < deadline:
        await anyio.sleep(LOOK_SECONDS)
        found, shown = await anyio.to_thread.run_sync(_look, service, job)
    return _answer(table, found, shown, waited=wait > 0)


def _start(service: Service, caller: Caller, wanted: Trigger) -> tuple[str, str | None]:
    """Start what is wanted, and return the name of the table and the first job."""
    with service.store.transaction() as transaction:
        if wanted.namespace is None:
            if wanted.catalog is not None:
                raise Problem(400, "a table with a `catalog` needs its `namespace`")
            table = table_named(service, transaction, caller, wanted.table)
        else:
            table = table_at(
                service, transaction, caller, wanted.catalog or "", wanted.namespace, wanted.table
            )
        with refused_as(409):
            jobs = run_by_hand(
                transaction,
                table.name,
                service.clock(),
                operation=wanted.operation,
                policy=wanted.policy_name,
                by=caller.by(wanted.reason),
            )
    return table.name, jobs[0].id if jobs else None


def _look(service: Service, job: str) -> tuple[AskedFor, list[Job]]:
    """Return the operations that were asked for, and their jobs as all faces show them."""
    with service.store.reading() as reader:
        found = asked_for(reader, job)
        return found, public_jobs(reader, found.jobs)


def _answer(table: str, found: AskedFor, shown: list[Job], *, waited: bool) -> Response:
    if found.progress is Progress.FAILED:
        raise Problem(FAILED, f"every operation on {table} has failed", runs=msgspec.to_builtins(found.runs))
    going_on = (Progress.WAITING, Progress.RUNNING) if waited else (Progress.WAITING,)
    triggered = Triggered(
        table=table,
        progress=found.progress,
        jobs=[
            JobOfOperation(
                **msgspec.structs.asdict(public),
                maintenance=msgspec.convert(job.work, OperationOfJob, from_attributes=True),
            )
            for job, public in zip(found.jobs, shown, strict=True)
        ],
        runs=list(found.runs),
    )
    return json_answer(triggered, ACCEPTED if found.progress in going_on else 200)


@router.get(
    "/tables/{namespace}/{table}/trigger-status",
    dependencies=[READ],
    **contract(ShownTable, errors=(409,)),
)
def trigger_status(
    namespace: str,
    table: str,
    service: Here,
    caller: Called,
    catalog: Annotated[str, Query(description="Of the table; default: any.")] = "",
) -> Response:
    """Show a table's health and debt, and for each operation whether it would run now, and why not."""
    with service.store.reading() as reader:
        found = table_at(service, reader, caller, catalog, namespace, table)
        return json_answer(shown_table(table_status(reader, found, service.clock())))


add_route(router, TABLES, "/maintenance/tables")


@router.get("/maintenance/plan", dependencies=[READ], **contract(page_of(PlannedPoll)))
def plan(
    service: Here,
    caller: Called,
    polls: Annotated[int, WholeNumber, Query(ge=1, le=POLLS_MAX, description="How many polls.")] = 2,
) -> Response:
    """Show what the next polls would start, in order, and how much each reason holds back."""
    with service.store.reading() as reader:
        names = TablesSeen(service, reader, caller).names(reader)
        found = planned_polls(reader, service.clock(), polls, names)
    return listed(list(found), None)


NEWEST_RUNS = ("-started_at", "-job")


@router.get("/maintenance/history", dependencies=[READ], **contract(page_of(OperationRun), errors=(409,)))
def history(
    service: Here,
    caller: Called,
    page: Annotated[Page, Depends(Page)],
    table: Annotated[
        str,
        Query(description="Any name of a table, also of one that is gone.", pattern=PRINTED),
    ] = "",
) -> Response:
    """List the runs of operations, the newest first, with what they found and what they left."""
    with service.store.reading() as reader:
        names = TablesSeen(service, reader, caller).names(reader)
        if table:
            names = (_with_runs(service, reader, caller, table, names),)
        place = page.after(OperationRun, *NEWEST_RUNS)
        before = None if place is None else (place[0], place[1])
        runs = reader.operation_runs(tables=names, before=before, limit=page.limit + 1)
    return listed(*page.of(runs, OperationRun, *NEWEST_RUNS))


def _with_runs(
    service: Service, reader: EngineReader, caller: Caller, name: str, seen: frozenset[str] | None
) -> str:
    """Return the name of a table; one that is gone has only its whole name."""
    if (seen is None or name in seen) and reader.operation_runs(tables=(name,), limit=1):
        return name
    return table_named(service, reader, caller, name).name
