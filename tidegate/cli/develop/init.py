"""`tidegate init`: creates a project folder with one app, one program and small landed files.

The files are packaged, so it works offline. It prints the next commands, which the page
`getting-started` explains.
"""

from pathlib import Path
from typing import Annotated

import typer


def init(
    folder: Annotated[
        Path, typer.Argument(help="The project folder; created if it does not exist.", metavar="FOLDER")
    ] = Path(),
) -> None:
    """Create a project folder: settings, an app with a scenario, a program, landed files, CI."""
    from importlib.metadata import version

    from tidegate.project.create import create_project
    from tidegate.spark_jobs.iceberg.catalog.runtime import runtime_jar

    iceberg = runtime_jar() is not None
    for name in create_project(folder, version("tidegate"), iceberg):
        typer.echo(f"  {folder / name}")
    if not iceberg:
        typer.echo(
            "\nTables of this project are Parquet because the Iceberg runtime is not installed. To use"
            "\nIceberg, run pip install 'tidegate[iceberg]' and write default_format = \"iceberg\" in"
            "\ntidegate.toml before the first deployment: a deployed dataset keeps its format."
        )
    typer.echo("\nNext:")
    if folder != Path():
        typer.echo(f"  cd {folder}")
    for command, meaning in NEXT:
        typer.echo(f"  {command:30}  {meaning}")


NEXT = (
    ("tidegate lint", "check the YAML"),
    ("tidegate test", "play the scenarios on a virtual clock"),
    ("tidegate dev", "run Dagster with its UI on the project"),
    ("tidegate docs getting-started", "read on: report the landed files, see the run, ask why"),
)
"""The next commands, each with its purpose."""
