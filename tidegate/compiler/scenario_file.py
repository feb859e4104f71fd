"""Scenarios in files of their own, which `tidegate simulate` plays against an app.

    name.yaml    the same keys as one of an app's `examples:`, and `app:` for the name of the app
    name.jsonl   one `given` action a line, as JSON
    name.csv     partitions that arrived: the columns at, dataset, and optionally key, bytes, rows

This module receives contents and returns a scenario or diagnostics; it reads no files.
"""

import csv
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from math import isfinite
from typing import Any, NoReturn, cast
from zoneinfo import ZoneInfo

import msgspec

from tidegate.compiler.compile import CompiledApp
from tidegate.compiler.diagnostics.diagnostic import Diagnostic, Findings
from tidegate.compiler.reader import MappingNode, Node, ScalarNode, SequenceNode, from_value, read
from tidegate.compiler.reader.compose import MAX_DEPTH
from tidegate.compiler.reader.scalar import MAX_INTEGER_DIGITS, ScalarError, resolve
from tidegate.compiler.reader.text import decode
from tidegate.compiler.scenarios.model.scenario import Scenario
from tidegate.compiler.scenarios.reader import brought, read_scenario
from tidegate.compiler.scenarios.scope import ExampleScope
from tidegate.compiler.schema.check import ALONE, check_example
from tidegate.compiler.schema.validator import part_schema
from tidegate.compiler.schema.whole_numbers import whole_numbers
from tidegate.domain.error import UserError
from tidegate.domain.model import At
from tidegate.domain.wording import listed, shown

COLUMNS = ("at", "dataset", "key", "bytes", "rows")
NEEDED_COLUMNS = COLUMNS[:2]

AFTERWARDS = timedelta(days=1)
"""The time played after the last event of a file without `until` and expectations."""


class ScenarioFile:
    """A file that was read, not yet checked against an app.

    Attributes:
        name: of the scenario where the file gives none.
        app: the app that the file names, "" for none.
        diagnostics: of what could not be read; then there is no scenario in it.
    """

    def __init__(self, file: str, data: bytes) -> None:
        stem, _, suffix = file.rpartition("/")[2].rpartition(".")
        self.name = stem or file
        if suffix in ("csv", "jsonl"):
            self._root, self._findings = _events(file, data, _ROW_READERS[suffix])
        else:
            self._root, self._findings = read(file, data)
        self.app = "" if self._root is None else self._root.text("app")

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return self._findings.diagnostics()

    def scenario(self, app: CompiledApp, until: str | None = None) -> Scenario | None:
        """Return the scenario for an app; None where `diagnostics` has errors, which grow by this.

        Args:
            until: the last instant that is played, as the YAML would spell it, in place of the file's own.
        """
        if self._root is None:
            return None
        node = _completed(self._root, self.name, until, app.app.timezone)
        node = whole_numbers(node, part_schema("examples"))
        broken = check_example(node, self._findings)
        names = brought(node, ALONE, app.app, broken)
        scope = ExampleScope(app.root, app.app, self._findings, broken, names)
        scenario = read_scenario(node, ALONE, scope)
        if scenario is None or node.get("until") is not None or node.get("expect") is not None:
            return scenario
        return msgspec.structs.replace(scenario, until=scenario.until + AFTERWARDS)


def _completed(root: MappingNode, name: str, until: str | None, zone: str) -> MappingNode:
    """Return the file's mapping as an example: without `app`, with a name and a start."""
    values = {key: node for key, node in root.values.items() if key != "app"}
    values.setdefault("name", ScalarNode(name, root.line, root.column))
    first = _first(root.items("given"), zone)
    if first is not None:
        values.setdefault("start", first)
    if until is not None:
        values["until"] = ScalarNode(until, root.line, root.column)
    keys = {key: root.keys.get(key) or ScalarNode(key, root.line, root.column) for key in values}
    return MappingNode(values, keys, root.line, root.column)


def _first(actions: tuple[Node, ...], zone: str) -> Node | None:
    """Return the earliest absolute `at` of some actions: where a file without `start` begins."""
    found: list[tuple[datetime, Node]] = []
    for action in actions:
        at = action.get("at") if isinstance(action, MappingNode) else None
        if isinstance(at, ScalarNode) and isinstance(at.value, str):
            try:
                instant = datetime.fromisoformat(at.value)
            except ValueError:
                return at
            found.append((instant if instant.tzinfo else instant.replace(tzinfo=ZoneInfo(zone)), at))
    return min(found, key=lambda pair: pair[0])[1] if found else None


# --- files of events --------------------------------------------------------------------


class _WrongLine(UserError):
    """A line that cannot be read, with its number."""

    def __init__(self, line: int, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.line = line


def _events(file: str, data: bytes, rows: Any) -> tuple[MappingNode | None, Findings]:
    text, findings = decode(file, data)
    if text is None:
        return None, findings
    try:
        items = tuple(rows(text.splitlines()))
        if not items:
            raise _WrongLine(1, "a file of events holds at least one, got none", "write one event a line")
    except _WrongLine as wrong:
        place = At(file=file, line=wrong.line, column=1)
        findings.add("S106", place, wrong.message, wrong.hint)
        return None, findings
    given = SequenceNode(items, 1, 1)
    return MappingNode({"given": given}, {"given": ScalarNode("given", 1, 1)}, 1, 1), findings


def _json_rows(lines: list[str]) -> Iterator[Node]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, parse_constant=_refuse, parse_int=_integer, parse_float=_finite)
            # Half of a surrogate pair can be neither stored nor printed.
            json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict) or _too_deep(value):
            hint = 'write for example {"at": "2026-03-10T06:00:00Z", "partitions": {"dataset": "raw"}}'
            raise _WrongLine(number, f"a line is one action as JSON, got {shown(line)}", hint)
        yield from_value(value, number, 1)


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


def _integer(text: str) -> int:
    return int(text) if len(text.lstrip("-")) <= MAX_INTEGER_DIGITS else _refuse(text)


def _finite(text: str) -> float:
    return float(text) if isfinite(float(text)) else _refuse(text)


def _too_deep(value: Any, left: int = MAX_DEPTH) -> bool:
    """Return whether lists and mappings nest deeper than the YAML reader allows."""
    members: list[Any] = []
    if isinstance(value, dict):
        members = list(cast("dict[str, Any]", value).values())
    elif isinstance(value, list):
        members = cast("list[Any]", value)
    return left == 0 or any(_too_deep(member, left - 1) for member in members)


def _csv_rows(lines: list[str]) -> Iterator[Node]:
    rows = csv.reader(lines, strict=True)
    hint = f"begin with a line of column names, of {', '.join(COLUMNS)}"
    try:
        header = [name.strip() for name in next(rows, cast("list[str]", []))]
        if not set(NEEDED_COLUMNS) <= set(header) <= set(COLUMNS) or len(set(header)) < len(header):
            got = listed([shown(name) for name in header], "and") or "nothing"
            raise _WrongLine(1, f"the columns are at and dataset, and key, bytes, rows, got {got}", hint)
        for row in rows:
            if row:
                yield _csv_row(rows.line_num, header, row)
    except csv.Error as error:
        summary = f"a line of CSV has commas between its values, got: {error}"
        raise _WrongLine(rows.line_num, summary, "quote values that hold quotes or commas") from error


def _csv_row(number: int, header: list[str], row: list[str]) -> Node:
    if len(row) != len(header):
        summary = f"a line has {len(header)} values like the first, got {len(row)}"
        raise _WrongLine(number, summary, "leave a value empty where there is none")
    cells = {name: cell.strip() for name, cell in zip(header, row, strict=True) if cell.strip()}
    partitions: dict[str, Any] = {name: _cell(cells[name]) for name in ("bytes", "rows") if name in cells}
    if "dataset" in cells:
        partitions["dataset"] = cells["dataset"]
    if "key" in cells:
        partitions["keys"] = [cells["key"]]
    at = {"at": cells["at"]} if "at" in cells else {}
    return from_value({**at, "partitions": partitions}, number, 1)


def _cell(text: str) -> Any:
    """Return the number in a cell, spelled as in YAML; else its text, which the check refuses."""
    try:
        return resolve(text)
    except ScalarError:
        return text


_ROW_READERS = {"csv": _csv_rows, "jsonl": _json_rows}
