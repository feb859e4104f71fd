"""What a deployment takes away, and the question whether a person agrees to that."""

import sys
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
    from tidegate.compiler.render import taken_away

    return taken_away.lost(difference)


def taken_away(difference: "Diff") -> tuple[str, ...]:
    """Return what a deployment deletes or discards, one line each."""
    from tidegate.compiler.render import taken_away

    return taken_away.taken_away(difference)


class NotAgreed(Exception):
    """Takes a change back that would lose something else than what a person agreed to.

    Nothing is held while a person thinks; then the change is made again, and has to lose the same.

    Attributes:
        lines: what it would lose.
    """

    def __init__(self, lines: tuple[str, ...]) -> None:
        super().__init__(lines)
        self.lines = lines


def require_agreement(lines: tuple[str, ...], question: str) -> None:
    """Ask a person at the terminal.

    Raises:
        typer.Abort: the person declines; nothing has been changed.
    """
    typer.echo("This takes away:", err=True)
    for line in lines:
        typer.echo(f"  {line}", err=True)
    typer.confirm(question, abort=True, err=True)
