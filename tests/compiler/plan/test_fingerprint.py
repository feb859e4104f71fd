"""Fingerprints: what is a difference and what is not."""

from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tidegate.compiler.compile import CompiledApp, compile_files
from tidegate.compiler.compile_one import compile_schedule
from tidegate.compiler.fingerprint import canonical, fingerprint
from tidegate.domain.model import App, Schedule, encode

SCHEDULES = Path(__file__).parents[3] / "schedules"
APP = """\
app: a
datasets: {d: {partitions: {cycle: day, start: 2013-01-01}}}
programs: {p: {run: j.p, reads: [d]}}
calendars: {c: {closed: [2026-12-24]}}
schedules:
  s: {program: p, trigger: {partitions: {dataset: d}}, args: {at: 1}}
"""
BASE: dict[str, Any] = {"program": "p", "trigger": {"partitions": {"dataset": "d"}}, "args": {"at": 1}}


def app() -> App:
    return compile_files({"f.yaml": APP.encode()}).apps["a"].app


def schedule(**changes: Any) -> Schedule:
    built, diagnostics = compile_schedule(app(), "s", {**BASE, **changes})
    assert built is not None, diagnostics
    return built


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"status": "active"},
        {"timeout": "24h"},
        {"timeout": {"after": "1d", "then": "discard"}},
        {"priority": "normal"},
        {"batching": "coalesce", "on_suspend": "discard", "on_update": "reset"},
        {"constraints": []},
        {"trigger": {"partitions": {"dataset": "d", "count": 1, "distinct": True}}},
    ],
)
def test_is_no_difference(changes: dict[str, Any]) -> None:
    assert fingerprint(schedule(**changes)) == fingerprint(schedule())


@pytest.mark.parametrize(
    "changes",
    [
        {"args": {"at": 2}},
        {"args": {}},
        {"priority": "high"},
        {"timeout": "2h"},
        {"trigger": {"partitions": {"dataset": "d", "count": 2}}},
        {"trigger": {"cron": "@daily"}},
        {"constraints": [{"delay": "1m"}]},
        {"for_each": "day"},
        {"batching": "each"},
        {"max_batch": 5},
        {"on_suspend": "hold"},
        {"on_update": "carry"},
        {"trigger": {"partitions": {"dataset": "d"}, "quiet": "10m"}},
        {"trigger": {"cron": "@daily", "calendar": "c"}},
        {"owner": "anna"},
        {"description": "new words"},
    ],
)
def test_is_a_difference(changes: dict[str, Any]) -> None:
    assert fingerprint(schedule(**changes)) != fingerprint(schedule())


def test_places_and_order_are_no_difference() -> None:
    moved = "# a comment\n\n" + APP.replace("datasets: {d:", "groups: {}\ndatasets: {d:")
    other = compile_files({"elsewhere.yaml": moved.encode()}).apps["a"].app
    assert fingerprint(other) == fingerprint(app())


def test_a_changed_calendar_changes_the_schedules_that_name_it() -> None:
    spec = BASE | {"trigger": {"cron": "@daily", "calendar": "c"}}
    other = compile_files({"f.yaml": APP.replace("12-24", "12-25").encode()}).apps["a"].app
    before, after = (compile_schedule(each, "s", spec)[0] for each in (app(), other))
    assert before is not None
    assert after is not None
    assert canonical(before)["trigger"]["calendar"] == {"name": "c", "closed": ["2026-12-24"]}
    assert fingerprint(before) != fingerprint(after)


def test_the_same_limit_of_a_gauge_is_no_difference() -> None:
    whole, decimal = (schedule(constraints=[{"load": {"gauge": "cpu", "max": n}}]) for n in (80, 80.0))
    assert fingerprint(whole) == fingerprint(decimal)


def test_a_fingerprint_survives_the_store() -> None:
    assert fingerprint(msgspec.json.decode(encode(app()), type=App)) == fingerprint(app())


@cache
def compiled_files(folder: Path) -> dict[str, CompiledApp]:
    """The apps of a folder by their files; those of the stories refer to each other."""
    files = {each.name: each.read_bytes() for each in folder.glob("*.yaml")}
    return {each.file: each for each in compile_files(files, drafts=files).apps.values()}


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(SCHEDULES.rglob("*.yaml")), ids=lambda file: file.stem)
def test_every_app_of_the_project_survives_the_store(file: Path) -> None:
    compiled = compiled_files(file.parent)[file.name]
    assert msgspec.json.decode(encode(compiled.app), type=App) == compiled.app


def test_a_field_that_a_new_version_adds_is_no_difference() -> None:
    longer = msgspec.defstruct("Longer", [("added", int, 7)], bases=(Schedule,), kw_only=True, frozen=True)
    grown = longer(**{f: getattr(schedule(), f) for f in Schedule.__struct_fields__ if f != "written"})
    assert canonical(grown) == canonical(schedule())
