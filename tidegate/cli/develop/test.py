"""`tidegate test`: checks the YAML and plays its `examples:` on the real engine with a virtual clock.

The store is in memory, without side effects, and Dagster, Spark and SQLAlchemy are not loaded,
so it is safe and fast everywhere. Exit code 0 when every scenario passes, else 1.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidegate.cli.checked_yaml import check_yaml, end_unless_ok
from tidegate.cli.printing import Format, FormatOption, print_json

if TYPE_CHECKING:
    from tidegate.compiler.compile import Compilation, CompiledApp
    from tidegate.compiler.scenarios.model.scenario import Scenario
    from tidegate.scheduler.simulation.play import Performance

PathsArgument = Annotated[
    list[Path] | None,
    typer.Argument(help="Files and folders; default: the project's schedules.", show_default=False),
]
ScenarioOption = Annotated[
    str | None,
    typer.Option("--scenario", help="Only scenarios whose name contains this text.", show_default=False),
]
BriefOption = Annotated[bool, typer.Option("--brief", help="Print timelines of failed scenarios only.")]


def test(
    paths: PathsArgument = None,
    scenario: ScenarioOption = None,
    brief: BriefOption = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Run the examples of the YAML on a virtual clock; print a timeline of each, and the differences."""
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
    """Compile the files; print the diagnostics, and exit if one is an error."""
    from tidegate.project.settings.settings import load_settings

    if not paths:
        paths = [load_settings(may_lack=True).schedules]
    compilation = check_yaml(paths)
    end_unless_ok(compilation, format)
    return compilation


def _chosen(compilation: "Compilation", wanted: str | None) -> "Iterator[tuple[CompiledApp, Scenario]]":
    """Yield the scenarios to play, with their apps.

    Raises:
        UserError: the given text is not in the name of any scenario.
    """
    from tidegate.domain.error import UserError
    from tidegate.domain.suggest import did_you_mean

    every = [(app, each) for app in compilation.apps.values() for each in app.scenarios]
    found = [pair for pair in every if wanted is None or wanted.casefold() in pair[1].name.casefold()]
    if wanted is not None and not found:
        names = [each.name for _, each in every]
        raise UserError(
            f'"{wanted}" is not in the name of any scenario', did_you_mean(wanted, names, "scenarios")
        )
    yield from found


def played(scenario: "Scenario", app: "CompiledApp", folder: Path, *, judged: bool = True) -> "Performance":
    """Play a scenario on the real engine.

    Args:
        folder: folder of the files that the scenario deploys.
        judged: whether to evaluate the expectations.

    Raises:
        UserError: a file that the scenario deploys cannot be read.
    """
    from tidegate.cli.checked_yaml import settings_here, variables_of
    from tidegate.domain.error import UserError
    from tidegate.project.named_files import files_of_project
    from tidegate.scheduler.simulation.play import play

    settings = settings_here()

    def read_file(name: str) -> bytes:
        return (folder / name).read_bytes()

    try:
        return play(
            scenario,
            app,
            read_file=read_file,
            judged=judged,
            variables=variables_of(settings),
            project=files_of_project(folder if settings is None else settings.project),
        )
    except OSError as error:
        raise UserError(
            f"{scenario.at}: the scenario deploys {error.filename}, which cannot be read: {error.strerror}",
            "write the path relative to the folder of the scenario's file",
        ) from error


def performance_json(performance: "Performance") -> dict[str, Any]:
    """Return a played scenario as JSON values."""
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
