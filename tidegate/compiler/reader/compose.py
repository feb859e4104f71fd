"""The composer: from events of the YAML parser to nodes, within limits.

The events come from PyYAML's C parser. PyYAML's own composer is not used, since it resolves aliases and
YAML 1.1 scalars and has no limits. Surprising features of YAML are refused with their place: anchors,
aliases, merge keys, tags, directives, several documents, duplicate keys, keys that are not strings.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import yaml

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, SequenceNode, plain
from tidegate.compiler.reader.scalar import ScalarError, resolve, resolve_option, with_variables
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
MAX_SHOWN_REST = 20
"""Quoted characters of the text at which the parser stopped."""

_ANCHOR_HINT = "write the value out in each place; most keys have a default and may be left out"


class _Stop(Exception):
    """Stops the composition of a file after an error that prevents reading on."""


class _Place:
    """A mark of the parser, which counts from 0, as a place."""

    __slots__ = ("column", "line")

    def __init__(self, mark: Any) -> None:
        self.line: int = mark.line + 1
        self.column: int = mark.column + 1


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
    composer = _Composer(findings, text, variables or {})
    try:
        root = composer.document()
    except _Stop:
        return None, findings
    except yaml.YAMLError as error:
        _report_syntax(findings, error)
        return None, findings
    if findings.failed:
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
    composer = _Composer(findings, decoded, None, resolve_option)
    try:
        root = composer.document()
    except _Stop:
        return None, findings
    except yaml.YAMLError as error:
        _report_syntax(findings, error)
        return None, findings
    return (None if findings.failed else plain(root)), findings


class _Composer:
    def __init__(
        self,
        findings: Findings,
        text: str,
        variables: Mapping[str, str] | None,
        scalar: Callable[[str], Any] = resolve,
    ) -> None:
        self._findings = findings
        self._variables = variables
        self._resolve = scalar
        self._events: Iterator[Any] = iter(cast("Any", yaml).parse(text, Loader=_LOADER))
        self._nodes = 0

    def document(self) -> Node:
        next(self._events)  # stream start
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            place = At(file=self._findings.file, line=1, column=1)
            self._findings.add("R115", place, "a file holds one app, got an empty file", _START_HINT)
            raise _Stop
        if event.version or event.tags:
            self._findings.add(
                "R114",
                _Place(event.start_mark),
                "a file holds no directives, got a line that begins with %",
                "delete the line: every file is read as YAML 1.2",
            )
        root = self._node(next(self._events), 1)
        next(self._events)  # document end
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            self._findings.add(
                "R114",
                _Place(after.start_mark),
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
                _Place(event.start_mark),
                f"aliases are not allowed, got *{shown(event.anchor)[1:-1]}",
                _ANCHOR_HINT,
            )
            return ScalarNode(None, event.start_mark.line + 1, event.start_mark.column + 1)
        if event.anchor is not None:
            self._findings.add(
                "R109",
                _Place(event.start_mark),
                f"anchors are not allowed, got &{shown(event.anchor)[1:-1]}",
                _ANCHOR_HINT,
            )
        if event.tag is not None:
            self._findings.add(
                "R113",
                _Place(event.start_mark),
                f"tags are not allowed, got {shown(event.tag)}",
                "delete the tag; quote the value to make it a string",
            )
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, is_key=is_key)
        if depth > MAX_DEPTH:
            self._findings.add(
                "R107",
                _Place(event.start_mark),
                f"lists and mappings nest at most {MAX_DEPTH} deep, got {depth}",
                "flatten the value; a trigger needs no more than a few levels",
            )
            raise _Stop
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(event, depth)
        return self._mapping(event, depth)

    def _count(self, event: Any) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self._findings.add(
                "R108",
                _Place(event.start_mark),
                f"a file holds at most {MAX_NODES} values, got more",
                "split the app into several files, one app each",
            )
            raise _Stop

    def _scalar(self, event: Any, *, is_key: bool) -> ScalarNode:
        start, end = event.start_mark, event.end_mark
        last = end.column + 1 if end.line == start.line else 0
        value: Any = event.value
        if self._variables is not None and "${env." in value and not is_key:
            value = with_variables(value, self._variables, self._findings, _Place(start))
        if event.implicit[0]:
            try:
                value = self._resolve(value)
            except ScalarError as error:
                self._findings.add(error.code, _Place(start), error.message, error.hint)
                value = None
        return ScalarNode(value, start.line + 1, start.column + 1, last)

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


def _report_syntax(findings: Findings, error: yaml.YAMLError) -> None:
    """Return the parser's own complaint, with its place."""
    mark: Any = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    place = _Place(mark) if mark is not None else At(file=findings.file, line=1, column=1)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
    context, begun = getattr(error, "context", None), getattr(error, "context_mark", None)
    related = (
        (Related(at=findings.at(_Place(begun)), note=f"{context} that begins here"),)
        if context and begun
        else ()
    )
    rest = findings.line(place.line)[place.column - 1 :].strip()[:MAX_SHOWN_REST]
    end = "the end of the line" if findings.line(place.line + 1) else "the end of the file"
    got = shown(rest) if rest else end
    findings.add(
        "R106", place, f"this is not YAML: {problem}, got {got}", _syntax_hint(str(problem)), related
    )


def _syntax_hint(problem: str) -> str:
    if "mapping values are not allowed" in problem:
        return "look for a missing line end or wrong indentation, or quote a value that contains a colon"
    if "cannot start any token" in problem:
        return "quote the value: @, ` and % cannot begin a plain one"
    if "block end" in problem or "expected key" in problem:
        return "look at the indentation here and in the line above"
    return "look for a missing quote, bracket or colon here or in the line above"
