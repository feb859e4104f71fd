"""What Dagster shows of each asset: the arguments of its spec, but for its key and what it is made of.

The definitions have them as specs (`definitions.assets`), the snapshot of a large location as texts
(`definitions.snapshot`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dagster import AssetKey, MetadataValue, PartitionsDefinition, TextMetadataValue

from tidegate.dagster_defs.definitions.catalog_facts import owners_of, table_facts, tags_of, trigger_facts
from tidegate.dagster_defs.definitions.code_references import CodeReferences
from tidegate.dagster_defs.definitions.freshness import freshness_of
from tidegate.dagster_defs.deployed.asset_plan import ProgramAssets
from tidegate.dagster_defs.deployed.column_schema import column_schema
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.partitions import partitions_of
from tidegate.domain.model import At, Dataset, Schedule
from tidegate.domain.part_name import whole_name
from tidegate.scheduler.model.deployed import ScheduleState

SPARK, SQL = "spark", "sql"

EXTERNAL_TEXT = "external dataset: no program of this code location writes it"

Facts = dict[str, Any]
"""Arguments of an `AssetSpec`."""

Schedules = Mapping[str, Sequence[Schedule]]
"""The schedules of each program, by "app/program", in the order of their names."""


def schedules_by_program(states: Iterable[ScheduleState]) -> Schedules:
    """Return the schedules of each program that one launches."""
    found: dict[str, list[Schedule]] = {}
    for state in sorted(states, key=lambda each: each.ref):
        if state.spec.program:
            found.setdefault(whole_name(state.app, state.spec.program), []).append(state.spec)
    return found


def external_facts(app: str, dataset: Dataset, location: Location, places: CodeReferences) -> Facts:
    """Return what is shown of a dataset that no program of the location writes."""
    return {
        "group_name": app,
        "partitions_def": partitions_shown(dataset),
        "description": dataset.description or EXTERNAL_TEXT,
        "metadata": {
            **text_facts(dataset.at, {"format": dataset.format, "path": dataset.path}),
            **table_facts(app, dataset, location),
            **places.metadata(dataset.at),
            **column_schema(dataset.all_columns()),
        },
        "owners": owners_of(dataset.owner),
        "kinds": {dataset.format},
        "freshness_policy": freshness_of(dataset),
    }


def program_facts(
    assets: ProgramAssets, location: Location, schedules: Sequence[Schedule], places: CodeReferences
) -> Iterator[tuple[AssetKey, Facts]]:
    """Yield what is shown of each asset of a program, with its key."""
    app, program = assets.app, assets.program
    code = program.run or ", ".join(query.file for query in program.sql)
    place = {"program": code, **trigger_facts(schedules)}
    engine, tags = {SQL, SPARK} if program.sql else {SPARK}, tags_of(program.tags)
    # A run that loses its claim succeeds without writing, so all of them can be skipped.
    if assets.own_key is not None:
        yield (
            assets.own_key,
            {
                "group_name": app.name,
                "partitions_def": assets.partitions,
                "description": program.description or f"the program {program.name}",
                "metadata": {**text_facts(program.at, place), **places.metadata(program.at, program)},
                "owners": owners_of("", schedules),
                "tags": tags,
                "kinds": engine,
                "skippable": True,
            },
        )
    for key, dataset in assets.owned.items():
        facts = {**place, "format": dataset.format, "path": dataset.path}
        yield (
            key,
            {
                "group_name": app.name,
                "partitions_def": partitions_shown(dataset),
                "description": dataset.description or program.description or None,
                "metadata": {
                    **text_facts(dataset.at, facts),
                    **table_facts(app.name, dataset, location),
                    **places.metadata(dataset.at, program),
                    **column_schema(dataset.all_columns()),
                },
                "owners": owners_of(dataset.owner, schedules),
                "tags": tags,
                "kinds": engine | {dataset.format},
                "freshness_policy": freshness_of(dataset, schedules),
                "skippable": True,
            },
        )


def text_facts(at: At | None, facts: Mapping[str, Any]) -> dict[str, TextMetadataValue]:
    """Return facts as metadata, with the place in the YAML; those without a value are left out."""
    named = facts if at is None else {"yaml": at, **facts}
    return {name: MetadataValue.text(str(value)) for name, value in named.items() if value}


def partitions_shown(dataset: Dataset) -> PartitionsDefinition | None:
    """Return the partitions of the asset of a dataset."""
    return None if dataset.partitions is None else partitions_of(dataset.partitions)
