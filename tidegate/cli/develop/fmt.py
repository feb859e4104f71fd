"""`tidegate fmt`: writes the YAML in the layout of the language: order of keys, indentation, empty lines.

Comments stay. A file that is not YAML is not touched, and one whose content a layout would change neither. A
file is replaced as a whole, so that a crash leaves the old one or the new one.
"""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.domain.error import UserError

if TYPE_CHECKING:
    from tidegate.compiler.diagnostics.diagnostic import Diagnostic


def fmt(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files and folders; default: the project's schedules.", show_default=False),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; list what would change, with exit code 1.")
    ] = False,
) -> None:
    """Format the YAML: the order of keys of the language, two spaces, comments kept."""
    from tidegate.compiler.layout import format_file
    from tidegate.compiler.render.diagnostics.text import diagnostics_text
    from tidegate.project.named_files import rows_named, shown_name
    from tidegate.project.settings.settings import load_settings
    from tidegate.project.yaml_files import read_files

    files = read_files(paths or [load_settings(may_lack=True).schedules])
    wrong: list[Diagnostic] = list(files.diagnostics)
    refused: list[UserError] = []
    changed: list[str] = []
    rows = {shown_name(each, None) for each in rows_named(files.contents)}
    apps = {name: data for name, data in files.contents.items() if name not in rows}
    for name, data in apps.items():
        try:
            text, diagnostics = format_file(name, data)
        except UserError as error:
            refused.append(error)
            continue
        wrong += diagnostics
        if text is not None and text.encode() != data:
            changed.append(name)
            if not check:
                _replace(Path(name), text)
    if wrong:
        typer.echo(diagnostics_text(tuple(wrong)))
    for error in refused:
        typer.echo(f"error: {error}", err=True)
    for name in changed:
        typer.echo(f"{name}: {'would be formatted' if check else 'formatted'}")
    if not changed and not wrong and not refused:
        typer.echo(f"ok: {len(apps)} files are formatted")
    if wrong or refused or (check and changed):
        raise typer.Exit(1)


def _replace(file: Path, text: str) -> None:
    """Write a file whole or not at all; a link stays one, and the permissions stay.

    Raises:
        UserError: it cannot be written.
    """
    file = file.resolve()
    draft = file.with_name(f".{file.name}.new")
    try:
        draft.write_bytes(text.encode())
        shutil.copymode(file, draft)
        draft.replace(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise UserError(f"{file} cannot be written: {error.strerror}", "correct its permissions") from error
