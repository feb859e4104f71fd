"""The matrix of a day for a terminal: letters with colours, readable at 100 columns and without colours."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tidegate.domain.part_name import Ref, name_of
from tidegate.scheduler.explain.instances.day_matrix import HOURS, Entry, Matrix, Row, Sign, worst

if TYPE_CHECKING:
    from rich.text import Text

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
