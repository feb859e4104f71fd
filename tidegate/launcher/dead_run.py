"""The report of a run whose process has ended without the run being at its end."""

from datetime import UTC, datetime

from dagster import DagsterInstance, DagsterRunStatus, deserialize_value

from tidegate.dagster_defs.internals.instance import InstanceRef
from tidegate.dagster_defs.run.dead_runs import report_dead
from tidegate.domain.error import UserError
from tidegate.project.location import location_of
from tidegate.project.settings.settings import load_settings


def report(run_id: str, instance_ref: str, text: str) -> None:
    """Report a run as failed, or as cancelled if that was asked for, unless it has ended.

    Args:
        text: what became of its process.
    """
    with DagsterInstance.from_ref(deserialize_value(instance_ref, InstanceRef)) as instance:
        run = instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            return
        if run.status is DagsterRunStatus.CANCELING:
            instance.report_run_canceled(run, text)
            return
        try:
            report_dead(instance, location_of(load_settings()), run, text, datetime.now(UTC), print)
        except UserError as error:
            # The engine learns it from Dagster, once it has its store again.
            print(f"run {run_id}: {error}")
            instance.report_run_failed(run, f"the run died: {text}")
