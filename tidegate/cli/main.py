"""The command `tidegate`: finds a command, loads only that one, and prints user errors.

A command's module is imported when the command is called, never for `tidegate --help`
(`tidegate.cli.commands` is the table). A `UserError` becomes two lines on stderr and exit
code 1, a wrong use of the command line exit code 64; any other exception is a bug and keeps its traceback.
"""

import importlib
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core
import typer.main

from tidegate.cli.commands import COMMANDS, GROUPS
from tidegate.cli.plain_values import take_plain_values
from tidegate.cli.terminal import clean_commands, cleaned_output, own_colours, without_line_ends
from tidegate.domain.error import UserError, WrongUsage
from tidegate.project.environment import ENVIRONMENT_VARIABLE, PROJECT_VARIABLE

if TYPE_CHECKING:
    from typer.core import _click

ENVIRONMENT_OPTION = "--env"
LOCATIONS_OPTION = "--locations"
"""It may be without a value, which typer does not know of other options than flags."""

COMPLETION_VARIABLE = "_TIDEGATE_COMPLETE"
"""A completion script sets it: the call prints words and does nothing else."""

EXIT_USAGE = 64
"""EX_USAGE of sysexits.h."""


take_plain_values()


@lru_cache(maxsize=len(COMMANDS))
def load_command(name: str) -> "_click.Command":
    """Import the module of a command in the table and return the command."""
    module, _, attribute = COMMANDS[name].target.partition(":")
    target: typer.Typer | Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    if isinstance(target, typer.Typer):
        command: _click.Command = typer.main.get_group(target)
    else:
        single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        single.command(name)(target)
        command = typer.main.get_command(single)
    command.name = name
    clean_commands(command)
    if COMPLETION_VARIABLE in os.environ:
        from tidegate.cli.names import complete_names

        options = typer.main.get_command(application).params
        complete_names(name, command, next(each for each in options if each.name == "env"))
    return command


@contextmanager
def usage_errors() -> Generator[None]:
    """Let a wrong use of the command line end with `EXIT_USAGE`: typer's 2 is the code of changes."""
    try:
        yield
    except typer.core._click.exceptions.UsageError as error:
        error.exit_code = EXIT_USAGE
        raise


def with_environment_first(args: list[str]) -> list[str]:
    """Return the arguments with `--env NAME` in front, where `tidegate` itself takes it, wherever it was."""
    end = args.index("--") if "--" in args else len(args)
    found: list[str] = []
    rest: list[str] = []
    at = 0
    while at < end:
        width = 2 if args[at] == ENVIRONMENT_OPTION and at + 1 < end else 1
        of_environment = width == 2 or args[at].startswith(f"{ENVIRONMENT_OPTION}=")
        (found if of_environment else rest).extend(args[at : at + width])
        at += width
    return [*found, *rest, *args[at:]]


def with_empty_values(args: list[str]) -> list[str]:
    """Return the arguments with an empty value for `--locations` where it is followed by none."""
    end = args.index("--") if "--" in args else len(args)
    return [
        f"{arg}=" if arg == LOCATIONS_OPTION and at < end and _begins_option(args, at + 1) else arg
        for at, arg in enumerate(args)
    ]


def _begins_option(args: list[str], at: int) -> bool:
    return at >= len(args) or args[at].startswith("-")


class LazyGroup(typer.core.TyperGroup):
    """A group that lists its commands from the table and loads the one that is called."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for group, entries in GROUPS.items():
            for name, entry in entries.items():
                command = typer.core.TyperCommand(name=name, help=entry.summary, rich_help_panel=group)
                self.add_command(command)

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run the command line with its output cleaned; the help and wrong usage have colours."""
        with cleaned_output(), own_colours():
            return super().main(*arguments, **options)

    def resolve_command(
        self, ctx: "_click.Context", args: list[str]
    ) -> "tuple[str | None, _click.Command | None, list[str]]":
        """Return the command to call: the command itself in place of its table line."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name in COMMANDS else command, rest

    def make_context(
        self, info_name: str | None, args: list[str], parent: "_click.Context | None" = None, **extra: Any
    ) -> "_click.Context":
        """Parse the options of `tidegate` itself."""
        with usage_errors():
            args = with_empty_values(with_environment_first(args))
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: "_click.Context") -> Any:
        """Parse the arguments of the command, and run it."""
        with usage_errors():
            return super().invoke(ctx)

    def list_commands(self, ctx: "_click.Context") -> list[str]:
        """Return the names in the order of the table, in which a new user needs them."""
        return list(COMMANDS)


application = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        load_command("version").main([], standalone_mode=False)
        raise typer.Exit


def _environments(incomplete: str) -> list[str]:
    """Return the environments for a shell that completes `--env`."""
    from tidegate.cli.names import completed

    return completed(("environments",), incomplete)


@application.callback()
def options(
    project: Annotated[
        Path | None,
        typer.Option(
            help="The project folder; default: the nearest parent folder with tidegate.toml.",
            metavar="FOLDER",
        ),
    ] = None,
    env: Annotated[
        str | None,
        typer.Option(
            help=r"The environment: a section \[env.NAME] of tidegate.toml. Also after the command.",
            metavar="NAME",
            autocompletion=_environments,
        ),
    ] = None,
    _version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """Start Spark programs on Dagster when their data is ready, and not before."""
    if project is not None:
        # In the environment, because the Dagster processes that commands start must use the same project.
        os.environ[PROJECT_VARIABLE] = str(project.expanduser().resolve())
    if env is not None:
        os.environ[ENVIRONMENT_VARIABLE] = env


def main() -> None:
    """Run the command line: what `tidegate.cli.version` does not answer itself."""
    try:
        application(prog_name="tidegate")
    except UserError as error:
        print_error(error)
        sys.exit(EXIT_USAGE if isinstance(error, WrongUsage) else 1)
    except ModuleNotFoundError as error:
        print_error(_without_spark(error))
        sys.exit(1)


def _without_spark(error: ModuleNotFoundError) -> UserError:
    """Return what a command says that needs Spark where it is not installed.

    Raises:
        ModuleNotFoundError: another module is missing.
    """
    from tidegate.spark_jobs.errors import SparkMissing, needs_spark

    try:
        with needs_spark():
            raise error
    except SparkMissing as missing:
        return missing


def print_error(error: UserError) -> None:
    """Print a user's mistake on stderr as `error:` and `hint:`."""
    with cleaned_output(), own_colours():
        typer.echo(
            f"{typer.style('error:', fg='red', bold=True)} {without_line_ends(error.message)}", err=True
        )
        if error.hint:
            typer.echo(f"{typer.style('hint:', bold=True)} {without_line_ends(error.hint)}", err=True)


if __name__ == "__main__":
    main()
