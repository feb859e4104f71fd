"""The builder of the checks of a dataset: `checks:` is a list, each entry with one kind.

Reported here are names that two checks have, and bounds that nothing is within. What needs the rows, such as
a column that the output does not have, is found before a run stages them (`spark_jobs.checks`).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from tidegate.compiler.reader.node import MappingNode, Node, plain
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.commits import Severity
from tidegate.domain.model import (
    At,
    Bounds,
    ChangeCheck,
    Check,
    MatchesCheck,
    NotNullCheck,
    RangeCheck,
    ReferenceCheck,
    RowsCheck,
    RunCheck,
    SqlCheck,
    UniqueCheck,
    ValuesCheck,
)
from tidegate.domain.model.check import default_name
from tidegate.domain.part_name import name_in
from tidegate.domain.wording import plural, shown


class Head(NamedTuple):
    """What checks of every kind have."""

    name: str
    severity: Severity
    at: At


def build_checks(node: MappingNode, scope: Scope) -> tuple[Check, ...]:
    """Build the checks of a dataset, and report names that two of them have."""
    found: list[Check] = []
    for entry in node.items("checks"):
        if not isinstance(entry, MappingNode):
            continue
        kind = next((key for key in entry.values if key in KINDS), None)
        if kind is None:
            continue
        written = entry.values[kind]
        name = entry.text("name") or default_name(kind, plain(written))
        earlier = next((check for check in found if check.name == name), None)
        if earlier is not None:
            scope.findings.add(
                "V276",
                entry.values.get("name", entry.keys[kind]),
                f"the name of a check is unique, got {shown(name)} again, after that of line"
                f" {earlier.at.line if earlier.at else '?'}",
                "give one of the two another `name`, or delete it",
            )
            continue
        _check_bounds(kind, written, scope)
        _check_pairs(kind, written, scope)
        severity: Severity = "warn" if entry.text("severity") == "warn" else "block"
        value = plain(written)
        if kind == "reference":
            value = {**value, "dataset": name_in(scope.app, value["dataset"])}
        found.append(KINDS[kind](value, Head(name, severity, scope.at(entry.keys[kind]))))
    return tuple(found)


def _check_bounds(kind: str, written: Node, scope: Scope) -> None:
    """Report a `min` above its `max`."""
    if not isinstance(written, MappingNode) or kind not in ("rows", "range"):
        return
    for node in (written,) if kind == "rows" else written.values.values():
        if not isinstance(node, MappingNode) or node.values.keys() < {"min", "max"}:
            continue
        least, most = plain(node.values["min"]), plain(node.values["max"])
        numbers = isinstance(least, int | float) and isinstance(most, int | float)
        if numbers and least > most:
            scope.findings.add(
                "V275",
                node.values["min"],
                f"`min` is at most `max`, got {shown(least)} and {shown(most)}, so every row fails",
                "exchange the two",
            )


def _check_pairs(kind: str, written: Node, scope: Scope) -> None:
    """Report a reference whose columns are more or fewer than those that they refer to."""
    if kind != "reference" or not isinstance(written, MappingNode) or "to" not in written.values:
        return
    columns, to = written.items("columns"), written.items("to")
    if len(columns) != len(to):
        scope.findings.add(
            "V277",
            written.keys["to"],
            f"a column refers to one column, got {plural(len(columns), 'column')} and {len(to)} under `to`",
            "list under `to` as many, in the same order",
        )


def _rows(written: Any, head: Head) -> Check:
    return RowsCheck(**head._asdict(), min=written.get("min"), max=written.get("max"))


def _range(written: Any, head: Head) -> Check:
    return RangeCheck(**head._asdict(), range={column: Bounds(**of) for column, of in written.items()})


def _values(written: Any, head: Head) -> Check:
    return ValuesCheck(**head._asdict(), values={column: tuple(of) for column, of in written.items()})


def _reference(written: Any, head: Head) -> Check:
    columns, to = tuple(written["columns"]), tuple(written.get("to", ()))
    return ReferenceCheck(**head._asdict(), columns=columns, dataset=written["dataset"], to=to)


KINDS: dict[str, Callable[[Any, Head], Check]] = {
    "rows": _rows,
    "not_null": lambda written, head: NotNullCheck(**head._asdict(), columns=tuple(written)),
    "unique": lambda written, head: UniqueCheck(**head._asdict(), columns=tuple(written)),
    "values": _values,
    "range": _range,
    "matches": lambda written, head: MatchesCheck(**head._asdict(), matches=written),
    "change": lambda written, head: ChangeCheck(**head._asdict(), **written),
    "reference": _reference,
    "sql": lambda written, head: SqlCheck(**head._asdict(), sql=written),
    "run": lambda written, head: RunCheck(**head._asdict(), run=written),
}
