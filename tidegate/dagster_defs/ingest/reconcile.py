"""Reconciliation: a pass every few minutes that finds what the rounds of ingestion missed.

Each pass compares the current state in three ways: it reads the rows of the last two passes
again (a row may be committed after its hole is closed), the runs that changed recently (an
event may be lost with its writer), and the runs that are active in the store (a run may be
deleted). Results take the same path as in `intake`, so processing one twice has no effect.
"""

from datetime import datetime, timedelta

import msgspec
from dagster import DagsterInstance, RunsFilter

from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.ingest.asset_checks import look_again
from tidegate.dagster_defs.ingest.event_log import PAGE_ROWS, EventLog
from tidegate.dagster_defs.ingest.intake import RUNS_PER_QUERY, Log, cursor_name, facts_of, translate
from tidegate.dagster_defs.ingest.position import decode_position
from tidegate.dagster_defs.ingest.run_observations import dagster_run_id, record_observations
from tidegate.domain.time.instant import is_recent
from tidegate.domain.value import Value
from tidegate.scheduler.commands.deployment.rename import record_of
from tidegate.scheduler.intake.asset_checks import fold_checks
from tidegate.scheduler.intake.observe import RunObservation, heard_of_runs, observe_runs
from tidegate.scheduler.intake.report import note_refused
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.run import Run, RunStatus
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import Store

RECONCILE_EVERY = timedelta(minutes=3)

PAGES_PER_PASS = 10
"""The maximum of rows that a pass reads again, in pages; the next pass continues."""

RUNS_OVERLAP = timedelta(minutes=10)
"""Runs that changed this long before the last pass are read again: clocks differ, commits are late."""

RUNS_PER_PASS = 500
DELETED_AFTER = timedelta(minutes=10)
"""An active run that is missing in Dagster for this long was deleted, and counts as cancelled."""


class Pass(Value, frozen=True, kw_only=True):
    """The time and positions of the last pass.

    Attributes:
        before: position in the log at the previous pass; rows are read again from there.
        reached: position in the log at the last pass.
    """

    at: datetime
    before: int = 0
    reached: int = 0


def pass_name(epoch: str) -> str:
    """Return the name of the store cursor that holds the last pass over an event log."""
    return f"dagster-reconcile:{epoch}"


def reconcile(instance: DagsterInstance, store: Store, plan: AssetPlan, now: datetime, log: Log) -> bool:
    """Run a pass if one is due, and return whether it ran."""
    event_log = EventLog(instance)
    with store.reading() as reader:
        saved = reader.cursor(pass_name(event_log.epoch))
        position = decode_position(reader.cursor(cursor_name(event_log.epoch)))
    last = (
        Pass(at=now, before=position.id, reached=position.id)
        if saved is None
        else msgspec.convert(saved, type=Pass)
    )
    if saved is not None and is_recent(last.at, now, RECONCILE_EVERY):
        return False
    with store.reading() as reader:
        active = _active(reader)
    # After a wipe the log may end below the previous position.
    begin = min(last.before, position.id)
    end = _read_again(instance, event_log, store, plan, (begin, position.id), now, log)
    look_again(instance, store, plan, now)
    observed = _changed_runs(instance, plan, min(last.at, now) - RUNS_OVERLAP)
    observed += _active_runs(instance, plan, active, now)
    with store.transaction() as transaction:
        observe_runs(transaction, observed, now)
        moved = Pass(at=now, before=min(last.reached, end), reached=end)
        transaction.set_cursor(pass_name(event_log.epoch), msgspec.to_builtins(moved))
    return True


def _read_again(
    instance: DagsterInstance,
    event_log: EventLog,
    store: Store,
    plan: AssetPlan,
    span: tuple[int, int],
    now: datetime,
    log: Log,
) -> int:
    """Ingest the rows of (begin, end] again and return the last id reached."""
    reached, end = span
    with store.reading() as reader:
        former = record_of(reader).former
    for _ in range(PAGES_PER_PASS):
        rows = [row for row in event_log.after(reached) if row.id <= end]
        if not rows:
            return end
        # Unusable rows were logged when they were read first.
        events, observed, refused, _ = translate(instance, rows, plan, now, lambda _: None, former)
        facts = facts_of(instance, store, rows, plan, now, former)
        with store.transaction() as transaction:
            fresh = transaction.add_events(heard_of_runs(transaction, events, observed))
            note_refused(transaction, refused)
            observe_runs(transaction, observed, now)
            fold_checks(transaction, facts, now)
        if fresh:
            log(f"reconciliation found {len(fresh)} missed event(s)")
        reached = rows[-1].id
        if len(rows) < PAGE_ROWS:
            return end
    return reached


def _changed_runs(instance: DagsterInstance, plan: AssetPlan, since: datetime) -> list[RunObservation]:
    records = instance.get_run_records(
        filters=RunsFilter(updated_after=since),
        limit=RUNS_PER_PASS,
        order_by="update_timestamp",
        ascending=True,
    )
    return list(record_observations(instance, records, plan))


def _active(reader: EngineReader) -> dict[str, Run]:
    """Return the runs that are active in the store, and runs of launched jobs that it has not recorded."""
    runs = {run.run_id: run for run in reader.runs(active=True)}
    for job in reader.jobs(states=(JobState.LAUNCHED,)):
        if job.run_id is not None and job.launch is not None and job.launched_at is not None:
            unrecorded = Run(
                run_id=job.run_id,
                program=f"{job.app}/{job.launch.program}",
                job=job.id,
                attempt=job.attempt,
                status=RunStatus.QUEUED,
                seen_at=job.launched_at,
            )
            runs.setdefault(job.run_id, unrecorded)
    return runs


def _active_runs(
    instance: DagsterInstance, plan: AssetPlan, active: dict[str, Run], now: datetime
) -> list[RunObservation]:
    """Return the current statuses of the runs that are active in the store."""
    found: list[RunObservation] = []
    known: set[str] = set()
    ordered = sorted({dagster_run_id(id_) for id_ in active})
    for start in range(0, len(ordered), RUNS_PER_QUERY):
        records = instance.get_run_records(
            filters=RunsFilter(run_ids=ordered[start : start + RUNS_PER_QUERY])
        )
        known |= {record.dagster_run.run_id for record in records}
        found += record_observations(instance, records, plan)
    deleted = [
        run
        for run in active.values()
        if dagster_run_id(run.run_id) not in known and now - run.seen_at > DELETED_AFTER
    ]
    return found + [
        RunObservation(
            run_id=run.run_id,
            program=run.program,
            job=run.job,
            attempt=run.attempt,
            status=RunStatus.CANCELLED,
            at=now,
        )
        for run in deleted
    ]
