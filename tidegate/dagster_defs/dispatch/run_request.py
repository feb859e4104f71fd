"""From a launch request of the engine to a run request of Dagster, checked before it leaves.

Dagster checks the requests of a tick as one batch: a single unknown partition would take all
the others with it, tick after tick. So each is checked here (`scheduler.decision.launch_check`) against
what is loaded.

How a run says which partitions it writes:
    one key                      the run's partition
    all keys of a range          the run's partition range, one run for all of them
    a manifest with gaps         the first key; the op takes the exact keys from the job
Dagster knows no run of several partitions with gaps. The run would fail to start without any
partition, and a range around the gaps would show untouched partitions as running or failed.
"""

from dataclasses import dataclass
from datetime import datetime

from dagster import (
    MultiPartitionsDefinition,
    PartitionsDefinition,
    RunRequest,
    StaticPartitionsDefinition,
)

from tidegate.dagster_defs.definitions.asset_plan import AssetPlan, ProgramAssets
from tidegate.dagster_defs.definitions.partitions import is_range
from tidegate.dagster_defs.run.tags import (
    APP,
    ATTEMPT,
    DAGSTER_PRIORITY,
    DAGSTER_RANGE_END,
    DAGSTER_RANGE_START,
    JOB,
    PARTITIONS,
    PRIORITY_VALUES,
    PROGRAM,
    REASON,
    SCHEDULE,
    shortened,
)
from tidegate.scheduler.decision.launch_check import check_launch
from tidegate.scheduler.launch.outbox import LaunchRequest

KEYS_IN_TAG = 5
"""More partition keys than these are told by their number."""


@dataclass(frozen=True)
class Invalid:
    """Why a request cannot be launched.

    Attributes:
        final: no later try can make it valid.
    """

    message: str
    final: bool = False


def run_request(request: LaunchRequest, plan: AssetPlan, now: datetime) -> RunRequest | Invalid:
    """The run request of a launch, or why there can be none with the definitions that are loaded."""
    assets = plan.programs.get((request.app, request.launch.program))
    keys = request.launch.partitions
    ref = f"{request.app}/{request.launch.program}"
    wrong = check_launch(None if assets is None else assets.app, ref, keys, now)
    if assets is None or wrong is not None:
        return Invalid(wrong.message, wrong.final) if wrong is not None else Invalid(f"{ref} is not loaded")
    definition = assets.partitions
    if definition is None:
        return _request(request, assets, None, {})
    # Dagster's clock is its own: what it does not know would take the other requests with it.
    unknown = [key for key in keys if not definition.has_partition_key(key)]
    if unknown:
        return Invalid(f"Dagster has no partition {', '.join(unknown)} of {ref} yet")
    keys = in_order(definition, keys)
    if is_range(definition, keys):
        return _request(
            request,
            assets,
            None,
            {DAGSTER_RANGE_START: keys[0], DAGSTER_RANGE_END: keys[-1]},
        )
    return _request(request, assets, keys[0], {})


def in_order(definition: PartitionsDefinition, keys: tuple[str, ...]) -> tuple[str, ...]:
    """The keys in the order of their definition; keys of time sort as they are written."""
    if isinstance(definition, StaticPartitionsDefinition):
        chosen = set(keys)
        return tuple(key for key in definition.get_partition_keys() if key in chosen)
    return tuple(sorted(keys))


def _request(
    request: LaunchRequest,
    assets: ProgramAssets,
    partition: str | None,
    tags: dict[str, str],
) -> RunRequest:
    definition = assets.partitions
    if partition is not None and isinstance(definition, MultiPartitionsDefinition):
        partition = definition.get_partition_key_from_str(partition)
    return RunRequest(
        run_key=request.run_key,
        asset_selection=list(assets.keys),
        partition_key=partition,
        tags={**job_tags(request), **tags},
    )


def job_tags(request: LaunchRequest) -> dict[str, str]:
    """The tags that tell whose run it is and why it runs."""
    keys = request.launch.partitions
    tags = {
        APP: request.app,
        SCHEDULE: request.schedule,
        PROGRAM: f"{request.app}/{request.launch.program}",
        JOB: request.job,
        ATTEMPT: str(request.attempt),
        REASON: shortened(request.reason),
        DAGSTER_PRIORITY: PRIORITY_VALUES[request.priority],
    }
    if len(keys) > 1:
        told = ", ".join(keys) if len(keys) <= KEYS_IN_TAG else f"{len(keys)} keys, {keys[0]} to {keys[-1]}"
        tags[PARTITIONS] = shortened(told)
    return tags
