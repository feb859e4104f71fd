"""`tidegate maintenance history`: the runs of operations, with what they found and what they left."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.printing import (
    NUMBER_MAX,
    Format,
    ListFormatOption,
    WideOption,
    instant,
    print_for_tools,
    print_table,
)

if TYPE_CHECKING:
    from tidegate.scheduler.model.maintenance import OperationRun
    from tidegate.scheduler.store.engine_reader import EngineReader

DEFAULT_LIMIT = 50

COLUMNS = [
    "started",
    "took",
    "table",
    "operation",
    "policy",
    "ended",
    "changed",
    "bytes",
    "before, after",
    "notes",
]


def show_history(
    table: Annotated[
        str | None, typer.Argument(help="Only runs on this table; one that is gone has its history too.")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=NUMBER_MAX, help="Maximum number of runs, the newest.")
    ] = DEFAULT_LIMIT,
    wide: WideOption = False,
    format: ListFormatOption = Format.TEXT,
) -> None:
    """List the runs of operations, oldest first, with the numbers before and after each."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.model.maintenance import OperationRun

    with opened_store() as store, store.reading() as reader:
        names = None if table is None else (_name(reader, table),)
        runs = reader.operation_runs(tables=names, limit=limit)
    if format is not Format.TEXT:
        print_for_tools(runs, format, OperationRun.__struct_encode_fields__)
        return
    if not runs:
        typer.echo("No operation has run yet.")
        return
    now = datetime.now(UTC)
    print_table(COLUMNS, [_row(run, now) for run in runs], right=["bytes"], wide=wide)


def _name(reader: "EngineReader", table: str) -> str:
    """Return the name of a table; one that is gone has only its whole name."""
    from tidegate.scheduler.explain.names import find_table

    if reader.operation_runs(tables=(table,), limit=1):
        return table
    return find_table(reader, table).name


def _row(run: "OperationRun", now: datetime) -> list[str]:
    from tidegate.cli.maintenance.run_text import changes_text, notes
    from tidegate.scheduler.explain.operations.measure_text import age_text, bytes_text

    return [
        instant(run.started_at),
        age_text((run.ended_at or now) - run.started_at),
        run.table,
        str(run.operation),
        run.policy,
        "runs" if run.ending is None else str(run.ending),
        "" if run.ending is None else ("yes" if run.changed else "no"),
        bytes_text(run.bytes) if run.bytes else "",
        changes_text(run),
        ", ".join(notes(run)),
    ]
