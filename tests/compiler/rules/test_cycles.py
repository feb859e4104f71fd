"""Cycles among schedules: which edges count, what a clock bounds, and that it scales."""

import pytest

from tidegate.compiler.compile import compile_files
from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.rules.cycles.schedules import check_cycles, cycles
from tidegate.domain.model import AnyTrigger, App, Program, RunTrigger, Schedule

APP = """\
app: a
datasets: {x: {}, y: {}, from_outside: {}}
programs:
  a: {run: j.a, writes: [x]}
  b: {run: j.b, reads: [x], writes: [y]}
schedules:
"""
A_AFTER_B = "{run: {program: b}}"
ROWS = [
    # the trigger of a, the trigger of b, the circle
    ("{partitions: {dataset: from_outside}}", "{partitions: {dataset: x}}", ""),
    ("{partitions: {dataset: y}}", "{partitions: {dataset: x}}", "a -> b -> a"),
    (A_AFTER_B, "{partitions: {dataset: x}}", "a -> b -> a"),
    ("{run: {program: b, status: failed}}", "{run: {program: a}}", "a -> b -> a"),
    ("{partitions: {dataset: x}}", '{cron: "@daily"}', "a -> a"),
    (f'{{any: [{{cron: "@daily"}}, {A_AFTER_B}]}}', "{run: {program: a}}", "a -> b -> a"),
    (f'{{all: [{{cron: "@daily"}}, {A_AFTER_B}]}}', "{run: {program: a}}", ""),
    (f'{{all: [{{cron: "@daily"}}, {A_AFTER_B}], wait_at_most: 1h}}', "{run: {program: a}}", "a -> b -> a"),
    (f'{{all: [{{cron: "@daily", wait_at_most: 1h}}, {A_AFTER_B}]}}', "{run: {program: a}}", "a -> b -> a"),
    (
        f'{{all: [{{any: [{{cron: "@daily"}}, {{partitions: {{dataset: from_outside}}}}]}}, {A_AFTER_B}],'
        " wait_at_most: 1h}",
        "{run: {program: a}}",
        "a -> b -> a",
    ),
    (f'{{all: [{{all: [{{cron: "@daily"}}]}}, {A_AFTER_B}]}}', "{run: {program: a}}", ""),
    ("{size: {dataset: y, rows: 5}}", "{size: {dataset: x, bytes: 1GB}}", "a -> b -> a"),
    ("{size: {dataset: from_outside, rows: 5}}", "{size: {dataset: x, bytes: 1GB}}", ""),
    ("{elapsed: {for: 1h}}", "{run: {program: a}}", ""),
    ("{elapsed: {for: 1h, since: last_event, dataset: y}}", "{run: {program: a}}", ""),
    (f"{{any: [{{elapsed: {{for: 1h}}}}, {A_AFTER_B}]}}", "{run: {program: a}}", "a -> b -> a"),
    (
        f"{{sequence: [{{partitions: {{dataset: from_outside}}}}, {A_AFTER_B}]}}",
        "{run: {program: a}}",
        "a -> b -> a",
    ),
    (f"{{sequence: [{A_AFTER_B}, {{elapsed: {{for: 1h}}}}]}}", "{run: {program: a}}", ""),
    (f'{{at_least: {{n: 1, of: [{A_AFTER_B}, {{cron: "@daily"}}]}}}}', "{run: {program: a}}", "a -> b -> a"),
    (f'{{at_least: {{n: 2, of: [{A_AFTER_B}, {{cron: "@daily"}}]}}}}', "{run: {program: a}}", ""),
    (
        f'{{at_least: {{n: 2, of: [{A_AFTER_B}, {{cron: "@daily"}}, {{partitions: {{dataset: y}}}}]}}}}',
        "{run: {program: a}}",
        "a -> b -> a",
    ),
]


@pytest.mark.parametrize(("trigger_of_a", "trigger_of_b", "circle"), ROWS)
def test_a_circle_is_one_that_no_clock_bounds(trigger_of_a: str, trigger_of_b: str, circle: str) -> None:
    text = (
        f"{APP}  a: {{program: a, trigger: {trigger_of_a}}}\n  b: {{program: b, trigger: {trigger_of_b}}}\n"
    )

    compilation = compile_files({"f.yaml": text.encode()})

    found = [d.summary.partition("got ")[2] for d in compilation.diagnostics if d.code == "L401"]
    assert found == ([circle] if circle else [])


def chain(length: int, *, closed: bool) -> App:
    programs = {f"p{n}": Program(name=f"p{n}", run="j.p") for n in range(length)}
    schedules = {
        f"s{n}": Schedule(name=f"s{n}", program=f"p{n}", trigger=RunTrigger(program=f"p{(n - 1) % length}"))
        for n in range(0 if closed else 1, length)
    }
    return App(name="a", programs=programs, schedules=schedules)


def test_ten_thousand_schedules_that_all_trigger_each_other_take_no_square_of_time() -> None:
    programs = {"p": Program(name="p", run="j.p")}
    schedules = {
        f"s{n}": Schedule(name=f"s{n}", program="p", trigger=RunTrigger(program="p")) for n in range(10_000)
    }
    found = cycles(App(name="a", programs=programs, schedules=schedules))
    assert len(found) == 10_001
    assert ("s0", "s1") in found


def test_ten_thousand_schedules_in_a_row_are_no_circle_and_closed_they_are_one() -> None:
    assert cycles(chain(10_000, closed=False)) == []
    (whole,) = cycles(chain(10_000, closed=True))
    assert len(whole) == 10_000


def test_of_two_ways_round_one_is_told() -> None:
    app = App(
        name="a",
        programs={name: Program(name=name, run="j.x") for name in "abcd"},
        schedules={
            name: Schedule(
                name=name, program=name, trigger=AnyTrigger(of=tuple(RunTrigger(program=p) for p in after))
            )
            for name, after in {"a": "d", "b": "a", "c": "a", "d": "bc"}.items()
        },
    )
    assert cycles(app) == [("a", "b", "d")]
    # An app that was read from no file has no place to point at.
    findings = Findings("a.yaml", "")
    check_cycles(app, findings)
    assert not findings.diagnostics()


def test_two_schedules_of_one_program_are_one_way_on() -> None:
    after = {"a": ("p", "r"), "b": ("q", "p"), "c": ("q", "p"), "d": ("r", "q")}
    app = App(
        name="a",
        programs={name: Program(name=name, run="j.x") for name in "pqr"},
        schedules={
            name: Schedule(name=name, program=program, trigger=RunTrigger(program=upstream))
            for name, (program, upstream) in after.items()
        },
    )
    assert cycles(app) == [("a", "b", "d")]
