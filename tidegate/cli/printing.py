"""Output of commands: a table for people, or JSON for tools.

The table shows some fields of the listed values, the JSON has all. Instants are printed in UTC,
since users in several time zones share a store; for people the local time is beside it.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from tidegate.cli.terminal import own_colours, with_controls_escaped, without_controls, without_line_ends
from tidegate.domain.wording import one_line

NUMBER_MAX = 2**31 - 1
"""Of rows in a list, of backfills and of deployments: every database stores it."""


class Format(StrEnum):
    """The output format of a command."""

    TEXT = "text"
    JSON = "json"


ReasonOption = Annotated[str, typer.Option(help="Why, for the journal.", metavar="TEXT")]


def _chosen(format: Format) -> Format:
    """Let texts within JSON have UTC only."""
    from tidegate.project.local_time import show_local

    show_local(format is Format.TEXT)
    return format


FormatOption = Annotated[Format, typer.Option("--format", help="For people or for tools.", callback=_chosen)]


def print_json(value: Any) -> None:
    """Print a value of the engine, or builtin values, as indented JSON."""
    import msgspec

    typer.echo(with_controls_escaped(msgspec.json.format(msgspec.json.encode(value), indent=2).decode()))


def print_line(text: str, *, err: bool = False) -> None:
    """Print one line that has texts of callers, whatever line ends are in them."""
    typer.echo(without_line_ends(text), err=err)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()) -> None:
    """Print a table.

    Args:
        right: the columns of numbers.
    """
    from tidegate.cli.plain_table import output, plain_table

    rows = [[without_line_ends(cell) for cell in row] for row in rows]
    place = output()
    plain = None if place is None else plain_table(columns, rows, right, place[0], bold=place[1])
    if plain is not None:
        with own_colours():
            typer.echo(plain)
        return
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_plain(cell) for cell in row))
    print_rich(table)


def print_rich(renderable: Any) -> None:
    """Print a rich renderable on stdout, in the terminal's width, or in `PIPE_COLUMNS` without a terminal.

    A label of a tree is one line, whatever line ends are in it.
    """
    import sys

    from rich.console import Console

    from tidegate.cli.plain_table import PIPE_COLUMNS

    _put_on_one_line(renderable)
    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal:
        console.width = PIPE_COLUMNS
    with own_colours():
        console.print(_Cleaned(renderable))


def _put_on_one_line(renderable: Any) -> None:
    from rich.text import Text
    from rich.tree import Tree

    if isinstance(renderable, Tree):
        if isinstance(renderable.label, Text):
            # Its styles are by position, so that each line end becomes one space.
            renderable.label.plain = one_line(renderable.label.plain)
        for child in renderable.children:
            _put_on_one_line(child)


class _Cleaned:
    """A renderable without the control characters of its texts; its own colours are not in them."""

    def __init__(self, renderable: Any) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from rich.segment import Segment

        for part in console.render(self._renderable, options):
            yield part if part.control else Segment(without_controls(part.text), part.style)


def _plain(cell: str) -> Any:
    from rich.text import Text

    # rich does not parse a Text: the brackets of `schedule[key]` are not markup.
    return Text(cell)


def instant(value: datetime | None, zone: str = "") -> str:
    """Return an instant in UTC, to the second, with the local time beside it; "-" for None.

    Args:
        zone: of the local time, where the value has one of its own; else that of `project.local_time`.
    """
    from tidegate.project.local_time import local_instant

    return "-" if value is None else local_instant(value, zone)
