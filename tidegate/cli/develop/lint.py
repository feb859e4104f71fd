"""`tidegate lint`: checks the YAML and prints every mistake with its position.

It does not load Dagster, Spark or SQLAlchemy, so it is fast enough to run at every save; it reads the
store only for names of apps that are not among the files. With `--locations` a child process loads the code
locations. Exit code 0 without errors, else 1; `--strict` counts warnings as errors, but never notes.
"""

import os
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.checked_yaml import (
    LocationsOption,
    RequireLocationsOption,
    check_yaml,
    compared,
    settings_here,
)
from tidegate.cli.terminal import with_controls_escaped
from tidegate.domain.value import without_collection

if TYPE_CHECKING:
    from tidegate.compiler.compile import Compilation


class LintFormat(StrEnum):
    """The output format of diagnostics."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


@without_collection()
def lint(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files and folders; default: the project's schedules.", show_default=False),
    ] = None,
    format: Annotated[
        LintFormat, typer.Option(help="For people, for tools, for code hosts.")
    ] = LintFormat.TEXT,
    imports: Annotated[
        bool, typer.Option("--imports", help="Also import the programs, in a child process.")
    ] = False,
    locations: LocationsOption = None,
    require_locations: RequireLocationsOption = False,
    strict: Annotated[bool, typer.Option("--strict", help="Count warnings as errors.")] = False,
) -> None:
    """Check the YAML; print every mistake with its position and what to write instead."""
    compilation = check_yaml(paths or [_schedules_folder()], today=datetime.now(UTC).date())
    if imports:
        from tidegate.project.imports import check_imports

        settings = settings_here()
        compilation = check_imports(compilation, Path.cwd() if settings is None else settings.project)
    if locations is not None or require_locations:
        compilation = compared(compilation, settings_here, locations, require_locations).compilation
    if not paths:
        compilation = _with_settings(compilation)
    found = compilation.diagnostics
    wrong = any(diagnostic.severity != "note" for diagnostic in found)
    typer.echo(_output(compilation, format, wrong), nl=format is not LintFormat.GITHUB or bool(found))
    if not compilation.ok or (strict and wrong):
        raise typer.Exit(1)


def _with_settings(compilation: "Compilation") -> "Compilation":
    """Return the compilation with what is wrong with the project's settings."""
    import msgspec

    from tidegate.project.settings.literal_secrets import literal_secrets
    from tidegate.project.settings.settings import find_settings_file

    file = find_settings_file()
    found = literal_secrets(file, os.path.relpath(file))
    return msgspec.structs.replace(compilation, diagnostics=(*found, *compilation.diagnostics))


def _output(compilation: "Compilation", format: LintFormat, wrong: bool) -> str:
    found, apps = compilation.diagnostics, compilation.models().values()
    match format:
        case LintFormat.TEXT:
            from tidegate.compiler.render.detected import detected_lines
            from tidegate.compiler.render.diagnostics.text import diagnostics_text, summary_text

            listed = [f"{diagnostics_text(found)}\n"] if found else []
            return "\n".join(
                (*listed, *detected_lines(apps), summary_text(found) if wrong else _ok(compilation))
            )
        case LintFormat.JSON:
            from tidegate.compiler.render.detected import detected_notes
            from tidegate.compiler.render.diagnostics.json import diagnostics_json

            return _indented((*diagnostics_json(found), *detected_notes(apps)))
        case LintFormat.SARIF:
            from tidegate.compiler.render.diagnostics.sarif import diagnostics_sarif
            from tidegate.release import release

            return _indented(diagnostics_sarif(found, release()))
        case LintFormat.GITHUB:
            from tidegate.compiler.render.diagnostics.github import diagnostics_github

            return diagnostics_github(found)


def _indented(value: object) -> str:
    import msgspec

    return with_controls_escaped(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def _ok(compilation: "Compilation") -> str:
    """Return the summary of files without errors and warnings."""
    apps = compilation.apps.values()
    parts = [schedule for compiled in apps for schedule in compiled.app.schedules.values()]
    tasks = sum(schedule.task is not None for schedule in parts)
    counts = [
        _count(len(apps), "app"),
        _count(len(parts) - tasks, "schedule"),
    ]
    if tasks:
        counts.append(_count(tasks, "task"))
    if compilation.diagnostics:
        counts.append(_count(len(compilation.diagnostics), "note"))
    return f"ok: {', '.join(counts)}"


def _schedules_folder() -> Path:
    from tidegate.project.settings.settings import load_settings

    return load_settings(may_lack=True).schedules


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
