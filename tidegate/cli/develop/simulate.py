"""`tidegate simulate`: plays events from a file against an app, and shows the jobs that result.

It uses the engine and virtual clock of `tidegate test` and a store in memory, without side
effects. Exit code 0, or 1 if an expectation of the file is not met.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from tidegate.cli.checked_yaml import check_yaml
from tidegate.cli.printing import Format, FormatOption, print_json

if TYPE_CHECKING:
    from tidegate.compiler.compile import CompiledApp
    from tidegate.compiler.diagnostics.diagnostic import Diagnostic
    from tidegate.compiler.scenario_file import ScenarioFile

FileArgument = Annotated[
    Path, typer.Argument(help="Events as YAML (one item of an app's `examples:`), .csv or .jsonl.")
]
AppOption = Annotated[
    Path | None,
    typer.Option(help="The YAML file of the app; default: the project's app.", show_default=False),
]
UntilOption = Annotated[
    str | None,
    typer.Option(help="The last instant: absolute, or +duration from the start.", show_default=False),
]
ActiveOption = Annotated[
    bool, typer.Option("--all-active", help="Start with every schedule active; ignore `status`.")
]


def simulate(
    file: FileArgument,
    app: AppOption = None,
    until: UntilOption = None,
    all_active: ActiveOption = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Play events from a file on a virtual clock; print the timeline and the result of each schedule."""
    from tidegate.cli.develop.scenario_text import outcome_text, performance_text
    from tidegate.cli.develop.test import performance_json, played

    found = _read(file, format)
    compiled = _app(app, found, file, format)
    scenario = found.scenario(compiled, until)
    if scenario is None:
        _refuse(found.diagnostics, format)
    subject = _activated(compiled) if all_active else compiled
    performance = played(scenario, subject, file.parent, judged=bool(scenario.expect))
    if format is Format.JSON:
        print_json(performance_json(performance))
    else:
        typer.echo(f"{performance_text(performance)}\n\n{outcome_text(performance)}")
    if not performance.ok:
        raise typer.Exit(1)


def _read(file: Path, format: Format) -> "ScenarioFile":
    from tidegate.compiler.reader.text import MAX_FILE_BYTES
    from tidegate.compiler.scenario_file import ScenarioFile
    from tidegate.domain.error import UserError

    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise UserError(
            f"{file} cannot be read: {error.strerror}", "give a file of events; see: tidegate docs scenarios"
        ) from error
    found = ScenarioFile(str(file), data)
    if found.diagnostics:
        _refuse(found.diagnostics, format)
    return found


def _app(path: Path | None, found: "ScenarioFile", file: Path, format: Format) -> "CompiledApp":
    """Return the app of the simulation.

    Raises:
        UserError: the app is unknown or ambiguous.
    """
    from tidegate.domain.error import UserError
    from tidegate.domain.suggest import did_you_mean

    left_out: tuple[Path, ...] = ()
    if path is None:
        from tidegate.project.settings.settings import load_settings

        settings = load_settings(may_lack=True)
        path = settings.schedules
        left_out = () if found.app else settings.undeployed
    compilation = check_yaml([path], without=left_out)
    if not compilation.ok:
        _refuse(compilation.diagnostics, format)
    apps = compilation.apps
    if found.app in apps:
        return apps[found.app]
    if found.app:
        raise UserError(
            f'{file} names app "{found.app}", which is not in {path}',
            did_you_mean(found.app, list(apps), "apps"),
        )
    if len(apps) != 1:
        raise UserError(
            f"{path} has {len(apps)} apps, and {file} does not name one",
            "give the app's file with --app, or write `app: NAME` in the file of events",
        )
    return next(iter(apps.values()))


def _activated(compiled: "CompiledApp") -> "CompiledApp":
    """Return the app with every schedule active from the start."""
    from msgspec.structs import replace

    schedules = {name: replace(spec, status="active") for name, spec in compiled.app.schedules.items()}
    return replace(compiled, app=replace(compiled.app, schedules=schedules))


def _refuse(diagnostics: "tuple[Diagnostic, ...]", format: Format) -> NoReturn:
    """Print the diagnostics of a file and exit."""
    from tidegate.compiler.render.diagnostics.json import diagnostics_json
    from tidegate.compiler.render.diagnostics.text import diagnostics_text, summary_text

    if format is Format.JSON:
        print_json({"diagnostics": diagnostics_json(diagnostics)})
    else:
        typer.echo(f"{diagnostics_text(diagnostics)}\n\n{summary_text(diagnostics)}", err=True)
    raise typer.Exit(1)
