"""Datasets and programs as Dagster assets.

An external dataset is a plain spec; the datasets that a program writes are one multi-asset
whose op is the program. An input is a dependency without data: programs read tables
themselves. Each spec carries its position in the YAML.

The op of a program, and the assets that it materialises. The result is that of Dagster's decorator
`multi_asset`, at a fraction of its cost: a code location may have ten thousand programs, and what all of
them have in common is made once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from inspect import signature
from typing import Any

from dagster import (
    AssetCheckEvaluation,
    AssetCheckResult,
    AssetCheckSpec,
    AssetDep,
    AssetExecutionContext,
    AssetsDefinition,
    AssetSpec,
    BackfillPolicy,
    Field,
    In,
    MaterializeResult,
    Nothing,
    OpDefinition,
    Out,
    Permissive,
    ResourceDefinition,
)

from tidegate.dagster_defs.definitions.asset_facts import (
    Schedules,
    external_facts,
    program_facts,
    text_facts,
)
from tidegate.dagster_defs.definitions.code_references import CodeReferences
from tidegate.dagster_defs.definitions.run_scope import EVERYTHING, RunScope
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan, ProgramAssets
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import asset_key
from tidegate.dagster_defs.deployed.partitions import mapping_between
from tidegate.dagster_defs.deployed.tags import PROGRAM
from tidegate.dagster_defs.internals.op_definition import (
    ResourceRequirement,
    convert_user_facing_definition_config_schema,
)
from tidegate.dagster_defs.run.program_op import run_op

ARGS_HELP = "arguments of a manual run; the default is the arguments of the program's schedule"

CONFIG = convert_user_facing_definition_config_schema(
    {"args": Field(Permissive(), is_required=False, description=ARGS_HELP)}
)
"""The schema of the configuration of a run by hand."""

ONLY_A_DEPENDENCY = In(dagster_type=Nothing)
"""The input of an op for a dataset that its program reads by itself."""

ONLY_AN_EVENT = Out(ONLY_A_DEPENDENCY.dagster_type, is_required=False)
"""The output of an op for a dataset that its program writes by itself. Its type is that of the input, which
is resolved already."""

Program = Callable[
    [AssetExecutionContext, Mapping[str, Any]],
    Iterator[MaterializeResult[Any] | AssetCheckResult | AssetCheckEvaluation],
]
"""The function of an op, as Dagster calls it: with the values of the inputs, of which a program has none."""


class ProgramOp(OpDefinition):
    """The op of a program."""

    @cached_property
    def _requirements(self) -> tuple[ResourceRequirement, ...]:
        every = super().get_resource_requirements(None, None)
        return tuple({getattr(each, "key", each): each for each in every}.values())

    def get_resource_requirements(self, *_: Any, **__: Any) -> Iterator[ResourceRequirement]:
        """Yield each resource that the op needs once, in place of once for each input and output.

        Dagster asks several times for each op. All inputs and outputs need its default IO manager, which
        every job has, and which no program uses.
        """
        yield from self._requirements


class ProgramAsset(AssetsDefinition):
    """The assets of a program."""

    def with_resources(self, resource_defs: Mapping[str, ResourceDefinition]) -> "ProgramAsset":
        """Return the same assets: Dagster's copy has the default IO manager, which its job has anyway."""
        return self


def function_of(programs: Mapping[str, ProgramAssets], location: Location) -> Program:
    """Return the function of all ops, which runs the program of the op that calls it.

    Dagster inspects the function of each op. One function that carries its signature makes that cheap.

    Args:
        programs: by the name of their op.
    """

    def program(
        context: AssetExecutionContext, _inputs: Mapping[str, Any]
    ) -> Iterator[MaterializeResult[Any] | AssetCheckResult | AssetCheckEvaluation]:
        yield from run_op(context, programs[context.op_execution_context.op_def.name], location)

    program.__signature__ = signature(program)
    return program


def program_asset(assets: ProgramAssets, specs: Sequence[AssetSpec], function: Program) -> AssetsDefinition:
    """Build the assets of a program.

    Args:
        specs: of the assets that it owns, or of its own one.
    """
    inputs = {key.to_python_identifier(): key for key in assets.reads}
    outputs = {spec.key.to_python_identifier(): spec.key for spec in specs}
    checks = {f"check_{number}": spec for number, spec in enumerate(check_specs(assets))}
    op = ProgramOp(
        compute_fn=function,
        name=assets.op,
        ins=dict.fromkeys(inputs, ONLY_A_DEPENDENCY),
        outs=dict.fromkeys((*outputs, *checks), ONLY_AN_EVENT),
        config_schema=CONFIG,
        tags={PROGRAM: assets.ref},
    )
    return ProgramAsset(
        keys_by_input_name=inputs,
        keys_by_output_name=outputs,
        node_def=op,
        specs=specs,
        check_specs_by_output_name=checks or None,
        # Dagster allows outputs with and without partitions in one op only with can_subset.
        can_subset=len({spec.partitions_def for spec in specs}) > 1,
        backfill_policy=BackfillPolicy.single_run() if assets.scheme is not None else None,
    )


def build_assets(
    plan: AssetPlan, location: Location, scope: RunScope = EVERYTHING, schedules: Schedules | None = None
) -> Iterator[AssetsDefinition | AssetSpec]:
    """Yield an asset for every dataset and program of the location, or for those that one run needs.

    Args:
        schedules: what the assets say of them; a run needs none.
    """
    places = CodeReferences(location.warehouse.project)
    for app, dataset in scope.external(plan):
        yield AssetSpec(asset_key(app, dataset.name), **external_facts(app, dataset, location, places))
    by_program = schedules or {}
    programs = scope.programs(plan)
    function = function_of({assets.op: assets for assets in programs}, location)
    for assets in programs:
        facts = program_facts(assets, location, by_program.get(assets.ref, ()), places)
        specs = tuple(AssetSpec(key, deps=_deps(assets), **each) for key, each in facts)
        yield program_asset(assets, specs, function)


def check_specs(assets: ProgramAssets) -> Iterator[AssetCheckSpec]:
    """Yield what Dagster shows of the checks of the datasets that a program owns.

    Their runs report what they have found; the check itself is judged before the publish, and not by Dagster.
    """
    for key, dataset in assets.owned.items():
        for check in dataset.checks:
            yield AssetCheckSpec(
                check.name,
                asset=key,
                description=check.rule(),
                metadata=text_facts(check.at, {"kind": check.kind, "severity": check.severity}),
            )


def _deps(assets: ProgramAssets) -> list[AssetDep]:
    # An op has one mapping for each input, regardless of its outputs.
    return [
        AssetDep(key, partition_mapping=mapping_between(assets.scheme, dataset.partitions))
        for key, dataset in assets.reads.items()
    ]
