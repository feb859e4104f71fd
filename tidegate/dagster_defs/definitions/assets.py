"""Datasets and programs as Dagster assets.

An external dataset is a plain spec; the datasets that a program writes are one multi-asset
whose op is the program. An input is a dependency without data: programs read tables
themselves. Each spec carries its position in the YAML.
"""

from collections.abc import Iterator, Mapping
from inspect import signature
from typing import Any

from dagster import (
    AssetDep,
    AssetExecutionContext,
    AssetsDefinition,
    AssetSpec,
    BackfillPolicy,
    Field,
    In,
    MaterializeResult,
    MetadataValue,
    Nothing,
    OpDefinition,
    Out,
    Permissive,
    TextMetadataValue,
)

# What the decorator `op` makes of a function and of a schema; a schema is made once for all programs.
from dagster._core.definitions.decorators.op_decorator import DecoratedOpFunction
from dagster._core.definitions.definition_config_schema import convert_user_facing_definition_config_schema

from tidegate.dagster_defs.definitions.asset_plan import AssetPlan, ProgramAssets
from tidegate.dagster_defs.definitions.location import Location
from tidegate.dagster_defs.definitions.names import asset_key
from tidegate.dagster_defs.definitions.partitions import mapping_between, partitions_of
from tidegate.dagster_defs.definitions.run_scope import EVERYTHING, RunScope
from tidegate.dagster_defs.run.program_op import run_op
from tidegate.dagster_defs.run.tags import PROGRAM
from tidegate.domain.model import At

SPARK = "spark"

ARGS_HELP = "arguments of a manual run; the default is the arguments of the program's schedule"

CONFIG = convert_user_facing_definition_config_schema(
    {"args": Field(Permissive(), is_required=False, description=ARGS_HELP)}
)
"""The schema of the configuration of a run by hand."""

ONLY_A_DEPENDENCY = In(dagster_type=Nothing)
"""The input of an op for a dataset that its program reads by itself."""


def build_assets(
    plan: AssetPlan, location: Location, scope: RunScope = EVERYTHING
) -> Iterator[AssetsDefinition | AssetSpec]:
    """Yield an asset for every dataset and program of the location, or for those that one run needs."""
    for app, dataset in scope.external(plan):
        yield AssetSpec(
            asset_key(app, dataset.name),
            group_name=app,
            partitions_def=None if dataset.partitions is None else partitions_of(dataset.partitions),
            description=dataset.description or "external dataset: no program of this code location writes it",
            metadata=_metadata(dataset.at, {"format": dataset.format, "path": dataset.path}),
            kinds={dataset.format},
        )
    programs = scope.programs(plan)
    function = _function({assets.op: assets for assets in programs}, location)
    for assets in programs:
        yield _program_asset(assets, function)


def _function(programs: Mapping[str, ProgramAssets], location: Location) -> DecoratedOpFunction:
    """Return the function of all ops, which runs the program of the op that calls it.

    Dagster inspects the function of each op several times. One function that carries its signature makes
    that cheap.
    """

    def program(context: AssetExecutionContext) -> Iterator[MaterializeResult[Any]]:
        yield from run_op(context, programs[context.op_execution_context.op_def.name], location)

    program.__signature__ = signature(program)
    return DecoratedOpFunction(program)


def _program_asset(assets: ProgramAssets, function: DecoratedOpFunction) -> AssetsDefinition:
    """Build a program's multi-asset of the datasets it owns, or its own asset.

    The result is that of Dagster's decorator `multi_asset`, which takes more than twice as long: it inspects
    the function of each program, and converts the schema of its configuration.
    """
    specs = list(_specs(assets))
    inputs = {key.to_python_identifier(): key for key in assets.reads}
    outputs = {spec.key.to_python_identifier(): spec for spec in specs}
    op = OpDefinition(
        compute_fn=function,
        name=assets.op,
        ins=dict.fromkeys(inputs, ONLY_A_DEPENDENCY),
        outs={
            # The type is resolved once, for the input.
            name: Out(ONLY_A_DEPENDENCY.dagster_type, is_required=False, description=spec.description)
            for name, spec in outputs.items()
        },
        config_schema=CONFIG,
        tags={PROGRAM: assets.ref},
    )
    return AssetsDefinition(
        keys_by_input_name=inputs,
        keys_by_output_name={name: spec.key for name, spec in outputs.items()},
        node_def=op,
        specs=specs,
        # Dagster allows outputs with and without partitions in one op only with can_subset.
        can_subset=len({spec.partitions_def for spec in specs}) > 1,
        backfill_policy=BackfillPolicy.single_run() if assets.scheme is not None else None,
    )


def _specs(assets: ProgramAssets) -> Iterator[AssetSpec]:
    app, program = assets.app, assets.program
    place = {"program": program.run, "reads": ", ".join(program.reads)}
    if assets.own_key is not None:
        yield AssetSpec(
            assets.own_key,
            deps=_deps(assets),
            group_name=app.name,
            partitions_def=assets.partitions,
            description=program.description or f"the program {program.name}",
            metadata=_metadata(program.at, place),
            kinds={SPARK},
            skippable=True,
        )
    for key, dataset in assets.owned.items():
        yield AssetSpec(
            key,
            deps=_deps(assets),
            group_name=app.name,
            partitions_def=None if dataset.partitions is None else partitions_of(dataset.partitions),
            description=dataset.description or program.description or None,
            metadata=_metadata(
                dataset.at,
                {
                    **place,
                    "format": dataset.format,
                    "path": dataset.path,
                    "program_at": program.at,
                },
            ),
            kinds={SPARK, dataset.format},
            # A run that loses its claim succeeds without writing.
            skippable=True,
        )


def _deps(assets: ProgramAssets) -> list[AssetDep]:
    # An op has one mapping for each input, regardless of its outputs.
    return [
        AssetDep(key, partition_mapping=mapping_between(assets.scheme, dataset.partitions))
        for key, dataset in assets.reads.items()
    ]


def _metadata(at: At | None, facts: Mapping[str, Any]) -> dict[str, TextMetadataValue]:
    named = facts if at is None else {"yaml": at, **facts}
    return {name: MetadataValue.text(str(value)) for name, value in named.items() if value}
