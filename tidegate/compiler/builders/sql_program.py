"""The builder of the queries of SQL programs (`sql`): their files, their tables, and what is refused in them.

A fault of a query is a diagnostic in its `.sql` file, at the first character of the wrong token. The text
becomes part of the app, so that a deployment has it. `domain.sql` parses, and is imported only here and in
runs, where there is a query.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import SqlQuery
from tidegate.domain.wording import plural, shown

if TYPE_CHECKING:
    from tidegate.domain.sql.fault import Fault
    from tidegate.domain.sql.query import Query

MAX_SQL_BYTES = 262_144
"""A text of this size is deployed, read by each tick of its app and shown by plan; split what is larger."""


def build_sql(node: MappingNode, reads: tuple[ScalarNode, ...], scope: Scope) -> tuple[SqlQuery, ...]:
    """Build the queries of a program that has `sql`.

    Args:
        reads: the names of the datasets that it reads.
    """
    files = list(_files(node, scope))
    tables = [scope.name_of(name) for name in reads]
    found: list[SqlQuery] = []
    used: set[str] = set()
    complete = bool(files)
    for output, place in files:
        earlier = [query.output for query in found]
        text = _text(place, scope)
        query = None if text is None else _judged(place, text, [*tables, *earlier], scope)
        complete = complete and query is not None
        used |= set() if query is None else {table.name.lower() for table in query.tables}
        found.append(SqlQuery(output=output, file=str(place.value), text=text or ""))
    _check_outputs(node, [scope.name_of(name) for name in node.strings("writes")], tables, scope)
    for name in reads if complete else ():
        if scope.name_of(name) not in used:
            which = "query uses" if len(files) == 1 else "queries use"
            summary = f"a read is a table that the {which}, got {shown(name.value)} without a use"
            scope.findings.add("Q106", name, summary, "delete it from `reads`, or use it in the query")
    return tuple(found)


def _files(node: MappingNode, scope: Scope) -> Iterator[tuple[str, ScalarNode]]:
    """Yield the outputs of a program with the places of their files, in the order of the YAML."""
    one, several = node.get("sql"), node.mapping("sql")
    if isinstance(one, ScalarNode):
        writes = node.strings("writes")
        if len(writes) != 1:
            got = plural(len(writes), "output")
            summary = f"a file makes the rows of one output, got {got} under `writes`"
            hint = "write `sql: {daily: a.sql, weekly: b.sql}`, with a file for each output"
            scope.findings.add("V264", one, summary, hint if writes else "name its output under `writes`")
        yield (scope.name_of(writes[0]) if writes else ""), one
    for output, place in several.values.items() if several is not None else ():
        if isinstance(place, ScalarNode):
            yield output, place


def _check_outputs(node: MappingNode, writes: list[str], reads: list[str], scope: Scope) -> None:
    """Report outputs without a query and queries without an output, and a read that an output would hide."""
    several = node.mapping("sql")
    if several is None:
        return
    for output, key in several.keys.items():
        if output not in writes:
            summary = f"each query of `sql` makes an output under `writes`, got {shown(output)}"
            scope.findings.add("V264", key, summary, f"outputs here: {', '.join(writes) or 'none'}")
    for name in node.strings("writes"):
        if scope.name_of(name) not in several.values:
            summary = f"each output has a file in `sql`, got {shown(name.value)} without one"
            hint = f"add for example {name.value}: {name.value}.sql to `sql`"
            scope.findings.add("V264", name, summary, hint)
    for output in list(several.keys)[:-1]:
        if output in reads:
            summary = f"an earlier output is a table for later ones, got {shown(output)} under `reads` too"
            hint = "make it the last one, delete it from `reads`, or make two programs of it"
            scope.findings.add("Q110", several.keys[output], summary, hint)


def _text(place: ScalarNode, scope: Scope) -> str | None:
    """Return the text of a file; report one that cannot be read."""
    file = scope.read_file(str(place.value))
    text = file.text()
    fault = file.fault
    if not fault and len(file.content) > MAX_SQL_BYTES:
        fault = f"a file of more than {MAX_SQL_BYTES // 1024} KiB"
    fault = fault or ("a file that is not UTF-8" if text is None else "")
    if not fault and not (text or "").strip():
        fault = "an empty file"
    if not fault:
        return text
    summary = f"`sql` names a file of the project that holds a query, got {shown(place.value)}: {fault}"
    hint = "the path begins at the folder of the project, and does not leave it"
    scope.findings.add("Q101", place, summary, hint)
    return None


def _judged(place: ScalarNode, text: str, tables: list[str], scope: Scope) -> "Query | None":
    """Return what a query names; report its faults, and return None if it has some."""
    from tidegate.domain.sql.query import judge_names, read_query

    query = read_query(text)
    faults = query.faults or tuple(judge_names(query, tables))
    findings = sql_findings(str(place.value), text, scope)
    for fault in faults:
        if fault.code == "Q101":
            summary = f"`sql` names a file that holds a query, got {shown(place.value)} without one"
            scope.findings.add("Q101", place, summary, fault.hint)
        else:
            add_fault(findings, text, fault)
    return None if faults else query


def sql_findings(path: str, text: str, scope: Scope) -> Findings:
    """Return the collector of the diagnostics in a `.sql` file."""
    return scope.findings.of_file(scope.read_file(path).name, text)


def add_fault(findings: Findings, text: str, fault: "Fault") -> None:
    """Add a fault as a diagnostic at its place in the text."""
    from tidegate.domain.sql.fault import place_in

    place = place_in(text, fault.start, fault.end)
    findings.add(fault.code, place, fault.summary, fault.hint)
