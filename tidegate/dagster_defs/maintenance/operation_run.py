"""The run of an operation on a table: claim, operate, report the end.

    claim (job, attempt) ──lost──► the run succeeds without doing anything
          └──won──► tidegate.spark_jobs.maintenance ─► end in the store ─► numbers in Dagster

The end is reported to the store first: that frees the table, and decides when the operation is due again. If
the job has ended without the run, by its timeout, the end does not count: it has failed already. A run that
ends without a report has died, and the engine ends its job (`scheduler.intake.observe`).

Before a Parquet table is touched, publishes into it that dead runs have left are finished, as by a program's
run. If another process is at one of them for long, that is a conflict: the operation is due again soon. An
Iceberg table needs none of that: a publish into it is computed for the table as it is then.
A dataset of the project whose table does not exist was never published, so there is nothing to do. Any other
table that does not exist is gone, which is reported too.

Control: what a running operation asks between its commits, answered by the store.

    should_stop     its time is over, or its job has ended without it
    should_yield    a ready job of high priority lacks a slot that the operation holds

The store is asked at most once a second, whatever the number of commits. While it is away the last answer
counts: the run knows the end of its time by itself.
"""

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from dagster import DagsterInstance, Failure, OpExecutionContext

from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.plan_state import Plan, deployed_plan
from tidegate.dagster_defs.deployed.tags import JobTag, job_of
from tidegate.dagster_defs.maintenance.tables import ELSEWHERE, observation_of, target_of
from tidegate.dagster_defs.run.commit_events import CommitEvents
from tidegate.dagster_defs.run.failure_text import failure_text
from tidegate.dagster_defs.run.run_lease import run_lease
from tidegate.dagster_defs.run.spark_loss import spark_loss
from tidegate.domain.model import App, HealthRules
from tidegate.domain.part_name import app_of
from tidegate.scheduler.intake.tables import report_gone
from tidegate.scheduler.launch.run_report import claim, end_operation, goes_on, should_yield
from tidegate.scheduler.model.job import Job, LaunchPlan
from tidegate.scheduler.model.maintenance import Ended, Ending
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.error import StoreAway
from tidegate.scheduler.store.patience import patiently
from tidegate.scheduler.store.protocol import Store
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.spark_jobs.errors import CommitBusy
from tidegate.spark_jobs.maintenance.formats import maintained_format
from tidegate.spark_jobs.maintenance.operation import run_operation
from tidegate.spark_jobs.maintenance.request import (
    FORMAT_IN_CATALOGS,
    MaintenanceContext,
    OperationRequest,
    TableTarget,
)
from tidegate.spark_jobs.session.session import session

ASK_SECONDS = 1.0
"""From one question to the store to the next."""


class RunControl:
    """The `Control` of one run; also called from a second thread."""

    def __init__(
        self,
        open_store: Callable[[], Store],
        job: str,
        attempt: int,
        closes_at: datetime,
        now: Callable[[], datetime],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Args:
        closes_at: when the timeout of the operation is over.
        clock: paces the questions.
        """
        self._closes_at = closes_at
        self._now = now
        self._yields = _Paced(open_store, lambda reader: should_yield(reader, job), clock)
        self._is_over = _Paced(open_store, lambda reader: not goes_on(reader, job, attempt), clock)

    def should_yield(self) -> bool:
        return self._yields.ask()

    def should_stop(self) -> bool:
        return self._now() >= self._closes_at or self._is_over.ask()


class _Paced:
    """A question to the store, asked at most each `ASK_SECONDS`. Once the answer is yes, it stays yes."""

    def __init__(
        self,
        open_store: Callable[[], Store],
        question: Callable[[EngineReader], bool],
        clock: Callable[[], float],
    ) -> None:
        self._open_store = open_store
        self._question = question
        self._clock = clock
        self._asked_at: float | None = None
        self._answer = False
        self._lock = threading.Lock()

    def ask(self) -> bool:
        with self._lock:
            now = self._clock()
            early = self._asked_at is not None and now - self._asked_at < ASK_SECONDS
            if not (self._answer or early):
                self._asked_at = now
                try:
                    with self._open_store().reading() as reader:
                        self._answer = self._question(reader)
                except StoreAway:
                    pass
            return self._answer


BY_HAND = (
    "a run of this job is started for an operation that the engine has decided; to start one by hand:"
    " tidegate maintenance run TABLE"
)
TIMED_OUT = "the job of this run has ended without it, as failed"


class Claimed(NamedTuple):
    """An attempt of a job that this run has claimed.

    Attributes:
        apps: the deployed apps by name.
        theirs: the names of those of other projects.
    """

    tag: JobTag
    job: Job
    launch: LaunchPlan
    apps: dict[str, App]
    theirs: frozenset[str]


def run_of_operation(context: OpExecutionContext, location: Location) -> None:
    """Run the body of the op.

    Raises:
        Failure: the operation failed, or its job has ended without the run.
    """
    with run_lease(location, context.instance, context.run_id):
        store = patiently(location.open_store)
        claimed = _claimed(context, store, location)
        if claimed is None:
            return
        ended = _operate(claimed, context.instance, location)
        counts = patiently(lambda: _report(store, claimed, ended, location.clock()))
    if not counts:
        raise Failure(description=_why_over(store, claimed), allow_retries=False)
    context.log_event(observation_of(claimed.job, ended))
    if ended.ending is Ending.FAILED:
        raise Failure(description=ended.detail, allow_retries=False)
    context.log.info(f"{ended.ending}: {ended.detail}" if ended.detail else str(ended.ending))


def _claimed(context: OpExecutionContext, store: Store, location: Location) -> Claimed | None:
    """Claim the attempt; None if the run has nothing to do."""
    tag, run_id = job_of(context.run.tags), context.run_id
    if tag is None:
        raise Failure(description=BY_HAND, allow_retries=False)
    answer = patiently(lambda: claim(store, tag.job, tag.attempt, run_id, location.clock()))
    job = answer.job
    if not answer.won or job is None or job.maintenance is None or job.launch is None:
        context.log.warning(f"this run does nothing: {answer.refusal or BY_HAND}")
        return None
    plan = patiently(lambda: _plan(store, location.project))
    theirs = frozenset(loaded.app.name for loaded in plan.others)
    return Claimed(tag, job, job.launch, plan.by_name, theirs)


def _plan(store: Store, project: str) -> Plan:
    with store.reading() as reader:
        return deployed_plan(reader, project)


def _operate(claimed: Claimed, instance: DagsterInstance, location: Location) -> Ended:
    """Carry out the operation; a failure is an end of it."""
    args = claimed.launch.args
    control = RunControl(
        location.open_store,
        claimed.tag.job,
        claimed.tag.attempt,
        datetime.fromisoformat(args["closes_at"]),
        location.clock,
    )
    try:
        context = MaintenanceContext(
            spark=lambda: session(location.spark),
            warehouse=location.warehouse,
            store=patiently(location.open_commits),
            places=_places(claimed.apps, location.warehouse),
        )
        request = request_of(claimed.job, claimed.launch, claimed.apps)
        _finish_commits(request.table, context, instance, location)
        ended = run_operation(context, request, control)
    except CommitBusy as error:
        return Ended(ending=Ending.CONFLICT, detail=str(error))
    except Exception as error:  # noqa: BLE001 -- reported as the end of the operation
        return Ended(ending=Ending.FAILED, detail=failure_text(spark_loss(error) or error, Path.cwd()))
    dataset: str | None = args["dataset"]
    if dataset is not None and ended.results.get("gone"):
        return _of_missing_dataset(dataset, claimed.theirs)
    return ended


def _places(apps: Mapping[str, App], warehouse: Warehouse) -> dict[str, str]:
    """Return the folders of the datasets that no catalog knows, by their names."""
    refs = (dataset_ref(app.name, dataset) for app in apps.values() for dataset in app.datasets.values())
    return {ref.id: ref.root(warehouse) for ref in refs if ref.format != FORMAT_IN_CATALOGS}


def _of_missing_dataset(dataset: str, theirs: Collection[str]) -> Ended:
    """Return the end of an operation on a deployed dataset whose table does not exist."""
    if app_of(dataset) in theirs:
        return Ended(ending=Ending.FAILED, detail=ELSEWHERE.format(dataset))
    return Ended(ending=Ending.SUCCEEDED, detail=f"{dataset} was never published")


def _finish_commits(
    table: TableTarget, context: MaintenanceContext, instance: DagsterInstance, location: Location
) -> None:
    """Finish the publishes into a table that dead runs have left, if its format needs that.

    Raises:
        CommitBusy: another process has been finishing one of them for long.
        SparkJobError: one of them cannot be finished, so the table must not be written.
    """
    if table.ref is None or context.store is None or not maintained_format(table).needs_recovery:
        return
    events = CommitEvents(location.open_store, location.clock, instance)
    acting = CommitContext(files=location.warehouse.files, spark=context.spark, events=events)
    recover((table.ref.id,), context.store, acting)


def request_of(job: Job, launch: LaunchPlan, apps: dict[str, App]) -> OperationRequest:
    """Return what a job asks for.

    Raises:
        NoDataset: the dataset of the table is not deployed any more.
    """
    args = launch.args
    return OperationRequest(
        table=target_of(args["table"], args["dataset"], args["catalog_name"], apps),
        operation=job.work.operation,
        options=dict(args["options"]),
        excluded=tuple(args["excluded"]),
        rules=HealthRules(**args["health"]),
        job=job.id,
    )


def _report(store: Store, claimed: Claimed, ended: Ended, now: datetime) -> bool:
    tag = claimed.tag
    with store.transaction() as transaction:
        if ended.results.get("gone") and goes_on(transaction, tag.job, tag.attempt):
            # Before the end: what was asked for by hand must not go on with this table.
            report_gone(transaction, (claimed.job.work.table,), now)
        return end_operation(transaction, tag.job, tag.attempt, ended, now)


def _why_over(store: Store, claimed: Claimed) -> str:
    def read() -> Sequence[Job]:
        with store.reading() as reader:
            return reader.jobs(ids=(claimed.tag.job,))

    detail = next((job.detail for job in patiently(read) if job.detail), "")
    return f"{TIMED_OUT}: {detail}" if detail else TIMED_OUT
