"""What the tests do with a Dagster instance: report partitions, evaluate a dispatcher, make and end runs."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest
from dagster import (
    AssetKey,
    AssetMaterialization,
    DagsterInstance,
    DagsterRunStatus,
    ExecuteInProcessResult,
    SensorEvaluationContext,
)
from dagster._core.definitions.repository_definition import RepositoryDefinition
from dagster._core.definitions.sensor_definition import SensorExecutionData
from dagster._core.test_utils import create_run_for_test

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.definitions.definitions import build_definitions
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import DISPATCHER
from tidegate.dagster_defs.deployed.plan_state import deployed_plan
from tidegate.dagster_defs.run.dead_runs import end_dead_runs
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.run_report import claim
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.protocol import Store

ORIGINS = ("EWR", "JFK", "LGA")


def repository_of(location: Location) -> RepositoryDefinition:
    """The repository that a code server would load."""
    return build_definitions(location).get_repository_def()


def report(
    instance: DagsterInstance,
    dataset: str,
    partition: str | None = None,
    app: str = "flights",
    **metadata: Any,
) -> None:
    """Report a partition from outside, as the UI, the REST API and `tidegate land` do."""
    instance.report_runless_asset_event(
        AssetMaterialization(AssetKey([app, dataset]), partition=partition, metadata=metadata)
    )


def report_day(instance: DagsterInstance, day: str, app: str = "flights") -> None:
    """Report all parts of a day of the sample app's raw data."""
    for origin in ORIGINS:
        report(instance, "raw", f"{day}|{origin}", app, rows=10, bytes=1000)


def evaluate(
    instance: DagsterInstance,
    repository: RepositoryDefinition,
    *,
    log_key: str = "1",
    **context: Any,
) -> SensorExecutionData:
    """One tick of the dispatcher, as the daemon makes it; a preview has another log key."""
    name = DISPATCHER
    evaluation = SensorEvaluationContext(
        instance_ref=None,
        instance=instance,
        last_tick_completion_time=None,
        last_run_key=None,
        cursor=None,
        log_key=["__repository__", name, log_key],
        repository_name="__repository__",
        repository_def=repository,
        sensor_name=name,
        **context,
    )
    return repository.get_sensor_def(name).evaluate_tick(evaluation)


def make_run(
    instance: DagsterInstance,
    *datasets: str,
    tags: dict[str, str] | None = None,
    status: DagsterRunStatus = DagsterRunStatus.STARTED,
) -> str:
    """A run of some assets in Dagster's storage, without any events; returns its id."""
    run = create_run_for_test(
        instance,
        job_name="__ASSET_JOB",
        asset_selection=frozenset(AssetKey(["flights", dataset]) for dataset in datasets),
        tags=tags or {},
        status=status,
    )
    return run.run_id


def dies_between_event_and_row(
    instance: DagsterInstance, patch: pytest.MonkeyPatch, died: type[BaseException]
) -> None:
    """The process dies once the event of the next change of a run is written, and its row is not."""

    def die(*given: object, **named: object) -> None:
        # What is dead reports no failure either.
        patch.setattr(type(instance), "handle_new_event", die)
        raise died

    patch.setattr(type(instance.run_storage), "handle_run_event", die)


def started(
    instance: DagsterInstance,
    repository: RepositoryDefinition,
    job: str,
    tags: Mapping[str, str],
    status: DagsterRunStatus = DagsterRunStatus.STARTED,
) -> str:
    """A run of a job of a repository, which Dagster shows as started; returns its id."""
    run = instance.create_run_for_job(repository.get_job(job), tags=dict(tags), status=status)
    return run.run_id


def claimed(store: Store, run_id: str, job: str, program: str, now: datetime) -> None:
    """A run has claimed the first attempt of a job, and the store has seen it start."""
    assert claim(store, job, 1, run_id, now).won
    seen = RunObservation(
        run_id=run_id, program=program, job=job, attempt=1, status=RunStatus.STARTED, at=now
    )
    with store.transaction() as transaction:
        observe_runs(transaction, [seen], now)


def status_of(instance: DagsterInstance, run_id: str) -> DagsterRunStatus:
    run = instance.get_run_by_id(run_id)
    assert run is not None
    return run.status


def end_dead(instance: DagsterInstance, location: Location, now: datetime) -> list[str]:
    """A dispatcher looks for runs whose process has ended; returns what it says."""
    with location.open_store().reading() as reader:
        plan = AssetPlan(deployed_plan(reader, NO_PROJECT))
    said: list[str] = []
    end_dead_runs(instance, location, plan, now, said.append)
    return said


def failure(result: ExecuteInProcessResult) -> str:
    """Why the only step of a run has failed."""
    (event,) = [event for event in result.all_events if event.is_step_failure]
    failed = event.step_failure_data.user_failure_data
    assert failed is not None
    return failed.description or ""
