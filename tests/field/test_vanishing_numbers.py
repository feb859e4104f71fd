"""I wrote `count: 7.0`, and it was 1. I wrote `bytes: 1e11`, and my schedule was deleted.

What users of schedulers that read YAML fear: a number that their tool takes for none falls back to a default,
or takes a part of the file away, and nothing says so.
"""

import pytest

from tidegate.compiler.builders import app
from tidegate.compiler.compile import Compilation, compile_files
from tidegate.compiler.plan.diff import diff

APP = """\
app: y
datasets:
  raw: {partitions: {cycle: day, start: 2026-01-01}, path: landing/raw}
  out: {partitions: {cycle: day, start: 2026-01-01}}
programs: {p: {run: programs.p, reads: [raw], writes: [out]}}
schedules:
  big: {program: p, trigger: {size: {dataset: raw, bytes: BYTES}}, status: active}
  seven:
    program: p
    trigger: {partitions: {dataset: raw, count: COUNT}}
    timeout: {after: 30d, from: first_event}
    status: active
"""


def lint(size: str = "100GB", count: str = "7") -> Compilation:
    return compile_files({"y.yaml": APP.replace("BYTES", size).replace("COUNT", count).encode()})


def test_numbers_of_a_generator_change_nothing() -> None:
    """Helm, jq and pandas write 100000000000 as 1e+11 and 7 as 7.0."""
    changes = diff(lint().models(), lint("1e+11", "7.0").models())
    assert changes.empty


@pytest.mark.parametrize("count", ["7.5", "true", '"7"', "1e400"])
def test_no_other_number_becomes_a_default(count: str) -> None:
    found = lint(count=count)
    assert not found.ok and "y" not in found.apps


def test_a_schedule_that_gets_lost_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else makes a builder leave out a part: lint, plan and deploy do not go on without it."""
    build = app.build_schedule
    monkeypatch.setattr(
        app, "build_schedule", lambda key, *rest: None if key.value == "big" else build(key, *rest)
    )
    found = lint()
    assert not found.ok
    (lost,) = found.diagnostics
    assert (lost.code, lost.at.line) == ("S199", 7)
    assert 'schedule "big"' in lost.summary
