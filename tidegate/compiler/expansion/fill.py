"""The parts of a template, filled in for one row: new nodes at the places of the template."""

from collections.abc import Iterator
from typing import Any

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.compiler.expansion.rows import RowValues
from tidegate.compiler.reader.compose import MAX_KEY_CHARACTERS
from tidegate.compiler.reader.node import MappingNode, Node, PlaceholderNode, ScalarNode, SequenceNode
from tidegate.compiler.reader.placeholders import PlaceholderError, filled
from tidegate.compiler.reader.scalar import ScalarError, resolve
from tidegate.domain.variables import names_in
from tidegate.domain.wording import shown


class Filler:
    """Fills in the values of one row.

    Attributes:
        characters: of the texts that were filled in.
    """

    def __init__(self, findings: Findings, row: RowValues) -> None:
        self._findings, self._row = findings, row
        self.characters = 0

    def parts(self, section: MappingNode) -> Iterator[tuple[ScalarNode, Node]]:
        """Yield the names and the parts of a section; a name that is wrong is reported and left out."""
        for name, node in section.values.items():
            key = self._key(section.keys[name])
            if key is not None:
                yield key, self._node(node)

    def _node(self, node: Node) -> Node:
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        if isinstance(node, MappingNode):
            return self._mapping(node)
        items = tuple(map(self._node, node.items))
        return SequenceNode(items, node.line, node.column, node.end_column, self._row.label)

    def _scalar(self, node: ScalarNode) -> ScalarNode:
        if isinstance(node, PlaceholderNode):
            return self._filled(node) or self._at(node, None)
        return self._at(node, node.value)

    def _at(self, node: ScalarNode, value: Any) -> ScalarNode:
        return ScalarNode(value, node.line, node.column, node.end_column, self._row.label)

    def _mapping(self, node: MappingNode) -> MappingNode:
        values: dict[str, Node] = {}
        keys: dict[str, ScalarNode] = {}
        for name, inner in node.values.items():
            key = self._key(node.keys[name])
            if key is None:
                continue
            if str(key.value) in keys:
                first = self._findings.at(keys[str(key.value)])
                summary = f"the keys of a mapping are unique, got {shown(key.value)} again"
                related = (Related(at=first, note="the first one is here"),)
                self._findings.add("R111", key, summary, "put what tells the two apart into the key", related)
                continue
            keys[str(key.value)], values[str(key.value)] = key, self._node(inner)
        return MappingNode(values, keys, node.line, node.column, node.end_column, self._row.label)

    def _key(self, written: ScalarNode) -> ScalarNode | None:
        """Return a key, if it is allowed once it is filled in; else report it."""
        if not isinstance(written, PlaceholderNode):
            return self._scalar(written)
        key = self._filled(written)
        if key is None:
            return None
        if not isinstance(key.value, str):
            summary = f"a key must be a string, got {shown(key.value)}"
            self._findings.add("R112", key, summary, f'write it in quotes: "{written.value}"')
            return None
        if key.value == "<<" and written.unquoted:
            summary = "merge keys are not allowed, got <<"
            self._findings.add("R110", key, summary, "write out the keys of the merged mapping")
            return None
        if names_in(key.value):
            summary = f"a key is a name without variables, got {shown(key.value)}"
            self._findings.add("R122", key, summary, "write the name; variables are for values")
            return None
        if len(key.value) > MAX_KEY_CHARACTERS:
            summary = f"a key has at most {MAX_KEY_CHARACTERS} characters, got {len(key.value)}"
            self._findings.add("R112", key, summary, "use shorter values")
            return None
        return key

    def _filled(self, node: PlaceholderNode) -> ScalarNode | None:
        """Return a text with placeholders filled in; None with what is wrong."""
        match node.pieces:
            case ("", name, "") if node.typed and name in self._row.values:
                return self._at(node, self._row.values[name])
            case _:
                pass
        try:
            text = filled(node.pieces, self._row.texts)
            self.characters += len(text)
            return self._at(node, resolve(text) if node.unquoted else text)
        except PlaceholderError as error:
            self._findings.add("R122", self._at(node, None), error.message, error.hint)
        except ScalarError as error:
            self._findings.add(error.code, self._at(node, None), error.message, error.hint)
        return None
