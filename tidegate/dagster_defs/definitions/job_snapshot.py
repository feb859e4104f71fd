"""The snapshot of the job of all assets of a large code location, made from the plan after an example.

Each process that reads the location asks for it, and the digest of its text is the id of the job. For each
program it has an op, the node of that op with its inputs, and a field of the configuration; types of the
configuration are named by a digest of their fields. As in `definitions.snapshot`, what the example has is
made here too, and compared.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from types import SimpleNamespace

from dagster import AssetKey

from tidegate.dagster_defs.definitions.assets import check_specs
from tidegate.dagster_defs.definitions.snapshot import Packed, first
from tidegate.dagster_defs.deployed.asset_plan import ProgramAssets
from tidegate.dagster_defs.deployed.tags import PROGRAM
from tidegate.dagster_defs.internals.snapshots import compute_fields_hash

JOB, CONFIG, TYPES, MODES = (
    "pipeline_snapshot",
    "config_schema_snapshot",
    "all_config_snaps_by_key",
    "mode_def_snaps",
)
OPS = ("solid_definitions_snapshot", "solid_def_snaps")
NODES = ("dep_structure_snapshot", "solid_invocation_snaps")
"""The names of older versions of Dagster, which it still writes."""

ENTRY = "ops"
"""The field of a run's configuration that has a field for each op."""

PLACE = "<{}>"
"""Where a text that grows with the location is put: no name or type of Dagster has such brackets."""


class JobTexts:
    """Makes what a code server sends of the job of some programs after the example of other programs."""

    def __init__(self, example: Packed) -> None:
        self._example, self._job = example, example[JOB]
        self._types: Mapping[str, Packed] = self._job[CONFIG][TYPES]
        self._root = self._types[self._job[MODES][0]["root_config_key"]]
        self._entry = first(field for field in self._root["fields"] if field["name"] == ENTRY)
        self._fields = self._types[self._entry["type_key"]]
        self._field = first(self._fields["fields"])
        ops, nodes = self._job[OPS[0]][OPS[1]], self._job[NODES[0]][NODES[1]]
        self._op, self._node = first(ops), first(nodes)
        self._inputs = [each for op in ops for each in op["input_def_snaps"]][:1]
        self._outputs = [each for op in ops for each in op["output_def_snaps"]][:1]
        self._depends = [each for node in nodes for each in node["input_dep_snaps"]][:1]
        upstream = [each for node in nodes for each in node["input_dep_snaps"]]
        self._upstream = [output for each in upstream for output in each["upstream_output_snaps"]][:1]

    def texts(self, programs: Collection[ProgramAssets]) -> tuple[str, str]:
        """Return the snapshot of the job of some programs, within what is sent of it, and its id.

        Raises:
            Unlike: it has a part that the example has not.
        """
        job = self._text(sorted(programs, key=lambda each: each.op))
        sent = _put(json.dumps(self._example | {JOB: PLACE.format(JOB)}), {JOB: job})
        return sent, hashlib.sha1(job.encode(), usedforsecurity=False).hexdigest()

    def _text(self, programs: Collection[ProgramAssets]) -> str:
        fields = self._fields | {"fields": [{**self._field, "name": each.op} for each in programs]}
        fields["key"] = _key(fields)
        default = json.loads(self._field["default_value_as_json_str"])
        entry = self._entry | {
            "type_key": fields["key"],
            "default_value_as_json_str": json.dumps({each.op: default for each in programs}),
        }
        root = self._root | {
            "fields": [entry if each["name"] == ENTRY else each for each in self._root["fields"]]
        }
        root["key"] = _key(root)
        replaced = (self._root["key"], self._fields["key"])
        types = {key: each for key, each in self._types.items() if key not in replaced}
        types |= {root["key"]: root, fields["key"]: fields | {"fields": [PLACE.format("fields")]}}
        made = self._job | {
            CONFIG: self._job[CONFIG] | {TYPES: dict(sorted(types.items()))},
            OPS[0]: self._job[OPS[0]] | {OPS[1]: [PLACE.format("ops")]},
            NODES[0]: self._job[NODES[0]] | {NODES[1]: [PLACE.format("nodes")]},
            MODES: [self._job[MODES][0] | {"root_config_key": root["key"]}],
        }
        makers = {key: each.op for each in programs for key in each.keys}
        parts = {
            "fields": ", ".join(map(json.dumps, fields["fields"])),
            "ops": ", ".join(json.dumps(self._op_of(each)) for each in programs),
            "nodes": ", ".join(json.dumps(self._node_of(each, makers)) for each in programs),
        }
        return _put(json.dumps(made), parts)

    def _op_of(self, assets: ProgramAssets) -> Packed:
        checks = [f"check_{number}" for number, _ in enumerate(check_specs(assets))]
        reads = sorted(key.to_python_identifier() for key in assets.reads)
        writes = sorted([*(key.to_python_identifier() for key in assets.keys), *checks])
        return self._op | {
            "name": assets.op,
            "input_def_snaps": [first(self._inputs) | {"name": name} for name in reads],
            "output_def_snaps": [first(self._outputs) | {"name": name} for name in writes],
            "tags": {PROGRAM: assets.ref},
        }

    def _node_of(self, assets: ProgramAssets, makers: Mapping[AssetKey, str]) -> Packed:
        inputs = list[Packed]()
        for name, key in sorted((key.to_python_identifier(), key) for key in assets.reads):
            maker = makers.get(key)
            upstream = (
                [] if maker is None else [first(self._upstream) | {"output_name": name, "solid_name": maker}]
            )
            inputs.append(first(self._depends) | {"input_name": name, "upstream_output_snaps": upstream})
        return self._node | {
            "solid_name": assets.op,
            "solid_def_name": assets.op,
            "input_dep_snaps": inputs,
        }


def _key(kind: Packed) -> str:
    """Return the name of a type of the configuration that has fields."""
    fields = {
        each["name"]: SimpleNamespace(**each, config_type=SimpleNamespace(key=each["type_key"]))
        for each in kind["fields"]
    }
    return f"{kind['key'].partition('.')[0]}.{compute_fields_hash(fields, kind['description'])}"


def _put(text: str, parts: Mapping[str, str]) -> str:
    """Put texts into their places."""
    for name, part in parts.items():
        text = text.replace(json.dumps(PLACE.format(name)), part)
    return text
