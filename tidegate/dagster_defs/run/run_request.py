"""The conversion of the engine's launch request to a validated Dagster run request.

Dagster validates the requests of a tick as one batch: a single unknown partition would fail all
the others, tick after tick. So each request is checked here (`scheduler.decision.launch.check`)
against the loaded definitions.

Partitions of a run:
    one key                      the run's partition
    all keys of a range          the run's partition range, one run for all of them
    a manifest with gaps         the first key; the op takes the exact keys from the job
Dagster does not support a run of several partitions with gaps. The run would fail to start
without a partition, and a range across the gaps would show untouched partitions as running.
"""

from dataclasses import dataclass
from datetime import datetime

from dagster import (
    MultiPartitionsDefinition,
    PartitionsDefinition,
    RunRequest,
    StaticPartitionsDefinition,
)

from tidegate.dagster_defs.deployed.asset_plan import AssetPlan, ProgramAssets
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB
from tidegate.dagster_defs.deployed.partitions import is_range
from tidegate.dagster_defs.deployed.tags import (
    APP,
    ATTEMPT,
    BACKFILL,
    BUSINESS_DATE,
    COMMIT,
    DAGSTER_PRIORITY,
    DAGSTER_RANGE_END,
    DAGSTER_RANGE_START,
    DIAGNOSTIC,
    JOB,
    KEY,
    KIND,
    ORIGIN,
    PARTITIONS,
    PRIORITY_VALUES,
    PROGRAM,
    PROVISIONAL,
    REASON,
    REPAIRS,
    SCHEDULE,
    SCHEDULED,
    TASK,
    shortened,
)
from tidegate.dagster_defs.existing.request import ExistingRequest
from tidegate.domain.launch_input import without_text
from tidegate.scheduler.decision.launch.check import check_launch
from tidegate.scheduler.explain.instances.facts import no_edge_line
from tidegate.scheduler.launch.outbox import LaunchRequest
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.work_of_job import commit_id

KEYS_IN_TAG = 5
"""With more partition keys than these the tag shows their number."""


@dataclass(frozen=True)
class Invalid:
    """The reason that a request cannot be launched.

    Attributes:
        final: a later attempt cannot succeed.
    """

    message: str
    final: bool = False


def run_request(
    request: LaunchRequest, plan: AssetPlan, now: datetime
) -> RunRequest | ExistingRequest | Invalid:
    """Return the run request of a launch, or why the loaded definitions do not allow one."""
    existing = plan.existing.get((request.app, request.launch.program))
    if existing is not None:
        no = check_launch(existing.app, existing.ref, request.launch.partitions, now)
        if no is not None:
            return Invalid(no.message, no.final)
        return ExistingRequest(program=existing.ref, job=existing.job, launch=request, tags=job_tags(request))
    assets = plan.programs.get((request.app, request.launch.program))
    keys = request.launch.partitions
    ref = f"{request.app}/{request.launch.program}"
    wrong = check_launch(None if assets is None else assets.app, ref, keys, now)
    if assets is None or wrong is not None:
        return Invalid(wrong.message, wrong.final) if wrong is not None else Invalid(f"{ref} is not loaded")
    definition = assets.partitions
    if definition is None:
        return _request(request, assets, None, {})
    # Dagster uses its own clock: an unknown partition would fail the other requests too.
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
    """Return the keys in the order of the definition; time keys sort as text."""
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
        job_name=ALL_ASSETS_JOB,
        asset_selection=list(assets.keys),
        partition_key=partition,
        tags={**assets.program.tags, **job_tags(request), **tags},
    )


def job_tags(request: LaunchRequest) -> dict[str, str]:
    """Return the tags that identify the job of a run and the reason that it runs."""
    keys = request.launch.partitions
    tags = {
        APP: request.app,
        SCHEDULE: request.schedule,
        PROGRAM: f"{request.app}/{request.launch.program}",
        JOB: request.job,
        ATTEMPT: str(request.attempt),
        ORIGIN: _origin(request),
        REASON: shortened(request.reason),
        DAGSTER_PRIORITY: PRIORITY_VALUES[request.priority],
    }
    if request.key:
        tags[KEY] = shortened(request.key)
    if len(keys) > 1:
        text = ", ".join(keys) if len(keys) <= KEYS_IN_TAG else f"{len(keys)} keys, {keys[0]} to {keys[-1]}"
        tags[PARTITIONS] = shortened(text)
    if request.launch.provisional:
        tags[PROVISIONAL] = shortened(without_text(request.launch.provisional))
    if request.launch.repairs is not None:
        tags[REPAIRS] = request.launch.repairs
    if request.commit > 1:
        tags[COMMIT] = commit_id(request.job, request.commit)
    return tags if request.instance is None else {**tags, **instance_tags(request, request.instance)}


def _origin(request: LaunchRequest) -> str:
    """Return what a run is launched for."""
    if request.by_hand:
        return "by hand"
    if request.maintenance is not None:
        return "policy"
    if request.instance is None:
        return "schedule"
    return "backfill" if request.instance.number else "task"


def instance_tags(request: LaunchRequest, instance: Instance) -> dict[str, str]:
    """Return the tags that say which instance of a task a run is for; its attempt has a tag of any run."""
    tags = {
        TASK: request.schedule,
        SCHEDULED: instance.key,
        BUSINESS_DATE: instance.business_date,
        KIND: str(instance.kind),
    }
    if instance.diagnostics:
        tags[DIAGNOSTIC] = shortened("; ".join(no_edge_line(each) for each in instance.diagnostics))
    return {**tags, BACKFILL: str(instance.number)} if instance.number else tags
