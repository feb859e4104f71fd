"""Dead runs: runs whose process has ended without a word are reported to Dagster as failed.

Dagster's default launcher knows its runs only as long as its code server lives. After a power cut, or a kill
of everything, such a run stays "started" in Dagster and keeps its slots. So the dispatchers of a process
look, every four seconds:

    the process of a run has ended (at once on this machine, by its lease elsewhere)  ─┐
    the process of a run, its server or its launcher has ended before it had begun     │
    a run was started, nothing is known of it, and it has not begun in `START_SECONDS` ─┴─► failed: it died

A run has begun when its process is recorded in the store. Before that only its launcher may know its process.

The engine then starts the job again (`scheduler.decision.fold.retry`), unless all that it publishes is
published. One Dagster instance may show several projects, each with a store of its own: a run whose job or
programs this store does not have is left to them.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from dagster import DagsterInstance, DagsterRun, DagsterRunStatus, RunsFilter

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import MEASURING, RECOVERY
from tidegate.dagster_defs.deployed.tags import EXISTING, JOB, LAUNCH, PROJECT, commit_of, job_of
from tidegate.dagster_defs.ingest.event_log import storage_id
from tidegate.dagster_defs.ingest.intake import Log
from tidegate.dagster_defs.ingest.run_observations import programs_of
from tidegate.scheduler.intake.published import observe_recovered
from tidegate.scheduler.launch.owners import RunOwner, disown, owners
from tidegate.scheduler.launch.run_report import note_failure
from tidegate.scheduler.store.protocol import Store
from tidegate.spark_jobs.commit.process import ProcessState, has_ended, shown
from tidegate.spark_jobs.commit.state import commit_to_publish

START_SECONDS = 120
"""A run takes seconds from its launch to its first step, on a busy machine perhaps a minute."""

SETTLED_SECONDS = 10
"""A launcher, a run server and a process say of each other within milliseconds who has a run now."""

UNDER_WAY = [DagsterRunStatus.STARTING, DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING]


@runtime_checkable
class LivenessLauncher(Protocol):
    """A launcher that knows the processes of its runs."""

    def liveness(self, run: DagsterRun) -> tuple[ProcessState, str]:
        """Say whether a run has a process or can get one, and what has ended if it has not."""
        ...


def end_dead_runs(
    instance: DagsterInstance, location: Location, plan: AssetPlan, now: datetime, log: Log
) -> None:
    """Report to Dagster as failed all runs, of any app of the store, whose process has ended.

    Of recovery and measuring runs, only those of the location's project are looked at.
    """
    home, store = storage_id(instance), location.open_store()
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
            report_dead(instance, location, run, f"{shown(owner.process)} has ended without a word", now, log)
    disown(store, ended)
    for run, text in _never_begun(instance, known, now):
        # Who works on an existing job is known to Dagster alone (`run_monitoring`, its launcher).
        if EXISTING not in run.tags and _is_ours(run, store, plan, location.project):
            report_dead(instance, location, run, text, now, log)


def _never_begun(
    instance: DagsterInstance, known: dict[str, RunOwner], now: datetime
) -> Iterator[tuple[DagsterRun, str]]:
    settled, late = (now - timedelta(seconds=seconds) for seconds in (SETTLED_SECONDS, START_SECONDS))
    for record in instance.get_run_records(RunsFilter(statuses=UNDER_WAY)):
        run = record.dagster_run
        if run.run_id in known or record.update_timestamp >= settled:
            continue
        state, text = _liveness(instance, run)
        if state is ProcessState.UNKNOWN and record.update_timestamp < late:
            text = f"no process has taken the run up within {START_SECONDS} s of its start"
        elif state is not ProcessState.ENDED:
            continue
        # It may have come to its end before its process did.
        found = instance.get_run_by_id(run.run_id)
        if found is not None and not found.is_finished:
            yield found, text


def _liveness(instance: DagsterInstance, run: DagsterRun) -> tuple[ProcessState, str]:
    # A launcher that sets no such tag may need libraries that are not here.
    launcher = instance.run_launcher if LAUNCH in run.tags else None
    if isinstance(launcher, LivenessLauncher):
        return launcher.liveness(run)
    return ProcessState.UNKNOWN, ""


def _is_ours(run: DagsterRun, store: Store, plan: AssetPlan, project: str) -> bool:
    """Return whether a run belongs to this store: others may show their runs in the same Dagster."""
    if run.job_name in (RECOVERY, MEASURING):
        return run.tags.get(PROJECT, NO_PROJECT) == project
    if programs_of(run, plan):
        return True
    if JOB not in run.tags:
        return False
    # The app of a run may have been removed since; its job has not.
    with store.reading() as reader:
        return bool(reader.jobs(ids=(run.tags[JOB],)))


def report_dead(
    instance: DagsterInstance, location: Location, run: DagsterRun, text: str, now: datetime, log: Log
) -> None:
    log(f"run {run.run_id} died: {text}")
    tag = job_of(run.tags)
    if tag is not None:
        store, commits = location.open_store(), location.open_commits()
        note_failure(store, tag.job, tag.attempt, run.run_id, f"the run died: {text}", now, died=True)
        commit = commit_to_publish(commit_of(run.tags) or tag.job, commits)
        if commits.result(commit) is not None:
            # It died between its last step and its report: nothing is left to do.
            with store.transaction() as transaction:
                observe_recovered(transaction, commit, now)
    instance.report_run_failed(run, f"the run died: {text}")
