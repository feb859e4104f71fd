"""The health and the debt of a table, as text."""

from collections.abc import Iterator

from tidegate.cli.printing import instant
from tidegate.scheduler.decision.maintenance.health import Debt, Issue
from tidegate.scheduler.explain.measured import Measured
from tidegate.scheduler.explain.operations.measure_text import age_text, number_text, value_text


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
