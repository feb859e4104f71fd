"""The op of a program: claim, run, report.

    claim (job, attempt) ──lost──► the run ends well, having touched nothing
          └──won──► tidegate.spark_jobs.runner publishes once ──► one materialisation for each partition

A run started by hand has no job to claim; it writes the partitions chosen in the UI. A
re-execution of a job's run does the job's work again; `commit_id` says when that is the same
work. What is materialised is exactly what was published, with the size of each partition on
that partition's own event: metadata of an output would be copied to all of them and be counted
many times.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dagster import (
    AssetExecutionContext,
    AssetKey,
    AssetMaterialization,
    DataVersion,
    Failure,
    MaterializeResult,
    RetryRequested,
)

from tidegate.compiler import template
from tidegate.dagster_defs.definitions.asset_plan import ProgramAssets
from tidegate.dagster_defs.definitions.location import Location
from tidegate.dagster_defs.definitions.names import asset_key
from tidegate.dagster_defs.run import cleaning
from tidegate.dagster_defs.run.commit_events import CommitEvents
from tidegate.dagster_defs.run.commit_id import commit_id
from tidegate.dagster_defs.run.tags import COMMIT, DATA_VERSION_TAG, JOB, job_of
from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.model import Dataset
from tidegate.domain.published import PublishedPartition
from tidegate.scheduler.decision.references import values_of
from tidegate.scheduler.launch.claim import claim
from tidegate.scheduler.model.job import LaunchPlan
from tidegate.scheduler.store.protocol import Store
from tidegate.spark_jobs.commit.publish import id_to_publish
from tidegate.spark_jobs.errors import CommitConflict, CommitFenced, SparkJobError
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.runner import run_program
from tidegate.spark_jobs.session.session import session

STEP_RETRIES = 2
"""How often a run begins anew by itself after a failure that may pass: a conflict, or one of I/O."""
RETRY_WAIT_SECONDS = 10
"""Longer than a publish of another run takes, which is what a conflict waits for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """What a run has to do.

    Attributes:
        commit_id: the same for every run that does the same work (see spark_jobs.runner).
    """

    launch: LaunchPlan
    commit_id: str
    job: str
    attempt: int


def run_op(
    context: AssetExecutionContext, assets: ProgramAssets, location: Location
) -> Iterator[MaterializeResult[Any]]:
    """The body of a program's op."""
    commits = location.open_commits()
    work = work_of(context, assets, location.open_store(), commits, location.clock())
    if work is None:
        return
    if commits.result(work.commit_id) is not None:
        context.log.warning(
            f"commit {work.commit_id} is already published; skipping the run and reporting it again"
        )
    try:
        published = run_program(
            lambda: session(location.spark),
            location.warehouse,
            commits,
            app=assets.app.name,
            program=assets.program,
            datasets=assets.app.datasets,
            params=_params(work),
            commit_id=work.commit_id,
            events=CommitEvents(
                location.open_store,
                location.clock,
                context.instance,
                own=work.commit_id,
                run_id=context.run.run_id,
            ),
        )
    except (SparkJobError, OSError) as error:
        if isinstance(error, OSError):
            # What could not be reached may be what was staged: the run could not remove it then.
            cleaning.ask_for_it(location.open_store())
        raise _failure(context, error) from error
    yield from report(context, assets, work, published)


def _failure(context: AssetExecutionContext, error: SparkJobError | OSError) -> Failure | RetryRequested:
    """What an expected failure is to Dagster: once more from the start where that may help, else the end."""
    may_pass = isinstance(error, OSError | CommitConflict | CommitFenced)
    if may_pass and context.op_execution_context.retry_number < STEP_RETRIES:
        context.log.warning(f"begins anew in {RETRY_WAIT_SECONDS} s, under the same commit: {error}")
        return RetryRequested(max_retries=STEP_RETRIES, seconds_to_wait=RETRY_WAIT_SECONDS)
    return Failure(description=str(error), allow_retries=False)


def work_of(
    context: AssetExecutionContext,
    assets: ProgramAssets,
    store: Store,
    commits: CommitStepStore,
    now: datetime,
) -> Work | None:
    """What this run is to do; None when another run has claimed it, or its job has been given up."""
    run = context.run
    commit = id_to_publish(commit_id(run, assets, context.instance), commits)
    tag = job_of(run.tags)
    if tag is not None:
        answer = claim(store, tag.job, tag.attempt, run.run_id, now)
        if not answer.won or answer.job is None or answer.job.launch is None:
            context.log.warning(f"this run does nothing: {answer.refusal}")
            return None
        return Work(
            launch=answer.job.launch,
            commit_id=commit,
            job=tag.job,
            attempt=tag.attempt,
        )
    again = _job_again(context, store, commit)
    if again is not None:
        return again
    launch = LaunchPlan(
        program=assets.program.name,
        partitions=run_partitions(context),
        args=_args_by_hand(context, assets, store),
    )
    return Work(launch=launch, commit_id=commit, job=run.run_id, attempt=1)


def run_partitions(context: AssetExecutionContext) -> tuple[str, ...]:
    """The partition keys that were chosen for the run, none for a run without partitions."""
    if not (context.has_partition_key or context.has_partition_key_range):
        return ()
    return tuple(str(key) for key in context.partition_keys)


def report(
    context: AssetExecutionContext,
    assets: ProgramAssets,
    work: Work,
    published: tuple[PublishedPartition, ...],
) -> Iterator[MaterializeResult[Any]]:
    """Tell Dagster what was published.

    Where the partitions of the run are those that were written, its own outputs say so and
    carry the lineage. A manifest with gaps cannot be the partitions of a run; then each
    partition is reported by an event of its own.
    """
    chosen = set(run_partitions(context))
    for name in assets.program.writes:
        dataset = assets.app.datasets[name]
        key = asset_key(assets.app.name, name)
        parts = [part for part in published if part.dataset == name]
        if key in context.selected_asset_keys and _is_output(dataset, parts, chosen):
            yield _output(context, key, dataset, parts, work)
        else:
            for part in parts:
                _event(context, key, part.key or None, _facts(part, work), work)
    if assets.own_key is not None:
        written = set(work.launch.partitions)
        if written == chosen:
            yield MaterializeResult(assets.own_key, data_version=DataVersion(work.commit_id))
        else:
            for partition in sorted(written):
                _event(context, assets.own_key, partition, {"job": work.job}, work)


def _is_output(dataset: Dataset, parts: list[PublishedPartition], chosen: set[str]) -> bool:
    return dataset.partitions is None or {part.key for part in parts} == chosen


def _output(
    context: AssetExecutionContext,
    key: AssetKey,
    dataset: Dataset,
    parts: list[PublishedPartition],
    work: Work,
) -> MaterializeResult[Any]:
    version = DataVersion(work.commit_id)
    if dataset.partitions is None:
        metadata = _facts(parts[0], work) if parts else None
        return MaterializeResult(key, metadata=metadata, data_version=version)
    for part in parts:
        context.add_asset_metadata(_facts(part, work), asset_key=key, partition_key=part.key)
    return MaterializeResult(key, data_version=version)


def _event(
    context: AssetExecutionContext,
    key: AssetKey,
    partition: str | None,
    facts: dict[str, Any],
    work: Work,
) -> None:
    context.log_event(
        AssetMaterialization(
            key,
            partition=partition,
            metadata=facts,
            tags={DATA_VERSION_TAG: work.commit_id},
        )
    )


def _facts(part: PublishedPartition, work: Work) -> dict[str, Any]:
    return {
        "rows": part.rows,
        "bytes": part.bytes,
        "files": part.files,
        "job": work.job,
        COMMIT: work.commit_id,
    }


def _job_again(context: AssetExecutionContext, store: Store, commit: str) -> Work | None:
    """The work of a run that was re-executed from a job's run, automatically or by hand."""
    run = context.run
    if JOB not in run.tags:
        return None
    with store.reading() as reader:
        job = next(iter(reader.jobs(ids=(run.tags[JOB],))), None)
    if job is None or job.launch is None:
        return None
    return Work(launch=job.launch, commit_id=commit, job=job.id, attempt=job.attempt)


def _args_by_hand(context: AssetExecutionContext, assets: ProgramAssets, store: Store) -> dict[str, Any]:
    """The arguments given in the launchpad, or those that a schedule of the program would give.

    What triggered a run by hand is nothing; of the references only the key may have a value.
    """
    config = context.op_execution_context.op_config or {}
    if "args" in config:
        return dict(config["args"])
    with store.reading() as reader:
        states = reader.schedules(app=assets.app.name)
    mine = [state for state in states if state.spec.program == assets.program.name]
    mine.sort(key=lambda state: (not state.active, state.ref))
    if not mine:
        return {}
    chosen = run_partitions(context)
    values = values_of(LaunchPlan(program=assets.program.name), (), chosen[0] if len(chosen) == 1 else "")
    return template.render(mine[0].spec.args, values)


def _params(work: Work) -> Params:
    launch = work.launch
    return Params(
        args=launch.args,
        partitions=launch.partitions,
        manifest=launch.manifest,
        upstream=launch.upstream,
        scheduled_time=launch.scheduled_time,
        business_date=launch.business_date,
        job=work.job,
        attempt=work.attempt,
    )
