"""Datasets and programs as Dagster assets.

An external dataset is a plain spec; the datasets that a program writes are one multi-asset
whose op is the program. An input is a dependency without data: programs read tables
themselves. Each spec carries its position in the YAML.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from dagster import AssetDep, AssetsDefinition, AssetSpec, MetadataValue, TextMetadataValue

from tidegate.dagster_defs.definitions.program_asset import function_of, program_asset
from tidegate.dagster_defs.definitions.run_scope import EVERYTHING, RunScope
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan, ProgramAssets
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import asset_key
from tidegate.dagster_defs.deployed.partitions import mapping_between, partitions_of
from tidegate.domain.model import At

SPARK = "spark"


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
    function = function_of({assets.op: assets for assets in programs}, location)
    for assets in programs:
        yield program_asset(assets, tuple(_specs(assets)), function)


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
