"""`tidegate import`: prints the schedules of another scheduler as the YAML of an app.

The file is read, never run. With `--out` the YAML is written with the programs that it names; a file that
exists with another content is not overwritten.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.domain.error import UserError, WrongUsage
from tidegate.domain.wording import plural

if TYPE_CHECKING:
    from tidegate.project.other_schedulers.translated import Translated

app = typer.Typer(no_args_is_help=True, help="Translate schedules of cron or CDAP into the YAML of an app.")

MAX_BYTES = 1024 * 1024
"""As for a YAML file: more does not fit into an app."""

FileArgument = Annotated[
    Path | None, typer.Argument(help="The file; default, and `-`: what comes in.", show_default=False)
]
AppOption = Annotated[str, typer.Option("--app", help="The name of the app.", metavar="NAME")]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Write the YAML to this file, and its programs into the project.", show_default=False
    ),
]


@app.command("crontab")
def crontab(app: AppOption, file: FileArgument = None, out: OutOption = None) -> None:
    """Translate a crontab: each line is a schedule, and a program that runs its command."""
    from tidegate.project.other_schedulers.crontab import read_crontab

    _translate(read_crontab, app, file, out)


@app.command("cdap")
def cdap(app: AppOption, file: FileArgument = None, out: OutOption = None) -> None:
    """Translate schedules of CDAP, as its REST API returns them: each workflow is a job of Dagster."""
    from tidegate.project.other_schedulers.cdap_app import read_cdap

    _translate(read_cdap, app, file, out)


def _translate(
    read: "Callable[[bytes, str], Translated]", app: str, file: Path | None, out: Path | None
) -> None:
    from tidegate.project.create import APP_NAME

    if APP_NAME.fullmatch(app) is None:
        raise WrongUsage(
            f"--app {app!r} is not a name", "write lower-case letters, digits and underscores, a letter first"
        )
    found = read(_content(file), app)
    text = found.text()
    if out is None:
        typer.echo(text, nl=False)
    else:
        _write(found, text, out)
    typer.echo(f"{plural(found.schedules, 'schedule')}, {found.not_translated} not translated", err=True)


def _content(file: Path | None) -> bytes:
    """Return the content of a file, or of the standard input.

    Raises:
        UserError: it cannot be read, or is too large.
    """
    shown = "the standard input" if file in (None, Path("-")) else str(file)
    try:
        if file is None or file == Path("-"):
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with file.open("rb") as opened:
                data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise UserError(f"{shown} cannot be read: {error.strerror}", "give a file that exists") from error
    if len(data) > MAX_BYTES:
        raise UserError(f"{shown} has more than {MAX_BYTES:,} bytes", "divide it, and import each part")
    return data


def _write(found: "Translated", text: str, out: Path) -> None:
    """Write the YAML and the programs, and print the files.

    The programs are in `programs/` of the project that has the YAML; without a project, beside the YAML.
    """
    from tidegate.project.create import write_new
    from tidegate.project.settings.settings import SETTINGS_FILE

    folder = out.resolve().parent
    project = next((each for each in (folder, *folder.parents) if (each / SETTINGS_FILE).is_file()), folder)
    files = {project / "programs" / f"{name}.py": text.encode() for name, text in found.programs.items()}
    for written in write_new({out: text.encode(), **files}):
        typer.echo(f"  {written}")
