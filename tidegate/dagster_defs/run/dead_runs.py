"""Dead runs: runs whose process has ended without a word are reported to Dagster as failed.

Dagster's default launcher knows its runs only as long as its code server lives. After a power cut, or a kill
of everything, such a run stays "started" in Dagster and keeps its slots. So each dispatcher looks at every
tick:

    the process of a run has ended (at once on this machine, by its lease elsewhere)  ─┐
    a run of ours was started, and no process has taken it up for `START_SECONDS`     ─┴─► failed: it died

The engine then starts the job again (`scheduler.decision.retry`).
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from dagster import DagsterInstance, DagsterRun, DagsterRunStatus, RunsFilter

from tidegate.dagster_defs.definitions.asset_plan import AssetPlan
from tidegate.dagster_defs.definitions.names import RECOVERY
from tidegate.dagster_defs.ingest.event_log import storage_id
from tidegate.dagster_defs.ingest.intake import Log
from tidegate.dagster_defs.ingest.run_observations import programs_of
from tidegate.dagster_defs.run.tags import PROGRAM, job_of
from tidegate.scheduler.launch.failure import note_failure
from tidegate.scheduler.launch.owners import RunOwner, disown, owners
from tidegate.scheduler.store.protocol import Store
from tidegate.spark_jobs.commit.process import has_ended, shown

START_SECONDS = 120
"""A run takes seconds from its launch to its first step, on a busy machine perhaps a minute."""

UNDER_WAY = [DagsterRunStatus.STARTING, DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING]


def end_dead_runs(instance: DagsterInstance, store: Store, plan: AssetPlan, now: datetime, log: Log) -> None:
    """Report to Dagster as failed all runs, of any app, whose process has ended."""
    home = storage_id(instance)
    with store.reading() as reader:
        known = {run_id: owner for run_id, owner in owners(reader).items() if owner.instance == home}
    ended: list[str] = []
    for run_id, owner in known.items():
        died = has_ended(owner.process, owner.until, now)
        if not died and now < owner.until:
            continue
        run = instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            ended.append(run_id)
        elif died:
            _report(instance, store, run, f"{shown(owner.process)} has ended without a word", now, log)
    disown(store, ended)
    for run in _never_begun(instance, plan, known, now):
        text = f"no process has taken the run up within {START_SECONDS} s of its start"
        _report(instance, store, run, text, now, log)


def _never_begun(
    instance: DagsterInstance, plan: AssetPlan, known: dict[str, RunOwner], now: datetime
) -> Iterator[DagsterRun]:
    late = now - timedelta(seconds=START_SECONDS)
    for record in instance.get_run_records(RunsFilter(statuses=UNDER_WAY)):
        run = record.dagster_run
        ours = PROGRAM in run.tags or run.job_name == RECOVERY or programs_of(run, plan)
        if ours and run.run_id not in known and record.update_timestamp < late:
            yield run


def _report(
    instance: DagsterInstance, store: Store, run: DagsterRun, text: str, now: datetime, log: Log
) -> None:
    log(f"run {run.run_id} died: {text}")
    tag = job_of(run.tags)
    if tag is not None:
        note_failure(store, tag.job, tag.attempt, run.run_id, f"the run died: {text}", now, died=True)
    instance.report_run_failed(run, f"the run died: {text}")
