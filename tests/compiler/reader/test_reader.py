"""The reader: places of nodes, what it forgives, and its limits."""

import pytest

from tidegate.compiler.reader import MappingNode, from_value, plain, read
from tidegate.compiler.reader.compose import MAX_DEPTH, MAX_NODES
from tidegate.compiler.reader.node import find
from tidegate.compiler.reader.text import MAX_FILE_BYTES

PLACES = """\
app: flights
datasets:
  raw: {path: "land ing", keys: [a, é, b]}
text: |
  two
  lines
last: 1
"""


def tree(text: str | bytes) -> MappingNode:
    root, findings = read("f.yaml", text if isinstance(text, bytes) else text.encode())
    assert root is not None, findings.diagnostics()
    return root


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("app",), (1, 6, 13)),
        (("datasets",), (3, 3, 0)),
        (("datasets", "raw"), (3, 8, 0)),
        (("datasets", "raw", "path"), (3, 15, 25)),
        (("datasets", "raw", "keys", 1), (3, 37, 38)),
        (("datasets", "raw", "keys", 2), (3, 40, 41)),
        (("text",), (4, 7, 0)),
        (("last",), (7, 7, 8)),
        (("datasets", "absent"), (3, 3, 0)),
    ],
)
def test_every_node_knows_its_place(path: tuple[str | int, ...], place: tuple[int, int, int]) -> None:
    node = find(tree(PLACES), path)
    assert (node.line, node.column, node.end_column) == place


def test_a_key_knows_its_own_place() -> None:
    root = tree(PLACES)
    assert (root.keys["datasets"].line, root.keys["datasets"].column) == (2, 1)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_line_end_counts_once(line_end: str) -> None:
    root = tree(f"a: 1{line_end}b: 2{line_end}")
    assert root.keys["b"].line == 2


def test_a_byte_order_mark_at_the_beginning_is_forgiven() -> None:
    assert plain(tree(b"\xef\xbb\xbfapp: a\n")) == {"app": "a"}


def test_a_tree_of_builtins_gives_them_back() -> None:
    value = {"a": [1, 2.5, None, True, {"b": "c"}], "d": {}}
    assert plain(from_value(value)) == value


@pytest.mark.parametrize("value", [{1: "a"}, {"a": object()}, {"a": b"bytes"}])
def test_builtins_that_are_no_json_are_a_bug_of_the_caller(value: object) -> None:
    with pytest.raises(TypeError):
        from_value(value)


@pytest.mark.parametrize(
    ("within", "beyond", "code"),
    [
        (b"a: x #" + b"c" * (MAX_FILE_BYTES - 6), b"a: x #" + b"c" * (MAX_FILE_BYTES - 5), "R101"),
        (b"a: " + b"[" * (MAX_DEPTH - 1) + b"]" * (MAX_DEPTH - 1), b"a: " + b"[" * 64 + b"]" * 64, "R107"),
        (b"a: [" + b"1," * (MAX_NODES - 3) + b"]", b"a: [" + b"1," * (MAX_NODES - 2) + b"]", "R108"),
        (b"k" * 200 + b": 1", b"k" * 201 + b": 1", "R112"),
    ],
)
def test_a_limit_holds_at_its_value_and_is_reported_one_above(
    within: bytes, beyond: bytes, code: str
) -> None:
    root, findings = read("f.yaml", within)
    assert root is not None
    assert not findings.failed

    root, findings = read("f.yaml", beyond)
    assert root is None
    assert [d.code for d in findings.diagnostics()] == [code]


def test_the_second_of_two_equal_keys_names_the_first() -> None:
    _, findings = read("f.yaml", b"a: 1\nb: 2\n'a': 3\n")
    (diagnostic,) = findings.diagnostics()
    assert (diagnostic.at.line, diagnostic.at.column) == (3, 1)
    assert [str(related.at) for related in diagnostic.related] == ["f.yaml:1:1"]


def test_mistakes_that_hide_nothing_are_all_reported() -> None:
    _, findings = read("f.yaml", b"a: &x 1\n1: 2\nb: !!str c\na: .inf\n<<: {}\n")
    assert [d.code for d in findings.diagnostics()] == ["R109", "R112", "R113", "R111", "R118", "R110"]


def test_a_key_that_is_an_alias_is_reported_as_one_and_left_out() -> None:
    root, findings = read("f.yaml", b"a: &x 1\n*x : 2\n")
    assert [found.code for found in findings.diagnostics()] == ["R109", "R109"]
    assert root is None or "x" not in root.keys


def test_a_swarm_of_invisible_characters_is_reported_up_to_a_bound() -> None:
    _, findings = read("f.yaml", ("a: '" + "\u200b" * 100 + "'\n").encode())
    assert len(findings.diagnostics()) == 20
