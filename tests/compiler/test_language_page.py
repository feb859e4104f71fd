"""The pages of the language (language, cycles, watching): every block compiles, and no key is missing."""

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from tidegate.compiler.compile import compile_files
from tidegate.compiler.render.diagnostics.text import diagnostics_text
from tidegate.compiler.rules.references import REFERENCES, WITH_NAME
from tidegate.compiler.schema import schema_text
from tidegate.compiler.scope.project_files import files_of
from tidegate.domain.model import Operation

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "language.md").read_text(encoding="utf-8")
BLOCKS = [
    block
    for name in ("language.md", "cycles.md", "watching.md")
    for block in re.findall(r"```yaml\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.DOTALL)
]
SHOPS = {"shops.csv": "".join(re.findall(r"```\n(shop,.*?)```", PAGE, re.DOTALL)).encode()}
"""The file of rows that the page shows."""

PARTS = {
    "app": "app: flights\n",
    "calendars": "calendars:\n  new_york: {country: US, subdivision: NY}\n",
    "datasets": """\
datasets:
  raw_flights: {partitions: {cycle: day, start: 2013-01-01}}
  raw_weather: {partitions: {cycle: day, start: 2013-01-01}}
  raw_hourly: {partitions: {cycle: hour, start: 2013-01-01}}
  by_origin: {partitions: {day: {cycle: day, start: 2013-01-01}, origin: [EWR, JFK, LGA]}}
  flights: {partitions: {cycle: day, start: 2013-01-01}}
  delays: {}
""",
    "programs": """\
programs:
  clean_flights: {run: jobs.clean, reads: [raw_flights], writes: [flights]}
  report: {run: jobs.report, reads: [flights]}
  clean_weather: {run: jobs.clean_weather}
""",
}
OTHER = b"""
app: daily_feed
datasets:
  sales: {partitions: {cycle: day, start: 2026-01-01}}
programs:
  load_sales: {run: jobs.load_sales, writes: [sales]}
"""
"""The app that a block names parts of."""
SCHEDULE = {"program": "program: report\n", "trigger": "trigger: {partitions: {dataset: raw_flights}}\n"}


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_of_the_page_compiles(block: str) -> None:
    keys = set(yaml.load(block, Loader=yaml.BaseLoader))
    left_out = keys | ({"programs"} if "datasets" in keys else set())
    app = "".join(part for key, part in PARTS.items() if key not in left_out)
    if keys & {*PARTS, "tasks", "policies", "maintenance", "templates"}:
        app += block
    else:
        spec = "".join(part for key, part in SCHEDULE.items() if key not in keys)
        app += "schedules:\n  one:\n" + textwrap.indent(spec + block, "    ")

    compilation = compile_files({"language.md": app.encode(), "other.yaml": OTHER}, read_file=files_of(SHOPS))

    # The head that completes a block has programs for all blocks.
    found = tuple(each for each in compilation.diagnostics if each.code != "L435")
    assert not found, diagnostics_text(found)


def keys_of(schema: dict[str, Any], path: tuple[str, ...]) -> list[str]:
    for step in path:
        schema = schema[step]
    return list(schema["properties"])


@pytest.mark.parametrize(
    "path",
    [
        (),
        *(
            ("$defs", name)
            for name in (
                *("schedule", "trigger", "constraint", "calendar", "program", "dataset", "check", "template"),
                *("task", "task_times"),
                *("policy", "rewrite_data_files", "operation_window", "conditions", "threshold"),
                *("health_rules", "maintenance"),
            )
        ),
    ],
    ids=lambda path: "/".join(path),
)
def test_the_page_speaks_of_every_key(path: tuple[str, ...]) -> None:
    missing = [key for key in keys_of(json.loads(schema_text()), path) if not re.search(rf"\b{key}\b", PAGE)]
    assert not missing


@pytest.mark.parametrize("operation", Operation)
def test_the_page_speaks_of_every_option_of_an_operation(operation: Operation) -> None:
    options = ("$defs", str(operation), "properties", "options")
    missing = [key for key in keys_of(json.loads(schema_text()), options) if f"`{key}" not in PAGE]
    assert not missing


@pytest.mark.parametrize("part", ["budget", "backoff", "throttle", "debt"])
def test_the_page_speaks_of_every_setting_of_maintenance(part: str) -> None:
    keys = keys_of(json.loads(schema_text()), ("$defs", "maintenance", "properties", part))
    assert not [key for key in keys if f"`{key}" not in PAGE]


def test_the_page_speaks_of_every_reference() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([a-zA-Z_.]+)`", row.split("|")[1])}
    whole = {f"trigger.run{name}" if name.startswith(".") else name for name in named}
    assert set(REFERENCES) | set(WITH_NAME) <= whole
