"""Output of commands: a table for people, JSON for tools, and of lists lines with tabs for shells.

The table shows some fields of the listed values, the others have all. Instants are printed in UTC,
since users in several time zones share a store; for people the local time is beside it.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidegate.cli.terminal import own_colours, with_controls_escaped, without_controls, without_line_ends
from tidegate.domain.wording import one_line

if TYPE_CHECKING:
    from tidegate.cli.plain_table import Heading

PIPE_COLUMNS = 200
"""Width of a tree and of a page that is not written to a terminal."""

NUMBER_MAX = 2**31 - 1
"""Of rows in a list, of backfills and of deployments: every database stores it."""


class Format(StrEnum):
    """The output format of a command."""

    TEXT = "text"
    JSON = "json"
    TSV = "tsv"


ReasonOption = Annotated[str, typer.Option(help="Why, for the journal.", metavar="TEXT")]


def _chosen(format: Format) -> Format:
    """Let texts for tools have UTC only."""
    from tidegate.project.local_time import show_local

    show_local(format is Format.TEXT)
    return format


def _chosen_of_one(format: Format) -> Format:
    if format is Format.TSV:
        raise typer.BadParameter("'tsv' is for lists: write 'text' or 'json'.")
    return _chosen(format)


FormatOption = Annotated[
    Format,
    typer.Option(
        "--format",
        help="For people or for tools.",
        metavar="text|json",
        callback=_chosen_of_one,
        autocompletion=lambda: ["text", "json"],
    ),
]

ListFormatOption = Annotated[
    Format,
    typer.Option(
        "--format", help="For people, for tools, or a line each with tabs between.", callback=_chosen
    ),
]

WideOption = Annotated[
    bool, typer.Option("--wide", help="All columns, whole ids and texts: lines as long as they are.")
]


def print_json(value: Any) -> None:
    """Print a value of the engine, or builtin values, as indented JSON."""
    import msgspec

    typer.echo(with_controls_escaped(msgspec.json.format(msgspec.json.encode(value), indent=2).decode()))


def print_for_tools(items: Sequence[Any], format: Format, fields: Sequence[str] = ()) -> None:
    """Print a list as JSON, or as lines with tabs between the fields: first a line with their names.

    Args:
        fields: those of the items that come first, in this order; the header has them without any item too.
    """
    import msgspec

    if format is not Format.TSV:
        print_json(items)
        return
    rows: list[dict[str, Any]] = msgspec.to_builtins(items)
    names = list(dict.fromkeys((*fields, *(name for row in rows for name in row))))
    typer.echo("\t".join(names))
    for row in rows:
        typer.echo("\t".join(_value_in_tsv(row.get(name)) for name in names))


def _value_in_tsv(value: Any) -> str:
    """Return a value without tabs and line ends: a list of texts as they are, what is nested as JSON."""
    import msgspec

    match value:
        case None:
            return ""
        case str():
            return without_line_ends(value)
        case list() if all(isinstance(each, str) for each in value):
            return without_line_ends(", ".join(value))
        case _:
            return without_line_ends(msgspec.json.encode(value).decode())


def print_line(text: str, *, err: bool = False) -> None:
    """Print one line that has texts of callers, whatever line ends are in them."""
    typer.echo(without_line_ends(text), err=err)


def print_table(
    columns: Sequence["str | Heading"],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[str] = (),
    wide: bool = False,
) -> None:
    """Print a table.

    Args:
        columns: their names; the last one of them has prose.
        right: the columns of numbers.
        wide: each row is one line, whatever the width of the terminal.
    """
    from tidegate.cli.plain_table import Fit, Heading, lines_of, output

    heads = [
        column if isinstance(column, Heading) else Heading(column, column in right) for column in columns
    ]
    if not isinstance(columns[-1], Heading) and len(columns) > 2:
        heads[-1] = heads[-1]._replace(fit=Fit.PROSE)
    rows = [[without_line_ends(cell) for cell in row] for row in rows]
    width, bold = output()
    with own_colours():
        for line in lines_of(heads, rows, None if wide else width, bold=bold):
            typer.echo(line)


def print_rich(renderable: Any) -> None:
    """Print a rich renderable on stdout, as wide as the terminal, or `COLUMNS`, or `PIPE_COLUMNS` in a pipe.

    A label of a tree is one line, whatever line ends are in it.
    """
    import sys

    from rich.console import Console

    from tidegate.cli.plain_table import output

    _put_on_one_line(renderable)
    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal:
        console.width = output()[0] or PIPE_COLUMNS
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


def instant(value: datetime | None, zone: str = "", now: datetime | None = None) -> str:
    """Return an instant in UTC, to the second, with the local time beside it; "-" for None.

    Args:
        zone: of the local time, where the value has one of its own; else that of `project.local_time`.
        now: the present, for an instant that may be to come.
    """
    from tidegate.project.local_time import local_instant

    return "-" if value is None else local_instant(value, zone, now)
