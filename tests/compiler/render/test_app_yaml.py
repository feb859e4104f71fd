"""`tidegate render`: what is printed compiles to the same app, in the layout of `fmt`."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, reject, settings
from hypothesis import strategies as st

from tidegate.compiler.compile import CompiledApp, compile_files
from tidegate.compiler.fingerprint import canonical
from tidegate.compiler.layout import format_file
from tidegate.compiler.reader.json_text import NotWritable, json_text
from tidegate.compiler.render.app_yaml import app_yaml

ROOT = Path(__file__).parents[3]
SPECIAL = """
null|007|1e3|1_000|0x10|yes|~|<<|a: b|- a|# a| a|a |\u200b|\x00|\x85|"|'|\\|$$|{{ "{{" }}|{a|[a|@a|%a|!a|1:2
${each.n}|$${each.n}|${env.HOME}|$${env.HOME}|${env.A${env.B}|${each.${each.n}|${env.${each.n}}|$$${each.n}
${each.|${env.
"""
TEXTS = st.text(max_size=12) | st.sampled_from(["", "a\nb", *SPECIAL.strip().replace("\n", "|").split("|")])
KEYS = TEXTS.filter(lambda text: "${env." not in text)
"""A file has no key with a variable."""

NUMBERS = st.integers(-(10**17), 10**17) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
OF_ROWS = st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S")), max_size=6)
PIECES = st.sampled_from(
    ["${each.n}", "${each.text}", "$${each.n}", "{{ scheduled_time }}", "$", "${env.A}", "a"]
)


def spec(**more: Any) -> dict[str, Any]:
    own = {"trigger": {"cron": "0 6 * * *"}, "program": "load", **more}
    return {"app": "feeds", "schedules": {"own": own}, "programs": {"load": {"run": "jobs.load"}}}


def rendered(document: dict[str, Any]) -> dict[str, Any]:
    """Compile an app, render it, and compile that: both are the same. Return what was compiled."""
    try:
        text = json_text(document)
    except NotWritable:
        reject()
    compilation = compile_files({}, documents={"feeds": text})
    assume(compilation.ok)
    compiled = compilation.apps["feeds"]
    check(compiled)
    return compiled.document


def check(compiled: CompiledApp) -> None:
    text = app_yaml(compiled.document)
    assert format_file("a.yaml", text.encode()) == (text, ())
    found = compile_files({"a.yaml": text.encode()})
    assert found.ok, found.diagnostics
    again = found.apps[compiled.app.name]
    assert again.document == compiled.document
    assert canonical(again.app, defaults=True) == canonical(compiled.app, defaults=True)
    states = {name: each.status for name, each in compiled.app.schedules.items()}
    assert {name: each.status for name, each in again.app.schedules.items()} == states


@example(values={"": {"${env.": None}}, description="")
@given(values=st.dictionaries(KEYS, VALUES, max_size=4), description=TEXTS)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_value_is_written_such_that_it_is_read_again(values: dict[str, Any], description: str) -> None:
    rendered(spec(args=values, description=description))


@given(
    numbers=st.lists(st.integers(0, 99), min_size=1, max_size=4, unique=True),
    texts=st.lists(OF_ROWS, min_size=1, max_size=3, unique=True),
    pieces=st.lists(PIECES, max_size=4),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_templates_and_defaults_are_rendered_as_ordinary_parts(
    numbers: list[int], texts: list[str], pieces: list[str]
) -> None:
    args = {"text": "".join(pieces), "a${each.n}": ["${each.text}", "${each.n}"]}
    positions = list(range(len(texts)))
    document = spec(args={"a": 1}) | {
        "templates": {
            "feeds": {
                "for": {"n": numbers, "text": texts},
                "tasks": {"t${each.n}_${each.text}": {"program": "load", "cycle": "day", "args": args}},
            },
            "named": {
                "for": {"at": positions},
                "datasets": {"d${each.at}": {"partitions": {"start": "2026-01-01", "cycle": "day"}}},
            },
        },
        "defaults": {"schedules": {"owner": "feeds", "status": "active"}, "tasks": {"retries": 2}},
    }
    if not all(text.islower() and text.isalnum() for text in texts):
        document["templates"]["feeds"]["tasks"] = {}
        document["templates"]["feeds"]["schedules"] = {
            "s${each.n}": {"trigger": {"cron": "@daily"}, "program": "load", "args": args}
        }
        document["templates"]["feeds"]["for"]["text"] = texts[:1]
    found = rendered(document)
    assert not {"templates", "defaults"} & found.keys()
    assert len(found["datasets"]) == len(texts)


@pytest.mark.parametrize("file", sorted((ROOT / "schedules").glob("*.yaml")), ids=lambda file: file.stem)
def test_the_examples_are_the_same_when_they_are_rendered(file: Path) -> None:
    compiled = compile_files({file.name: file.read_bytes()}).apps.values()
    assert compiled
    for each in compiled:
        check(each)
