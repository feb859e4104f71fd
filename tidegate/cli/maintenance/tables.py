"""`tidegate maintenance tables`: the health and the debt of all tables, in a chosen order."""

from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidegate.cli.printing import NUMBER_MAX, Format, FormatOption, print_json, print_table

if TYPE_CHECKING:
    from tidegate.scheduler.explain.measured import Measured

DEFAULT_LIMIT = 100

SHOWN = ("files", "small_file_percent", "total_size", "snapshots", "delete_files")
"""The measures that are columns; `maintenance status` and `--format json` have all."""


class Sort(StrEnum):
    """The order of the tables; the name decides between equal ones."""

    DEBT = "debt"
    NAME = "name"
    FILES = "files"
    SMALL_FILES = "small_file_percent"
    SIZE = "total_size"
    SNAPSHOTS = "snapshots"
    DELETE_FILES = "delete_files"
    FAILURES = "failures"
    AGE = "age"


def list_tables(
    sort: Annotated[
        Sort, typer.Option(help="By name, or the largest first; `age`: measured longest ago first.")
    ] = Sort.DEBT,
    limit: Annotated[
        int, typer.Option(min=1, max=NUMBER_MAX, help="Maximum number of tables, the first.")
    ] = DEFAULT_LIMIT,
    format: FormatOption = Format.TEXT,
) -> None:
    """List all tables with their debt and their health as measured last; the largest debt first."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.domain.wording import plural
    from tidegate.scheduler.explain.measured import known_tables, measured
    from tidegate.scheduler.tick.maintenance.policies import load_policies

    now = datetime.now(UTC)
    with opened_store() as store, store.reading() as reader:
        policies = load_policies(reader, now)
        found = [measured(policies, table, now) for table in known_tables(reader)]
    found.sort(key=_key(sort))
    if format is Format.JSON:
        from tidegate.scheduler.explain.operations.shown_table import table_json

        print_json([table_json(each) for each in found[:limit]])
        return
    if not found:
        typer.echo("No tables are known.")
        return
    print_table(
        ["table", "debt", "issues", *(name.replace("_", " ") for name in SHOWN), "failures", "measured"],
        [_row(each) for each in found[:limit]],
        right=["debt", *(name.replace("_", " ") for name in SHOWN), "failures"],
    )
    unknown = sum(each.health is None or bool(each.failure) for each in found)
    if unknown:
        typer.echo(f"\nOf {plural(unknown, 'table')} nothing is known: never measured, or written since.")
    if len(found) > limit:
        typer.echo(f"\nThe first {limit} of {len(found)}; --limit shows more.")


def _key(sort: Sort) -> "Callable[[Measured], tuple[Any, ...]]":
    """Return the key of an order: unknown values come last, but for `age`."""

    def key(each: "Measured") -> tuple[Any, ...]:
        name = each.table.name
        match sort:
            case Sort.NAME:
                return (name,)
            case Sort.DEBT:
                return (-each.debt.score, name)
            case Sort.FAILURES:
                return (-each.table.history.failures, name)
            case Sort.AGE:
                return (each.age is not None, -each.age.total_seconds() if each.age else 0, name)
            case _:
                value = _value(each, sort.value)
                return (value is None, -(value or 0), name)

    return key


def _value(each: "Measured", measure: str) -> float | None:
    return None if each.health is None else each.health.values.get(measure)


def _row(each: "Measured") -> list[str]:
    from tidegate.scheduler.explain.operations.measure_text import age_text, number_text, value_text

    values = [_value(each, measure) for measure in SHOWN]
    texts = [
        "-" if value is None else value_text(measure, value)
        for measure, value in zip(SHOWN, values, strict=True)
    ]
    measured = "unknown" if each.age is None else f"{age_text(each.age)} ago"
    return [
        each.table.name,
        number_text(each.debt.score),
        _issues(each),
        *texts,
        str(each.table.history.failures or ""),
        f"failed {measured}" if each.failure else measured,
    ]


def _issues(each: "Measured") -> str:
    severities = [issue.severity for issue in each.debt.issues]
    counted = [(severity, severities.count(severity)) for severity in ("critical", "warning", "info")]
    return ", ".join(f"{count} {severity}" for severity, count in counted if count)
