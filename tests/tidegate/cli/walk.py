"""Every command of the command line, with its options: for tests about all of them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tidegate.cli.commands import COMMANDS
from tidegate.cli.main import load_command

if TYPE_CHECKING:
    from typer.core import _click

Path = tuple[str, ...]


def every_command() -> Iterator[tuple[Path, "_click.Command"]]:
    """Yield the words of each command, groups included, and the command."""
    for name in COMMANDS:
        yield from _below((name,), load_command(name))


def is_group(command: "_click.Command") -> bool:
    """Return whether a command has commands below it."""
    return bool(_commands(command))


def _below(path: Path, command: "_click.Command") -> Iterator[tuple[Path, "_click.Command"]]:
    yield path, command
    for name, below in _commands(command).items():
        yield from _below((*path, name), below)


def _commands(command: "_click.Command") -> dict[str, Any]:
    return getattr(command, "commands", {})
