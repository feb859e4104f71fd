"""`tidegate day`: one day of the cycle tasks, as a matrix in the terminal or as the page of the board."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidegate.cli.printing import Format, FormatOption, print_json
from tidegate.domain.part_name import Ref, name_of
from tidegate.scheduler.explain.instances.day_matrix import HOURS, Entry, Matrix, Row, Sign, worst

if TYPE_CHECKING:
    from rich.text import Text


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
        with_edges = html is not None or format is Format.JSON
        matrix = matrix_of(reader, states, shown, now, edges_of=sys.maxsize if with_edges else 0)
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


STYLES = {
    Sign.FAILED: "bold white on red",
    Sign.PAUSED: "bold magenta",
    Sign.RUNNING: "bold blue",
    Sign.WAITING: "yellow",
    Sign.NOT_RUN: "dim",
    Sign.MARKED: "cyan",
    Sign.SUCCESSFUL: "green",
    Sign.EMPTY: "dim",
}

CELL = 3
NAME_MAX = 100 - HOURS * CELL
"""Longer names are cut, so that a line has at most 100 characters."""

NAME_MIN = len("2026-03-10")
"""The day is above the names."""

TROUBLES_SHOWN = 10


def lines(matrix: Matrix) -> "Iterator[Text]":
    """Yield the lines of the matrix: the hours, the tasks by app, the legend, and what needs a person."""
    from rich.text import Text

    names = [name_of(row.task) for row in matrix.rows]
    width = min(NAME_MAX, max(NAME_MIN, *(len(name) + 2 for name in names)))
    hours = "".join(f"{hour:>{CELL}}" for hour in range(HOURS))
    yield Text(f"{matrix.day.isoformat():<{width}}" + hours, style="bold")
    app = ""
    for row in matrix.rows:
        of, name = Ref.of(row.task)
        if of != app:
            app = of
            yield Text(of, style="bold")
        yield _line(row, name, width)
    yield Text("")
    yield _legend(matrix)
    if any(len(cell) > 1 and len({entry.sign for entry in cell}) > 1 for cell in _cells(matrix)):
        yield Text("a letter with * is the worst of several instances of that hour")
    zones = sorted({row.timezone for row in matrix.rows})
    yield Text(f"scheduled times, each task in its own zone: {', '.join(zones)}", style="dim")
    yield from _troubles(matrix)
    yield from _missing_edges(matrix)


def _cells(matrix: Matrix) -> Iterator[tuple[Entry, ...]]:
    return (cell for row in matrix.rows for cell in row.cells.values())


def _line(row: Row, name: str, width: int) -> "Text":
    from rich.text import Text

    room = width - 2
    shown = name if len(name) <= room else name[: room - 1] + "…"
    line = Text(f"  {shown:<{room}}")
    for hour in range(HOURS):
        cell = row.cells.get(hour, ())
        if not cell:
            line.append(" " * CELL)
            continue
        sign = worst(cell)
        mixed = "*" if len({entry.sign for entry in cell}) > 1 else ""
        line.append(" " * (CELL - 1 - len(mixed)))
        line.append(f"{sign}{mixed}", style=STYLES[sign])
    return line


def _legend(matrix: Matrix) -> "Text":
    from rich.text import Text

    legend = Text()
    for sign, number in matrix.counts.items():
        legend.append("   " if legend else "")
        legend.append(sign.value, style=STYLES[sign])
        legend.append(f" {sign.label} {number}")
    return legend


def _troubles(matrix: Matrix) -> "Iterator[Text]":
    from rich.text import Text

    found = [
        entry for row in matrix.rows for entry in row.entries if entry.sign in (Sign.FAILED, Sign.PAUSED)
    ]
    if found:
        yield Text("")
    for entry in found[:TROUBLES_SHOWN]:
        why = f"tidegate why {entry.job.schedule} {entry.instance.key}"
        yield Text.assemble((entry.sign.label, STYLES[entry.sign]), f": {why}")
    if len(found) > TROUBLES_SHOWN:
        yield Text(f"and {len(found) - TROUBLES_SHOWN} more failed or paused ones")


def _missing_edges(matrix: Matrix) -> "Iterator[Text]":
    """Yield the instances that do not wait for an upstream task, since they have no edge to it."""
    from rich.text import Text

    found = [entry for row in matrix.rows for entry in row.entries if entry.diagnostics]
    if found:
        yield Text("")
    for entry in found[:TROUBLES_SHOWN]:
        codes = ", ".join(sorted({each.code for each in entry.diagnostics}))
        tasks = ", ".join(each.task for each in entry.diagnostics)
        why = f"tidegate why {entry.job.schedule} {entry.instance.key}"
        yield Text.assemble((codes, "red"), f": no edge to {tasks}: {why}")
    if len(found) > TROUBLES_SHOWN:
        yield Text(f"and {len(found) - TROUBLES_SHOWN} more without an edge")
