"""Builders by themselves: whatever they are handed, they answer; what is not a part of a file gives None.

The schema has refused such nodes before a builder sees them. That the two agree is nothing a builder
relies on.
"""

import json
from collections.abc import Iterable
from datetime import date
from typing import Any

import pytest

from tidegate.compiler import constraints
from tidegate.compiler.builders.dataset import build_dataset
from tidegate.compiler.builders.program import build_program
from tidegate.compiler.compile import compile_files
from tidegate.compiler.constraints import build_constraint
from tidegate.compiler.diagnostics.diagnostic import MAX_COLLECTED_PER_FILE, Findings
from tidegate.compiler.reader.node import MappingNode, ScalarNode, from_value
from tidegate.compiler.rules.references import check_references
from tidegate.compiler.schema.validator import app_validator
from tidegate.compiler.schema.wording import Fault, word
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.triggers import build_trigger
from tidegate.domain.model import PartitionsTrigger, Schedule

NOTHINGS: list[Any] = [None, 3, "x", []]
EMPTY: list[Any] = [{}, {"from": "satisfied"}]
"""Mappings that lack what they need."""


def scope() -> Scope:
    return Scope(findings=Findings("a.yaml", ""), timezone="UTC")


def cases(kinds: Iterable[str], guarded: Iterable[str]) -> list[tuple[str, Any]]:
    """Each kind with what is not a mapping, and some kinds with an empty one."""
    whole = [(kind, value) for kind in kinds for value in NOTHINGS]
    return whole + [(kind, value) for kind in guarded for value in EMPTY]


@pytest.mark.parametrize(
    ("kind", "value"), cases(constraints.KINDS, ("delay", "since_last_run", "rate")), ids=str
)
def test_a_constraint_from_nothing(kind: str, value: Any) -> None:
    assert build_constraint(from_value({kind: value}), scope()) is None


@pytest.mark.parametrize(
    ("kind", "value"),
    cases(("partitions", "size", "run", "elapsed", "at_least"), ("partitions", "size", "run", "elapsed")),
    ids=str,
)
def test_a_trigger_from_nothing(kind: str, value: Any) -> None:
    assert build_trigger(from_value({kind: value}), scope(), "p") is None


@pytest.mark.parametrize("value", [None, 3, [], {}, {"all": [], "any": []}, {"rate": {}, "delay": "5m"}])
def test_what_is_of_no_kind_or_of_two(value: Any) -> None:
    assert build_trigger(from_value(value), scope(), "p") is None
    assert build_constraint(from_value(value), scope()) is None


def test_a_dimension_that_is_neither_a_cycle_nor_a_list_is_left_out() -> None:
    node = from_value({"partitions": {"day": {"cycle": "day", "start": "2013-01-01"}, "x": 3}})
    assert isinstance(node, MappingNode)
    built = build_dataset(ScalarNode("raw", 1, 1), node, scope())
    assert built is not None
    assert built.partitions is not None
    assert built.partitions.static is None


@pytest.mark.parametrize(
    ("keyword", "expected"),
    [
        ("additionalProperties", False),
        ("required", ["app"]),
        ("uniqueItems", True),
        ("oneOf", [{"required": ["all"]}]),
        ("dependentRequired", {"a": ["b"]}),
    ],
)
def test_a_fault_of_a_mapping_or_list_says_nothing_of_a_scalar(keyword: str, expected: Any) -> None:
    node = ScalarNode(3, 1, 1)
    fault = Fault(keyword=keyword, expected=expected, schema={}, node=node, place=node, label="it")
    assert list(word(fault)) == []


def test_members_that_are_equal_are_those_of_a_list() -> None:
    validator = app_validator().evolve(schema={"uniqueItems": True})
    assert validator.is_valid(3)
    assert not validator.is_valid([3, 3])


def test_a_spark_property_that_is_a_list_is_left_out() -> None:
    node = from_value({"run": "j.p", "spark_conf": {"spark.a": [1], "spark.sql.b": True}})
    assert isinstance(node, MappingNode)
    built = build_program(ScalarNode("p", 1, 1), node, scope())
    assert built.spark_conf == {"spark.sql.b": "true"}


@pytest.mark.parametrize(("word", "found"), [("true", ["S105"]), ("No", ["S105"]), ("feeds.orders", [])])
def test_a_text_of_json_is_the_path_of_a_source_but_for_the_words_of_yes_and_no(
    word: str, found: list[str]
) -> None:
    node, where = from_value({"run": "j.p", "reads": [{"dataset": "raw", "incremental": word}]}), scope()
    assert isinstance(node, MappingNode)
    built = build_program(ScalarNode("p", 1, 1), node, where)
    codes = [each.code for each in where.findings.diagnostics()]
    assert [code for code in codes if code == "S105"] == found
    assert list(built.incremental.values()) == ([] if found else [word])


# --- findings that only some files lead to ---


def codes(app: dict[str, Any]) -> list[str]:
    compilation = compile_files({"a.yaml": json.dumps({"app": "a", **app}).encode()})
    return [diagnostic.code for diagnostic in compilation.diagnostics]


DAYS = {"partitions": {"cycle": "day", "start": "2013-01-01"}}
AREAS = {"partitions": {"area": ["EWR", "JFK"]}}


def schedule(trigger: Any, **more: Any) -> dict[str, Any]:
    return {
        "datasets": {"days": DAYS, "areas": AREAS, "plain": {}, "whole": {}, "out": DAYS},
        "programs": {"p": {"run": "j.p", "writes": ["out", "plain"]}},
        "schedules": {"s": {"program": "p", "trigger": trigger, **more}},
    }


def test_a_timeout_whose_time_is_wrong() -> None:
    assert codes(schedule({"partitions": {"dataset": "days"}}, timeout={"after": "9000d"})) == ["V201"]


def test_of_too_many_calendars_none_is_built_and_only_their_number_is_reported() -> None:
    app = schedule({"cron": "@daily", "calendar": "c7"})
    many = {f"c{number}": {"country": "nowhere"} for number in range(101)}
    assert codes({**app, "calendars": many}) == ["S108"]


def test_a_key_that_a_dataset_of_static_keys_does_not_have() -> None:
    app = schedule({"partitions": {"dataset": "areas", "keys": ["SFO"]}})
    compilation = compile_files({"a.yaml": json.dumps({"app": "a", **app}).encode()})
    (found,) = [each for each in compilation.diagnostics if each.code == "V205"]
    assert found.hint == 'write for example "EWR"'


def test_outputs_of_which_one_has_no_partitions() -> None:
    app = schedule({"partitions": {"dataset": "areas"}}, output_partition="manifest")
    compilation = compile_files({"a.yaml": json.dumps({"app": "a", **app}).encode()})
    (found,) = [each for each in compilation.diagnostics if each.code == "L404"]
    assert found.summary.endswith("got out for each day, plain without partitions")


def test_the_keys_of_a_dataset_without_partitions_are_no_keys_of_the_outputs() -> None:
    app = schedule({"partitions": {"dataset": "whole"}})
    compilation = compile_files({"a.yaml": json.dumps({"app": "a", **app}).encode()})
    assert compilation.apps["a"].app.schedules["s"].output_partition == "current"


def test_where_nothing_more_is_collected_no_hint_is_looked_for() -> None:
    full = scope()
    for line in range(1, MAX_COLLECTED_PER_FILE + 1):
        full.findings.add("N301", ScalarNode("x", line, 1), "unknown", "")
    before = full.findings.diagnostics()
    assert full.dataset(ScalarNode("none", 1, 9)) is None
    wrong = from_value({"day": "{{ trigger.partition }}"})
    check_references(Schedule(name="s", program="p", trigger=PartitionsTrigger(dataset="d")), wrong, full)
    assert full.findings.diagnostics() == before


def test_members_of_one_scheme_meet_for_each_key_of_it_and_a_cron_beside_them() -> None:
    members = [{"partitions": {"dataset": name}} for name in ("days", "more")]
    app = schedule(
        {"all": [*members, {"cron": "@daily"}], "wait_at_most": "3h"}, for_each="partition", repair=True
    )
    app["datasets"]["more"] = DAYS
    assert codes(app) == []


def test_members_whose_weeks_begin_alike_meet_for_each_week_and_a_cron_beside_them() -> None:
    members = [{"partitions": {"dataset": name}} for name in ("days", "more")]
    trigger = {"all": [{"cron": "@daily"}, *members], "wait_at_most": "3h"}
    app = schedule(trigger, for_each="week", repair=True)
    app["datasets"] |= {"more": DAYS, "out": {"partitions": {"cycle": "week", "start": "2013-01-06"}}}
    app["programs"]["p"]["writes"] = ["out"]
    assert codes(app) == []


def test_only_crons_and_windows_mind_the_clocks() -> None:
    app = schedule({"cron": "30 2 * * *"}, constraints=[{"delay": "5m"}], timeout="2h")
    text = json.dumps({"app": "a", "timezone": "America/New_York", **app}).encode()
    compilation = compile_files({"a.yaml": text}, today=date(2026, 1, 1))
    assert [found.severity for found in compilation.diagnostics] == ["note"]


def test_an_app_knows_its_file() -> None:
    compilation = compile_files({"some/a.yaml": json.dumps({"app": "a"}).encode()})
    assert [app.file for app in compilation.apps.values()] == ["some/a.yaml"]
