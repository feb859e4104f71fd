"""What was deployed as YAML again: the text that was written, or the same spelled from the model."""

import json
from pathlib import Path

import msgspec
import pytest

from tests.effort import pick
from tidegate.compiler.compile import CompiledApp, compile_files
from tidegate.compiler.compile_one import compile_schedule
from tidegate.compiler.fingerprint import fingerprint
from tidegate.compiler.render.written import written_app, written_schedule
from tidegate.domain.model.others import with_others

STORIES = Path(__file__).parents[3] / "schedules" / "stories"


def story(file: Path) -> CompiledApp:
    """The app of a file, with those beside it that it may name."""
    files = {each.name: each.read_bytes() for each in STORIES.glob("*.yaml")}
    (found,) = [each for each in compile_files(files, drafts=files).apps.values() if each.file == file.name]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("file", pick(sorted(STORIES.glob("*.yaml")), 6), ids=lambda file: file.stem)
def test_a_story_comes_back_as_it_was_written(file: Path):
    compiled = story(file)

    assert written_app(compiled.app) == compiled.document


@pytest.mark.slow
@pytest.mark.parametrize("file", pick(sorted(STORIES.glob("*.yaml")), 6), ids=lambda file: file.stem)
def test_a_schedule_without_a_text_is_spelled_so_that_it_means_the_same(file: Path):
    compiled = story(file)

    for name, schedule in compiled.app.schedules.items():
        if schedule.task is not None:
            continue
        spelled = written_schedule(msgspec.structs.replace(schedule, written={}))
        app = with_others(compiled.app, compiled.others)
        again, diagnostics = compile_schedule(app, name, spelled)
        assert again is not None, diagnostics
        assert fingerprint(again) == fingerprint(schedule)


def test_an_app_without_a_text_has_none():
    (app,) = compile_files({"a.yaml": b"app: a\nprograms: {p: {run: m.p}}"}).models().values()

    assert written_app(msgspec.structs.replace(app, written={})) is None


@pytest.mark.parametrize("deadline", ["09:00", {"within": "2h"}])
def test_a_deadline_of_a_task_without_a_text_is_spelled_as_it_is_written(deadline: object) -> None:
    task = {"program": "p", "cycle": "day", "at": {"time": "06:00"}, "deadline": deadline}
    app = {
        "app": "a",
        "timezone": "UTC",
        "datasets": {"d": {"partitions": {"cycle": "day", "start": "2026-01-01"}}},
        "programs": {"p": {"run": "programs.p", "writes": ["d"]}},
        "tasks": {"t": task},
    }
    compiled = compile_files({"a.yaml": json.dumps(app).encode()})
    assert compiled.ok, compiled.diagnostics
    spec = compiled.apps["a"].app.schedules["t"]

    assert written_schedule(msgspec.structs.replace(spec, written={}))["deadline"] == deadline


def test_a_calendar_of_a_constraint_without_a_text_is_spelled_by_its_name() -> None:
    window = {"from": "08:00", "to": "18:00", "calendar": "office"}
    app = {
        "app": "a",
        "timezone": "UTC",
        "calendars": {"office": {"country": "DE"}},
        "programs": {"p": {"run": "programs.p"}},
        "schedules": {
            "s": {"program": "p", "trigger": {"cron": "@daily"}, "constraints": [{"window": window}]}
        },
    }
    compiled = compile_files({"a.yaml": json.dumps(app).encode()})
    assert compiled.ok, compiled.diagnostics
    spec = msgspec.structs.replace(compiled.apps["a"].app.schedules["s"], written={})

    (constraint,) = written_schedule(spec)["constraints"]

    assert constraint["window"]["calendar"] == "office"
    again, diagnostics = compile_schedule(compiled.apps["a"].app, "s", written_schedule(spec))
    assert again is not None, diagnostics
    assert fingerprint(again) == fingerprint(spec)
