"""`alerts` of apps, schedules and tasks: the routes of the model, and differences that reset nothing."""

import pytest

from tests.worlds.world import DATASETS, app_of, compiled_app
from tidegate.compiler.compile import compile_files
from tidegate.compiler.plan.diff import HARMLESS
from tidegate.compiler.reader import read
from tidegate.compiler.rules.named_settings import NamedSettings, diagnose_named_settings
from tidegate.domain.model.shared import KINDS, channels_of

SCHEDULE = "s: {program: p, trigger: {partitions: {dataset: raw}}, alerts: %s}"


def test_one_list_is_for_all_kinds() -> None:
    assert app_of(SCHEDULE % "[ops, team]").schedules["s"].alerts == dict.fromkeys(KINDS, ("ops", "team"))


def test_kinds_have_channels_of_their_own_and_an_empty_list_is_silence() -> None:
    routes = app_of(SCHEDULE % "{failed: [ops, ops], late: []}").schedules["s"].alerts
    assert routes == {"failed": ("ops",), "late": ()}


def test_an_app_has_routes_and_so_has_a_task() -> None:
    head = DATASETS.replace("app: a\n", "app: a\nalerts: [ops]\n").replace("schedules:\n", "tasks:\n")
    app = compiled_app(f"{head}  t: {{cycle: day, program: p, alerts: {{late: [team]}}}}\n")
    assert app.alerts["failed"] == ("ops",)
    assert app.schedules["t"].alerts == {"late": ("team",)}


def test_the_innermost_routes_that_name_a_kind_count() -> None:
    app, default = {"failed": ("app",), "late": ("app",)}, {"failed": ("all",), "recovered": ("all",)}
    schedule: dict[str, tuple[str, ...]] = {"failed": ()}
    found = {kind: channels_of(kind, schedule, app, default) for kind in KINDS}
    assert found == {
        "failed": (),
        "late": ("app",),
        "recovered": ("all",),
        "dead_letter": (),
        "blocked_commit": (),
    }


def test_other_channels_reset_no_waiting_job() -> None:
    assert "alerts" in HARMLESS


def test_an_unknown_kind_and_a_name_with_a_line_end_are_refused() -> None:
    for wrong in ("{fialed: [ops]}", '["o\\nps"]', "{failed: ops}", "7"):
        text = DATASETS + f"  {SCHEDULE % wrong}\n"
        compilation = compile_files({"a.yaml": text.encode()})
        assert not compilation.ok, wrong


@pytest.mark.parametrize(
    ("written", "unknown"),
    [
        ("opps", ["opps"]),
        ("[ops, opps]", ["opps"]),
        ("{failed: [opps], late: team}", ["opps", "team"]),
        ("ops", []),
    ],
)
def test_channels_are_looked_up_in_whatever_form_they_are_written(written: str, unknown: list[str]) -> None:
    text = f"app: a\nschedules: {{s: {{alerts: {written}}}}}\n"
    root, _ = read("a.yaml", text.encode())
    assert root is not None
    known = NamedSettings(channels=frozenset({"ops"}))
    found = diagnose_named_settings(root, known, "a.yaml", text)
    assert [each.code for each in found] == ["N319"] * len(unknown)
    assert [name for name, each in zip(unknown, found, strict=True) if f'"{name}"' in each.summary] == unknown
