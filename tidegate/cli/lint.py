"""`tidegate lint`: checks the YAML and prints every mistake with its place.

Loads neither Dagster nor Spark nor SQLAlchemy: it must answer while the author still looks
at the line. Exit code 0 without errors, 1 with; `--strict` counts warnings as errors, notes never.
"""

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class LintFormat(StrEnum):
    """How the diagnostics are printed."""

    TEXT = "text"
    JSON = "json"


def lint(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files and folders; the project's schedules by default.", show_default=False),
    ] = None,
    format: Annotated[LintFormat, typer.Option(help="For people or for tools.")] = LintFormat.TEXT,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail too.")] = False,
) -> None:
    """Check the YAML; print every mistake with its place and with what to write instead."""
    from compiler.render.diagnostics_json import diagnostics_json
    from compiler.render.diagnostics_text import diagnostics_text, summary_text
    from tidegate.yaml_files import compile_paths

    compilation = compile_paths(paths or [_schedules_folder()], today=datetime.now(UTC).date())
    found = compilation.diagnostics
    if format is LintFormat.JSON:
        import msgspec

        typer.echo(msgspec.json.format(msgspec.json.encode(diagnostics_json(found)), indent=2).decode())
    elif found:
        typer.echo(diagnostics_text(found))
        typer.echo(f"\n{summary_text(found)}")
    else:
        apps = compilation.apps.values()
        schedules = sum(len(compiled.app.schedules) for compiled in apps)
        typer.echo(f"ok: {_count(len(compilation.apps), 'app')}, {_count(schedules, 'schedule')}")
    if not compilation.ok or (strict and any(d.severity != "note" for d in found)):
        raise typer.Exit(1)


def _schedules_folder() -> Path:
    from tidegate.settings import load_settings

    return load_settings().schedules


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
