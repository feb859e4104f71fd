"""`tidegate maintenance status`: a table's health and debt, and for each operation whether it would run now.

A run in Dagster measures tables. The command shows what was measured last, and may ask for a new measurement.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.printing import Format, FormatOption, instant, print_json, print_table
from tidegate.scheduler.decision.maintenance.health import Debt, Issue
from tidegate.scheduler.explain.measured import Measured
from tidegate.scheduler.explain.operations.measure_text import age_text, number_text, value_text

if TYPE_CHECKING:
    from tidegate.scheduler.explain.measured import Measured
    from tidegate.scheduler.explain.operations.maintenance import OperationStatus
    from tidegate.scheduler.model.maintenance import OperationRun


TableArgument = Annotated[
    str,
    typer.Argument(
        help='The table: "catalog.namespace.table", "app/dataset", or its end if only one table has it.'
    ),
]


def measured_text(known: Measured) -> str:
    """Return when a table was measured, and how it ended."""
    asked = ", a measurement is asked for" if known.table.wanted_at is not None else ""
    if known.health is None or known.age is None:
        return f"unknown: never measured, or written since{asked}"
    at = f"{instant(known.health.measured_at)}, {age_text(known.age)} ago"
    if known.failure:
        return f"could not be measured at {at}: {known.failure}{asked}"
    return at + (asked if known.usable else f": measured again before a poll decides by it{asked}")


def debt_text(debt: Debt) -> str:
    """Return a debt with its parts: "155.5 (issues 150, stale 5.5)"."""
    parts = ", ".join(f"{name.replace('_', ' ')} {number_text(value)}" for name, value in debt.parts.items())
    return number_text(debt.score) + (f" ({parts})" if parts else "")


def health_rows(known: Measured) -> Iterator[tuple[Issue, str]]:
    """Yield each issue of a table with its value and its limit, as text."""
    for issue in known.debt.issues:
        if issue.severity == "info":
            yield issue, "the table has no data files"
            continue
        value, limit = value_text(issue.measure, issue.value), value_text(issue.measure, issue.limit)
        yield issue, f"{issue.measure} is {value}, and from {limit} on it is {issue.severity}"


def show_status(
    table: TableArgument,
    measure: Annotated[
        bool, typer.Option("--measure", help="Ask for a new measurement, which a run in Dagster makes.")
    ] = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Show a table's health and debt, and for each operation whether it would run now, and why not."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.listings.status_of_table import shown_table, table_status
    from tidegate.scheduler.explain.names import find_table

    now = datetime.now(UTC)
    if measure:
        _ask(table, now)
    with opened_store() as store, store.reading() as reader:
        found = table_status(reader, find_table(reader, table), now)
    if format is Format.JSON:
        print_json(shown_table(found))
        return
    known, statuses = found.known, found.operations
    _print_table(known, found.running)
    if not statuses:
        typer.echo("\nNo enabled policy configures an operation for it.")
        return
    typer.echo("")
    print_table(
        ["operation", "policy", "now", "due since", "next", "reason"], [_row(each) for each in statuses]
    )
    conditions = [row for each in statuses for row in _conditions(each, known)]
    if conditions:
        typer.echo("\nConditions:")
        print_table(["operation", "condition", "at least", "measured", ""], conditions)


def _ask(table: str, now: datetime) -> None:
    """Ask for a measurement of a table."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.commands.maintain import ask_for_health
    from tidegate.scheduler.explain.names import find_table

    with opened_store() as store, store.transaction() as transaction:
        ask_for_health(transaction, find_table(transaction, table), now)


def _print_table(known: "Measured", running: "Sequence[OperationRun]") -> None:

    table = known.table
    rows = [["measured", measured_text(known)]]
    if table.dataset is not None and table.catalog_name:
        rows.append(["in the catalog", table.catalog_name])
    if known.health is not None and known.health.note:
        rows.append(["note", known.health.note])
    rows.append(["debt", debt_text(known.debt)])
    rows += [[issue.severity, text] for issue, text in health_rows(known)]
    rows += [["running", f"{run.operation} as job {run.job}{' by hand' * run.by_hand}"] for run in running]
    print_table(["table", table.name], rows)


def _row(status: "OperationStatus") -> list[str]:
    reason = "" if status.reason is None else f"{status.reason}: {status.detail or status.reason.summary}"
    if status.untouched is not None:
        reason = status.untouched.sentence
    if status.running is not None:
        reason = f"its timeout ends at {instant(status.running.closes_at)}"
    return [
        str(status.operation),
        status.policy,
        _now(status),
        "" if status.due_since is None else instant(status.due_since),
        "" if status.next is None else instant(status.next),
        reason,
    ]


def _now(status: "OperationStatus") -> str:
    """Return in some words what the operation does now."""
    if status.running is not None:
        return f"runs, job {status.running.job}"
    if not status.due:
        return "not due"
    notes = [name for name, holds in (("forced", status.forced), ("probe", status.probe)) if holds]
    what = "starts at the next poll" if status.would_run else "waits"
    if status.behind is not None:
        what = f"after {status.behind}"
    return ", ".join([what, *notes])


def _conditions(status: "OperationStatus", known: "Measured") -> Iterator[list[str]]:
    """Yield the thresholds of an operation, and the times between its runs, with what is known of each."""
    from tidegate.scheduler.explain.operations.measure_text import value_text

    found, name = status.conditions, str(status.operation)
    values = {} if known.health is None else known.health.values
    for each in found.thresholds:
        measure = each.threshold.measure
        value = each.value if each.value is not None else values.get(measure)
        verdict = "met" if each.met else "unmet"
        if each.value is None:
            verdict = "unknown" if value is None else "measured too long ago"
        needed = value_text(measure, each.threshold.at_least)
        yield [name, measure, needed, value_text(measure, value), verdict]
    if found.interval_until is not None:
        yield [name, "min_interval", "", "", f"unmet until {instant(found.interval_until)}"]
    if found.forced_at is not None:
        verdict = "forces it since" if found.forced else "forces it at"
        yield [name, "at_latest", "", "", f"{verdict} {instant(found.forced_at)}"]
