"""The node tree: the content of a YAML file with the place of every part.

A node is a scalar, a sequence or a mapping. Lines and columns count from 1, columns in characters.
`plain` converts a node to builtin values, `from_value` converts builtin values to nodes. A node that comes
from a template has the place in the template, and the `row` for which it was made.
"""

from typing import Any, cast

import msgspec


class ScalarNode(msgspec.Struct, frozen=True, gc=False, array_like=True, tag="scalar"):
    """A scalar, resolved: null, boolean, integer, float or string.

    Attributes:
        end_column: the column after its last character; 0 where it ends on another line.
        row: of the template from which it is, see `At`.
    """

    value: bool | int | float | str | None
    line: int
    column: int
    end_column: int = 0
    row: str = ""


class PlaceholderNode(ScalarNode, frozen=True, gc=False, array_like=True, tag="placeholder"):
    """A scalar of a template with placeholders, which are filled in for each row; `value` is its text.

    Attributes:
        pieces: the text in pieces: literal ones, and between each two of them the name of a placeholder.
        unquoted: whether the text is resolved as a plain scalar once it is filled in.
        typed: whether a text that is one placeholder becomes the value with its type: JSON has no other way.
    """

    pieces: tuple[str, ...] = ()
    unquoted: bool = False
    typed: bool = False


class SequenceNode(msgspec.Struct, frozen=True, array_like=True, tag="list"):
    """A list of nodes."""

    items: tuple["Node", ...]
    line: int
    column: int
    end_column: int = 0
    row: str = ""


class MappingNode(msgspec.Struct, frozen=True, array_like=True, tag="mapping"):
    """Nodes by key, in the order of the file. `keys` holds each key's own place."""

    values: dict[str, "Node"]
    keys: dict[str, ScalarNode]
    line: int
    column: int
    end_column: int = 0
    row: str = ""

    def get(self, key: str) -> "Node | None":
        """Return the node of a key, None if the key is absent."""
        return self.values.get(key)

    def text(self, key: str, default: str = "") -> str:
        """Return the string at a key; the default for anything else."""
        node = self.values.get(key)
        return node.value if isinstance(node, ScalarNode) and isinstance(node.value, str) else default

    def number(self, key: str, default: int) -> int:
        """Return the integer at a key; the default for anything else."""
        node = self.values.get(key)
        if isinstance(node, ScalarNode) and isinstance(node.value, int):
            return int(node.value)
        return default

    def decimal(self, key: str, default: float) -> float:
        """Return the number at a key, with or without decimals; the default for anything else."""
        node = self.values.get(key)
        if isinstance(node, ScalarNode) and isinstance(node.value, int | float):
            return float(node.value)
        return default

    def flag(self, key: str, default: bool) -> bool:
        """Return the boolean at a key; the default for anything else."""
        node = self.values.get(key)
        return node.value if isinstance(node, ScalarNode) and isinstance(node.value, bool) else default

    def mapping(self, key: str) -> "MappingNode | None":
        """Return the mapping at a key, None for anything else."""
        node = self.values.get(key)
        return node if isinstance(node, MappingNode) else None

    def items(self, key: str) -> "tuple[Node, ...]":
        """Return the members of the list at a key, none for anything else."""
        node = self.values.get(key)
        return node.items if isinstance(node, SequenceNode) else ()

    def strings(self, key: str) -> tuple[ScalarNode, ...]:
        """Return the scalars of the list at a key that are strings."""
        return tuple(n for n in self.items(key) if isinstance(n, ScalarNode) and isinstance(n.value, str))


Node = ScalarNode | SequenceNode | MappingNode


def plain(node: Node) -> Any:
    """Return the builtin value of a node. The reader limits the depth, and so this recursion."""
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, MappingNode):
        return {key: plain(value) for key, value in node.values.items()}
    return [plain(item) for item in node.items]


def find(root: Node, path: "tuple[str | int, ...]") -> Node:
    """Return the node at a path of keys and member numbers, or the deepest one on the way to it."""
    node = root
    for step in path:
        if isinstance(node, MappingNode) and isinstance(step, str) and step in node.values:
            node = node.values[step]
        elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
        else:
            return node
    return node


def from_value(value: Any, line: int = 1, column: int = 1) -> Node:
    """Return a tree of one builtin value, every node of it at the same place.

    Raises:
        TypeError: for a value that JSON does not know, or a key that is not a string.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return ScalarNode(value, line, column)
    if isinstance(value, dict):
        members = cast("dict[Any, Any]", value)
        if not all(isinstance(k, str) for k in members):
            raise TypeError("the keys of a specification are strings")
        nodes = {str(k): from_value(v, line, column) for k, v in members.items()}
        return MappingNode(nodes, {k: ScalarNode(k, line, column) for k in nodes}, line, column)
    if isinstance(value, list | tuple):
        parts = cast("list[Any]", value)
        return SequenceNode(tuple(from_value(v, line, column) for v in parts), line, column)
    raise TypeError(f"a specification holds JSON values only, got {type(value).__name__}")
