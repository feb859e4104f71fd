"""A file of rows as a table: CSV with a header line, or YAML with a list of flat mappings.

What is wrong with it has its place in that file. A value is text; that of a number is what is written.
"""

from collections.abc import Iterator
from typing import NamedTuple

from tidegate.compiler.diagnostics.diagnostic import Findings, Place, Related
from tidegate.compiler.expansion.csv_rows import Field, Malformed, records
from tidegate.compiler.reader.compose import read_list
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.compiler.reader.text import decode, suspect_character
from tidegate.compiler.scope.project_files import ProjectFile
from tidegate.domain.model import At
from tidegate.domain.wording import plural, shown

MAX_ROWS = 100_000
"""Of a file, or of the product of lists. People cannot look after an app with more parts."""

MAX_FILE_BYTES = 64 * 1024 * 1024
"""100,000 rows of 600 bytes."""

MAX_YAML_NODES = 3_000_000
"""100,000 rows of ten columns, keys included, and some."""

MAX_VALUE_CHARACTERS = 1_000
"""A longer value is most likely text in the wrong column."""

SUFFIXES = (".csv", ".yaml", ".yml")


class Row(NamedTuple):
    """The values of a row by column, and the line where it begins."""

    values: dict[str, str]
    line: int


class Table(NamedTuple):
    """The columns and the rows of a file."""

    names: tuple[str, ...]
    rows: list[Row]


def table_of(file: ProjectFile, named_at: At, findings: Findings) -> Table | None:
    """Return the table of a file; None with what is wrong, at its place in that file.

    Args:
        named_at: where the template names the file.
        findings: of the YAML file.
    """
    if file.name.lower().endswith(".csv"):
        return _of_csv(file, named_at, findings)
    root, read = read_list(file.name, file.content, MAX_FILE_BYTES, MAX_YAML_NODES)
    wrong = _Wrong(findings.of_file(file.name, read.text), named_at)
    if root is None:
        if not wrong.malformed(read):
            place = At(file=file.name, line=1, column=1)
            summary = "the rows are a list of mappings, got something else"
            wrong.add(place, summary, "begin with `- NAME: …`")
        return None
    rows = [row for row in (_mapping(node, read, wrong) for node in root.items) if row is not None]
    if wrong.failed:
        return None
    return Table(tuple(dict.fromkeys(name for row in rows for name in row.values)), rows)


def value_fault(text: str) -> str | None:
    """Return what is wrong with a value, in words; None for a good one."""
    if len(text) > MAX_VALUE_CHARACTERS:
        return f"a value has at most {MAX_VALUE_CHARACTERS:,} characters, got {len(text):,}"
    if "\n" in text or "\r" in text:
        return f"a value has no line ends, got {shown(text)}"
    character = None if text.isascii() and text.isprintable() else suspect_character(text)
    if character is not None:
        return f"a value has no invisible characters, got U+{ord(character):04X} in {shown(text)}"
    return None


VALUE_HINT = "write a short text, a number, `true` or `false`"


class _Wrong:
    """What is wrong with a file of rows; each message also has the place that names the file."""

    def __init__(self, findings: Findings, named_at: At) -> None:
        self._findings = findings
        self._related = (Related(at=named_at, note="the template reads the file here"),)

    @property
    def failed(self) -> bool:
        return self._findings.failed

    def add(self, place: Place, summary: str, hint: str, code: str = "R132") -> None:
        self._findings.add(code, place, summary, hint, self._related)

    def malformed(self, read: Findings) -> bool:
        """Add the first error of a reader; return whether there is one."""
        first = next((each for each in read.diagnostics() if each.severity == "error"), None)
        if first is not None:
            self.add(first.at, f"the file of rows is malformed: {first.summary}", first.hint)
        return first is not None


def _of_csv(file: ProjectFile, named_at: At, findings: Findings) -> Table | None:
    text, read = decode(file.name, file.content, MAX_FILE_BYTES)
    wrong = _Wrong(findings.of_file(file.name, read.text), named_at)
    if text is None:
        wrong.malformed(read)
        return None
    places = _Places(text, file.name)
    table = None
    try:
        table = _table(text, places, wrong)
    except Malformed as error:
        wrong.add(places.at(error.offset), error.message, error.hint)
    return None if wrong.failed else table


class _Places:
    """The lines of offsets that only grow."""

    def __init__(self, text: str, file: str) -> None:
        self._text, self._file = text, file
        self._line, self._begins = 1, 0

    def at(self, offset: int) -> At:
        """Return the place of an offset."""
        lines = self._text.count("\n", self._begins, offset)
        if lines:
            self._line += lines
            self._begins = self._text.rindex("\n", 0, offset) + 1
        return At(file=self._file, line=self._line, column=offset - self._begins + 1)


def _table(text: str, places: _Places, wrong: _Wrong) -> Table | None:
    read = records(text)
    header = next(read, None)
    if header is None:
        wrong.add(places.at(0), "a file of rows has a header line, got an empty file", "name the columns")
        return None
    for field in header:
        if not field.text or sum(each.text == field.text for each in header) > 1:
            summary = f"the columns of a header have different names, got {shown(field.text)}"
            wrong.add(places.at(field.offset), summary, "give each column a name of its own")
            return None
    names = tuple(field.text for field in header)
    rows: list[Row] = []
    for record in read:
        at = places.at(record[0].offset)
        if len(record) != len(names):
            summary = f"a row has a field for each of the {plural(len(names), 'column')}, got {len(record)}"
            wrong.add(at, summary, "add or delete commas; a field that has one is in quotes")
            return None
        _check(record, places, wrong)
        rows.append(Row({name: field.text for name, field in zip(names, record, strict=True)}, at.line))
    return Table(names, rows)


def _check(record: list[Field], places: _Places, wrong: _Wrong) -> None:
    for field in record:
        fault = value_fault(field.text)
        if fault is not None:
            wrong.add(places.at(field.offset), fault, VALUE_HINT, "R134")


def _mapping(node: Node, read: Findings, wrong: _Wrong) -> Row | None:
    if not isinstance(node, MappingNode):
        wrong.add(node, "the rows are a list of mappings, got another member", "write `- NAME: …`")
        return None
    return Row(dict(_values(node, read, wrong)), node.line)


def _values(node: MappingNode, read: Findings, wrong: _Wrong) -> Iterator[tuple[str, str]]:
    for name, value in node.values.items():
        text = text_of(value, read)
        fault = kind_fault(value) if text is None else value_fault(text)
        if fault is not None:
            wrong.add(value, fault, VALUE_HINT, "R134")
        yield name, text or ""


def kind_fault(node: Node) -> str:
    """Return what is wrong with a value that is not a text, in words."""
    got = (
        "null" if isinstance(node, ScalarNode) else "a mapping" if isinstance(node, MappingNode) else "a list"
    )
    return f"a value is text, got {got}"


def text_of(node: Node, findings: Findings) -> str | None:
    """Return the text of a value as it is written; None for null, a list or a mapping."""
    if not isinstance(node, ScalarNode) or node.value is None:
        return None
    if isinstance(node.value, str):
        return node.value
    written = findings.text_at(node)
    if written and "$" not in written:
        return written
    return str(node.value).lower() if isinstance(node.value, bool) else str(node.value)
