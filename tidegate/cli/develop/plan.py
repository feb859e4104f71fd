"""`tidegate plan`: what a deploy of the project's YAML would change, and what that does to live jobs.

It looks at the store and changes nothing; a store that does not exist yet counts as empty.
Exit code 0 when nothing would change, 2 when changes wait, 1 on errors: a pipeline can ask.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.printing import Format, FormatOption, print_json

if TYPE_CHECKING:
    from tidegate.compiler.plan.diff import Diff
    from tidegate.domain.model import App
    from tidegate.project.settings import Settings

EXIT_CHANGES = 2

UpdateOption = Annotated[
    bool,
    typer.Option(
        "--update-schedules/--no-update-schedules",
        help="Whether schedules follow the YAML. If not, only those of removed programs and apps go.",
    ),
]


def plan(update_schedules: UpdateOption = True, format: FormatOption = Format.TEXT) -> None:
    """Show what a deploy would change; exit code 2 when it would change something."""
    from tidegate.project.settings import load_settings

    settings = load_settings()
    wanted = compiled_apps(settings, format)
    difference = _difference(settings, wanted, update_schedules)
    print_difference(difference, format)
    if not difference.empty:
        raise typer.Exit(EXIT_CHANGES)


def compiled_apps(settings: "Settings", format: Format) -> "Mapping[str, App]":
    """The apps of the project's YAML; prints the diagnostics, and ends the command if one is an error."""
    from tidegate.compiler.render.diagnostics_json import diagnostics_json
    from tidegate.compiler.render.diagnostics_text import diagnostics_text, summary_text
    from tidegate.project.yaml_files import compile_paths

    # The store keeps the places; they must mean the same wherever the command was called.
    compilation = compile_paths(
        [settings.schedules],
        settings.project,
        without=settings.undeployed,
        today=datetime.now(UTC).date(),
    )
    found = compilation.diagnostics
    if found and format is Format.TEXT:
        typer.echo(f"{diagnostics_text(found)}\n\n{summary_text(found)}", err=True)
    if not compilation.ok:
        if format is Format.JSON:
            print_json({"diagnostics": diagnostics_json(found)})
        raise typer.Exit(1)
    return compilation.models()


def print_difference(difference: "Diff", format: Format) -> None:
    """Print a difference as text or JSON."""
    from tidegate.compiler.render.diff_json import diff_json
    from tidegate.compiler.render.diff_text import diff_text

    if format is Format.JSON:
        print_json(diff_json(difference))
    else:
        typer.echo(diff_text(difference))


def _difference(settings: "Settings", wanted: "Mapping[str, App]", update_schedules: bool) -> "Diff":
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.commands.live import difference

    with opened_store(settings, missing_is_empty=True) as store, store.reading() as reader:
        return difference(reader, wanted, update_schedules=update_schedules)
