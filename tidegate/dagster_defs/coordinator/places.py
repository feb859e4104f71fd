"""The places of a Dagster instance: how many runs it lets run at once, and how many do."""

from dagster import DagsterInstance, RunsFilter

from tidegate.dagster_defs.coordinator.coordinator import IN_PROGRESS, UNLIMITED
from tidegate.scheduler.model.places import Noted


def places_of(instance: DagsterInstance) -> Noted | None:
    """Return the places of an instance; None where runs pass no queue, or one without a limit."""
    queue = instance.get_concurrency_config().run_queue_config
    if queue is None or queue.max_concurrent_runs == UNLIMITED:
        return None
    in_progress = instance.get_runs_count(RunsFilter(statuses=IN_PROGRESS))
    return Noted(most=queue.max_concurrent_runs, in_progress=in_progress)
