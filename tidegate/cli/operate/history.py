"""History: entries of the journal as the commands print them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import typer

from tidegate.cli.printing import instant, print_table

if TYPE_CHECKING:
    from tidegate.listings.shown_job import JournalLine
    from tidegate.scheduler.explain.history import Attempt
    from tidegate.scheduler.model.journal import Entry


COLUMNS = ["attempt", "run", "status", "started", "ended", "because"]


def rows(attempts: "Iterable[Attempt]") -> list[list[str]]:
    """Return a row for each attempt."""
    return [
        [
            str(each.attempt),
            each.run,
            each.status,
            instant(each.started),
            "" if each.status == "waits" else instant(each.ended),
            each.because,
        ]
        for each in attempts
    ]


_SHOWN_ELSEWHERE = (
    "instance",
    "upstream",
    "diagnostics",
    "maintenance",
    "operation",
    "before",
    "after",
    "results",
    "spec",
)
"""Data of entries that other parts of the output show, or that are too long for a line."""


def print_history(entries: "Sequence[Entry | JournalLine]", limit: int | None = None) -> None:
    """Print entries under a heading; nothing if there are none.

    Args:
        limit: as many as were read at most, the newest; `--all` has all.
    """
    if entries:
        newest = f" the newest {limit}; --all shows all" if len(entries) == limit else ""
        typer.echo(f"\nHistory:{newest}")
        columns = ["at", "entry", "reason", "data"]
        print_table(columns, [[instant(e.at), str(e.kind), e.reason or "", entry_data(e)] for e in entries])


def entry_data(entry: "Entry | JournalLine") -> str:
    """Return the data of an entry on one line."""
    known = {name: value for name, value in entry.data.items() if name not in _SHOWN_ELSEWHERE}
    return ", ".join(f"{name}={value}" for name, value in known.items() if value is not None)
