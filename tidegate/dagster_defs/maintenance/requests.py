"""The run requests of maintenance: of an operation, and of a measuring run.

The run of an operation reads what it has to do from its job in the store, once it has claimed the attempt: a
run request that is days old cannot differ from it. A measuring run is requested by the dispatcher that finds
first that there is something to do.

    anything due, and a place free? ──no──► nothing, at the cost of two reads
         └──yes──► a measuring run under way? asked lately? ──no──► noted in the store, then requested

The note keeps the dispatchers of a project from asking together. A request that gets lost is made again.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from dagster import DagsterInstance, RunRequest

from tidegate.dagster_defs.deployed.names import MAINTENANCE, MEASURING
from tidegate.dagster_defs.deployed.tags import OPERATION, POLICY, PROJECT, REASON, TABLE, shortened
from tidegate.dagster_defs.maintenance.due import due, may_be_due
from tidegate.dagster_defs.run.cleaning import of_project
from tidegate.dagster_defs.run.recovery import is_running
from tidegate.dagster_defs.run.run_request import Invalid, job_tags
from tidegate.domain.model import App
from tidegate.domain.time.instant import is_recent
from tidegate.scheduler.launch.outbox import LaunchRequest
from tidegate.scheduler.model.maintenance import Work
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.store.upkeep import UpkeepStore
from tidegate.scheduler.tick.places import load_rooms

NOT_LOADED = "the app had no policies when the code location was loaded: reload the code location"


ASKED = "maintenance-measuring"
"""Name of the cursor that holds when a project last asked for a measuring run."""

ASKED_AGAIN = timedelta(seconds=30)
"""Dagster needs a second to make a run of a request, on a busy machine some more."""


def operation_request(request: LaunchRequest, work: Work, *, loaded: bool) -> RunRequest | Invalid:
    """Return the run request of an operation.

    Args:
        loaded: whether the loaded definitions have the maintenance job. A reload brings it, so a request that
            comes before is not rejected for good.
    """
    if not loaded:
        return Invalid(NOT_LOADED)
    return RunRequest(
        run_key=request.run_key,
        job_name=MAINTENANCE,
        tags={
            **job_tags(request),
            TABLE: shortened(work.table),
            OPERATION: str(work.operation),
            POLICY: work.policy,
        },
    )


def measuring_request(
    instance: DagsterInstance, store: UpkeepStore, apps: Collection[App], project: str, now: datetime
) -> RunRequest | None:
    """Return the request of a measuring run, if there is something to do and no run is at it.

    Args:
        apps: the project's own apps that are deployed.
    """
    with store.reading() as reader:
        if not may_be_due(reader, apps, project, now):
            return None
        places = load_rooms(reader).places.get(project)
    if places is not None and not places.has_room:
        # Its tables wait with M-PLACES.
        return None
    if is_running(instance, MEASURING, project):
        return None
    with store.reading() as reader:
        found = due(reader, apps, project, now)
    if not found:
        return None
    with store.transaction() as transaction:
        if not _note(transaction, project, now):
            return None
    return RunRequest(
        run_key=f"{MEASURING}:{project}:{now.isoformat()}",
        job_name=MEASURING,
        tags={PROJECT: project, REASON: shortened(found.reason)},
    )


def _note(transaction: EngineTransaction, project: str, now: datetime) -> bool:
    """Note a request; return False if another one was made a moment ago."""
    name = of_project(ASKED, project)
    last = transaction.cursor(name)
    if last is not None and is_recent(datetime.fromisoformat(last), now, ASKED_AGAIN):
        return False
    transaction.set_cursor(name, now.isoformat())
    return True
