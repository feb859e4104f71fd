"""`tidegate ledger`: the balance of every schedule's events.

landed = consumed by a run + pending in a job + discarded with a reason, and consumed = succeeded + running +
failed with a reason. Both are sums of the counts in the store, so every printed row balances.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.printing import FirstOption, Format, FormatOption, most_shown, print_json, print_table

if TYPE_CHECKING:
    from tidegate.scheduler.store.answers import LedgerRow


def ledger(
    app: Annotated[str | None, typer.Option(help="Only this app.")] = None,
    limit: FirstOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Balance the events: landed = consumed by runs (succeeded, running, failed) + pending + discarded."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.explain.ledger_line import ledger_line
    from tidegate.scheduler.explain.names import find_app

    with opened_store() as store, store.reading() as reader:
        app = find_app(reader, app)
        most = most_shown(limit, format)
        found = reader.ledger(app=app, limit=most + 1)
    rows = found[:most]
    left = f"The first {most:,}; --limit shows more." if len(found) > most else ""
    if format is Format.JSON:
        print_json([ledger_line(row) for row in rows])
        if left:
            typer.echo(left, err=True)
        return
    if not rows:
        typer.echo("No event has been delivered to a schedule yet.")
        return
    print_ledger(rows)
    if left:
        typer.echo(f"\n{left}")


def print_ledger(rows: "Sequence[LedgerRow]") -> None:
    """Print the balance of each schedule's events as a table."""
    from tidegate.scheduler.explain.ledger_line import ledger_line

    columns = ("schedule", "landed", "succeeded", "running", "failed", "pending", "discarded")
    lines = [ledger_line(row) for row in rows]
    cells = [
        [*(str(line[column]) for column in columns), _reasons(line["failures"], line["reasons"])]
        for line in lines
    ]
    print_table([*columns, "reasons"], cells, right=columns[1:])


def _reasons(*counted: dict[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reasons in counted for reason, count in reasons.items())
