"""The recovery job, which finishes the commits of dead runs, and the schedule that starts it.

    each minute: unfinished work? ──no──► skip, with the blocked and active sequences as the reason
                     └──yes──► close dead attempts ─► finish ─► remove orphaned staging ─► check tables

The next run of a dataset finishes the dataset's sequence itself; this job is for a dataset whose
next run is hours away, so that jobs waiting for its data start earlier. A sequence that cannot be
finished does not block others. Each few hours the job looks for tables that have lost rows
(`table_check`). One job serves all apps; a tick costs a few reads of the store.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dagster import (
    DagsterInstance,
    DagsterRunStatus,
    DefaultScheduleStatus,
    Failure,
    JobDefinition,
    OpExecutionContext,
    RunRequest,
    RunsFilter,
    ScheduleDefinition,
    ScheduleEvaluationContext,
    SkipReason,
    in_process_executor,
    job,
    op,
)

from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import RECOVERY, RECOVERY_OP
from tidegate.dagster_defs.deployed.plan_state import NOTHING_DEPLOYED_TEXT, Plan, deployed_plan
from tidegate.dagster_defs.deployed.tags import PROJECT
from tidegate.dagster_defs.run import cleaning, table_check
from tidegate.dagster_defs.run.commit_events import CommitEvents
from tidegate.dagster_defs.run.dead_runs import end_dead_runs
from tidegate.dagster_defs.run.run_lease import run_lease
from tidegate.domain.commit_store import CommitStepStore
from tidegate.scheduler.store.error import StoreMissing
from tidegate.scheduler.store.patience import patiently
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.recovery import recover_all
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, dataset_ref
from tidegate.spark_jobs.errors import CommitBlocked, SparkJobError
from tidegate.spark_jobs.repair.leftovers import Leftovers, dead_attempts, leftovers
from tidegate.spark_jobs.repair.orphans import expire_dead_attempts, find_orphans, remove_orphans
from tidegate.spark_jobs.session.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVERY_MINUTE = "* * * * *"

COMMITS_SHOWN = 5
"""The maximum number of commit ids in each part of a skip reason."""

UNFINISHED_RUNS = (
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
)


def is_running(instance: DagsterInstance, job: str, project: str) -> bool:
    """Return whether a run of a job that each project has is queued or under way for a project."""
    mine = RunsFilter(job_name=job, statuses=UNFINISHED_RUNS, tags={PROJECT: project})
    return instance.get_runs_count(mine) > 0


def recovery_job(refs: Sequence[DatasetRef], location: Location) -> JobDefinition:
    """Build the recovery job of a code location.

    Args:
        refs: the datasets that runs of the location write.
    """

    @op(name=RECOVERY_OP, description="Finishes the publishes of dead runs and removes their staging.")
    def finish_and_clean(context: OpExecutionContext) -> None:
        with run_lease(location, context.instance, context.run_id):
            _recover(context, refs, location)

    @job(
        name=RECOVERY,
        description="Finishes the commits of dead runs; see: tidegate docs exactly-once",
        tags={PROJECT: location.project},
        executor_def=in_process_executor,
    )
    def recover_commits() -> None:
        finish_and_clean()

    return recover_commits


def recovery_schedule(location: Location) -> ScheduleDefinition:
    """Build the schedule that starts the recovery job when it has work."""

    def evaluate(context: ScheduleEvaluationContext) -> RunRequest | SkipReason:
        try:
            others = _others(location)
        except StoreMissing:
            return SkipReason(NOTHING_DEPLOYED_TEXT)
        left = leftovers(location.open_commits(), location.clock(), others)
        asked = cleaning.requests(location.open_store(), location.project)
        if not (
            left.due or left.dead_attempts or asked or table_check.is_due(location, location.open_commits())
        ):
            return SkipReason(_idle_reason(left))
        # A dead recovery run, of which no dispatcher has heard, is not active.
        nothing = AssetPlan(Plan(apps=()))
        end_dead_runs(context.instance, location, nothing, location.clock(), context.log.warning)
        if is_running(context.instance, RECOVERY, location.project):
            return SkipReason("a recovery run is active")
        return RunRequest()

    return ScheduleDefinition(
        name=RECOVERY,
        cron_schedule=EVERY_MINUTE,
        job_name=RECOVERY,
        execution_fn=evaluate,
        default_status=DefaultScheduleStatus.RUNNING,
        description="Looks for unfinished publishes of dead runs.",
    )


def _recover(context: OpExecutionContext, refs: Sequence[DatasetRef], location: Location) -> None:
    """Run each part even if another fails, and raise the failures at the end."""
    commits, store = patiently(location.open_commits), patiently(location.open_store)

    def spark() -> "SparkSession":
        return session(location.spark)

    failures: list[str] = []
    closed = _close_dead_attempts(commits, location)
    for attempt in closed:
        context.log.warning(f"an attempt of commit {attempt} died before it could publish")
    acting = CommitContext(
        files=location.warehouse.files,
        spark=spark,
        watermarks=commits,
        events=CommitEvents(location.open_store, location.clock, context.instance),
    )
    finished = _finish(context, commits, acting, location, failures)
    cleaned = 0
    if cleaning.requests(store, location.project):
        cleaned = _clean(context, refs, location, commits, spark, failures)
    idle = not (finished or closed or cleaned)
    lost = _check(context, location, commits, spark, failures, idle=idle)
    context.add_output_metadata(
        {
            "finished": finished,
            "dead attempts closed": len(closed),
            "staging removed": cleaned,
            "watermarks without rows": lost,
        }
    )
    if failures:
        raise Failure(description="; ".join(failures), allow_retries=False)


def _others(location: Location) -> frozenset[str]:
    """Return the apps of other projects in the store."""
    with location.open_store().reading() as reader:
        return frozenset(each.app.name for each in deployed_plan(reader, location.project).others)


def _close_dead_attempts(commits: CommitStepStore, location: Location) -> tuple[str, ...]:
    now, others = location.clock(), _others(location)
    if not dead_attempts(commits, now, others):
        return ()
    # Request first: once an attempt is closed, its staging is the only trace of it.
    cleaning.request(location.open_store(), location.project)
    return tuple(attempt.commit for attempt in expire_dead_attempts(commits, now, others))


def _finish(
    context: OpExecutionContext,
    commits: CommitStepStore,
    acting: CommitContext,
    location: Location,
    failures: list[str],
) -> int:
    """Finish the due sequences and return their number."""
    left = leftovers(commits, location.clock(), _others(location))
    finished = 0
    if not left.due:
        return finished
    # Sequences before and after it in the same datasets are included: their order must be kept.
    for one in recover_all(commits, acting, datasets=left.datasets):
        datasets = ", ".join(one.datasets)
        if one.withdrawn is not None:
            context.log.warning(f"withdrew commit {one.commit} of {datasets}: {one.withdrawn}")
        elif one.error is None:
            if one.commit in left.due:
                finished += 1
                context.log.info(f"finished commit {one.commit} of {datasets}")
        elif isinstance(one.error, CommitBlocked):
            context.log.warning(f"{datasets} stays blocked: {one.error}")
        else:
            failures.append(f"commit {one.commit} of {datasets} could not be finished: {one.error}")
            context.log.error(failures[-1])
    return finished


def _clean(
    context: OpExecutionContext,
    refs: Sequence[DatasetRef],
    location: Location,
    commits: CommitStepStore,
    spark: "Callable[[], SparkSession]",
    failures: list[str],
) -> int:
    """Remove orphaned staging and return the number of removed items."""
    requests = cleaning.requests(location.open_store(), location.project)
    try:
        orphans = find_orphans(refs, location.warehouse, commits, spark)
        for one in orphans:
            context.log.info(f"removing {one.place}, staged by a dead run for {one.dataset}")
        remove_orphans(orphans, refs, location.warehouse, spark)
    except (SparkJobError, OSError) as error:
        failures.append(f"orphaned staging could not be removed: {error}")
        context.log.error(failures[-1])
        return 0
    cleaning.finish(location.open_store(), requests, location.project)
    return len(orphans)


def _check(
    context: OpExecutionContext,
    location: Location,
    commits: CommitStepStore,
    spark: "Callable[[], SparkSession]",
    failures: list[str],
    *,
    idle: bool,
) -> int:
    """Look for outputs that have lost rows, if it is time, or if a person has started a run without work."""
    if not idle and not table_check.is_due(location, commits):
        return 0
    try:
        return table_check.check_tables(location, commits, spark, context.log.warning)
    except (SparkJobError, OSError) as error:
        failures.append(f"the outputs could not be checked: {error}")
        context.log.error(failures[-1])
        return 0


def refs_of(plan: AssetPlan) -> tuple[DatasetRef, ...]:
    """Return the datasets that programs write; no other dataset has staging."""
    return tuple(
        dataset_ref(assets.app.name, assets.app.datasets[name])
        for assets in plan.programs.values()
        for name in assets.program.writes
    )


def _idle_reason(left: Leftovers) -> str:
    parts = [
        f"{len(commits)} {words}: {_listed(commits)}"
        for commits, words in (
            (left.blocked, "blocked, see `tidegate commits show`"),
            (left.paused, "waiting for a retry"),
            (left.at_work, "being finished"),
        )
        if commits
    ]
    return "; ".join(parts) or "nothing is unfinished"


def _listed(commits: tuple[str, ...]) -> str:
    shown = ", ".join(commits[:COMMITS_SHOWN])
    return shown if len(commits) <= COMMITS_SHOWN else f"{shown} and others"
