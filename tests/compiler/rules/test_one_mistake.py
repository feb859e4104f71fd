"""One mistake is one diagnostic: what follows from it is left unsaid."""

import pytest

from tidegate.compiler.compile import compile_files
from tidegate.compiler.render.diagnostics.json import diagnostics_json

APP = "app: a\ndatasets: {d: {}}\nprograms: {p: {run: j.p}}\n"
S = "schedules: {s: {program: p, "

ROWS = [
    ("a kind that there is none of", S + "trigger: {corn: x}}}", "S101", 'did you mean "cron"?'),
    (
        "of a constraint too",
        S + "trigger: {cron: '@daily'}, constraints: [{dealy: 5m}]}}",
        "S101",
        'did you mean "delay"?',
    ),
    (
        "a value of another type is not also none of the words",
        S + "trigger: {cron: '@daily'}, priority: 3}}",
        "S104",
        "write it in quotes, since it must be a string",
    ),
    (
        "nor of no kind",
        S + "trigger: [cron]}}",
        "S104",
        'write for example {cron: "0 6 * * *"}',
    ),
    (
        "what refers to a dataset with a mistake is not judged",
        "datasets: {e: {format: 5}}\nprograms: {q: {run: j.q, writes: [e]}}\n"
        "schedules: {s: {program: q, trigger: {cron: '@daily'}}}",
        "S104",
        "write it in quotes, since it must be a string",
    ),
    (
        "another word for true says nothing of the outputs",
        "datasets: {e: {path: e}, f: {}}\n"
        "programs: {q: {run: j.q, reads: [{dataset: e, incremental: True}], writes: [f]}}\n"
        "schedules: {s: {program: q, trigger: {partitions: {dataset: e}}}}",
        "S105",
        "write incremental: true",
    ),
    (
        "nor does another word for false",
        "datasets: {e: {path: e}, f: {}}\n"
        "programs: {q: {run: j.q, reads: [{dataset: e, incremental: no}], writes: [f]}}\n"
        "schedules: {s: {program: q, trigger: {partitions: {dataset: e}}}}",
        "S105",
        "delete it: all data is read by default",
    ),
    ("an example that is none", "examples: [5]", "S104", "write for example {name: "),
]
SYNTAX = [
    ("a sign that begins nothing", "app: @a\n", "quote the value: @, ` and % cannot begin a plain one"),
    ("wrong indentation", "a:\n  - b\n c: 1\n", "look at the indentation here and in the line above"),
    ("a bracket", "a: [1\nb: 2\n", "look for a missing quote, bracket or colon here or in the line above"),
]


def only_one(text: str):
    (found,) = compile_files({"a.yaml": text.encode()}).diagnostics
    return found


@pytest.mark.parametrize(("sentence", "text", "code", "hint"), ROWS, ids=[row[0] for row in ROWS])
def test_a_mistake(sentence, text, code, hint):
    found = only_one("app: a\n" + text if text.startswith("datasets") else APP + text)
    assert found.code == code
    assert found.hint.startswith(hint)


@pytest.mark.parametrize(("sentence", "text", "hint"), SYNTAX, ids=[row[0] for row in SYNTAX])
def test_what_is_no_yaml(sentence, text, hint):
    assert (only_one(text).code, only_one(text).hint) == ("R106", hint)


def test_a_diagnostic_for_tools():
    (found,) = diagnostics_json(compile_files({"a.yaml": b"app: @a\n"}).diagnostics)
    assert (found["file"], found["line"], found["column"], found["code"]) == ("a.yaml", 1, 6, "R106")
    note = "while scanning for the next token that begins here"
    assert found["related"] == [{"file": "a.yaml", "line": 1, "column": 6, "note": note}]
