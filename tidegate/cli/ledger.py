"""`tidegate ledger`: what became of every event, for every schedule that listened to it.

landed = consumed by a run + pending in a job + discarded with a reason. It adds nothing to
what the store counts, so a row that does not balance cannot be printed.
"""

from typing import Annotated

import typer

from tidegate.cli.printing import Format, FormatOption, print_json, print_table


def ledger(
    app: Annotated[str | None, typer.Option(help="Only this app.")] = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Balance the events: landed = consumed + pending + discarded."""
    from tidegate.cli.names import check_app
    from tidegate.cli.opened_store import opened_store

    with opened_store() as store, store.reading() as reader:
        check_app(reader, app)
        rows = reader.ledger(app=app)
    lines = [
        {
            "schedule": row.schedule,
            "landed": row.consumed + row.pending + sum(row.discarded.values()),
            "consumed": row.consumed,
            "pending": row.pending,
            "discarded": sum(row.discarded.values()),
            "reasons": row.discarded,
        }
        for row in rows
    ]
    if format is Format.JSON:
        print_json(lines)
        return
    if not lines:
        typer.echo("No event has been delivered to a schedule yet.")
        return
    columns = ("schedule", "landed", "consumed", "pending", "discarded")
    cells = [
        [*(str(line[column]) for column in columns), _reasons(row.discarded)]
        for line, row in zip(lines, rows, strict=True)
    ]
    print_table([*columns, "reasons"], cells, right=columns[1:])


def _reasons(discarded: dict[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in discarded.items())
