"""Dagster's step as the IO manager sees it: the only module that uses what is not public in Dagster.

Dagster hands one output at a time to an IO manager, logs the asset's materialisation as soon as the
output was handled, and does not tell whether another output will follow. Several outputs that are
published together need more:

- `handled_outputs`: which outputs of the step this IO manager will receive;
- `withhold_materialisation`: an output that is staged and not published must not be shown as materialised;
- `at_end`: the end of the code of a step that has left out an optional output.

ADR 24 says what is relied on; `tests/dagster_defs/io_manager` fails if another version of Dagster differs.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dagster import (
    AssetKey,
    AssetMaterialization,
    DagsterEvent,
    DagsterInvariantViolationError,
    DataVersion,
    InputContext,
    IOManager,
    OutputContext,
    PartitionsDefinition,
    StepExecutionContext,
)

from tidegate.dagster_defs.internals.step import StepOutputHandle


def step_of(context: OutputContext | InputContext) -> StepExecutionContext | None:
    """Return the step of a context; None for a context outside of a run, as `load_asset_value` makes it."""
    try:
        return context.step_context
    except DagsterInvariantViolationError:
        return None


def asset_of(context: OutputContext) -> tuple[AssetKey, Mapping[str, Any], PartitionsDefinition | None]:
    """Return key, metadata and partitions of the asset of an output."""
    spec = context.asset_spec
    return spec.key, spec.metadata, spec.partitions_def


def partitions_def_of(context: InputContext) -> PartitionsDefinition | None:
    """Return the partitions definition of the asset that an input is loaded from."""
    try:
        return context.asset_partitions_def
    except DagsterInvariantViolationError:
        return None


def resources_of(step: StepExecutionContext) -> tuple[Any, ...]:
    """Return the resources that the step needs, and its IO managers; a retry in this process has the same."""
    return tuple(step.resources._asdict().values())


def handled_outputs(step: StepExecutionContext, manager: IOManager) -> dict[str, OutputContext]:
    """Return the selected outputs of the step that are assets of this IO manager, by name.

    An output without a value (`None` as its annotation, an asset check) is never handed to an IO manager.
    """
    found: dict[str, OutputContext] = {}
    for name in sorted(step.selected_output_names):
        handle = StepOutputHandle(step.step.key, name)
        if step.op_def.output_def_named(name).dagster_type.is_nothing:
            continue
        if step.step.step_output_named(name).properties.asset_check_key is not None:
            continue
        if step.get_io_manager(handle) is not manager:
            continue
        context = step.get_output_context(handle)
        if context.has_asset_key:
            found[name] = context
    return found


def withhold_materialisation(context: OutputContext) -> None:
    """Keep Dagster from logging the materialisation of the output that is being handled."""
    context._asset_key = None


def at_end(step: StepExecutionContext, end: Callable[[], None]) -> None:
    """Call `end` when the code of the step has ended without an error, and before the step succeeds.

    Dagster then asks about every output of the step, in order, whether it has seen it. While outputs are
    yielded it asks about single ones, and has seen one more each time.
    """
    names = [output.name for output in step.step.step_outputs]
    real, asked, seen = step.has_seen_output, list[str](), 0

    def has_seen_output(output_name: str, mapping_key: str | None = None) -> bool:
        nonlocal seen
        if (now := sum(real(name) for name in names)) != seen:
            seen = now
            asked.clear()
        asked.append(output_name)
        if asked == names:
            end()
        return real(output_name, mapping_key)

    step.has_seen_output = has_seen_output


def add_facts(
    context: OutputContext,
    facts: Mapping[str, Mapping[str, Any]],
    commit: str,
    *,
    partitions: Sequence[str],
) -> None:
    """Add metadata to the materialisations that Dagster logs for the output that is being handled.

    Args:
        facts: by partition key; by "" for an asset without partitions.
    """
    step, key = context.step_context, context.asset_key
    if not step.has_data_version(key):
        step.set_data_version(key, DataVersion(commit))
    if not partitions:
        context.add_output_metadata(dict(facts[""]))
    for partition in partitions:
        step.add_asset_metadata(facts[partition], asset_key=key, partition_key=partition)


def metadata_of(step: StepExecutionContext, key: AssetKey, partition: str | None) -> dict[str, Any]:
    """Return the metadata that the step's code has given to a materialisation by `add_asset_metadata`."""
    of_asset = step.get_asset_metadata(key) or {}
    of_partition = step.get_asset_metadata(key, partition) if partition is not None else None
    return {**of_asset, **(of_partition or {})}


def log_materialisation(step: StepExecutionContext, event: AssetMaterialization) -> DagsterEvent:
    """Log the materialisation of an output of the step, whichever output is being handled."""
    return DagsterEvent.asset_materialization(step, event)
