"""The job that finishes what no run will come back for, and the schedule that starts it.

    each minute: is anything left? ──no──► skip, and say what stands blocked or is at work
                     └──yes──► close dead attempts ─► finish sequences ─► remove orphaned staging

The next run of a dataset finishes its sequence by itself, so this is for a dataset whose next run
is a long way off: what waits for its data would wait as long. A sequence that cannot be finished
stops no other. The job is one for all apps; a tick costs a few look-ups in the store.
"""

from collections.abc import Callable
from datetime import datetime

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
    job,
    op,
)
from pyspark.sql import SparkSession

from tidegate.dagster_defs.definitions.asset_plan import AssetPlan
from tidegate.dagster_defs.definitions.location import Location
from tidegate.dagster_defs.definitions.names import RECOVERY, RECOVERY_OP
from tidegate.dagster_defs.definitions.nothing_deployed import NOTHING_DEPLOYED_TEXT
from tidegate.dagster_defs.run import cleaning
from tidegate.dagster_defs.run.commit_events import CommitEvents
from tidegate.domain.commit_store import CommitStepStore
from tidegate.scheduler.store.error import StoreMissing
from tidegate.scheduler.store.protocol import Store
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.recovery import recover_all
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, dataset_ref
from tidegate.spark_jobs.errors import CommitBlocked, SparkJobError
from tidegate.spark_jobs.repair.leftovers import Leftovers, dead_attempts, leftovers
from tidegate.spark_jobs.repair.orphans import expire_dead_attempts, find_orphans, remove_orphans
from tidegate.spark_jobs.session.session import session

EVERY_MINUTE = "* * * * *"

TOLD = 5
"""Of more sequences than these a skip reason tells the number."""

UNFINISHED_RUNS = (
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
)


def recovery_job(plan: AssetPlan, location: Location) -> JobDefinition:
    """The job of a code location."""

    @op(name=RECOVERY_OP, description="Finishes the publishes of dead runs and removes what they staged.")
    def finish_and_clean(context: OpExecutionContext) -> None:
        _recover(context, plan, location)

    @job(name=RECOVERY, description="Clears what dead runs have left behind; see: tidegate docs exactly-once")
    def recover_commits() -> None:
        finish_and_clean()

    return recover_commits


def recovery_schedule(location: Location) -> ScheduleDefinition:
    """The schedule that starts it when there is something to do."""

    def look(context: ScheduleEvaluationContext) -> RunRequest | SkipReason:
        try:
            location.open_store()
        except StoreMissing:
            return SkipReason(NOTHING_DEPLOYED_TEXT)
        left = leftovers(location.open_commits(), location.clock())
        if not (left.due or left.dead_attempts or cleaning.noted(location.open_store())):
            return SkipReason(_nothing_to_do(left))
        if _is_under_way(context.instance):
            return SkipReason("a recovery is under way")
        return RunRequest()

    return ScheduleDefinition(
        name=RECOVERY,
        cron_schedule=EVERY_MINUTE,
        job_name=RECOVERY,
        execution_fn=look,
        default_status=DefaultScheduleStatus.RUNNING,
        description="Looks for publishes that a dead run has left unfinished.",
    )


def _recover(context: OpExecutionContext, plan: AssetPlan, location: Location) -> None:
    """All that there is to do, each part whatever has become of the others; failures come up at the end."""
    commits, store = location.open_commits(), location.open_store()

    def spark() -> SparkSession:
        return session(location.spark)

    failures: list[str] = []
    given_up = _give_up(commits, store, location.clock())
    for attempt in given_up:
        context.log.warning(f"an attempt of commit {attempt} died before it could publish")
    acting = CommitContext(
        files=location.warehouse.files,
        spark=spark,
        watermarks=commits,
        events=CommitEvents(location.open_store, location.clock, context.instance),
    )
    finished = _finish(context, commits, acting, location.clock(), failures)
    cleaned = 0
    if cleaning.noted(store):
        cleaned = _clean(context, plan, location, commits, spark, failures)
    context.add_output_metadata(
        {"finished": finished, "attempts given up": len(given_up), "staging removed": cleaned}
    )
    if failures:
        raise Failure(description="; ".join(failures), allow_retries=False)


def _give_up(commits: CommitStepStore, store: Store, now: datetime) -> tuple[str, ...]:
    if not dead_attempts(commits, now):
        return ()
    # Noted first: once an attempt is closed, nothing but its staging tells of it.
    cleaning.ask_for_it(store)
    return tuple(attempt.commit for attempt in expire_dead_attempts(commits, now))


def _finish(
    context: OpExecutionContext,
    commits: CommitStepStore,
    acting: CommitContext,
    now: datetime,
    failures: list[str],
) -> int:
    """Finishes what is left; returns how many sequences."""
    left = leftovers(commits, now)
    finished = 0
    if not left.due:
        return finished
    # What stands before or after it in the same datasets belongs to it: their order is kept.
    for one in recover_all(commits, acting, datasets=left.datasets):
        datasets = ", ".join(one.datasets)
        if one.error is None:
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
    plan: AssetPlan,
    location: Location,
    commits: CommitStepStore,
    spark: Callable[[], SparkSession],
    failures: list[str],
) -> int:
    """Removes the staging that belongs to nobody; returns how many pieces."""
    refs, seen = refs_of(plan), cleaning.noted(location.open_store())
    try:
        orphans = find_orphans(refs, location.warehouse, commits, spark)
        for one in orphans:
            context.log.info(f"removes {one.place}, which a dead run has staged for {one.dataset}")
        remove_orphans(orphans, refs, location.warehouse, spark)
    except (SparkJobError, OSError) as error:
        failures.append(f"orphaned staging could not be removed: {error}")
        context.log.error(failures[-1])
        return 0
    cleaning.done(location.open_store(), seen)
    return len(orphans)


def refs_of(plan: AssetPlan) -> tuple[DatasetRef, ...]:
    """The datasets that some program writes: only those are ever staged."""
    return tuple(
        dataset_ref(assets.app.name, assets.app.datasets[name])
        for assets in plan.programs.values()
        for name in assets.program.writes
    )


def _is_under_way(instance: DagsterInstance) -> bool:
    return instance.get_runs_count(RunsFilter(job_name=RECOVERY, statuses=UNFINISHED_RUNS)) > 0


def _nothing_to_do(left: Leftovers) -> str:
    parts = [
        f"{len(commits)} {words}: {_told(commits)}"
        for commits, words in (
            (left.blocked, "blocked, see `tidegate commits show`"),
            (left.paused, "tried again later"),
            (left.at_work, "being finished"),
        )
        if commits
    ]
    return "; ".join(parts) or "nothing is unfinished"


def _told(commits: tuple[str, ...]) -> str:
    return ", ".join(commits) if len(commits) <= TOLD else f"{', '.join(commits[:TOLD])} and others"
