"""`tidegate version`: the versions of the installed distribution and of Python."""

import platform

import typer

from tidegate.release import release


def version() -> None:
    """Print the version."""
    typer.echo(
        f"tidegate {release() or '(run from source, not installed)'} on Python {platform.python_version()}"
    )
