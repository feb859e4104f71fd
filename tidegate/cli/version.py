"""`tidegate version`: the versions of the installed distribution and of Python."""

import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of

import typer


def version() -> None:
    """Print the version."""
    try:
        number = version_of("tidegate")
    except PackageNotFoundError:
        number = "(run from source, not installed)"
    typer.echo(f"tidegate {number} on Python {platform.python_version()}")
