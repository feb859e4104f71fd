"""Looks again, every few minutes, at what the rounds of ingestion may have missed.

Three questions, each asked of the present state and not of a cursor: are all rows that have
been read passed over twice, minutes apart, still the same set (a row may be committed later
than any hole is kept open); what does the runs table say about runs that changed lately (an
event may have been lost with its writer); and do the runs that the store believes active exist
at all (a run may have been deleted). Whatever is found takes the same path as in `intake`, so
finding it twice changes nothing.
"""

from datetime import datetime, timedelta

import msgspec
from dagster import DagsterInstance, RunsFilter

from tidegate.dagster_defs.definitions.asset_plan import AssetPlan
from tidegate.dagster_defs.ingest.event_log import PAGE_ROWS, EventLog
from tidegate.dagster_defs.ingest.intake import RUNS_PER_QUERY, Say, cursor_name, translate
from tidegate.dagster_defs.ingest.position import decode_position
from tidegate.dagster_defs.ingest.run_observations import dagster_run_id, record_observations
from tidegate.domain.value import Value
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.run import Run, RunStatus
from tidegate.scheduler.store.protocol import Reader, Store

RECONCILE_EVERY = timedelta(minutes=3)

PAGES_PER_PASS = 10
"""Rows read again in one pass at most; the ids beyond are read again by the next pass."""

RUNS_OVERLAP = timedelta(minutes=10)
"""Runs changed so long before the last pass are looked at again: clocks differ, commits are late."""

RUNS_PER_PASS = 500
DELETED_AFTER = timedelta(minutes=10)
"""An active run that Dagster does not know for so long was deleted, and counts as cancelled."""


class Pass(Value, frozen=True, kw_only=True):
    """Where the last pass stood.

    Attributes:
        at: when it was.
        before: the position in the log at the pass before it; rows are read again from there.
        reached: the position in the log at the last pass.
    """

    at: datetime
    before: int = 0
    reached: int = 0


def pass_name(epoch: str) -> str:
    """Where the last pass over one event log is kept in the store."""
    return f"dagster-reconcile:{epoch}"


def reconcile(instance: DagsterInstance, store: Store, plan: AssetPlan, now: datetime, say: Say) -> bool:
    """Make a pass if one is due. Returns whether it was."""
    log = EventLog(instance)
    with store.reading() as reader:
        saved = reader.cursor(pass_name(log.epoch))
        position = decode_position(reader.cursor(cursor_name(log.epoch)))
        active = _active(reader)
    last = (
        Pass(at=now, before=position.id, reached=position.id)
        if saved is None
        else msgspec.convert(saved, type=Pass)
    )
    if saved is not None and now - last.at < RECONCILE_EVERY:
        return False
    # A wipe may have taken the log below where it stood.
    begin = min(last.before, position.id)
    end = _read_again(instance, log, store, plan, (begin, position.id), now, say)
    seen = _changed_runs(instance, plan, last.at - RUNS_OVERLAP) + _active_runs(instance, plan, active, now)
    with store.transaction() as transaction:
        observe_runs(transaction, seen, now)
        moved = Pass(at=now, before=min(last.reached, end), reached=end)
        transaction.set_cursor(pass_name(log.epoch), msgspec.to_builtins(moved))
    return True


def _read_again(
    instance: DagsterInstance,
    log: EventLog,
    store: Store,
    plan: AssetPlan,
    span: tuple[int, int],
    now: datetime,
    say: Say,
) -> int:
    """Take in the rows of (begin, end] once more; returns the id that was reached."""
    reached, end = span
    for _ in range(PAGES_PER_PASS):
        rows = [row for row in log.after(reached) if row.id <= end]
        if not rows:
            return end
        # What cannot be used has been told when it was read first.
        events, seen = translate(instance, rows, plan, now, lambda _: None)
        with store.transaction() as transaction:
            fresh = transaction.add_events(events)
            observe_runs(transaction, seen, now)
        if fresh:
            say(f"reconciliation found {len(fresh)} event(s) that had been missed")
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
    return list(record_observations(records, plan))


def _active(reader: Reader) -> dict[str, Run]:
    """The runs that the store believes active, and those of launched jobs of which it has no record."""
    runs = {run.run_id: run for run in reader.runs(active=True)}
    for job in reader.jobs(states=(JobState.LAUNCHED,)):
        if job.run_id is not None and job.launch is not None and job.launched_at is not None:
            unseen = Run(
                run_id=job.run_id,
                program=f"{job.app}/{job.launch.program}",
                job=job.id,
                attempt=job.attempt,
                status=RunStatus.QUEUED,
                seen_at=job.launched_at,
            )
            runs.setdefault(job.run_id, unseen)
    return runs


def _active_runs(
    instance: DagsterInstance, plan: AssetPlan, active: dict[str, Run], now: datetime
) -> list[RunObservation]:
    """What has become of the runs that the store believes active."""
    found: list[RunObservation] = []
    known: set[str] = set()
    ordered = sorted({dagster_run_id(id_) for id_ in active})
    for start in range(0, len(ordered), RUNS_PER_QUERY):
        records = instance.get_run_records(
            filters=RunsFilter(run_ids=ordered[start : start + RUNS_PER_QUERY])
        )
        known |= {record.dagster_run.run_id for record in records}
        found += record_observations(records, plan)
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
