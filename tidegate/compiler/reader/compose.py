"""The composer: from events of the YAML parser to nodes, within limits.

The events come from PyYAML's C parser. PyYAML's own composer is not used, since it resolves aliases and
YAML 1.1 scalars and has no limits. Surprising features of YAML are refused with their place: anchors,
aliases, merge keys, tags, directives, several documents, duplicate keys, keys that are not strings.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import yaml

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.compiler.reader.node import (
    MappingNode,
    Node,
    PlaceholderNode,
    ScalarNode,
    SequenceNode,
    plain,
)
from tidegate.compiler.reader.placeholders import PlaceholderError, pieces_of
from tidegate.compiler.reader.scalar import ScalarError, resolve, resolve_option, with_variables
from tidegate.compiler.reader.syntax import MarkPlace, report_syntax
from tidegate.compiler.reader.text import decode
from tidegate.domain.model import At
from tidegate.domain.variables import names_in
from tidegate.domain.wording import shown

MAX_DEPTH = 64
"""Levels of mappings and lists; an app needs fewer than 20, and 64 is safe for every recursion here."""

MAX_NODES = 100_000
"""Scalars, lists and mappings of a file; 1 MiB of ordinary YAML has fewer."""

MAX_KEY_CHARACTERS = 200
"""A longer key is most likely text in the wrong place."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ANCHOR_HINT = "write the value out in each place; most keys have a default and may be left out"


class _Stop(Exception):
    """Stops the composition of a file after an error that prevents reading on."""


def read(
    file: str, data: bytes, variables: Mapping[str, str] | None = None
) -> tuple[MappingNode | None, Findings]:
    """Read one file.

    Args:
        variables: the values of `${env.NAME}` by name.

    Returns:
        The tree of the file's one mapping, or None if the findings hold an error.
    """
    text, findings = decode(file, data)
    if text is None:
        return None, findings
    root = _Composer(findings, text, variables or {}).sound_document()
    if root is None:
        return None, findings
    if not isinstance(root, MappingNode):
        got = "a list" if isinstance(root, SequenceNode) else "text"
        findings.add(
            "R115",
            root,
            f"a file holds one mapping that begins with `app:`, got {got}",
            _START_HINT,
        )
        return None, findings
    return root, findings


_START_HINT = "begin with `app: NAME`; `tidegate schema` prints all keys"


def read_option(text: str) -> tuple[Any, Findings]:
    """Read a value of an option of the command line, which may be of any kind.

    It means what it means in a file, except that it has no variables and that `007` stays a text.

    Returns:
        The value as builtin values; None where the findings hold an error.
    """
    decoded, findings = decode("value", text.encode("utf-8", "surrogateescape"))
    if decoded is None or not decoded.strip():
        return None, findings
    root = _Composer(findings, decoded, None, resolve_option).sound_document()
    return (None if root is None else plain(root)), findings


def read_list(file: str, data: bytes, max_bytes: int, max_nodes: int) -> tuple[SequenceNode | None, Findings]:
    """Read a file that is a list and not an app, without variables and placeholders.

    Returns:
        Its list, or None if the findings hold an error, or if it is not a list.
    """
    text, findings = decode(file, data, max_bytes)
    if text is None:
        return None, findings
    root = _Composer(findings, text, None, max_nodes=max_nodes).sound_document()
    return (root if isinstance(root, SequenceNode) else None), findings


class _Composer:
    def __init__(
        self,
        findings: Findings,
        text: str,
        variables: Mapping[str, str] | None,
        scalar: Callable[[str], Any] = resolve,
        max_nodes: int = MAX_NODES,
    ) -> None:
        self._max_nodes = max_nodes
        self._findings = findings
        self._variables = variables
        self._resolve = scalar
        self._events: Iterator[Any] = iter(cast("Any", yaml).parse(text, Loader=_LOADER))
        self._nodes = 0

    def sound_document(self) -> Node | None:
        """Return the tree of the file; None if the findings hold an error."""
        try:
            root = self._document()
        except _Stop:
            return None
        except yaml.YAMLError as error:
            report_syntax(self._findings, error)
            return None
        return None if self._findings.failed else root

    def _document(self) -> Node:
        next(self._events)  # stream start
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            place = At(file=self._findings.file, line=1, column=1)
            self._findings.add("R115", place, "a file holds one app, got an empty file", _START_HINT)
            raise _Stop
        if event.version or event.tags:
            self._findings.add(
                "R114",
                MarkPlace(event.start_mark),
                "a file holds no directives, got a line that begins with %",
                "delete the line: every file is read as YAML 1.2",
            )
        root = self._node(next(self._events), 1)
        next(self._events)  # document end
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            self._findings.add(
                "R114",
                MarkPlace(after.start_mark),
                "a file holds one document, got a second one",
                "put each app into a file of its own",
            )
            raise _Stop
        return root

    def _node(self, event: Any, depth: int, *, is_key: bool = False) -> Node:
        self._count(event)
        if isinstance(event, yaml.AliasEvent):
            self._findings.add(
                "R109",
                MarkPlace(event.start_mark),
                f"aliases are not allowed, got *{shown(event.anchor)[1:-1]}",
                _ANCHOR_HINT,
            )
            return ScalarNode(None, event.start_mark.line + 1, event.start_mark.column + 1)
        if event.anchor is not None:
            self._findings.add(
                "R109",
                MarkPlace(event.start_mark),
                f"anchors are not allowed, got &{shown(event.anchor)[1:-1]}",
                _ANCHOR_HINT,
            )
        if event.tag is not None:
            self._findings.add(
                "R113",
                MarkPlace(event.start_mark),
                f"tags are not allowed, got {shown(event.tag)}",
                "delete the tag; quote the value to make it a string",
            )
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, is_key=is_key)
        if depth > MAX_DEPTH:
            self._findings.add(
                "R107",
                MarkPlace(event.start_mark),
                f"lists and mappings nest at most {MAX_DEPTH} deep, got {depth}",
                "flatten the value; a trigger needs no more than a few levels",
            )
            raise _Stop
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(event, depth)
        return self._mapping(event, depth)

    def _count(self, event: Any) -> None:
        self._nodes += 1
        if self._nodes > self._max_nodes:
            self._findings.add(
                "R108",
                MarkPlace(event.start_mark),
                f"a file holds at most {self._max_nodes} values, got more",
                "split the app into several files, one app each",
            )
            raise _Stop

    def _scalar(self, event: Any, *, is_key: bool) -> ScalarNode:
        start, end = event.start_mark, event.end_mark
        last = end.column + 1 if end.line == start.line else 0
        value: Any = event.value
        if self._variables is not None and "${" in value:
            pieces = self._pieces(value, self._variables, MarkPlace(start), is_key=is_key)
            if len(pieces) > 1:
                return PlaceholderNode(
                    value,
                    start.line + 1,
                    start.column + 1,
                    last,
                    pieces=pieces,
                    unquoted=event.implicit[0],
                )
            value = "".join(pieces)
        if event.implicit[0]:
            try:
                value = self._resolve(value)
            except ScalarError as error:
                self._findings.add(error.code, MarkPlace(start), error.message, error.hint)
                value = None
        return ScalarNode(value, start.line + 1, start.column + 1, last)

    def _pieces(
        self, text: str, variables: Mapping[str, str], place: MarkPlace, *, is_key: bool
    ) -> tuple[str, ...]:
        """Return the pieces of a text, see `pieces_of`; its variables are replaced now, except in a key."""
        try:
            found = pieces_of(text)
        except PlaceholderError as error:
            self._findings.add("R122", place, error.message, error.hint)
            return (text,)
        return tuple(
            with_variables(piece, variables, self._findings, place)
            if not is_key and position % 2 == 0 and "${env." in piece
            else piece
            for position, piece in enumerate(found)
        )

    def _sequence(self, event: Any, depth: int) -> SequenceNode:
        items: list[Node] = []
        start = event.start_mark
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event, depth + 1))
        return SequenceNode(tuple(items), start.line + 1, start.column + 1)

    def _mapping(self, event: Any, depth: int) -> MappingNode:
        values: dict[str, Node] = {}
        keys: dict[str, ScalarNode] = {}
        start = event.start_mark
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, depth + 1, is_key=True)
            value = self._node(next(self._events), depth + 1)
            if self._usable(key, event, keys) and isinstance(key, ScalarNode) and isinstance(key.value, str):
                keys[key.value] = key
                values[key.value] = value
        return MappingNode(values, keys, start.line + 1, start.column + 1)

    def _usable(self, key: Node, event: Any, keys: dict[str, ScalarNode]) -> bool:
        """Return whether a key is allowed at its place; report one that is not."""
        add = self._findings.add
        if isinstance(event, yaml.AliasEvent):
            return False
        if not isinstance(key, ScalarNode) or not isinstance(key.value, str):
            got = shown(key.value) if isinstance(key, ScalarNode) else "a list or mapping"
            hint = (
                f'write it in quotes: "{event.value[:20]}"'
                if isinstance(key, ScalarNode)
                else 'use a plain name; write a reference in quotes, such as "{{ business_date }}"'
            )
            add("R112", key, f"a key must be a string, got {got}", hint)
            return False
        if key.value == "<<" and event.implicit[0]:
            add(
                "R110",
                key,
                "merge keys are not allowed, got <<",
                "write out the keys of the merged mapping",
            )
            return False
        if names_in(key.value):
            add(
                "R122",
                key,
                f"a key is a name without variables, got {shown(key.value)}",
                "write the name; variables are for values",
            )
            return False
        if len(key.value) > MAX_KEY_CHARACTERS:
            add(
                "R112",
                key,
                f"a key has at most {MAX_KEY_CHARACTERS} characters, got {len(key.value)}",
                "shorten it; put long text into a value such as `description`",
            )
            return False
        first = keys.get(key.value)
        if first is not None:
            related = (Related(at=self._findings.at(first), note="the first one is here"),)
            summary = f"the keys of a mapping are unique, got {shown(key.value)} again"
            add("R111", key, summary, "delete one of the two, or rename it", related)
            return False
        return True
