"""Hints for keys and values that the language does not have: none of them says another thing than meant."""

import json

import pytest

from tidegate.compiler.compile import compile_files
from tidegate.compiler.schema import schema_text
from tidegate.compiler.schema.strange_key import ADVICE, MAIN, WORDS, hint_for_key, meant
from tidegate.compiler.schema.validator import app_validator
from tidegate.domain.duration import duration_hint
from tidegate.domain.suggest import OPPOSITES, closest
from tidegate.domain.time.clock_text import clock_hint, clock_time

SECTIONS = {"a schedule": "schedules", "a task": "tasks", "a program": "programs", "a dataset": "datasets"}


def keys_of(section: str) -> list[str]:
    return list(app_validator().schema["properties"][section]["additionalProperties"]["properties"])


PARTS = {title: keys_of(section) for title, section in SECTIONS.items()} | {"a policy": keys_of("policies")}
TRIGGER = list(
    app_validator().schema["properties"]["schedules"]["additionalProperties"]["properties"]["trigger"][
        "properties"
    ]
)

BELONGS = [
    # (place, key, hint)
    ("a program", "retries", "`retries` belongs to a schedule or a task"),
    ("a program", "trigger", "`trigger` belongs to a schedule"),
    ("a program", "path", "`path` belongs to a dataset"),
    ("a dataset", "reads", "`reads` belongs to a program"),
    ("a dataset", "status", "`status` belongs to a schedule or a task"),
    ("a schedule", "cron", "`cron` belongs to a trigger"),
    ("a schedule", "cycle", "`cycle` belongs to a task"),
    ("a schedule", "merge_keys", "`merge_keys` belongs to a dataset"),
    ("a schedule", "wait_at_most", "`wait_at_most` belongs to a trigger"),
    ("a task", "for_each", "`for_each` belongs to a schedule"),
    ("a task", "operations", "`operations` belongs to a policy"),
    ("a trigger", "deadline", "`deadline` belongs to a schedule, a task or a dataset"),
    ("a trigger", "complete", "`complete` belongs to a partitions trigger"),
    ("a policy", "when", "`when` belongs to "),
]


@pytest.mark.parametrize(("place", "key", "hint"), BELONGS)
def test_a_key_that_another_part_knows_is_answered_with_that_part(place, key, hint):
    assert hint_for_key(key, {**PARTS, "a trigger": TRIGGER}[place], place).startswith(hint)


@pytest.mark.parametrize("place", PARTS)
@pytest.mark.parametrize("other", PARTS)
def test_each_key_of_each_part_names_its_parts(place, other):
    for key in set(PARTS[other]) - set(PARTS[place]):
        hint = hint_for_key(key, PARTS[place], place)
        assert f"`{key}` belongs to " in hint
        assert other in hint


@pytest.mark.parametrize("place", PARTS)
def test_a_key_that_nothing_knows_shows_all_keys(place):
    hint = hint_for_key("xyzzy", PARTS[place], place)
    assert hint == f"keys here: {', '.join(sorted(PARTS[place]))}"
    assert "more" not in hint.split(", ")[-1]


def test_a_short_list_stands_beside_the_nearest_key_and_a_long_one_does_not():
    assert (
        hint_for_key("dealy", ["delay", "rate"], "a constraint")
        == 'did you mean "delay"? keys here: delay, rate'
    )
    assert hint_for_key("triger", PARTS["a schedule"], "a schedule") == 'did you mean "trigger"?'


@pytest.mark.parametrize(
    ("word", "key"), [("and", "all"), ("AND", "all"), ("or", "any"), ("Or", "any"), ("both", "all")]
)
def test_words_of_logic(word, key):
    assert hint_for_key(word, TRIGGER, "a trigger") == f'did you mean "{key}"?'


@pytest.mark.parametrize("word", ["not", "NOT", "none"])
def test_nothing_negates(word):
    assert hint_for_key(word, TRIGGER, "a trigger") == ""


@pytest.mark.parametrize(
    ("word", "known"),
    [("and", ["any"]), ("at_most", ["at_least"]), ("newer_than", ["older_than"]),
     ("min_batch", ["max_batch"]),
     ("max_interval", ["min_interval"]), ("disabled", ["enabled"]), ("at_least", ["at_latest"])],
)  # fmt: skip
def test_no_hint_is_the_opposite(word, known):
    assert closest(word, known) is None
    assert all(len(pair) == 2 for pair in OPPOSITES)


def test_words_of_others_are_keys_of_ours():
    text = json.dumps(json.loads(schema_text()))
    for word, key in WORDS.items():
        assert f'"{key}": ' in text
        assert meant(word, [key, "zzz"]) == key
    assert {title for title, _ in ADVICE} <= set(MAIN)


DURATIONS = [
    ("3 hours", "write 3h"), ("5min", "write 5m"), ("1 week", "write 7d"), ("30 secs", "write 30s"),
    ("2D", "write 2d"), ("8am", None), ("soon", None), ("1h30m", None),
]  # fmt: skip
CLOCKS = [
    ("8am", "08:00"), ("8 AM", "08:00"), ("8:30pm", "20:30"), ("12am", "00:00"), ("12 p.m.", "12:00"),
    ("8:00", "08:00"), ("20.30", "20:30"), ("8h", "08:00"), ("noon", "12:00"), ("24:00", "00:00"),
    ("8", "08:00"), ("25:00", None), ("8:75", None), ("13am", None), ("soon", None), ("", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "hint"), DURATIONS)
def test_durations_that_are_spelled_in_another_way(text, hint):
    assert duration_hint(text) == hint


@pytest.mark.parametrize(("text", "clock"), CLOCKS)
def test_times_that_are_spelled_in_another_way(text, clock):
    assert clock_hint(text) == (clock and f'write "{clock}"')
    assert clock is None or clock_time(clock) is not None


APP = "app: a\nprograms: {p: {run: j.p, reads: [{dataset: d, incremental: true}], writes: [e]}}\n"
S = "schedules: {s: {program: p, trigger: {partitions: {dataset: d}}%s}}\n"
D = "datasets: {d: {%s}, e: {write: append}}\n"
ONCE = [
    # (what is wrong, the file, code)
    ("a path outside", D % "path: /data/d", "V207"),
    ("a path above", D % "path: ../d", "V207"),
    ("a URL", D % 'path: "s3://bucket/d"', "V207"),
    ("a path outside that is watched", D % "path: /data/d, watch: true", "V207"),
    ("a path outside with a deadline", D % "path: ~/d, deadline: '08:00'", "V207"),
    ("a deadline of a dataset", D % "path: d, deadline: 8am", "V201"),
    ("a start", D % "path: d, partitions: {cycle: hour, start: 2026-01-01 05}", "V205"),
    ("a deadline of a schedule", D % "path: d" + S % ", deadline: 8pm", "V201"),
    ("a deadline within", D % "path: d" + S % ", deadline: {within: 2 hours}", "S106"),
    ("a misspelled key that is required", D % "path: d" + "tasks: {t: {programm: p, cycle: day}}\n", "S101"),
]


@pytest.mark.parametrize(("sentence", "text", "code"), ONCE, ids=[row[0] for row in ONCE])
def test_one_mistake_is_one_message(sentence, text, code):
    found = [
        each
        for each in compile_files({"a.yaml": (APP + text).encode()}).diagnostics
        if each.severity == "error"
    ]
    assert [each.code for each in found] == [code]
    assert found[0].hint
