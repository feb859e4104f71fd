"""Whole numbers with a point or an exponent mean what they mean without, wherever a number is wanted."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.golden.canonical_plan import plan
from tidegate.compiler.compile import Compilation, compile_files
from tidegate.compiler.compile_one import compile_schedule
from tidegate.compiler.reader import MappingNode, Node, ScalarNode, read
from tidegate.compiler.scenario_file import ScenarioFile

ROOT = Path(__file__).parents[2]
FILES = (
    *sorted((ROOT / "schedules").rglob("*.yaml"))[::5],
    *sorted((ROOT / "tests/golden").glob("plan_*/in.yaml")),
)
NOT_NUMBERS = ("args",)
"""Below these keys a value is what its reader makes of it, and stays as it is written."""


def integers(node: Node) -> Iterator[ScalarNode]:
    """The integers of a tree, and none that an argument is."""
    if isinstance(node, ScalarNode):
        if isinstance(node.value, int) and not isinstance(node.value, bool) and node.end_column:
            yield node
        return
    parts = (
        [value for key, value in node.values.items() if key not in NOT_NUMBERS]
        if isinstance(node, MappingNode)
        else node.items
    )
    for part in parts:
        yield from integers(part)


def with_points(data: bytes) -> bytes:
    """The same file with a point in each integer."""
    root, _ = read("in.yaml", data)
    assert root is not None
    lines = data.decode().split("\n")
    for node in sorted(integers(root), key=lambda found: found.column, reverse=True):
        line = lines[node.line - 1]
        lines[node.line - 1] = f"{line[: node.column - 1]}{node.value}.0{line[node.end_column - 1 :]}"
    return "\n".join(lines).encode()


def meaning(found: Compilation) -> Any:
    """All of a compilation but the columns."""
    scenarios = {name: msgspec.to_builtins(app.scenarios) for name, app in found.apps.items()}
    return plan(found.models()), without_places(scenarios), sorted(each.code for each in found.diagnostics)


def without_places(value: Any) -> Any:
    if isinstance(value, dict):
        return None if value.keys() == AT else {key: without_places(inner) for key, inner in value.items()}
    return [without_places(inner) for inner in value] if isinstance(value, list) else value


AT = {"file", "line", "column"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_file_with_points_means_the_same(file: Path) -> None:
    data = file.read_bytes()
    pointed = with_points(data)
    assert meaning(compile_files({"in.yaml": pointed})) == meaning(compile_files({"in.yaml": data}))


APP = b"""\
app: y
datasets:
  raw: {partitions: {cycle: day, start: 2026-01-01}}
programs: {p: {run: programs.p, reads: [raw]}}
schedules:
  s: {program: p, trigger: {partitions: {dataset: raw, count: NUMBER}}}
"""


@pytest.mark.parametrize(
    ("written", "count"),
    [("7.0", 7), ("7.", 7), ("1e3", 1000), ("1.5e1", 15), ("+2.0", 2), ("20E-1", 2), ("0.1e2", 10)],
)
def test_a_whole_number_counts(written: str, count: int) -> None:
    found = compile_files({"in.yaml": APP.replace(b"NUMBER", written.encode())})
    assert found.apps["y"].app.schedules["s"].trigger.count == count


@pytest.mark.parametrize("written", ["7.5", ".inf", "-.inf", ".nan", "1e400", "1e300", "true", '"7"', "1e-1"])
def test_another_number_is_an_error_with_its_value(written: str) -> None:
    (found,) = compile_files({"in.yaml": APP.replace(b"NUMBER", written.encode())}).diagnostics
    assert found.severity == "error"
    value = "1e+300" if written == "1e300" else "0.1" if written == "1e-1" else written
    assert f"got {value}" in found.summary or f'got "{value}"' in found.summary


def test_a_schedule_by_itself_is_read_alike() -> None:
    app = compile_files({"in.yaml": APP.replace(b"NUMBER", b"1")}).apps["y"].app
    spec = {"program": "p", "trigger": {"partitions": {"dataset": "raw", "count": 7.0}}, "retries": 3.0}
    found, diagnostics = compile_schedule(app, "s", spec)
    assert found is not None and not diagnostics
    assert (found.trigger.count, found.retries.max) == (7, 3)


LINE = {"at": "2026-03-10T06:00:00Z", "partitions": {"dataset": "raw", "keys": ["2026-03-09"], "rows": 1e6}}


@pytest.mark.parametrize(("name", "data"), [
    ("e.jsonl", json.dumps(LINE).encode()),
    ("e.csv", b"at,dataset,key,rows\n2026-03-10T06:00:00Z,raw,2026-03-09,1e6\n"),
    ("e.csv", b"at,dataset,key,rows\n2026-03-10T06:00:00Z,raw,2026-03-09,1000000.0\n"),
])  # fmt: skip
def test_files_of_events_are_read_alike(name: str, data: bytes) -> None:
    app = compile_files({"in.yaml": APP.replace(b"NUMBER", b"1")}).apps["y"]
    file = ScenarioFile(name, data)
    scenario = file.scenario(app)
    assert scenario is not None, file.diagnostics
    assert scenario.given[0].action.rows == 1_000_000


def test_a_file_of_events_has_no_infinite_number() -> None:
    line = b'{"at": "2026-03-10T06:00:00Z", "gauge": {"cpu": 1e400}}'
    assert ScenarioFile("e.jsonl", line).diagnostics
