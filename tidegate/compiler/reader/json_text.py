"""Builtin values as a text with places: what a caller sent, as `json.dumps(value, indent=2)` lays it out.

So a diagnostic of a value that was never a file has a line to show, and the path of the value, such as
`schedules.daily.trigger.cron`. The limits are those of a file.
"""

import json
from typing import Any, NamedTuple, cast

from tidegate.compiler.reader.compose import MAX_DEPTH, MAX_KEY_CHARACTERS, MAX_NODES
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, SequenceNode
from tidegate.compiler.reader.scalar import MAX_INTEGER_DIGITS
from tidegate.domain.error import UserError
from tidegate.domain.variables import names_in
from tidegate.domain.wording import shown

INDENT = 2


class JsonText(NamedTuple):
    """A mapping as text.

    Attributes:
        root: its nodes, each at its place in the text.
        paths: of the value that begins on each line, by line.
    """

    root: MappingNode
    text: str
    paths: dict[int, str]


class NotWritable(UserError):
    """A value that no file can have: it exceeds a limit, or has a key that a file refuses."""


def json_text(value: dict[str, Any]) -> JsonText:
    """Return a mapping as text.

    Raises:
        NotWritable: it is nested too deeply, has too many parts, too large a number, or a key that is
            too long or refers to a variable.
    """
    places = _Places()
    root = places.node(value, 1, "", 0)
    assert isinstance(root, MappingNode), "a mapping becomes a mapping"
    return JsonText(root, json.dumps(value, indent=INDENT, ensure_ascii=False), places.paths)


class _Places:
    """Walks a value as `json.dumps` writes it, and counts the lines."""

    def __init__(self) -> None:
        self.paths: dict[int, str] = {}
        self._line = 1
        self._nodes = 0

    def node(self, value: Any, column: int, path: str, depth: int) -> Node:
        """Return the node of a value that begins on the line that is reached."""
        self._check(value, depth, path)
        line = self._line
        self.paths.setdefault(line, path)
        if isinstance(value, dict):
            return self._mapping(cast("dict[str, Any]", value), line, column, path, depth)
        if isinstance(value, list):
            items: list[Node] = []
            for number, member in enumerate(cast("list[Any]", value)):
                self._line += 1
                items.append(self.node(member, (depth + 1) * INDENT + 1, f"{path}[{number}]", depth + 1))
            self._line += bool(items)
            return SequenceNode(tuple(items), line, column)
        return ScalarNode(value, line, column)

    def _mapping(self, members: dict[str, Any], line: int, column: int, path: str, depth: int) -> MappingNode:
        values: dict[str, Node] = {}
        keys: dict[str, ScalarNode] = {}
        start = (depth + 1) * INDENT + 1
        for key, member in members.items():
            _check_key(key, path)
            self._line += 1
            end = start + len(json.dumps(key, ensure_ascii=False))
            keys[key] = ScalarNode(key, self._line, start, end)
            values[key] = self.node(member, end + len(": "), f"{path}.{key}" if path else key, depth + 1)
        self._line += bool(values)
        return MappingNode(values, keys, line, column)

    def _check(self, value: Any, depth: int, path: str) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise NotWritable(f"a specification has at most {MAX_NODES:,} parts", "split the app")
        if depth > MAX_DEPTH:
            raise NotWritable(f"a specification has at most {MAX_DEPTH} levels", "write it flatter")
        too_long = isinstance(value, int) and abs(value) >= 10**MAX_INTEGER_DIGITS
        if too_long:
            raise NotWritable(
                f"{path}: an integer has at most {MAX_INTEGER_DIGITS} digits",
                "write it in quotes if it is an identifier and not a number",
            )


def _check_key(key: str, path: str) -> None:
    if len(key) > MAX_KEY_CHARACTERS:
        raise NotWritable(
            f"{path}: a key has at most {MAX_KEY_CHARACTERS} characters, got {len(key)}",
            "shorten it; put long text into a value such as `description`",
        )
    if names_in(key):
        raise NotWritable(
            f"{path}: a key is a name without variables, got {shown(key)}",
            "write the name; variables are for values",
        )
