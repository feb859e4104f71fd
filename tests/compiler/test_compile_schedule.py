"""One schedule from elsewhere than a file: a scenario's `update`, or the command line."""

from typing import Any

import pytest

from tidegate.compiler.compile import compile_files
from tidegate.compiler.compile_one import compile_schedule
from tidegate.domain.model import App, At

APP = b"""\
app: a
timezone: Europe/Berlin
datasets: {d: {partitions: {cycle: day, start: 2013-01-01}}}
programs: {p: {run: j.p, writes: [d]}, q: {run: j.q, reads: [d]}}
schedules:
  s: {program: q, trigger: {partitions: {dataset: d}}, args: {n: 1}, status: active}
  t: {program: p, trigger: {cron: "@daily"}}
"""


@pytest.fixture
def app() -> App:
    return compile_files({"f.yaml": APP}).apps["a"].app


def test_the_document_of_an_app_compiles_to_the_same_schedule(app: App) -> None:
    document = compile_files({"f.yaml": APP}).apps["a"].document
    for name, spec in document["schedules"].items():
        built, diagnostics = compile_schedule(app, name, spec, at=app.schedules[name].at)
        assert diagnostics == ()
        assert built is not None
        assert built.trigger.at == app.schedules[name].at
        assert built.output_partition == app.schedules[name].output_partition
        assert built.timezone == "Europe/Berlin"


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({}, "S103"),
        ({"program": "q", "trigger": {"cron": "@daily"}, "colour": 1}, "S101"),
        ({"program": "x", "trigger": {"cron": "@daily"}}, "N302"),
        ({"program": "q", "trigger": {"cron": "61 * * * *"}}, "V203"),
        ({"program": "p", "trigger": {"partitions": {"dataset": "d"}}}, "L401"),
        ({"program": "p", "trigger": {"run": {"program": "q"}}}, "L401"),
    ],
)
def test_a_mistake_points_to_the_given_place(app: App, spec: dict[str, Any], code: str) -> None:
    built, diagnostics = compile_schedule(
        app, "s2" if code != "L401" else "t", spec, at=At(file="x.yaml", line=7, column=3)
    )
    assert built is None
    assert code in {d.code for d in diagnostics}
    assert {d.at.file for d in diagnostics} <= {"x.yaml", "f.yaml"}


def test_without_a_place_the_message_shows_the_specification(app: App) -> None:
    _, (diagnostic,) = compile_schedule(app, "new", {"program": "q", "trigger": {}})
    assert str(diagnostic.at) == "a/new:1:1"
    assert diagnostic.source == '{"program": "q", "trigger": {}}'
