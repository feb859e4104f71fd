"""`tidegate day`: one day of the cycle tasks, as a matrix in the terminal or as the page of the board."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidegate.cli.printing import Format, FormatOption, print_json

if TYPE_CHECKING:
    from tidegate.scheduler.explain.instances.day_matrix import Entry, Matrix


def day(
    day: Annotated[
        str | None, typer.Argument(help="For example 2026-03-10. Default: today.", metavar="DAY")
    ] = None,
    app: Annotated[str | None, typer.Option(help="Only tasks of this app.")] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", help="Write the page of the board, with the graph, as one file.", metavar="FILE"
        ),
    ] = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Show a day: tasks as rows, the hours of their scheduled times as columns, coloured by status."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.project.local_time import use_zone_of_apps
    from tidegate.scheduler.explain.instances.day_matrix import day_of, matrix_of, running_day
    from tidegate.scheduler.explain.names import find_app
    from tidegate.scheduler.model.deployed import TASK_KIND

    now = datetime.now(UTC)
    with opened_store() as store, store.reading() as reader:
        app = find_app(reader, app)
        states = reader.schedules(app=app, kind=TASK_KIND)
        shown = running_day(states, now) if day is None else day_of(day)
        matrix = matrix_of(reader, states, shown, now, edges=html is not None or format is Format.JSON)
        use_zone_of_apps(reader, {state.app for state in states})
    if html is not None:
        _write(html, matrix, now)
    if format is Format.JSON:
        print_json(_facts(matrix))
    elif html is not None:
        typer.echo(f"{html}: {sum(matrix.counts.values())} instances of {len(matrix.rows)} tasks")
    elif not matrix.rows:
        typer.echo(f"No instances on {shown}; `tidegate tasks list` shows when the next ones come.")
    else:
        _print(matrix)


def _print(matrix: "Matrix") -> None:
    from rich.text import Text

    from tidegate.cli.operate.instances.day_text import lines
    from tidegate.cli.printing import print_rich

    print_rich(Text("\n").join(lines(matrix)))


def _write(file: Path, matrix: "Matrix", now: datetime) -> None:
    """Write the page.

    Raises:
        UserError: the file cannot be written.
    """
    from tidegate.domain.error import UserError
    from tidegate.server.board.day import day_file

    try:
        file.write_text(day_file(matrix, now), encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"{file} cannot be written: {error.strerror}", "name a file in a folder of yours"
        ) from error


def _facts(matrix: "Matrix") -> dict[str, Any]:
    return {
        "day": matrix.day,
        "counts": {sign.label: number for sign, number in matrix.counts.items()},
        "tasks": [
            {
                "task": row.task,
                "cycle": row.cycle,
                "timezone": row.timezone,
                "layer": row.layer,
                "status": row.status,
                "instances": [_entry(entry) for entry in row.entries],
            }
            for row in matrix.rows
        ],
        "edges_complete": matrix.edges_whole,
    }


def _entry(entry: "Entry") -> dict[str, Any]:
    from msgspec.structs import asdict

    from tidegate.listings.queries.instances import public_instance

    return {
        **asdict(public_instance(entry.job, entry.since)),
        "upstream": entry.upstream,
        "diagnostics": entry.diagnostics,
    }
