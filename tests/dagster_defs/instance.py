"""What the tests do with a Dagster instance: report partitions, evaluate a dispatcher, make runs."""

from typing import Any

from dagster import AssetKey, AssetMaterialization, DagsterInstance, DagsterRunStatus, SensorEvaluationContext
from dagster._core.definitions.repository_definition import RepositoryDefinition
from dagster._core.definitions.sensor_definition import SensorExecutionData
from dagster._core.test_utils import create_run_for_test

from tidegate.dagster_defs.definitions.definitions import build_definitions
from tidegate.dagster_defs.definitions.location import Location

ORIGINS = ("EWR", "JFK", "LGA")


def repository_of(location: Location) -> RepositoryDefinition:
    """The repository that a code server would load."""
    return build_definitions(location).get_repository_def()


def report(instance: DagsterInstance, dataset: str, partition: str | None = None, **metadata: Any) -> None:
    """Report a partition from outside, as the UI, the REST API and `tidegate land` do."""
    instance.report_runless_asset_event(
        AssetMaterialization(AssetKey(["flights", dataset]), partition=partition, metadata=metadata)
    )


def report_day(instance: DagsterInstance, day: str) -> None:
    """Report all parts of a day of the sample app's raw data."""
    for origin in ORIGINS:
        report(instance, "raw", f"{day}|{origin}", rows=10, bytes=1000)


def evaluate(
    instance: DagsterInstance,
    repository: RepositoryDefinition,
    *,
    app: str = "flights",
    log_key: str = "1",
    **context: Any,
) -> SensorExecutionData:
    """One tick of an app's dispatcher, as the daemon makes it; a preview has another log key."""
    name = f"{app}_dispatcher"
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
