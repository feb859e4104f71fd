"""The parts of the snapshot of a large code location, made from the plan after an example.

    a program of each shape ──► Dagster's definitions ──► Dagster's snapshot of them: the example
    every program, dataset and cron ──► a copy of its part of the example, with its own names and facts

So a field that this module does not know has the value that Dagster gives it. Whatever the example has is
made here too, and compared: where that differs, with another Dagster or a plan of another kind, Dagster makes
the snapshot itself (`definitions.planned`).
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from dagster import (
    AssetKey,
    BackfillPolicy,
    CodeReferencesMetadataValue,
    DefaultScheduleStatus,
    LocalFileCodeReference,
    PartitionsDefinition,
    TextMetadataValue,
    serialize_value,
)

from tidegate.dagster_defs.definitions.asset_facts import (
    Facts,
    Schedules,
    external_facts,
    partitions_shown,
    program_facts,
)
from tidegate.dagster_defs.definitions.assets import check_specs
from tidegate.dagster_defs.definitions.code_references import CodeReferences
from tidegate.dagster_defs.definitions.shown_schedules import ShownSchedules
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan, ProgramAssets
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.names import asset_key
from tidegate.dagster_defs.deployed.partitions import mapping_between
from tidegate.dagster_defs.internals.snapshots import PartitionsSnap, unique_id_from_asset_and_check_keys
from tidegate.domain.model import Dataset

Packed = dict[str, Any]
"""An object as Dagster writes it in JSON."""

Path = tuple[str, ...]
"""Of an asset key: what Dagster sorts assets by."""

NODES, CHECKS, CRONS = "external_asset_graph_data", "external_asset_checks", "external_schedule_datas"
"""The lists of a snapshot that grow with the location."""


class Unlike(Exception):
    """The location has something of a kind that the example has not."""


def packed(value: Any) -> Packed:
    """Return an object of Dagster as it writes it in JSON."""
    found: Packed = json.loads(serialize_value(value))
    return found


@cache
def _kept(value: Any) -> Packed:
    """Return an object that many assets have: there are few different ones."""
    return packed(value)


@cache
def _partitions(definition: PartitionsDefinition) -> Packed:
    return packed(PartitionsSnap.from_def(definition))


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a code location shows.

    Attributes:
        schedules: those of each program.
        crons: the schedules that Dagster shows.
        places: where the code of its assets is.
    """

    plan: AssetPlan
    location: Location
    schedules: Schedules
    crons: ShownSchedules
    places: CodeReferences


class Parts:
    """Makes the parts of a snapshot of a location after the example of some of them."""

    def __init__(self, example: Packed, shown: Shown) -> None:
        self._shown = shown
        self._nodes = {tuple(node["asset_key"]["path"]): node for node in example[NODES]}
        self._checks, self._crons = example[CHECKS], example[CRONS]

    def nodes(self) -> Iterator[tuple[Path, Packed]]:
        """Yield all assets: those of programs, of external datasets, and of other locations where read."""
        written, external = self._shown.plan.program_of, set[AssetKey]()
        for program in self._shown.plan.programs.values():
            yield from self.of_program(program)
        for app, dataset in self._shown.plan.external():
            external.add(asset_key(app, dataset.name))
            yield self.of_dataset(app, dataset)
        for key in self.elsewhere - external - written.keys():
            yield tuple(key.path), {**self._foreign, "asset_key": self._key(key)}

    @cached_property
    def elsewhere(self) -> frozenset[AssetKey]:
        """The assets of other code locations that programs read."""
        programs = self._shown.plan.programs.values()
        return frozenset(key for each in programs for key, dataset in each.reads.items() if dataset.asset)

    def of_program(self, assets: ProgramAssets) -> Iterator[tuple[Path, Packed]]:
        """Yield the assets of a program."""
        shown = self._shown
        schedules = shown.schedules.get(assets.ref, ())
        own = {
            "op_name": assets.op,
            "op_names": [assets.op],
            "node_definition_name": assets.op,
            "atomic_execution_unit_id": self._together(assets),
            "backfill_policy": None if assets.scheme is None else _kept(BackfillPolicy.single_run()),
        }
        for key, facts in program_facts(assets, shown.location, schedules, shown.places):
            node = self._node(self._made, key, facts)
            node |= own
            node["output_name"] = key.to_python_identifier()
            node["dependencies"] = self._dependencies(assets, facts["partitions_def"])
            yield tuple(key.path), node

    def of_dataset(self, app: str, dataset: Dataset) -> tuple[Path, Packed]:
        """Return the asset of a dataset that no program of the location writes."""
        key = asset_key(app, dataset.name)
        facts = external_facts(app, dataset, self._shown.location, self._shown.places)
        return tuple(key.path), self._node(self._external, key, facts)

    def checks(self) -> Iterator[tuple[Path, str, Packed]]:
        """Yield the checks of all assets, each with its asset and name."""
        for assets in self._shown.plan.programs.values():
            if any(dataset.checks for dataset in assets.owned.values()):
                yield from self.checks_of(assets)

    def checks_of(self, assets: ProgramAssets) -> Iterator[tuple[Path, str, Packed]]:
        """Yield the checks of a program's assets."""
        together = self._together(assets)
        for spec in check_specs(assets):
            own = {
                "name": spec.name,
                "asset_key": self._key(spec.asset_key),
                "description": spec.description,
                "atomic_execution_unit_id": together,
            }
            yield tuple(spec.asset_key.path), spec.name, first(self._checks) | own

    def cron(self, name: str) -> Packed:
        """Return a cron that Dagster shows."""
        facts = self._shown.crons.facts(name)
        status, metadata = facts.pop("default_status"), facts.pop("metadata")
        made = self._cron | {
            **facts,
            "name": name,
            "metadata": {label: _text(value) for label, value in metadata.items()},
        }
        # Dagster writes only what differs from its default.
        made.pop("default_status", None)
        return made | ({"default_status": _kept(status)} if status is DefaultScheduleStatus.RUNNING else {})

    def _node(self, example: Packed, key: AssetKey, facts: Facts) -> Packed:
        definition, freshness = facts["partitions_def"], facts.get("freshness_policy")
        kinds = {f"dagster/kind/{kind}": "" for kind in facts["kinds"]}
        return {
            **example,
            "asset_key": self._key(key),
            "group_name": facts["group_name"],
            "op_description": facts["description"],
            "metadata_entries": [_entry(label, value) for label, value in facts["metadata"].items()],
            "owners": facts["owners"],
            "tags": {**facts.get("tags", {}), **kinds},
            "partitions_def_data": None if definition is None else _partitions(definition),
            "new_freshness_policy": None if freshness is None else _kept(freshness),
        }

    def _dependencies(self, assets: ProgramAssets, own: PartitionsDefinition | None) -> list[Packed]:
        """Return the inputs of an asset; a mapping is shown where one of both sides has partitions."""
        found = list[Packed]()
        for key, dataset in sorted(assets.reads.items()):
            mapping = mapping_between(assets.scheme, dataset.partitions)
            partitioned = own is not None or not dataset.asset
            found.append(
                {
                    **self._edge,
                    "upstream_asset_key": self._key(key),
                    "partition_mapping": _kept(mapping) if mapping is not None and partitioned else None,
                }
            )
        return found

    def _together(self, assets: ProgramAssets) -> str | None:
        """Return the name of what Dagster can only materialise together; None of a program with one asset."""
        if len({partitions_shown(dataset) for dataset in assets.owned.values()}) > 1:
            return None
        checks = [spec.key for spec in check_specs(assets)]
        if len(assets.keys) < 2 and not checks:
            return None
        return unique_id_from_asset_and_check_keys([*assets.keys, *checks])

    def _key(self, key: AssetKey) -> Packed:
        return {"__class__": "AssetKey", "path": key.path}

    @cached_property
    def _cron(self) -> Packed:
        return first(each for each in self._crons if each["name"] in self._shown.crons.names)

    @cached_property
    def _made(self) -> Packed:
        return first(node for node in self._nodes.values() if node.get("job_names"))

    @cached_property
    def _external(self) -> Packed:
        foreign = {tuple(key.path) for key in self.elsewhere}
        nodes = self._nodes.items()
        return first(node for path, node in nodes if not node.get("job_names") and path not in foreign)

    @cached_property
    def _foreign(self) -> Packed:
        foreign = {tuple(key.path) for key in self.elsewhere}
        return first(node for path, node in self._nodes.items() if path in foreign)

    @cached_property
    def _edge(self) -> Packed:
        return first(edge for node in self._nodes.values() for edge in node.get("dependencies", []))


def first(found: Iterable[Packed]) -> Packed:
    """Return an example of a kind.

    Raises:
        Unlike: there is none.
    """
    example = next(iter(found), None)
    if example is None:
        raise Unlike
    return example


def _entry(label: str, value: Any) -> Packed:
    data = _data(value)
    return {"__class__": "EventMetadataEntry", "description": None, "entry_data": data, "label": label}


def _data(value: Any) -> Packed:
    """Return a value of the metadata; the kinds that every asset has are written here."""
    if type(value) is TextMetadataValue:
        return _text(value.text)
    if type(value) is CodeReferencesMetadataValue:
        references = [_reference(each) for each in value.code_references]
        return {"__class__": "CodeReferencesMetadataValue", "code_references": references}
    return packed(value)


def _text(value: str | None) -> Packed:
    return {"__class__": "TextMetadataEntryData", "text": value}


def _reference(value: Any) -> Packed:
    if type(value) is not LocalFileCodeReference:
        return packed(value)
    return {
        "__class__": "LocalFileCodeReference",
        "file_path": value.file_path,
        "label": value.label,
        "line_number": value.line_number,
    }
