"""Templates: how references are written in a text, and the text once they have values."""

from typing import Any

import pytest

from tidegate.compiler.template import MAX_REFERENCES_PER_TEXT, TemplateError, parse, render

VALUES: dict[str, Any] = {
    "scheduled_time": "2026-03-10T06:00:00-04:00",
    "key": "2026-03-09",
    "trigger.partitions": ["2026-03-08", "2026-03-09"],
    "trigger.count": 3,
    "trigger.run.args.ratio": 0.5,
    "trigger.run.args.full": True,
    "trigger.run.args.deep": {"b": [1, None], "a": "x"},
    "trigger.run.args.null": None,
    "trigger.run.args.nested": ["a", ["b", None], 7],
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no reference", "no reference"),
        ("", ""),
        ("{{ key }}", "2026-03-09"),
        ("{{key}}", "2026-03-09"),
        ("{{ trigger.partitions }}", ["2026-03-08", "2026-03-09"]),
        ("{{ trigger.count }}", 3),
        ("{{ trigger.run.args.full }}", True),
        ("{{ trigger.run.args.deep }}", {"b": [1, None], "a": "x"}),
        ("{{ trigger.run.args.null }}", None),
        ("{{ nothing.known }}", None),
        ("days {{ trigger.partitions }}", "days 2026-03-08,2026-03-09"),
        (" {{ trigger.count }}", " 3"),
        ("{{ key }}{{ trigger.count }}", "2026-03-093"),
        ("{{ trigger.run.args.ratio }} {{ trigger.run.args.full }}", "0.5 true"),
        ("<{{ trigger.run.args.null }}>", "<>"),
        ("<{{ trigger.run.args.nested }}>", "<a,b,,7>"),
        ("<{{ trigger.run.args.deep }}>", '<{"a": "x", "b": [1, null]}>'),
        ('{{ "{{" }} key }}', "{{ key }}"),
        ("{{ '{{' }}", "{{"),
        ("a } b }} c {", "a } b }} c {"),
        ('{"json": {"a": {}}}', '{"json": {"a": {}}}'),
    ],
)
def test_a_text_is_rendered(text: str, value: Any) -> None:
    assert render(text, VALUES.get) == value


def test_references_are_found_in_lists_and_mappings_and_in_no_key() -> None:
    args = {
        "a": ["{{ key }}", {"{{ key }}": "x {{ key }}"}],
        "b": 5,
        "c": None,
        "d": ("{{ trigger.count }}",),
    }
    assert render(args, VALUES.get) == {
        "a": ["2026-03-09", {"{{ key }}": "x 2026-03-09"}],
        "b": 5,
        "c": None,
        "d": [3],
    }


def test_a_value_is_not_read_as_a_template_again() -> None:
    assert render("{{ x }}", {"x": "{{ key }}"}.get) == "{{ key }}"
    assert render("x {{ x }}", {"x": "{{ key }}"}.get) == "x {{ key }}"


def test_the_references_of_a_text_are_named_once_and_in_their_order() -> None:
    assert parse("{{ b }} {{ a }}{{ b }} {{ 'c' }}").references == ("b", "a")
    assert parse("none").references == ()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{{ key", "closes"),
        ("{{ key }", "closes"),
        ("{{ a }} {{", "closes"),
        ("{{ }}", "one name"),
        ("{{}}", "one name"),
        ("{{ a b }}", "one name"),
        ("{{ a | upper }}", "one name"),
        ("{{ f(x) }}", "one name"),
        ("{{ {{ key }} }}", "one name"),
        ("{{ ' }}", "one name"),
        ("{{ " + "a" * 201 + " }}", "one name"),
        ("{{ a }}" * (MAX_REFERENCES_PER_TEXT + 1), "at most 100"),
    ],
)
def test_a_text_that_is_no_template_is_refused_and_stays_as_it_stands_at_run_time(
    text: str, wrong: str
) -> None:
    with pytest.raises(TemplateError, match=wrong) as refused:
        parse(text)
    assert refused.value.hint
    assert render(text, VALUES.get) == text


def test_a_text_may_have_a_hundred_references() -> None:
    assert len(parse("{{ a }}-" * MAX_REFERENCES_PER_TEXT).parts) == 2 * MAX_REFERENCES_PER_TEXT


def test_many_braces_take_no_time() -> None:
    with pytest.raises(TemplateError):
        parse("{{" * 500_000)
    with pytest.raises(TemplateError):
        parse("{{ a }}" * 140_000)
