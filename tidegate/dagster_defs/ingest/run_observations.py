"""The conversion of Dagster runs to run observations of the engine.

The tags of a run name its job. A run without such tags that materialises assets of the project
is an external run (by hand or a backfill); it counts as a run of each program that it executes,
and a run of several programs is one observed run for each of them.

Dagster's log does not say why a run failed. A run whose program raised an error has noted that in the store,
so a failure without a note is the death of a run.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from dagster import DagsterEventType, DagsterRun, DagsterRunStatus
from dagster._core.storage.dagster_run import (
    RunRecord,
)  # what instance.get_run_records returns

from tidegate.dagster_defs.definitions.asset_plan import AssetPlan
from tidegate.dagster_defs.run.tags import PROGRAM, job_of
from tidegate.scheduler.intake.observe import RunObservation
from tidegate.scheduler.model.run import RunStatus

STATUS_OF_EVENT: Mapping[str, RunStatus] = {
    DagsterEventType.RUN_ENQUEUED.value: RunStatus.QUEUED,
    DagsterEventType.RUN_STARTING.value: RunStatus.QUEUED,
    DagsterEventType.RUN_START.value: RunStatus.STARTED,
    DagsterEventType.RUN_SUCCESS.value: RunStatus.SUCCEEDED,
    DagsterEventType.RUN_FAILURE.value: RunStatus.FAILED,
    DagsterEventType.RUN_CANCELED.value: RunStatus.CANCELLED,
}

STATUS_OF_RECORD: Mapping[DagsterRunStatus, RunStatus] = {
    DagsterRunStatus.QUEUED: RunStatus.QUEUED,
    DagsterRunStatus.STARTING: RunStatus.QUEUED,
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
                died=status is RunStatus.FAILED,
            ),
        )
    programs = programs_of(run, plan)
    if len(programs) == 1:
        return (RunObservation(run_id=run.run_id, program=programs[0], status=status, at=at),)
    return tuple(
        RunObservation(
            run_id=f"{run.run_id}{PROGRAM_SEPARATOR}{program}",
            program=program,
            status=status,
            at=at,
        )
        for program in programs
    )


def programs_of(run: DagsterRun, plan: AssetPlan) -> tuple[str, ...]:
    """Return the programs ("app/program") that a run selects, sorted."""
    selected = run.asset_selection or frozenset()
    return tuple(sorted({plan.program_of[key].ref for key in selected if key in plan.program_of}))


def dagster_run_id(observed: str) -> str:
    """Return the Dagster id of an observed run."""
    return observed.partition(PROGRAM_SEPARATOR)[0]


def record_observations(records: Iterable[RunRecord], plan: AssetPlan) -> tuple[RunObservation, ...]:
    """Return the observations of run records, for reconciliation: a run's current status and its start."""
    found: list[RunObservation] = []
    for record in records:
        run = record.dagster_run
        status = STATUS_OF_RECORD.get(run.status)
        if status is None:
            continue
        if record.start_time is not None and status not in (
            RunStatus.QUEUED,
            RunStatus.STARTED,
        ):
            found += observations(run, RunStatus.STARTED, _instant(record.start_time), plan)
        found += observations(run, status, _instant_of_status(record, status), plan)
    return tuple(found)


def _instant_of_status(record: RunRecord, status: RunStatus) -> datetime:
    match status:
        case RunStatus.QUEUED:
            return record.create_timestamp
        case RunStatus.STARTED:
            return _instant(record.start_time) if record.start_time is not None else record.update_timestamp
        case RunStatus.SUCCEEDED | RunStatus.FAILED | RunStatus.CANCELLED:
            return _instant(record.end_time) if record.end_time is not None else record.update_timestamp


def _instant(timestamp: float) -> datetime:
    return datetime.fromtimestamp(timestamp, UTC)
