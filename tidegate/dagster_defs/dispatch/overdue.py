"""Overdue: runs that take longer than the `timeout` of their program are terminated, and have failed.

Dagster's own tag `dagster/max_runtime` needs its run monitoring, and looks only as often as that does. So the
engine looks itself, at every tick:

    note the failure at the job ─► ask the launcher to terminate ─► report the run as failed

The note comes first: whatever Dagster calls the end of the run, the job has failed with this message, as if
its program had raised an error (`scheduler.intake.observe`). After a crash the next tick does the rest.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from dagster import DagsterInstance

from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.ingest.intake import Log
from tidegate.dagster_defs.ingest.run_observations import dagster_run_id
from tidegate.domain.duration import duration_text
from tidegate.scheduler.launch.run_report import note_failure
from tidegate.scheduler.model.run import Run
from tidegate.scheduler.store.protocol import Store


def end_overdue(
    instance: DagsterInstance,
    store: Store,
    plan: AssetPlan,
    apps: Collection[str],
    now: datetime,
    log: Log,
) -> None:
    """Terminate the active runs of some apps that take longer than the `timeout` of their program."""
    limits = {
        f"{app}/{name}": each.program.timeout
        for (app, name), each in (*plan.programs.items(), *plan.existing.items())
        if app in apps and each.program.timeout is not None
    }
    if not limits:
        return
    existing = {f"{app}/{name}" for app, name in plan.existing}
    with store.reading() as reader:
        overdue = [run for run in reader.runs(active=True) if _is_overdue(run, limits, now)]
    for run in overdue:
        limit = limits[run.program]
        text = (
            f"the run took longer than the timeout of {duration_text(limit)} of program {run.program},"
            " and was terminated"
        )
        log(f"run {run.run_id}: {text}")
        if run.job is not None and run.attempt is not None:
            claims = run.program not in existing
            note_failure(store, run.job, run.attempt, run.run_id, text, now, claims=claims)
        _terminate(instance, dagster_run_id(run.run_id), text, log)


def _is_overdue(run: Run, limits: Mapping[str, timedelta], now: datetime) -> bool:
    limit = limits.get(run.program)
    return limit is not None and run.started_at is not None and now - run.started_at >= limit


def _terminate(instance: DagsterInstance, run_id: str, text: str, log: Log) -> None:
    run = instance.get_run_by_id(run_id)
    if run is None or run.is_finished:
        return
    try:
        instance.run_launcher.terminate(run_id)
    except Exception as error:  # noqa: BLE001 -- the process may be gone; the run has failed all the same
        log(f"run {run_id} could not be terminated: {type(error).__name__}: {error}")
    again = instance.get_run_by_id(run_id)
    if again is not None and not again.is_finished:
        instance.report_run_failed(again, text)
