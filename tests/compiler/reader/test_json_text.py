"""Values as text with places: the text is that of `json.dumps`, and each line has the path of its value."""

import json
from typing import Any

import pytest

from tidegate.compiler.reader.json_text import NotWritable, json_text
from tidegate.compiler.reader.node import find, plain

VALUE: dict[str, Any] = {
    "a": {"b": [1, {"c": "ü"}], "empty": {}, "none": []},
    "trigger": {"all": [{"cron": "0 6 * * *"}, {"run": {"program": "p"}}]},
    "last": None,
}


def test_nodes_are_where_json_dumps_writes_them():
    found = json_text(VALUE)
    lines = found.text.split("\n")

    assert found.text == json.dumps(VALUE, indent=2, ensure_ascii=False)
    assert plain(found.root) == VALUE
    for path, written in (
        (("a", "b", 0), "1,"),
        (("a", "b", 1, "c"), '"ü"'),
        (("a", "none"), "[]"),
        (("trigger", "all", 1, "run", "program"), '"p"'),
        (("last",), "null"),
    ):
        node = find(found.root, path)
        assert lines[node.line - 1][node.column - 1 :] == written


def test_lines_have_the_paths_of_their_values():
    found = json_text(VALUE)
    by_line = dict(zip(range(1, 99), found.text.split("\n"), strict=False))

    assert {found.paths[line] for line, text in by_line.items() if "0 6" in text} == {"trigger.all[0].cron"}
    assert found.paths[1] == ""


def test_limits_are_those_of_a_file():
    deep: Any = 1
    for _ in range(70):
        deep = {"a": deep}

    for value, said in (
        (deep, "levels"),
        ({"a": [0] * 100_001}, "parts"),
        ({"a": [10**18]}, r"a\[0\]: an integer"),
        ({"a": [{"k" * 201: 1}]}, r"a\[0\]: a key has at most 200"),
        ({"a": {"${env.A}": 1}}, "a: a key is a name without variables"),
        ({"a": {"${env.": 1}}, "a: a key is a name without variables"),
    ):
        with pytest.raises(NotWritable, match=said):
            json_text(value)
