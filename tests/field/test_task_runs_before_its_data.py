"""My daily task ran at three on nothing and published an empty day; the data came at four, and nothing ran.

A task waits for tasks. What a schedule writes, what is reported and what lands is data, and its source says
so.
"""

import pytest

from tests.field.played import failures, warnings
from tidegate.compiler.compile import compile_files
from tidegate.compiler.render.detected import detected_json, detected_lines

HEAD = """
app: trap
datasets:
  raw: {partitions: {cycle: day, start: 2026-11-01}, path: landing/raw}
  demand: {partitions: {cycle: day, start: 2026-11-01}}
  closed: {partitions: {cycle: day, start: 2026-11-01}}
programs:
  demand: {run: programs.demand, reads: [raw], writes: [demand]}
  close_day: {run: programs.close_day, reads: [demand], writes: [closed]}
schedules:
  demand_of_a_day: {program: demand, for_each: day, trigger: {partitions: {dataset: raw}}, status: active}
tasks:
  close_day: {program: close_day, cycle: day, at: {time: "03:00"}, status: active}
"""
SOURCE = "  demand_ready: {type: source, dataset: demand, cycle: day, update: outside, status: active}\n"
EXAMPLE = """
examples:
  - name: it
    start: 2026-11-20T20:00:00Z
    until: +{hours}h
    given: [{given}]
    expect_only: [close_day]
    expect: [{expect}]
"""
LANDS = "{{at: +{after}, partitions: {{dataset: {dataset}, keys: [{key}]}}}}"
CLOSES = "{{at: +{after}, launch: close_day, scheduled: {scheduled}, partitions: [{day}]}}"


def landing(after: str, key: str = "2026-11-20", dataset: str = "raw") -> str:
    return LANDS.format(after=after, dataset=dataset, key=key)


def closing(after: str, day: str = "2026-11-20", scheduled: str = "2026-11-21") -> str:
    return CLOSES.format(after=after, day=day, scheduled=scheduled)


def example(*given: str, expect: tuple[str, ...], hours: int = 30) -> str:
    text = EXAMPLE.format(given=", ".join(given), expect=", ".join(expect), hours=hours)
    return HEAD + SOURCE + text


@pytest.mark.parametrize(
    ("given", "expect"),
    [
        ((landing("8h"),), (closing("481m"),)),  # the run of the schedule takes a minute
        ((landing("1h"),), (closing("7h"),)),
        ((landing("8h", dataset="demand"),), (closing("8h"),)),
        ((landing("8h", "2026-11-19", "demand"),), ()),
        ((landing("1h", "2026-11-19", "demand"), landing("9h", dataset="demand")), (closing("9h"),)),
        # The day itself may be reported while it runs; it counts when it is over.
        ((landing("1h", dataset="demand"), landing("2h", dataset="demand")), (closing("7h"),)),
        (
            (landing("8h", dataset="demand"), landing("20h", dataset="demand")),
            (closing("8h"), closing("20h")),
        ),
    ],
)
def test_the_task_runs_when_its_day_is_there_and_not_before(
    given: tuple[str, ...], expect: tuple[str, ...]
) -> None:
    assert failures(example(*given, expect=expect)) == []


def test_a_day_that_comes_a_week_late_is_closed_then() -> None:
    late = (landing("172h", dataset="demand"),)
    assert failures(example(*late, expect=(closing("172h"),), hours=180)) == []


def test_without_a_source_lint_says_that_it_waits_for_nothing() -> None:
    (warning,) = warnings(HEAD)
    assert warning.code == "L447"
    assert "demand" in warning.summary
    assert "type: source" in warning.hint
    assert "depends_on" in warning.hint


def test_each_way_out_silences_it() -> None:
    assert warnings(HEAD + SOURCE) == []
    assert warnings(HEAD.replace("cycle: day, at:", "cycle: day, depends_on: [], at:")) == []


def test_plan_and_lint_name_the_task_without_upstream() -> None:
    models = compile_files({"a.yaml": HEAD.encode()}).models().values()
    assert detected_lines(models) == ["trap/close_day has no upstream"]
    assert detected_json(models) == [{"task": "trap/close_day", "upstream": []}]


def test_a_source_of_another_cycle_than_its_data_is_named() -> None:
    hourly = SOURCE.replace("cycle: day", "cycle: hour")
    assert [each.code for each in warnings(HEAD + hourly)] == ["L446"]
