"""How far work of the scheduler is, until it ends: a bar in a terminal, else a line for each change."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from tidegate.cli.printing import print_line
from tidegate.cli.terminal import below_cleaning, without_line_ends

if TYPE_CHECKING:
    from tidegate.scheduler.store.engine_reader import EngineReader

LOOK_SECONDS = 1.0
"""The store is looked at so often."""

STILL_AFTER = timedelta(minutes=1)
"""Without a tick for so long, the scheduler is probably down."""

STILL = "the scheduler does not tick: `tidegate status`"


class Step(NamedTuple):
    """How far something is.

    Attributes:
        text: what it is doing, in some words.
        ended: nothing more happens unless a person does something.
    """

    done: int
    total: int
    text: str
    ended: bool


def follow(what: str, look: "Callable[[EngineReader], Step]", again: str, *, for_tools: bool = False) -> None:
    """Show how far something is until it ends.

    Args:
        again: a command that shows it later, for who does not wait: an interrupt ends only the display.
        for_tools: on stderr, since stdout is one document.
    """
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.tick.clock import last_tick

    try:
        with opened_store() as store, _display(what, sys.stderr if for_tools else sys.stdout) as show:
            while True:
                with store.reading() as reader:
                    step, ticked_at = look(reader), last_tick(reader)
                show(step)
                if step.ended:
                    return
                if ticked_at is None or datetime.now(UTC) - ticked_at > STILL_AFTER:
                    show(step._replace(text=STILL))
                sleep(LOOK_SECONDS)
    except KeyboardInterrupt:
        typer.echo(f"{what} goes on; `{again}` shows it", err=True)
        raise typer.Exit(INTERRUPTED) from None


BAR_WIDTH = 20
"""Beside it is what happens, which is cut where it has no room."""

INTERRUPTED = 130
"""The exit code of a command that was interrupted."""


@contextmanager
def _display(what: str, stream: Any) -> Generator[Callable[[Step], None]]:
    if not stream.isatty():
        shown: set[Step] = set()

        def print_change(step: Step) -> None:
            if step not in shown:
                shown.add(step)
                print_line(f"{what}: {step.done} of {step.total}, {step.text}", err=stream is sys.stderr)

        yield print_change
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Column

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(BAR_WIDTH),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[text]}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
    )
    with Progress(*columns, console=Console(file=below_cleaning(stream)), expand=True) as bar:
        task = bar.add_task(without_line_ends(what), total=None, text="")

        def draw(step: Step) -> None:
            bar.update(task, completed=step.done, total=step.total, text=without_line_ends(step.text))

        yield draw
