"""What a deployment takes away, and the question whether a person agrees to that."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.printing import Format

if TYPE_CHECKING:
    from tidegate.compiler.plan.diff import Diff

YesOption = Annotated[
    bool, typer.Option("--yes", "-y", help="Do not ask. Without a terminal no question is asked anyway.")
]


def at_terminal(format: Format = Format.TEXT) -> bool:
    """Whether a person is there to answer."""
    return format is Format.TEXT and sys.stdin.isatty()


def lost(difference: "Diff") -> tuple[str, ...]:
    """Return what a deployment discards of the jobs that wait, one line for each schedule and reason."""
    return tuple(_lost(difference))


def _lost(difference: "Diff") -> Iterator[str]:
    from tidegate.compiler.render.diff_text import consequence_text

    for change in difference.schedules():
        for consequence in change.consequences:
            if consequence.kind in ("discards", "drops"):
                yield f"{change.app}/{change.name}: {consequence_text(consequence)}"


def taken_away(difference: "Diff") -> tuple[str, ...]:
    """Return what a deployment deletes or discards, one line each."""
    gone = (
        f"{each.app}/{each.name} is deleted" for each in difference.schedules() if each.action == "delete"
    )
    return (*gone, *_lost(difference))


class NotAgreed(Exception):
    """Takes a change back that would lose something else than what a person agreed to.

    Nothing is held while a person thinks; then the change is made again, and has to lose the same.

    Attributes:
        lines: what it would lose.
    """

    def __init__(self, lines: tuple[str, ...]) -> None:
        super().__init__(lines)
        self.lines = lines


def agreed(lines: tuple[str, ...], question: str) -> None:
    """Ask a person at the terminal.

    Raises:
        typer.Abort: the person declines; nothing has been changed.
    """
    typer.echo("This takes away:", err=True)
    for line in lines:
        typer.echo(f"  {line}", err=True)
    typer.confirm(question, abort=True, err=True)
