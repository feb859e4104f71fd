"""The op of a program: claim, run, report.

    claim (job, attempt) ──lost──► the run succeeds without doing anything
          └──won──► tidegate.spark_jobs.runner publishes once ──► one materialisation for each partition

An external run does not have a job to claim; it writes the partitions chosen in the UI. A
re-execution of a job's run does the job's work again; `commit_id` defines when that is the same
work. Exactly the published partitions are materialised, with the size of each partition on its
own event: metadata of an output would be copied to all partitions and counted many times.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagster import (
    AssetCheckEvaluation,
    AssetCheckResult,
    AssetExecutionContext,
    AssetKey,
    AssetMaterialization,
    DataVersion,
    Failure,
    MaterializeResult,
    MetadataValue,
    RetryRequested,
)

from tidegate.dagster_defs.deployed.asset_plan import ProgramAssets
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import asset_key
from tidegate.dagster_defs.deployed.sizes import size_metadata
from tidegate.dagster_defs.deployed.tags import (
    COMMIT,
    DATA_VERSION_TAG,
    DIAGNOSTIC,
    job_of,
)
from tidegate.dagster_defs.internals.execution import EngineEventData
from tidegate.dagster_defs.run import cleaning
from tidegate.dagster_defs.run.check_events import evaluation, results
from tidegate.dagster_defs.run.column_lineage import column_lineage
from tidegate.dagster_defs.run.commit_events import CommitEvents, early_metadata
from tidegate.dagster_defs.run.failure_text import failure_text
from tidegate.dagster_defs.run.run_lease import run_lease
from tidegate.dagster_defs.run.spark_loss import spark_loss
from tidegate.dagster_defs.run.work import Work, params_of, run_partitions, work_of
from tidegate.domain.commits import CheckVerdict
from tidegate.domain.model import Dataset, Program
from tidegate.domain.published import PublishedPartition
from tidegate.scheduler.launch.run_report import note_failure
from tidegate.scheduler.store.error import StoreAway
from tidegate.scheduler.store.patience import patiently
from tidegate.spark_jobs.errors import (
    CommitConflict,
    CommitFenced,
    PublishWithheld,
    RunOver,
    SparkJobError,
    SparkLost,
    needs_spark,
)
from tidegate.spark_jobs.java import jvm
from tidegate.spark_jobs.session.executor_code import program_properties
from tidegate.spark_jobs.session.executors import linked
from tidegate.spark_jobs.session.session import program_conf, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STEP_RETRIES = 2
"""Retries of the step after what may pass: a conflict, failed I/O, the end of the JVM, an absent store."""
RETRY_WAIT_SECONDS = 10
"""Longer than the publish of another run takes, which causes a conflict."""


def run_op(
    context: AssetExecutionContext, assets: ProgramAssets, location: Location
) -> Iterator[MaterializeResult[Any] | AssetCheckResult | AssetCheckEvaluation]:
    """Run the body of a program's op.

    What the checks of its outputs have found is reported after what it has published, and before the failure
    of a run whose publish they withhold.
    """
    verdicts: list[CheckVerdict] = []
    try:
        with run_lease(location, context.instance, context.run.run_id):
            done = _run(context, assets, location, verdicts)
    except Failure as failure:
        if isinstance(failure.__cause__, PublishWithheld):
            yield from map(evaluation, failure.__cause__.verdicts)
        raise
    if done is not None:
        yield from report(context, assets, *done)
        yield from results(context, verdicts)


def _run(
    context: AssetExecutionContext, assets: ProgramAssets, location: Location, verdicts: list[CheckVerdict]
) -> tuple[Work, tuple[PublishedPartition, ...]] | None:
    """Run the program; return what it has published, or None if the run has nothing to do.

    Args:
        verdicts: receives those of the checks of what the run stages.
    """
    commits, store = patiently(location.open_commits), patiently(location.open_store)
    work = patiently(lambda: work_of(context, assets, store, commits, location.clock()))
    if work is None:
        return None
    if commits.result(work.commit) is not None:
        context.log.warning(
            f"commit {work.commit} is already published; skipping the run and reporting it again"
        )
    since = jvm.ends()
    events = CommitEvents(
        location.open_store, location.clock, context.instance, own=work.commit, run_id=context.run.run_id
    )
    try:
        # It loads Spark, which the machine of this code location may lack; then that is the run's failure.
        with needs_spark():
            from tidegate.spark_jobs.runner import run_program
        with program_conf(program_properties(location.spark, assets.program, assets.datasets)):
            published = run_program(
                _session(context, location, assets.program),
                location.warehouse,
                commits,
                app=assets.app.name,
                program=assets.program,
                datasets=assets.datasets,
                elsewhere=assets.elsewhere,
                params=params_of(work),
                commit=work.commit,
                events=events,
                upstream=work.upstream,
                judged=verdicts.extend,
            )
    except Exception as error:
        expected = spark_loss(error, since) or error
        if not isinstance(expected, SparkJobError | OSError | StoreAway):
            raise _end(context, location, work, error) from error
        if isinstance(expected, OSError | SparkLost):
            # If the staging was unreachable, the run could not remove it.
            patiently(lambda: cleaning.request(store, location.project))
        raise _failure(context, location, work, expected) from error
    return work, published


def _session(
    context: AssetExecutionContext, location: Location, program: Program
) -> "Callable[[], SparkSession]":
    """Return what gives the session of a run, and links the run to what Spark shows of it."""

    def note(link: str) -> None:
        data = EngineEventData({"Spark": MetadataValue.url(link)})
        context.instance.report_engine_event(f"Spark: {link}", context.run, data)

    return linked(lambda: session(location.spark), location.spark.history_of(program.cluster), note)


def _failure(
    context: AssetExecutionContext, location: Location, work: Work, error: SparkJobError | OSError | StoreAway
) -> Failure | RetryRequested:
    """Return the Dagster result of an expected failure: a retry if the failure is transient."""
    transient = isinstance(error, OSError | CommitConflict | CommitFenced | SparkLost | StoreAway)
    transient = transient and not isinstance(error, RunOver)
    if transient and context.op_execution_context.retry_number < STEP_RETRIES:
        context.log.warning(f"retry in {RETRY_WAIT_SECONDS} s with the same commit id: {error}")
        return RetryRequested(max_retries=STEP_RETRIES, seconds_to_wait=RETRY_WAIT_SECONDS)
    return _end(context, location, work, error)


def _end(context: AssetExecutionContext, location: Location, work: Work, error: Exception) -> Failure:
    """The failure as Dagster shows it, which is noted at the job too."""
    text = failure_text(error, Path.cwd())
    tag = job_of(context.run.tags)
    if tag is not None:
        run_id, now = context.run.run_id, location.clock()
        # The program has not raised, so the engine makes a further attempt.
        died = isinstance(error, SparkLost | StoreAway)
        # What helps is said beside the job, as long as its publish is withheld.
        withheld, noted = (error.commit, error.message) if isinstance(error, PublishWithheld) else ("", text)
        try:
            patiently(
                lambda: note_failure(
                    location.open_store(),
                    work.job,
                    work.attempt,
                    run_id,
                    noted,
                    now,
                    died=died,
                    withheld=withheld,
                )
            )
        except Exception as unwritten:  # noqa: BLE001 -- what made the run fail is what has to be seen
            context.log.warning(f"the failure is not noted at job {work.job}: {unwritten}")
    # An expected failure is the same at every try; what a program raises may pass.
    return Failure(description=text, allow_retries=not isinstance(error, SparkJobError | OSError | StoreAway))


def report(
    context: AssetExecutionContext,
    assets: ProgramAssets,
    work: Work,
    published: tuple[PublishedPartition, ...],
) -> Iterator[MaterializeResult[Any]]:
    """Report the published partitions to Dagster.

    If the run wrote exactly its own partitions, its outputs report them and carry the lineage.
    A manifest with gaps cannot be the partitions of a run; then each partition has its own
    event.
    """
    chosen = set(run_partitions(context))
    for name in assets.program.writes:
        dataset = assets.app.datasets[name]
        key = asset_key(assets.app.name, name)
        parts = [part for part in published if part.dataset == name]
        columns = column_lineage(assets, name)
        if key in context.selected_asset_keys and _is_output(dataset, parts, chosen):
            yield _output(context, key, dataset, parts, work, columns)
        else:
            for part in parts:
                _event(context, key, part.key or None, _facts(part, work) | columns, work)
    if assets.own_key is not None:
        written = set(work.launch.partitions)
        if written == chosen:
            version = DataVersion(work.commit)
            yield MaterializeResult(assets.own_key, metadata=_missing(work), data_version=version)
        else:
            for partition in sorted(written):
                _event(context, assets.own_key, partition, {"job": work.job, **_missing(work)}, work)


def _is_output(dataset: Dataset, parts: list[PublishedPartition], chosen: set[str]) -> bool:
    # An output that a person has abandoned has no parts.
    return bool(parts) if dataset.partitions is None else {part.key for part in parts} == chosen


def _output(
    context: AssetExecutionContext,
    key: AssetKey,
    dataset: Dataset,
    parts: list[PublishedPartition],
    work: Work,
    columns: dict[str, Any],
) -> MaterializeResult[Any]:
    version = DataVersion(work.commit)
    if dataset.partitions is None:
        return MaterializeResult(key, metadata=_facts(parts[0], work) | columns, data_version=version)
    for part in parts:
        context.add_asset_metadata(_facts(part, work) | columns, asset_key=key, partition_key=part.key)
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
            tags={DATA_VERSION_TAG: work.commit},
        )
    )


def _facts(part: PublishedPartition, work: Work) -> dict[str, Any]:
    return {
        **size_metadata(part.rows, part.bytes, part.key),
        "files": part.files,
        "job": work.job,
        COMMIT: work.commit,
        **_missing(work),
    }


def _missing(work: Work) -> dict[str, str]:
    """Return the metadata of what a run did without, and of the job that it repairs."""
    said = {DIAGNOSTIC: "\n".join(work.diagnostics)} if work.diagnostics else {}
    return said | early_metadata(work.launch)
