"""The rows of a template: what its `for` says, from lists or from a file.

Of several lists it is the product, in which the last one varies fastest.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.expansion.table import (
    MAX_FILE_BYTES,
    MAX_ROWS,
    SUFFIXES,
    VALUE_HINT,
    Table,
    kind_fault,
    table_of,
    text_of,
    value_fault,
)
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, SequenceNode
from tidegate.compiler.scope.project_files import ReadFile
from tidegate.domain.wording import listed, shown

ROWS = "rows"
"""The key below `for` that names a file."""

MAX_LABELLED = 6
MAX_LABEL_CHARACTERS = 40
"""A message names a row by its first values, and the beginning of each."""


class RowValues(NamedTuple):
    """The values of one row.

    Attributes:
        texts: by name.
        values: the same with their types, where a text has no quotes (JSON); else none.
        label: how messages name the row.
    """

    texts: dict[str, str]
    values: Mapping[str, Any]
    label: str


class Rows(NamedTuple):
    """The rows of a template.

    Attributes:
        names: of the placeholders.
        number: how many rows there are.
        file: the file that was read; "" for lists.
    """

    names: tuple[str, ...]
    number: int
    lists: Sequence[Sequence[tuple[str, Any]]] = ()
    table: Table | None = None
    file: str = ""

    def of(self, template: str, used: frozenset[str]) -> Iterator[RowValues]:
        """Yield the rows; of a file a message names the columns that the template uses."""
        if self.table is not None:
            named = [name for name in self.names if name in used] or list(self.names[:1])
            for row in self.table.rows:
                yield RowValues(row.values, {}, _label(template, named, row.values))
            return
        for chosen in product(*self.lists):
            texts = dict(zip(self.names, (text for text, _ in chosen), strict=True))
            values = dict(zip(self.names, (value for _, value in chosen), strict=True))
            yield RowValues(texts, values, _label(template, self.names, texts))

    def check_used(self, used: frozenset[str], key: ScalarNode, findings: Findings) -> None:
        """Report rows of a list of mappings without a value that the template uses."""
        rows = self.table.rows if self.table is not None else []
        lacking = [
            (row.line, name) for row in rows for name in used if name in self.names and name not in row.values
        ]
        if lacking:
            line, name = lacking[0]
            more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
            summary = f"each row has a value of `{name}`, got none in line {line} of {self.file}{more}"
            findings.add("R134", key, summary, 'add it there; an empty text is ""')


def _label(template: str, names: Sequence[str], texts: Mapping[str, str]) -> str:
    found = (f"{name}={_cut(texts.get(name, ''))}" for name in names[:MAX_LABELLED])
    more = ", …" if len(names) > MAX_LABELLED else ""
    return f"{template}: {', '.join(found)}{more}"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_LABEL_CHARACTERS else f"{text[:MAX_LABEL_CHARACTERS]}…"


def rows_of(key: ScalarNode, node: MappingNode, findings: Findings, read_file: ReadFile) -> Rows | None:
    """Return the rows of a `for`; None with what is wrong.

    Args:
        key: of the `for`.
        read_file: returns the files of the project.
    """
    named = node.values.get(ROWS)
    if named is None:
        found = _of_lists(node, findings)
    elif len(node.values) > 1:
        summary = f"`for` has `{ROWS}` or lists, got both"
        findings.add("S110", node.keys[ROWS], summary, "write the values of the lists into the file")
        return None
    else:
        found = _of_file(named, findings, read_file)
    if found is not None and not 0 < found.number <= MAX_ROWS:
        got = "none" if not found.number else f"{found.number:,}"
        where = f" in {found.file}" if found.file else ""
        summary = f"a template has from 1 to {MAX_ROWS:,} rows, got {got}{where}"
        hint = "delete the template, or give it a row" if not found.number else "divide the template"
        findings.add("R133", named or key, summary, hint)
        return None
    return found


def _of_lists(node: MappingNode, findings: Findings) -> Rows | None:
    lists: list[list[tuple[str, Any]]] = []
    errors = findings.errors
    for name, values in node.values.items():
        if isinstance(values, SequenceNode):
            lists.append([_value(each, findings) for each in values.items])
        else:
            summary = f"`{name}` must be a list of values, got {_got(values)}"
            findings.add("S104", values, summary, "write for example [berlin, oslo]")
    if findings.errors > errors:
        return None
    number = math.prod(map(len, lists)) if lists else 0
    return Rows(tuple(node.values), number, lists)


def _value(node: Node, findings: Findings) -> tuple[str, Any]:
    text = text_of(node, findings)
    fault = kind_fault(node) if text is None else value_fault(text)
    if fault is not None:
        findings.add("R134", node, fault, VALUE_HINT)
    return text or "", node.value if isinstance(node, ScalarNode) else None


def _got(node: Node) -> str:
    return shown(node.value) if isinstance(node, ScalarNode) else "a mapping"


def _of_file(node: Node, findings: Findings, read_file: ReadFile) -> Rows | None:
    if not isinstance(node, ScalarNode) or not isinstance(node.value, str):
        got = "a list" if isinstance(node, SequenceNode) else _got(node)
        findings.add(
            "S104", node, f"`{ROWS}` must be the name of a file, got {got}", "write for example feeds.csv"
        )
        return None
    path = node.value
    if not path.lower().endswith(SUFFIXES):
        summary = f"rows are in a file {listed(SUFFIXES)}, got {shown(path)}"
        findings.add("R132", node, summary, "write them as CSV or YAML")
        return None
    file = read_file(path, beside=findings.file, max_bytes=MAX_FILE_BYTES)
    if file.fault:
        summary = f"the file of rows is in the project and can be read, got {shown(path)}: {file.fault}"
        hint = "name a file inside the project, relative to the file that names it or to the project's folder"
        findings.add("R132", node, summary, hint)
        return None
    table = table_of(file, findings.at(node), findings)
    return None if table is None else Rows(table.names, len(table.rows), table=table, file=file.name)
