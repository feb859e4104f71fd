"""Reading `examples:`: what the values become, and that nothing in there raises."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.scenarios.example import ExampleOf
from tidegate.compiler.compile import Compilation, compile_files
from tidegate.compiler.scenarios.model.scenario import (
    Behaviour,
    Deploy,
    Down,
    ExpectLaunch,
    FailLaunch,
    PartitionsArrive,
    Replay,
    Restart,
    RunSeen,
    Scenario,
    TriggerByHand,
)
from tidegate.compiler.schema.check import MAX_SCHEMA_ERRORS

APP: dict[str, Any] = {
    "app": "a",
    "timezone": "America/New_York",
    "datasets": {
        "raw": {"partitions": {"cycle": "day", "start": "2013-01-01"}},
        "chunks": {"partitions": {"day": {"cycle": "day", "start": "2013-01-01"}, "origin": ["EWR", "JFK"]}},
        "plain": {},
    },
    "programs": {"p": {"run": "programs.p"}},
    "schedules": {"s": {"program": "p", "trigger": {"cron": "0 6 * * *"}}},
}

NOON = datetime(2026, 3, 10, 16, tzinfo=UTC)


def compiled(example: Any) -> Compilation:
    return compile_files({"a.yaml": json.dumps({**APP, "examples": [example]}).encode()})


def scenario(**parts: Any) -> Scenario:
    found = compiled({"name": "it", "start": "2026-03-10T12:00:00-04:00", **parts})
    assert found.ok, found.diagnostics
    return found.apps["a"].scenarios[0]


ACTIONS = [
    (
        {
            "partitions": {
                "dataset": "chunks",
                "keys": [{"origin": "JFK", "day": "2026-03-09"}, "2026-03-09|EWR"],
            }
        },
        PartitionsArrive(dataset="chunks", keys=("2026-03-09|JFK", "2026-03-09|EWR")),
    ),
    (
        {"partitions": {"dataset": "raw", "keys": ["2026-03-09"], "bytes": "12MB", "rows": 9}},
        PartitionsArrive(dataset="raw", keys=("2026-03-09",), bytes=12_000_000, rows=9),
    ),
    (
        {"partitions": {"dataset": "plain", "bytes": 7}},
        PartitionsArrive(dataset="plain", keys=("",), bytes=7),
    ),
    ({"run": {"program": "p", "id": 1, "status": "started"}}, RunSeen(program="p", id="1", status="started")),
    (
        {
            "run": {
                "program": "p",
                "id": "x",
                "status": "succeeded",
                "args": {"n": 1},
                "outputs": {"chunks": ["2026-03-09|JFK"]},
            }
        },
        RunSeen(
            program="p",
            id="x",
            status="succeeded",
            args={"n": 1},
            outputs={"chunks": ("2026-03-09|JFK",)},
        ),
    ),
    ({"trigger": "s"}, TriggerByHand(schedule="s")),
    ({"trigger": {"schedule": "s", "force": True}}, TriggerByHand(schedule="s", force=True)),
    (
        {"trigger": {"schedule": "s", "key": {"origin": "JFK", "day": "2026-03-09"}}},
        TriggerByHand(schedule="s", key="2026-03-09|JFK"),
    ),
    ({"restart": True}, Restart()),
    ({"down": "2h"}, Down(duration=timedelta(hours=2))),
    ({"replay": "raw"}, Replay(dataset="raw")),
    (
        {"replay": {"dataset": "raw", "keys": ["2026-03-09"], "again": True}},
        Replay(dataset="raw", keys=("2026-03-09",), again=True),
    ),
    ({"fail_launch": "s"}, FailLaunch(schedule="s")),
    ({"fail_launch": {"schedule": "s", "times": 3}}, FailLaunch(schedule="s", times=3)),
    ({"deploy": {"app": "app: a"}}, Deploy(text="app: a")),
    (
        {"deploy": {"file": "b.yaml", "update_schedules": False}},
        Deploy(file="b.yaml", update_schedules=False),
    ),
]


@pytest.mark.parametrize(("written", "action"), ACTIONS, ids=[json.dumps(written) for written, _ in ACTIONS])
def test_an_action(written: dict[str, Any], action: object) -> None:
    (found,) = scenario(given=[{"at": "+0s", **written}]).given
    assert (found.action, found.when) == (action, NOON)


@pytest.mark.parametrize(
    ("written", "when"),
    [
        ("+0s", NOON),
        ("+90m", NOON + timedelta(minutes=90)),
        ("+PT1H30M", NOON + timedelta(minutes=90)),
        ("2026-03-10T17:30:00Z", NOON + timedelta(minutes=90)),
        ("2026-03-10T13:30:00-04:00", NOON + timedelta(minutes=90)),
        ("2026-03-10T13:30:00", NOON + timedelta(minutes=90)),
    ],
)
def test_an_instant(written: str, when: datetime) -> None:
    assert scenario(given=[{"at": written, "resume": "s"}]).given[0].when == when


def test_runs_take_a_minute_and_succeed_unless_told_otherwise() -> None:
    found = scenario(programs={"p": {"ends": "failed"}})
    assert found.behaviours == {"p": Behaviour(takes=timedelta(minutes=1), ends=("failed",))}


def test_without_an_end_the_last_instant_is_the_end() -> None:
    found = scenario(given=[{"at": "+1h", "resume": "s"}], expect=[{"at": "+2h", "none": "s"}])
    assert found.until == NOON + timedelta(hours=2)


def test_a_next_check_may_lie_after_the_end_and_does_not_move_it() -> None:
    found = scenario(expect=[{"at": "+2h", "waiting": "s", "next_check": "+9h"}])
    assert found.until == NOON + timedelta(hours=2)


def test_without_any_instant_a_day_is_played() -> None:
    assert scenario().until == NOON + timedelta(days=1)


def test_slack_of_an_expectation_stands_before_that_of_the_example() -> None:
    launch = {"launch": "s"}
    found = scenario(within="5s", expect=[launch, {**launch, "within": "0s"}])
    assert [each.within for each in found.expect] == [timedelta(seconds=5), timedelta(0)]


def test_expected_keys_are_a_set_in_the_spelling_of_the_store() -> None:
    keys = [{"origin": "JFK", "day": "2026-03-09"}, "2026-03-08", "2026-03-08"]
    found = scenario(expect=[{"launch": "s", "partitions": keys}]).expect[0].expected
    assert found == ExpectLaunch(schedule="s", partitions=("2026-03-08", "2026-03-09|JFK"))


MISTAKES = [
    ("outputs are a mapping", {"run": {"program": "p", "id": 1, "status": "failed", "outputs": 5}}, "S104"),
    (
        "of datasets that there are",
        {"run": {"program": "p", "id": 1, "status": "failed", "outputs": {"rav": ["2026-03-09"]}}},
        "N301",
    ),
    (
        "a replay is of a dataset that there is",
        {"replay": {"dataset": "rav", "keys": ["2026-03-09"]}},
        "N301",
    ),
    ("a replayed key is a day", {"replay": {"dataset": "raw", "keys": ["JFK"]}}, "V205"),
    ("a key is a text", {"partitions": {"dataset": "raw", "keys": [["2026-03-09"]]}}, "S104"),
]


@pytest.mark.parametrize(("sentence", "written", "code"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_a_mistake_in_an_action(sentence: str, written: dict[str, Any], code: str) -> None:
    found = compiled({"name": "it", "start": "2026-03-10T12:00:00Z", "given": [{"at": "+0s", **written}]})
    assert [each.code for each in found.diagnostics] == [code]


def test_what_a_program_does_is_a_mapping() -> None:
    found = compiled({"name": "it", "start": "2026-03-10T12:00:00Z", "programs": {"p": 5}})
    assert [each.code for each in found.diagnostics] == ["S104"]


def test_a_wrong_example_hides_no_other_mistake_and_no_other_example() -> None:
    examples = [{"name": "wrong", "start": "?"}, {"name": "right", "start": "2026-03-10T12:00:00Z"}]
    found = compile_files({"a.yaml": json.dumps({**APP, "examples": examples}).encode()})
    assert [each.code for each in found.diagnostics] == ["V210"]


WORDS = st.sampled_from(
    [
        "name",
        "start",
        "given",
        "expect",
        "at",
        "partitions",
        "keys",
        "dataset",
        "raw",
        "chunks",
        "s",
        "p",
        "launch",
        "update",
        "deploy",
        "run",
        "trigger",
        "down",
        "+1h",
        "2026-03-09",
        "9999-12-31",
        "waiting",
        "within",
        "file",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**18 - 1) | st.text(max_size=8) | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text("ab", max_size=3), inner, max_size=5)
    ),
    max_leaves=20,
)


@given(JSON, JSON, JSON)
@settings(max_examples=100, deadline=None)
def test_whatever_stands_in_an_example_becomes_diagnostics(first: Any, action: Any, expectation: Any) -> None:
    compiled(first)
    found = compiled(
        {
            "name": "it",
            "start": "2026-03-10T12:00:00Z",
            "given": [{"at": "+1h", **action} if isinstance(action, dict) else action],
            "expect": [expectation],
        }
    )
    assert all(each.hint for each in found.diagnostics)


def test_nothing_more_is_said_of_a_dataset_that_has_mistakes_of_its_own() -> None:
    wrong = {**APP["datasets"], "raw": {"partitions": {"cycle": "daily", "start": "2013-01-01"}}}
    arrives = {"at": "+0s", "partitions": {"dataset": "raw", "keys": ["2026-03-09"]}}
    example = {"name": "it", "start": "2026-03-10T12:00:00Z", "given": [arrives]}
    found = compile_files({"a.yaml": json.dumps({**APP, "datasets": wrong, "examples": [example]}).encode()})
    assert [each.code for each in found.diagnostics] == ["S105"]


def test_examples_are_left_unread_where_not_all_mistakes_of_their_shape_are_known() -> None:
    wrong = {"name": "it", "start": "2026-03-10T12:00:00Z", "given": ["x"] * (MAX_SCHEMA_ERRORS + 1)}
    right = {"name": "other", "start": "?"}
    found = compile_files({"a.yaml": json.dumps({**APP, "examples": [wrong, right]}).encode()})
    assert {each.code for each in found.diagnostics} == {"S104", "R119"}


def test_a_member_of_a_wrong_shape_hides_no_mistake_of_the_next() -> None:
    given = [{"at": "+1h", "resume": 5}, {"at": "+1h", "resume": "t"}]
    found = compiled({"name": "it", "start": "2026-03-10T12:00:00Z", "given": given})
    assert [each.code for each in found.diagnostics] == ["S104", "N305"]


BROUGHT = "'app: a\n\n\nprograms: {new: {run: j.new}}\n\n\nschedules: {later: {program: new}}'"


@pytest.mark.parametrize("deploy", [f"app: {BROUGHT}", "file: next.txt"])
def test_a_deployment_may_bring_programs_and_schedules(deploy: str) -> None:
    found = ExampleOf(APP).scenario(
        "    programs: {new: {takes: 5m}}\n"
        f"    given: [{{at: +0s, deploy: {{{deploy}}}}}, {{at: +1h, resume: later}},"
        " {at: +2h, run: {program: new, id: r, status: started}}]\n"
        "    expect: [{at: +3h, none: later}]\n"
    )
    assert found.behaviours == {"new": Behaviour(takes=timedelta(minutes=5))}
    assert isinstance(found.given[2].action, RunSeen)


@pytest.mark.parametrize(
    ("behaviours", "resumed", "codes"),
    [("newer", "later", ["N302"]), ("new", "new", ["N305"]), ("later", "later", ["N302"])],
)
def test_what_no_deployment_brings_is_unknown(behaviours: str, resumed: str, codes: list[str]) -> None:
    text = (
        f"    programs: {{{behaviours}: {{takes: 5m}}}}\n"
        f"    given: [{{at: +0s, deploy: {{app: {BROUGHT}}}}}, {{at: +1h, resume: {resumed}}}]\n"
    )
    assert ExampleOf(APP).codes(text) == codes
