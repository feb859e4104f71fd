"""`tidegate test`: checks the YAML and plays its `examples:` on the real engine with a virtual clock.

The store is in memory and nothing outside is touched, so it is safe and fast anywhere; it
loads neither Dagster nor Spark nor SQLAlchemy. Exit code 0 when every scenario agrees, else 1.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidegate.cli.printing import Format, FormatOption, print_json

if TYPE_CHECKING:
    from tidegate.compiler.compile import Compilation, CompiledApp
    from tidegate.compiler.scenarios.scenario import Scenario
    from tidegate.scheduler.simulation.play import Performance

PathsArgument = Annotated[
    list[Path] | None,
    typer.Argument(help="Files and folders; the project's schedules by default.", show_default=False),
]
ScenarioOption = Annotated[
    str | None,
    typer.Option("--scenario", help="Only the scenarios with this in their name.", show_default=False),
]
BriefOption = Annotated[bool, typer.Option("--brief", help="The timelines of those that fail alone.")]


def test(
    paths: PathsArgument = None,
    scenario: ScenarioOption = None,
    brief: BriefOption = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Run the examples of the YAML on a virtual clock; print a timeline of each, and what differs."""
    compilation = _compiled(paths, format)
    performances: list[Performance] = []
    for app, each in _chosen(compilation, scenario):
        performance = played(each, app, Path(app.file).parent)
        performances.append(performance)
        if format is Format.TEXT:
            from tidegate.cli.develop.scenario_text import performance_text

            shown = performance_text(performance, timeline=not brief)
            typer.echo(shown if brief and performance.ok else f"{shown}\n")
    _summarise(performances, format)
    if not all(performance.ok for performance in performances):
        raise typer.Exit(1)


def _compiled(paths: list[Path] | None, format: Format) -> "Compilation":
    """What the files hold; prints the diagnostics, and ends the command if one is an error."""
    from tidegate.compiler.render.diagnostics_json import diagnostics_json
    from tidegate.compiler.render.diagnostics_text import diagnostics_text, summary_text
    from tidegate.project.yaml_files import compile_paths

    if not paths:
        from tidegate.project.settings import load_settings

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
    from tidegate.domain.error import UserError
    from tidegate.domain.suggest import did_you_mean

    every = [(app, each) for app in compilation.apps.values() for each in app.scenarios]
    found = [pair for pair in every if wanted is None or wanted.casefold() in pair[1].name.casefold()]
    if wanted is not None and not found:
        names = [each.name for _, each in every]
        raise UserError(f'no scenario has "{wanted}" in its name', did_you_mean(wanted, names, "scenarios"))
    yield from found


def played(scenario: "Scenario", app: "CompiledApp", folder: Path, *, judged: bool = True) -> "Performance":
    """A scenario, played on the real engine.

    Args:
        folder: where the files stand that it deploys.
        judged: whether what happens must be what it expects.

    Raises:
        UserError: a file that it deploys cannot be read.
    """
    from tidegate.domain.error import UserError
    from tidegate.scheduler.simulation.play import play

    try:
        return play(scenario, app, read_file=lambda name: (folder / name).read_bytes(), judged=judged)
    except OSError as error:
        raise UserError(
            f"{scenario.at}: the scenario deploys {error.filename}, which cannot be read: {error.strerror}",
            "write the path from the folder of the file that the scenario stands in",
        ) from error


def performance_json(performance: "Performance") -> dict[str, Any]:
    """A scenario that was played, for tools."""
    return {
        "app": performance.app,
        "name": performance.scenario.name,
        "at": str(performance.scenario.at),
        "ok": performance.ok,
        "timeline": performance.moments,
        "summary": performance.summary,
        "failures": [
            {"at": str(failure.at), "expected": failure.expected, "observed": failure.observed}
            for failure in performance.failures
        ],
    }


def _summarise(performances: "list[Performance]", format: Format) -> None:
    from tidegate.cli.develop.scenario_text import summary_text

    if format is Format.TEXT:
        typer.echo(summary_text(performances))
        return
    print_json(
        {
            "scenarios": [performance_json(each) for each in performances],
            "failed": sum(not each.ok for each in performances),
        }
    )
