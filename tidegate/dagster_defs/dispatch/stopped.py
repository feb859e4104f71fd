"""Stopped: runs whose job has gone on without them are cancelled in Dagster.

These are the runs of instances that were paused or are run again, and of operations on tables whose timeout
is over. `scheduler.launch.stopped` says which, and when. A queued run is taken from the queue; one that works
is interrupted by its launcher. A run that does not end although it was asked `FORCED_AT` times is marked as
cancelled: its process may be gone, or hang, and it can publish nothing any more.
"""

from collections.abc import Collection
from datetime import datetime

from dagster import DagsterInstance

from tidegate.dagster_defs.ingest.intake import Log
from tidegate.dagster_defs.ingest.run_observations import dagster_run_id
from tidegate.scheduler.launch.stopped import Stop, note_stops, stops_due
from tidegate.scheduler.store.protocol import Store

FORCED_AT = 3
"""With the pauses of `scheduler.launch.stopped`, 45 s after it was asked for the first time."""


def end_stopped(
    instance: DagsterInstance, store: Store, apps: Collection[str], now: datetime, log: Log
) -> None:
    """Cancel the active runs of some apps whose job has gone on without them."""
    with store.reading() as reader:
        if not stops_due(reader, apps, now):
            return
    with store.transaction() as transaction:
        stops = note_stops(transaction, apps, now)
    for stop in stops:
        _cancel(instance, stop, log)


def _cancel(instance: DagsterInstance, stop: Stop, log: Log) -> None:
    run_id, job = dagster_run_id(stop.run.run_id), stop.job
    run = instance.get_run_by_id(run_id)
    if run is None or run.is_finished:
        return
    text = f"{job.schedule} {job.key} was paused or is run again: attempt {stop.run.attempt} is over"
    if job.maintenance is not None:
        text = f"{job.key}: {job.detail}"
    log(f"run {run_id} is cancelled: {text}")
    try:
        instance.run_coordinator.cancel_run(run_id)
    except Exception as error:  # noqa: BLE001 -- it is asked again, and marked in the end
        log(f"run {run_id} could not be cancelled: {type(error).__name__}: {error}")
    again = instance.get_run_by_id(run_id)
    if again is not None and not again.is_finished and stop.tries >= FORCED_AT:
        instance.report_run_canceled(again, text)
