"""Rules on the checks of datasets: who writes the rows, what a reference reads, what a query names.

What the declared columns show is judged here, as far as it needs no Spark; the run looks at all of it again
before it stages its rows (`spark_jobs.checks`).
"""

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.domain.model import (
    App,
    Check,
    Dataset,
    MatchesCheck,
    Program,
    RangeCheck,
    ReferenceCheck,
    SqlCheck,
    UniqueCheck,
    ValuesCheck,
)
from tidegate.domain.model.check import PUBLISHED, Scalar
from tidegate.domain.part_name import is_of_other
from tidegate.domain.wording import listed, shown

INTEGRAL = ("tinyint", "smallint", "int", "bigint")
FLOATING = ("float", "double")
DATED = ("date", "timestamp", "timestamp_ntz")


class Fault(NamedTuple):
    """Why a check is refused."""

    code: str
    summary: str
    hint: str


def check_checked(app: App, findings: Findings) -> None:
    """Report checks of rows that Tidegate does not write, and those that no run could judge."""
    for dataset in app.datasets.values():
        writers = [program for program in app.programs.values() if dataset.name in program.writes]
        ours = [program for program in writers if program.existing is None]
        first = next(iter(dataset.checks), None)
        if first is None or first.at is None:
            continue
        if not ours and (writers or dataset.path is not None):
            what = f"which only {writers[0].existing.title} writes" if writers and writers[0].existing else ""
            findings.add(
                "L439",
                first.at,
                f"checks judge what programs write, got {shown(dataset.name)}"
                f"{f', {what}' if what else ' with landed files'}",
                "delete `checks` and `nullable`, or give them to the output of a program that reads"
                f" {'it' if what else 'the files'}",
            )
            continue
        for check in dataset.checks:
            for fault in _faults(app, dataset, check, ours):
                if check.at is not None:
                    findings.add(fault.code, check.at, fault.summary, fault.hint)


def _faults(app: App, dataset: Dataset, check: Check, writers: list[Program]) -> Iterator[Fault]:
    match check:
        case ReferenceCheck():
            yield from _of_reference(app, check, writers)
        case SqlCheck():
            yield from _of_query(dataset, check, writers)
        case _:
            pass
    types = {column.name.lower(): column.type for column in dataset.all_columns()}
    for name, wrong in _mistyped(check, types):
        what = f"a check fits the declared columns, got {check.name}: {wrong}"
        yield Fault("V277", what, f"correct the check, or the type of the column {name}")


def _of_reference(app: App, check: ReferenceCheck, writers: list[Program]) -> Iterator[Fault]:
    for program in writers:
        if check.dataset not in program.reads:
            summary = f"{program.name} writes it, so it reads what the check {check.name} refers to, got"
            hint = f"add {check.dataset} to `reads` of {program.name}"
            yield Fault("L438", f"{summary} {shown(check.dataset)}, which it does not read", hint)
    other = None if is_of_other(check.dataset) else app.datasets.get(check.dataset)
    if other is None or not other.columns or other.on_new_column == "add":
        return
    known = [column.name.lower() for column in other.all_columns()]
    for name in check.target:
        if name.lower() not in known:
            summary = f"the check {check.name} refers to a declared column, got {shown(name)}"
            hint = f"{check.dataset} has {listed(known, 'and')}"
            yield Fault("V277", f"{summary} of {check.dataset}", hint)


def _of_query(dataset: Dataset, check: SqlCheck, writers: list[Program]) -> Iterator[Fault]:
    """Yield why the text is not a query over the tables that every writer gives it."""
    from tidegate.domain.sql.parameters import OF_EVERY_RUN
    from tidegate.domain.sql.query import judge_names, read_query

    query = read_query(check.sql)
    own = (dataset.name, f"{dataset.name}{PUBLISHED}")
    found = list(query.faults)
    if not found:
        for reads in dict.fromkeys(program.reads for program in writers) or ((),):
            found += [fault for fault in judge_names(query, (*own, *reads)) if fault not in found]
    for fault in found:
        yield Fault(fault.code, f"the check {check.name}: {fault.summary}", fault.hint)
    for name in dict.fromkeys(use.name for use in query.parameters):
        if name not in OF_EVERY_RUN:
            known = listed([f":{each}" for each in OF_EVERY_RUN])
            summary = f"the query of a check has the parameters of every run, got :{name} in {check.name}"
            yield Fault("V277", summary, f"write one of {known}, or the value itself")


def _mistyped(check: Check, types: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the columns whose declared type shows that a check cannot be judged, and why."""
    for name in check.columns_read:
        column = types.get(name.lower(), "")
        if not column:
            continue
        match check:
            case MatchesCheck() if column != "string":
                yield name, f"{name} is {column}, and only a text matches a pattern"
            case UniqueCheck() if "map<" in column:
                yield name, f"{name} is {column}, and maps cannot be compared"
            case ValuesCheck():
                wrong = [value for value in check.values[name] if not _is_value(column, value)]
                if wrong:
                    yield name, f"{shown(wrong[0])} is not a value of {column}, the type of {name}"
            case RangeCheck():
                bounds = check.range[name]
                given = [bound for bound in (bounds.min, bounds.max) if bound is not None]
                wrong = [bound for bound in given if not _is_bound(column, bound)]
                if wrong:
                    yield name, f"{name} is {column}, which cannot be compared with {shown(wrong[0])}"
            case _:
                pass


def _is_number(column: str) -> bool:
    return column in (*INTEGRAL, *FLOATING) or column.startswith("decimal")


def _is_value(column: str, value: Scalar) -> bool:
    if "<" in column:
        return False
    if isinstance(value, bool):
        return column in ("boolean", "string")
    if _is_number(column):
        number = _number(value)
        return number is not None and (column not in INTEGRAL or number == number.to_integral_value())
    return isinstance(value, str) or column == "string"


def _is_bound(column: str, bound: float | str) -> bool:
    if _is_number(column):
        return _number(bound) is not None
    return isinstance(bound, str) and column in ("string", *DATED)


def _number(value: float | str) -> Decimal | None:
    try:
        found = Decimal(value if isinstance(value, str) else repr(value))
    except InvalidOperation:
        return None
    return found if found.is_finite() else None
