"""The conversion of Dagster runs to run observations of the engine.

The tags of a run name its job. A run without such tags that materialises assets of the project
is an external run (by hand or a backfill); it counts as a run of each program that it executes,
and a run of several programs is one observed run for each of them. Its partitions and the arguments
of the launchpad are what the runs that it triggers may refer to.

Dagster's log does not say why a run failed. A run whose program raised an error has noted that in the store,
so a failure without a note is the death of a run.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

import msgspec
from dagster import (
    DagsterEventType,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    EventLogEntry,
    PartitionKeyRange,
    PartitionsDefinition,
    RunRecord,
)

from tidegate.dagster_defs.deployed.asset_plan import AssetPlan, ExistingProgram, ProgramAssets, Selected
from tidegate.dagster_defs.deployed.names import PREFIX
from tidegate.dagster_defs.deployed.tags import (
    DAGSTER_PARTITION,
    DAGSTER_RANGE_END,
    DAGSTER_RANGE_START,
    EXISTING,
    JOB,
    PROGRAM,
    job_of,
)
from tidegate.scheduler.intake.observe import RunObservation
from tidegate.scheduler.model.run import ENDED, RunStatus

STATUS_OF_EVENT: Mapping[str, RunStatus] = {
    DagsterEventType.RUN_ENQUEUED.value: RunStatus.QUEUED,
    DagsterEventType.RUN_STARTING.value: RunStatus.STARTING,
    DagsterEventType.RUN_START.value: RunStatus.STARTED,
    DagsterEventType.RUN_SUCCESS.value: RunStatus.SUCCEEDED,
    DagsterEventType.RUN_FAILURE.value: RunStatus.FAILED,
    DagsterEventType.RUN_CANCELED.value: RunStatus.CANCELLED,
}

STATUS_OF_RECORD: Mapping[DagsterRunStatus, RunStatus] = {
    DagsterRunStatus.QUEUED: RunStatus.QUEUED,
    DagsterRunStatus.STARTING: RunStatus.STARTING,
    DagsterRunStatus.STARTED: RunStatus.STARTED,
    DagsterRunStatus.CANCELING: RunStatus.STARTED,
    DagsterRunStatus.SUCCESS: RunStatus.SUCCEEDED,
    DagsterRunStatus.FAILURE: RunStatus.FAILED,
    DagsterRunStatus.CANCELED: RunStatus.CANCELLED,
}
"""NOT_STARTED is missing: such a run is still being created and may never exist."""

PROGRAM_SEPARATOR = "/"
"""The separator of run id and program in the id of an observed run of several programs."""


def observations(
    run: DagsterRun, status: RunStatus, at: datetime, plan: AssetPlan
) -> tuple[RunObservation, ...]:
    """Return the observations of a run's status; empty for a run of other assets."""
    tag = job_of(run.tags)
    if tag is not None and PROGRAM in run.tags:
        return (
            RunObservation(
                run_id=run.run_id,
                program=run.tags[PROGRAM],
                job=tag.job,
                attempt=tag.attempt,
                status=status,
                at=at,
                died=status is RunStatus.FAILED and EXISTING not in run.tags,
                lost=tag.lost,
            ),
        )
    others = existing_of(run, plan)
    if others:
        return tuple(
            RunObservation(run_id=_observed_id(run, each.ref, others), program=each.ref, status=status, at=at)
            for each in others
        )
    programs = programs_of(run, plan)
    return tuple(
        RunObservation(
            run_id=_observed_id(run, assets.ref, programs),
            program=assets.ref,
            status=status,
            at=at,
            args=_args_of(run, assets),
            outputs=_outputs_of(run, assets),
        )
        for assets in programs
    )


def _observed_id(run: DagsterRun, program: str, together: Sequence[object]) -> str:
    """Return the id of the observed run of one of the programs that a run has together."""
    return run.run_id if len(together) == 1 else f"{run.run_id}{PROGRAM_SEPARATOR}{program}"


def programs_of(run: DagsterRun, plan: AssetPlan) -> tuple[ProgramAssets, ...]:
    """Return the programs that a run selects, sorted."""
    selected = run.asset_selection or frozenset()
    found = {plan.program_of[key].ref: plan.program_of[key] for key in selected if key in plan.program_of}
    return tuple(found[ref] for ref in sorted(found))


def existing_of(run: DagsterRun, plan: AssetPlan) -> tuple[ExistingProgram, ...]:
    """Return the programs whose job or assets a run has that was not launched by us."""
    origin = run.remote_job_origin
    location = "" if origin is None else origin.location_name
    of_job = plan.existing_by_job.get(run.job_name, ())
    of_assets = (
        each
        for each in plan.existing_by_job.get("", ())
        if _selects(run, location, plan.selected.get((each.app.name, each.program.name)))
    )
    return tuple(each for each in (*of_job, *of_assets) if each.job.location in ("", location))


def _selects(run: DagsterRun, location: str, wanted: Selected | None) -> bool:
    """Return whether a run materialises one of some assets; not known while their location is not loaded."""
    if wanted is None or wanted.location != location:
        return False
    if run.asset_selection is None:
        return run.job_name in wanted.jobs
    return not wanted.keys.isdisjoint(run.asset_selection)


def with_failures(
    instance: DagsterInstance, run: DagsterRun, found: Iterable[RunObservation]
) -> tuple[RunObservation, ...]:
    """Return observations of a run; those of a failed existing job say how it failed."""
    asks = EXISTING in run.tags
    return tuple(
        failure_of(instance, seen)
        if asks and seen.job is not None and seen.status is RunStatus.FAILED
        else seen
        for seen in found
    )


def failure_of(instance: DagsterInstance, seen: RunObservation) -> RunObservation:
    """Return the observation of a failed run of an existing job with how it failed, by Dagster's log.

    The first step failure is the error. A run without a start has not begun: its location was down.
    """
    run_id = dagster_run_id(seen.run_id)
    started = instance.get_records_for_run(run_id, of_type=DagsterEventType.RUN_START, limit=1).records
    kind = DagsterEventType.STEP_FAILURE if started else DagsterEventType.RUN_FAILURE
    records = instance.get_records_for_run(run_id, of_type=kind, limit=1).records
    if not records:
        # The run failed as a whole: its process died, or no step could be started.
        kind = DagsterEventType.RUN_FAILURE
        records = instance.get_records_for_run(run_id, of_type=kind, limit=1).records
    text = next((_failure_text(each.event_log_entry) for each in records), "")
    return msgspec.structs.replace(
        seen, never_began=not started, error=text or "the run failed, and Dagster's log does not say why"
    )


def _failure_text(entry: EventLogEntry) -> str:
    """Return the error of a failed step or run: the step, and the innermost cause in one line."""
    event = entry.dagster_event
    if event is None:
        return entry.user_message
    data = event.event_specific_data
    error = getattr(data, "error", None)
    while error is not None and error.cause is not None:
        error = error.cause
    text = " ".join((event.message or "" if error is None else error.message).split())
    return f"step {event.step_key}: {text}" if event.step_key else text


def _args_of(run: DagsterRun, assets: ProgramAssets) -> dict[str, Any]:
    """Return the arguments that the launchpad gave an external run; empty without any."""
    ops = cast("Mapping[str, Any]", run.run_config.get("ops") or {})
    # A code location of others, in which the op has our prefix, has a plan of its own.
    names = (assets.op, PREFIX + assets.op, PREFIX + assets.program.name)
    config = next((ops[name] or {} for name in names if name in ops), {}).get("config") or {}
    return dict(config.get("args") or {})


def _outputs_of(run: DagsterRun, assets: ProgramAssets) -> dict[str, tuple[str, ...]]:
    """Return the partitions that an external run writes, by dataset; empty if its tags do not name them."""
    keys = _keys_of(run, assets.partitions)
    return {
        name: keys
        for name in assets.program.writes
        if keys and assets.app.datasets[name].partitions is not None
    }


def _keys_of(run: DagsterRun, definition: PartitionsDefinition | None) -> tuple[str, ...]:
    # A re-execution of a job's run does the job's work, which may be more than its first partition.
    if definition is None or JOB in run.tags:
        return ()
    if DAGSTER_PARTITION in run.tags:
        return (run.tags[DAGSTER_PARTITION],)
    if DAGSTER_RANGE_START not in run.tags or DAGSTER_RANGE_END not in run.tags:
        return ()
    span = PartitionKeyRange(run.tags[DAGSTER_RANGE_START], run.tags[DAGSTER_RANGE_END])
    return tuple(definition.get_partition_keys_in_range(span))


def dagster_run_id(observed: str) -> str:
    """Return the Dagster id of an observed run."""
    return observed.partition(PROGRAM_SEPARATOR)[0]


def record_observations(
    instance: DagsterInstance, records: Iterable[RunRecord], plan: AssetPlan
) -> tuple[RunObservation, ...]:
    """Return the observations of run records, for reconciliation: a run's current status and its start."""
    found: list[RunObservation] = []
    for record in records:
        run = record.dagster_run
        status = STATUS_OF_RECORD.get(run.status)
        if status is None:
            continue
        if record.start_time is not None and status in ENDED:
            found += observations(run, RunStatus.STARTED, _instant(record.start_time), plan)
        seen = observations(run, status, _instant_of_status(record, status), plan)
        found += with_failures(instance, run, seen)
    return tuple(found)


def _instant_of_status(record: RunRecord, status: RunStatus) -> datetime:
    match status:
        case RunStatus.QUEUED | RunStatus.STARTING:
            return record.create_timestamp
        case RunStatus.STARTED:
            return _instant(record.start_time) if record.start_time is not None else record.update_timestamp
        case RunStatus.SUCCEEDED | RunStatus.FAILED | RunStatus.CANCELLED:
            return _instant(record.end_time) if record.end_time is not None else record.update_timestamp


def _instant(timestamp: float) -> datetime:
    return datetime.fromtimestamp(timestamp, UTC)
