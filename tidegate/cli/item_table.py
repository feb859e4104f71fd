"""Items of a list as a table: the columns that have something to show, and what is in their cells."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from tidegate.cli.plain_table import Fit, Heading, fits, output
from tidegate.cli.printing import instant, print_table
from tidegate.listings.listing import Column, Listing

if TYPE_CHECKING:
    from tidegate.scheduler.store.engine_reader import EngineReader

EMPTY = (None, UNSET, "", ())
"""Values for which a column of priority 2 is not shown."""

NAMED = 5
"""So many values of a list are in a cell."""

NOTHING = {"instant": "-", "measure": "-", "age": "unknown"}
"""What a column that is always shown has for no value."""

FITS: dict[str, Fit] = {"text": Fit.PROSE, "subject": Fit.MIDDLE, "waits": Fit.PHRASE}
"""How values get into less space; names and ids are not broken."""


def print_items(
    listing: Listing, items: Sequence[Any], reader: "EngineReader", now: datetime, *, wide: bool = False
) -> list[str]:
    """Print items as a table of the columns that have something to show.

    Returns:
        The titles of the columns for which there is no room.
    """
    columns = [column for column in listing.columns if _is_shown(column, items, wide=wide)]
    short = {} if wide else _short_ids(columns, items, reader)
    table = [[_cell(column, item, short, now) for column in columns] for item in items]
    heads = [
        Heading(column.title, column.shown_as in ("number", "measure"), FITS.get(column.shown_as, Fit.WORDS))
        for column in columns
    ]
    left = []
    for place in reversed([place for place, column in enumerate(columns) if column.priority == 2]):
        if wide or fits(heads, table, output()[0]):
            break
        left.append(heads.pop(place).title)
        for row in table:
            row.pop(place)
    print_table(heads, table, wide=wide)
    return left


def _is_shown(column: Column, items: Sequence[Any], *, wide: bool) -> bool:
    if column.priority == 2:
        return any(getattr(item, column.name) not in EMPTY for item in items)
    return column.priority == 1 or wide is (column.priority == 3)


def _short_ids(columns: Sequence[Column], items: Sequence[Any], reader: "EngineReader") -> Mapping[str, str]:
    """Return what is shown for each job that a column names."""
    names = [column.name for column in columns if column.shown_as == "job"]
    ids = {id for name in names for item in items if (id := getattr(item, name))}
    if not ids:
        return {}
    from tidegate.scheduler.explain.names import short_ids

    return short_ids(reader, ids)


def _cell(column: Column, item: Any, short: Mapping[str, str], now: datetime) -> str:
    value: Any = getattr(item, column.name)
    if column.shown_as == "waits":
        return _waits_for(item)
    if value is None or value is UNSET:
        return NOTHING.get(column.shown_as, "") if column.priority == 1 else ""
    match column.shown_as:
        case "job":
            return short.get(value, value)
        case "subject":
            return f"{value} {item.key}" if item.key else str(value)
        case "since":
            from tidegate.scheduler.explain.operations.measure_text import age_text

            return age_text(now - value)
        case "instant":
            return instant(value, getattr(item, "zone", getattr(item, "timezone", "")), now)
        case "status":
            return str(value).replace("_", " ")
        case "number":
            return f"{value:,}"
        case "flag":
            return "yes" if value else "no"
        case "measure":
            from tidegate.scheduler.explain.operations.measure_text import value_text

            return value_text(column.name, value)
        case "age":
            from tidegate.scheduler.explain.operations.measure_text import age_text

            return f"{age_text(timedelta(seconds=value))} ago"
        case "counts":
            parts = [f"{number:,} {status.replace('_', ' ')}" for status, number in value.items() if number]
            return ", ".join(parts) or "none left"
        case "list":
            return ", ".join(value[:NAMED]) + (", …" if len(value) > NAMED else "")
        case _:
            return str(value)


def _waits_for(job: Any) -> str:
    """Return what a job waits for, or why it has ended, in a phrase."""
    if job.reason is None:
        return job.detail
    from tidegate.scheduler.model.reason import Reason

    return f"{job.reason} {job.detail or Reason(job.reason).summary}"
