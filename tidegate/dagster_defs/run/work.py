"""The work of a program's run: what it was launched for, and what the program gets of that as `params`.

the run of a job           the launch plan of the job, once the run has claimed the attempt
a re-execution of it       the same launch plan
a run started by hand      the partitions chosen in the UI, and the arguments of the launchpad or a schedule
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dagster import AssetExecutionContext

from tidegate.dagster_defs.deployed.asset_plan import ProgramAssets
from tidegate.dagster_defs.deployed.tags import JOB, job_of
from tidegate.dagster_defs.run.commit_id import Origin, adds_rows, origin_of, own_commit_id
from tidegate.domain.commit_store import CommitStepStore
from tidegate.scheduler.explain.instances.facts import no_edge_line
from tidegate.scheduler.launch.by_hand import args_by_hand
from tidegate.scheduler.launch.run_report import claim
from tidegate.scheduler.model.job import Job, LaunchPlan
from tidegate.scheduler.store.protocol import Store
from tidegate.spark_jobs.commit.state import commit_to_publish
from tidegate.spark_jobs.programs.params import Params


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """The work of a run.

    Attributes:
        commit: the same for every run that does the same work (see spark_jobs.runner).
        now: the instant that the work takes for the present, the same for every such run.
        schedule: of the job; None for a run started by hand.
        upstream: of an instance of a task: the partitions that its upstream instances are about.
        diagnostics: of an instance of a task: its dependencies without an upstream instance, for people.
    """

    launch: LaunchPlan
    commit: str
    job: str
    attempt: int
    now: datetime
    schedule: str | None = None
    upstream: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    diagnostics: tuple[str, ...] = ()


def work_of(
    context: AssetExecutionContext,
    assets: ProgramAssets,
    store: Store,
    commits: CommitStepStore,
    now: datetime,
) -> Work | None:
    """Return the work of this run; None when another run has claimed it or its job was discarded."""
    run = context.run
    origin = origin_of(run, context.instance, adds=adds_rows(assets))
    commit = commit_to_publish(origin.commit or own_commit_id(origin.run_id, assets), commits)
    tag = job_of(run.tags)
    if tag is not None:
        answer = claim(store, tag.job, tag.attempt, run.run_id, now)
        if not answer.won or answer.job is None or answer.job.launch is None:
            context.log.warning(f"this run does nothing: {answer.refusal}")
            return None
        return _of_job(answer.job, answer.job.launch, tag.attempt, commit, now)
    created = _created(context, origin, now)
    reexecuted = _reexecuted_job(context, store)
    if reexecuted is not None and reexecuted.launch is not None:
        return _of_job(reexecuted, reexecuted.launch, reexecuted.attempt, commit, created)
    launch = LaunchPlan(
        program=assets.program.name,
        partitions=run_partitions(context),
        args=_manual_args(context, assets, store),
    )
    return Work(launch=launch, commit=commit, job=run.run_id, attempt=1, now=created)


def _of_job(job: Job, launch: LaunchPlan, attempt: int, commit: str, now: datetime) -> Work:
    return Work(
        launch=launch,
        commit=commit,
        job=job.id,
        attempt=attempt,
        now=launch.now or now,
        schedule=job.schedule,
        # A key of a schedule is cut as its live jobs are, whose runs read by what they write.
        upstream={} if job.instance is None or job.instance.keyed else launch.manifest,
        diagnostics=() if job.instance is None else tuple(map(no_edge_line, job.instance.diagnostics)),
    )


def _created(context: AssetExecutionContext, origin: Origin, now: datetime) -> datetime:
    """Return when the run that began the work was created; `now` where Dagster does not have it any more."""
    record = context.instance.get_run_record_by_id(origin.run_id)
    return now if record is None else record.create_timestamp


def run_partitions(context: AssetExecutionContext) -> tuple[str, ...]:
    """Return the partition keys chosen for the run; empty for a run without partitions."""
    if not (context.has_partition_key or context.has_partition_key_range):
        return ()
    return tuple(str(key) for key in context.partition_keys)


def _reexecuted_job(context: AssetExecutionContext, store: Store) -> Job | None:
    """Return the job whose run is executed again, automatically or by hand."""
    run = context.run
    if JOB not in run.tags:
        return None
    with store.reading() as reader:
        return next(iter(reader.jobs(ids=(run.tags[JOB],))), None)


def _manual_args(context: AssetExecutionContext, assets: ProgramAssets, store: Store) -> dict[str, Any]:
    """Return the arguments given in the launchpad, or those of a schedule of the program."""
    config = context.op_execution_context.op_config or {}
    if "args" in config:
        return dict(config["args"])
    with store.reading() as reader:
        return args_by_hand(reader, assets.app.name, assets.program.name, run_partitions(context))


def params_of(work: Work) -> Params:
    """Return what the program of a run gets as `params`."""
    launch = work.launch
    return Params(
        args=launch.args,
        partitions=launch.partitions,
        manifest=launch.manifest,
        sizes=launch.sizes,
        upstream=launch.upstream,
        fired=launch.fired,
        provisional=launch.provisional,
        schedule=work.schedule,
        key=launch.key,
        now=work.now,
        scheduled_time=launch.scheduled_time,
        business_date=launch.business_date,
        business_dates=launch.dates,
        first_event_time=launch.first_event_time,
        last_event_time=launch.last_event_time,
        job=work.job,
        attempt=work.attempt,
    )
