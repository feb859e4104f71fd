"""The expansion: an app with templates and defaults becomes one of ordinary parts.

    nodes ──► shape of `templates`, `defaults` ──► rows of each `for` ──► parts, filled in ──► defaults added
                       S1.., R135                      R132-R134             R130, R131

Each node of a part has the place in the template and the row for which it was made, so that what is found
wrong later is said at the template's line. An app with a mistake in here is not built.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.compiler.diagnostics.of_rows import OF_DEFAULTS
from tidegate.compiler.expansion.fill import Filler
from tidegate.compiler.expansion.rows import Rows, RowValues, rows_of
from tidegate.compiler.reader.node import MappingNode, Node, PlaceholderNode, ScalarNode
from tidegate.compiler.reader.placeholders import MARK, PlaceholderError, names_of, pieces_of
from tidegate.compiler.schema.check import (
    DEFAULTS,
    SECTIONS,
    TEMPLATES,
    check_defaults,
    check_templates,
)
from tidegate.compiler.scope.project_files import ReadFile
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import shown

MAX_EXPANDED_NODES = 1_000_000
"""Scalars, lists and mappings of all parts of templates, and of what defaults add."""

MAX_EXPANDED_CHARACTERS = 64 * 1024 * 1024
"""Of all texts with placeholders."""

FOR = "for"


def expand(root: MappingNode, findings: Findings, read_file: ReadFile) -> MappingNode | None:
    """Return an app without templates and defaults; None with what is wrong with them.

    Args:
        read_file: returns the files of the project.
    """
    if MARK not in findings.text and not {TEMPLATES, DEFAULTS} & root.values.keys():
        return root
    _check_placeholders(root, findings)
    check_templates(root, findings)
    check_defaults(root, findings)
    if findings.failed:
        return None
    expansion = _Expansion(root, findings)
    templates = root.mapping(TEMPLATES)
    for name, template in templates.values.items() if templates is not None else ():
        if isinstance(template, MappingNode):
            expansion.add(_Template(name, template), read_file)
    expansion.add_defaults(root.mapping(DEFAULTS))
    return None if findings.failed else expansion.app()


def with_placeholders(root: MappingNode, findings: Findings) -> MappingNode:
    """Return an app from JSON, in which no reader has looked for placeholders.

    Without templates it has none: what a store has is sent back unchanged.
    """
    if TEMPLATES not in root.values:
        return root
    found = _with_placeholders(root, findings)
    assert isinstance(found, MappingNode), "a mapping stays one"
    return found


def _with_placeholders(node: Node, findings: Findings) -> Node:
    if isinstance(node, MappingNode):
        keys = {key: _of_text(place, findings) for key, place in node.keys.items()}
        values = {key: _with_placeholders(value, findings) for key, value in node.values.items()}
        return msgspec.structs.replace(node, keys=keys, values=values)
    if isinstance(node, ScalarNode):
        return _of_text(node, findings)
    return msgspec.structs.replace(
        node, items=tuple(_with_placeholders(each, findings) for each in node.items)
    )


def _of_text(node: ScalarNode, findings: Findings) -> ScalarNode:
    if not isinstance(node.value, str) or MARK not in node.value:
        return node
    try:
        pieces = pieces_of(node.value)
    except PlaceholderError as error:
        findings.add("R122", node, error.message, error.hint)
        return node
    if len(pieces) == 1:
        return msgspec.structs.replace(node, value=pieces[0])
    return PlaceholderNode(node.value, node.line, node.column, node.end_column, pieces=pieces, typed=True)


def _check_placeholders(root: MappingNode, findings: Findings) -> None:
    """Report placeholders that are in no part of a template."""
    if MARK not in findings.text:
        return
    for node in _outside(root):
        findings.add(
            "R135",
            node,
            f"placeholders are in the parts of a template, got {shown(node.value)}",
            "write the value, or move the part into a template; $${each. is the text itself",
        )


def _outside(root: MappingNode) -> Iterator[PlaceholderNode]:
    for key, value in root.values.items():
        templates = value.values.values() if key == TEMPLATES and isinstance(value, MappingNode) else ()
        if not templates:
            yield from placeholders(value)
        for template in templates:
            for inner, node in template.values.items() if isinstance(template, MappingNode) else ():
                if inner not in SECTIONS:
                    yield from placeholders(node)


def placeholders(node: Node) -> Iterator[PlaceholderNode]:
    """Yield the texts below a node that have placeholders."""
    if isinstance(node, ScalarNode):
        if isinstance(node, PlaceholderNode):
            yield node
        return
    if isinstance(node, MappingNode):
        for key in node.keys.values():
            yield from placeholders(key)
    for member in node.values.values() if isinstance(node, MappingNode) else node.items:
        yield from placeholders(member)


def _size(node: Node) -> int:
    """Return how many nodes a tree has, keys included."""
    if isinstance(node, ScalarNode):
        return 1
    if isinstance(node, MappingNode):
        return 1 + len(node.keys) + sum(map(_size, node.values.values()))
    return 1 + sum(map(_size, node.items))


def _with(part: MappingNode, added: Iterable[tuple[ScalarNode, Node]]) -> MappingNode:
    """Return a part with the keys that it lacks."""
    lacking = [(str(key.value), key, node) for key, node in added if key.value not in part.values]
    if not lacking:
        return part
    values = {**part.values, **{name: node for name, _, node in lacking}}
    keys = {**part.keys, **{name: key for name, key, _ in lacking}}
    return msgspec.structs.replace(part, values=values, keys=keys)


class _Template(NamedTuple):
    """A template of the app."""

    name: str
    node: MappingNode

    def sections(self) -> Iterator[tuple[str, MappingNode]]:
        """Yield the mappings of its parts, by section."""
        for section, node in self.node.values.items():
            if section in SECTIONS and isinstance(node, MappingNode):
                yield section, node


class _Expansion:
    """The parts of an app, to which those of its templates are added."""

    def __init__(self, root: MappingNode, findings: Findings) -> None:
        self._root, self._findings = root, findings
        self._sections: dict[str, MappingNode] = {
            section: MappingNode(dict(node.values), dict(node.keys), node.line, node.column)
            for section, node in root.values.items()
            if section in SECTIONS and isinstance(node, MappingNode)
        }
        self._nodes = 0
        self._characters = 0

    def app(self) -> MappingNode:
        """Return the app of all parts."""
        values = {key: node for key, node in self._root.values.items() if key not in (TEMPLATES, DEFAULTS)}
        values |= self._sections
        places = {key: ScalarNode(key, node.line, node.column) for key, node in values.items()}
        keys = {key: self._root.keys.get(key, place) for key, place in places.items()}
        return MappingNode(values, keys, self._root.line, self._root.column)

    def add(self, template: _Template, read_file: ReadFile) -> None:
        """Add the parts of a template for each of its rows."""
        key, written = template.node.keys[FOR], template.node.values[FOR]
        assert isinstance(written, MappingNode), "the shape was checked"
        rows = rows_of(key, written, self._findings, read_file)
        if rows is None:
            return
        errors = self._findings.errors
        used = self._used(template, rows)
        rows.check_used(used, key, self._findings)
        size = sum(_size(node) - 1 for _, node in template.sections())
        if self._findings.errors > errors or not self._fits(size * rows.number, key):
            return
        for section, _ in template.sections():
            place = template.node.keys[section]
            self._sections.setdefault(section, MappingNode({}, {}, place.line, place.column))
        for row in rows.of(template.name, used):
            filler = Filler(self._findings, row)
            for section, node in template.sections():
                self._put(section, filler.parts(node))
            self._characters += filler.characters
            if self._characters > MAX_EXPANDED_CHARACTERS:
                summary = (
                    f"texts with placeholders have at most {MAX_EXPANDED_CHARACTERS:,} characters, got more"
                )
                self._findings.add("R108", key, summary, "shorten the values, or divide the app")
                return

    def add_defaults(self, defaults: MappingNode | None) -> None:
        """Add the default values of each kind to the parts without the keys."""
        if defaults is None:
            return
        for section, node in defaults.values.items():
            written = self._sections.get(section)
            if written is None or not isinstance(node, MappingNode):
                continue
            if not self._fits((_size(node) - 1) * len(written.values), defaults.keys[section]):
                return
            added = list(Filler(self._findings, RowValues({}, {}, OF_DEFAULTS)).parts(node))
            for name, part in written.values.items():
                if isinstance(part, MappingNode):
                    written.values[name] = _with(part, added)

    def _used(self, template: _Template, rows: Rows) -> frozenset[str]:
        """Return the names of a template's placeholders; report those that no row has."""
        used: set[str] = set()
        for _, section in template.sections():
            for node in placeholders(section):
                for name in names_of(node.pieces):
                    used.add(name)
                    if name not in rows.names:
                        summary = f"a placeholder names a value of `for`, got {shown(name)}"
                        self._findings.add("R130", node, summary, did_you_mean(name, rows.names, "names"))
        return frozenset(used)

    def _fits(self, nodes: int, key: ScalarNode) -> bool:
        self._nodes += nodes
        fits = self._nodes <= MAX_EXPANDED_NODES
        if not fits:
            summary = (
                f"templates and defaults make at most {MAX_EXPANDED_NODES:,} values, got {self._nodes:,}"
            )
            self._findings.add("R108", key, summary, "divide the app into several, or write smaller parts")
        return fits

    def _put(self, section: str, parts: Iterable[tuple[ScalarNode, Node]]) -> None:
        known = self._sections[section]
        for key, part in parts:
            name = str(key.value)
            first = known.keys.get(name)
            if first is None:
                known.keys[name], known.values[name] = key, part
            elif self._findings.repeats("R131", key):
                self._findings.add("R131", key, f"the names of {section} are unique", "")
            else:
                where = f"in ({first.row})" if first.row else "in the file itself"
                self._findings.add(
                    "R131",
                    key,
                    f"the names of {section} are unique, got {shown(name)} {where} and again in",
                    "put what tells the rows apart into the name",
                    (Related(at=self._findings.at(first), note="the first one is here"),),
                )
