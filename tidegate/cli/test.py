"""`tidegate test`: checks the YAML and plays its `examples:` on the real engine with a virtual clock.

The store is in memory and nothing outside is touched, so it is safe and fast anywhere; it
loads neither Dagster nor Spark nor SQLAlchemy. Exit code 0 when every scenario agrees, else 1.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.printing import Format, FormatOption, print_json

if TYPE_CHECKING:
    from compiler.compile import Compilation, CompiledApp
    from compiler.scenario import Scenario
    from scheduler.simulation.play import Performance

PathsArgument = Annotated[
    list[Path] | None,
    typer.Argument(help="Files and folders; the project's schedules by default.", show_default=False),
]
ScenarioOption = Annotated[
    str | None,
    typer.Option("--scenario", help="Only the scenarios with this in their name.", show_default=False),
]


def test(
    paths: PathsArgument = None, scenario: ScenarioOption = None, format: FormatOption = Format.TEXT
) -> None:
    """Run the examples of the YAML on a virtual clock; print a timeline of each, and what differs."""
    compilation = _compiled(paths, format)
    performances: list[Performance] = []
    for app, each in _chosen(compilation, scenario):
        performance = _played(each, app)
        performances.append(performance)
        if format is Format.TEXT:
            from tidegate.scenario_text import performance_text

            typer.echo(f"{performance_text(performance)}\n")
    _summarise(performances, format)
    if not all(performance.ok for performance in performances):
        raise typer.Exit(1)


def _compiled(paths: list[Path] | None, format: Format) -> "Compilation":
    """What the files hold; prints the diagnostics, and ends the command if one is an error."""
    from compiler.render.diagnostics_json import diagnostics_json
    from compiler.render.diagnostics_text import diagnostics_text, summary_text
    from tidegate.yaml_files import compile_paths

    if not paths:
        from tidegate.settings import load_settings

        paths = [load_settings().schedules]
    compilation = compile_paths(paths)
    found = compilation.diagnostics
    if found and format is Format.TEXT:
        typer.echo(f"{diagnostics_text(found)}\n\n{summary_text(found)}", err=True)
    if not compilation.ok:
        if format is Format.JSON:
            print_json({"diagnostics": diagnostics_json(found)})
        raise typer.Exit(1)
    return compilation


def _chosen(compilation: "Compilation", wanted: str | None) -> "Iterator[tuple[CompiledApp, Scenario]]":
    """The scenarios to play, with their apps.

    Raises:
        UserError: a name was given and no scenario has it.
    """
    from compiler.suggest import did_you_mean
    from tidegate.errors import UserError

    every = [(app, each) for app in compilation.apps.values() for each in app.scenarios]
    found = [pair for pair in every if wanted is None or wanted.casefold() in pair[1].name.casefold()]
    if wanted is not None and not found:
        names = [each.name for _, each in every]
        raise UserError(f'no scenario has "{wanted}" in its name', did_you_mean(wanted, names, "scenarios"))
    yield from found


def _played(scenario: "Scenario", app: "CompiledApp") -> "Performance":
    from scheduler.simulation.play import play
    from tidegate.errors import UserError

    try:
        return play(scenario, app, read_file=_reader(app))
    except OSError as error:
        raise UserError(
            f"{scenario.at}: the scenario deploys {error.filename}, which cannot be read: {error.strerror}",
            "write the path from the folder of the app's own file",
        ) from error


def _reader(app: "CompiledApp") -> Callable[[str], bytes]:
    folder = Path(app.file).parent
    return lambda name: (folder / name).read_bytes()


def _summarise(performances: "list[Performance]", format: Format) -> None:
    from tidegate.scenario_text import summary_text

    if format is Format.TEXT:
        typer.echo(summary_text(performances))
        return
    print_json(
        {
            "scenarios": [
                {
                    "app": each.app,
                    "name": each.scenario.name,
                    "at": str(each.scenario.at),
                    "ok": each.ok,
                    "timeline": each.moments,
                    "failures": [
                        {"at": str(failure.at), "expected": failure.expected, "observed": failure.observed}
                        for failure in each.failures
                    ],
                }
                for each in performances
            ],
            "failed": sum(not each.ok for each in performances),
        }
    )
