"""`tidegate init`: creates a project folder with one app, one program and small landed files.

The files are packaged, so it works offline. It prints the next commands, which the page
`getting-started` explains.
"""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from tidegate.domain.error import UserError


def init(
    folder: Annotated[
        Path, typer.Argument(help="The project folder; created if it does not exist.", metavar="FOLDER")
    ] = Path(),
    empty: Annotated[
        bool, typer.Option("--empty", help="Without the example: no app, no program, no landed files.")
    ] = False,
    sql: Annotated[
        bool,
        typer.Option("--sql", help="The program of the example is a query, in place of a function."),
    ] = False,
    beside: Annotated[
        bool,
        typer.Option(
            "--beside",
            help="In an existing Dagster project: write only what is missing, add our code location, and"
            " a first schedule over one of its jobs.",
        ),
    ] = False,
    production: Annotated[
        bool,
        typer.Option(
            "--production",
            help="With what production needs: an environment `prod`, deploy/ with an image, Compose,"
            " Kubernetes and systemd, and a CI that comments the plan and deploys.",
        ),
    ] = False,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Write into a Python project without asking."),
    ] = False,
) -> None:
    """Create a project folder: settings, an app with a scenario, a program, landed files, CI."""
    from tidegate.project.create import REQUIREMENTS_FILE, create_project, is_of_this_machine, requirement
    from tidegate.spark_jobs.iceberg.catalog.runtime import runtime_jar

    if sql and (empty or beside):
        raise UserError(
            "--sql makes the example with a query, and this project gets no example",
            f"leave out {'--empty' if empty else '--beside'} or --sql",
        )
    if production and beside:
        raise UserError(
            "--production makes the files of a new project, and --beside leaves an existing one its own",
            "leave one of them out, or copy what you need from a new project with --production",
        )
    if beside:
        _join(folder)
        return
    if not yes:
        _ask(folder)
    iceberg = runtime_jar() is not None
    wanted = requirement(("iceberg", *(("postgres",) if production else ())))
    for name in create_project(folder, wanted, iceberg, empty=empty, sql=sql, production=production):
        typer.echo(f"  {folder / name}")
    if is_of_this_machine(wanted):
        typer.echo(
            f"\n{REQUIREMENTS_FILE} names a folder or a file of this machine: it is installed from there."
            "\nFor a CI and images name there a version of an index, or a URL."
        )
    if not iceberg:
        typer.echo(
            "\nTables of this project are Parquet because the Iceberg runtime is not installed. To use"
            "\nIceberg, run pip install 'tidegate[iceberg]' with Python below 3.13 and write default_format ="
            '\n"iceberg" in tidegate.toml before the first deployment: a deployed dataset keeps its format.'
        )
    _say_next(folder, (NEXT_OF_EMPTY if empty else NEXT) + (NEXT_IN_PRODUCTION if production else ()))


def _join(folder: Path) -> None:
    """Make a project of an existing Dagster project, and say what is left to its people."""
    from tidegate.processes.their_jobs import write_first
    from tidegate.project.create import create_beside, requirement
    from tidegate.spark_jobs.iceberg.catalog.runtime import runtime_jar

    written, to_do = create_beside(folder, requirement(), runtime_jar() is not None)
    for name in written:
        typer.echo(f"  {folder / name}")
    typer.echo("looking for a job in your code locations ...", err=True)
    first, more = write_first(folder)
    for path in first:
        typer.echo(f"  {folder / path}")
    if not (written or first):
        typer.echo("nothing is missing")
    to_do = (*to_do, *more)
    if to_do:
        typer.echo("\nTo do by hand:")
    for each in to_do:
        typer.echo(f"  - {each}")
    _say_next(folder, NEXT_BESIDE)


def _say_next(folder: Path, commands: tuple[tuple[str, str], ...]) -> None:
    typer.echo("\nNext:")
    if folder != Path():
        typer.echo(f"  cd {quote(str(folder))}")
    for command, meaning in commands:
        typer.echo(f"  {command:30}  {meaning}")


def _ask(folder: Path) -> None:
    """Ask whether the files may be written into another project.

    Raises:
        UserError: no person is there to answer.
        typer.Abort: the person declines.
    """
    from tidegate.cli.develop.agreement import at_terminal

    if not (folder / PYPROJECT).is_file():
        return
    said = f"{folder.resolve()} is a Python project ({PYPROJECT})"
    if not at_terminal():
        raise UserError(
            f"{said}; nothing was written",
            "give a new folder, add to a Dagster project with --beside, or write all files there with --yes",
        )
    typer.confirm(f"{said}. Write the files of a Tidegate project into it?", abort=True)


PYPROJECT = "pyproject.toml"

NEXT_OF_EMPTY = (
    ("tidegate docs language", "write schedules/APP.yaml, and programs beside it"),
    ("tidegate docs recipes", "or begin with one of eleven apps to copy"),
    ("tidegate lint", "check the YAML"),
)
"""Those of a project without an app."""

NEXT_BESIDE = (
    ("tidegate lint", "check the YAML"),
    ("tidegate dev", "run Dagster with its UI on your code and on the schedules"),
    ("tidegate docs existing-dagster", "read on: a schedule over a job of yours, and why it waits"),
)
"""Those of a project beside an existing one."""

NEXT_IN_PRODUCTION = (("tidegate docs install", "the image, the services, and what CI needs to deploy"),)
"""Those of a project for production, after the others."""

NEXT = (
    ("tidegate lint", "check the YAML"),
    ("tidegate test", "play the scenarios on a virtual clock"),
    ("tidegate dev", "run Dagster with its UI on the project"),
    ("tidegate docs getting-started", "read on: report the landed files, see the run, ask why"),
)
"""The next commands, each with its purpose."""
