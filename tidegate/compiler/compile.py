"""Files to apps: the one entry to the compiler.

`compile_files` reads, checks and builds every file, and gathers every diagnostic; a file
with an error yields no app and hides no other. `compile_schedule` does the same for one
schedule whose specification comes from elsewhere: a scenario's `update`, or the command line.
"""

import json
from collections.abc import Mapping as Files
from datetime import date
from typing import Any

import msgspec

from tidegate.compiler.builders.app import build_app
from tidegate.compiler.builders.schedule import build_schedule
from tidegate.compiler.builders.scope import Scope
from tidegate.compiler.diagnostics.diagnostic import Diagnostic, Findings, Related
from tidegate.compiler.reader import MappingNode, ScalarNode, from_value, plain, read
from tidegate.compiler.rules.cycles import check_cycles
from tidegate.compiler.rules.daylight_saving import check_daylight_saving
from tidegate.compiler.rules.references import check_upstream_arguments
from tidegate.compiler.scenarios.reader import read_scenarios
from tidegate.compiler.scenarios.scenario import Scenario
from tidegate.compiler.schema.check import check_app, check_schedule
from tidegate.domain.model import App, At, Schedule
from tidegate.domain.value import Value


class CompiledApp(Value, kw_only=True):
    """An app without errors.

    Attributes:
        document: the YAML as builtin values, with what was left out still left out.
        root: the whole file as nodes with places.
        scenarios: what `examples:` holds, see tidegate.compiler.scenarios.scenario.
    """

    app: App
    document: dict[str, Any]
    root: MappingNode
    scenarios: tuple[Scenario, ...] = ()

    @property
    def file(self) -> str:
        """The file it was read from."""
        return self.app.at.file if self.app.at else ""


class Compilation(Value, kw_only=True):
    """What became of a set of files.

    Attributes:
        apps: by name, those without errors.
        diagnostics: of all files, sorted by place.
    """

    apps: dict[str, CompiledApp]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no error; warnings do not count."""
        return not any(d.severity == "error" for d in self.diagnostics)

    def models(self) -> dict[str, App]:
        """The apps as the engine knows them, by name."""
        return {name: compiled.app for name, compiled in self.apps.items()}


def compile_files(files: Files[str, bytes], today: date | None = None) -> Compilation:
    """Compiles files, each of which holds one app.

    Args:
        files: contents by file name; the name is printed in diagnostics as it stands.
        today: notes name the coming dates that are special for a schedule; without it there are none.

    Returns:
        The apps that have no errors, and every diagnostic. Never raises for what a file holds.
    """
    apps: dict[str, CompiledApp] = {}
    places: dict[str, At] = {}
    diagnostics: list[Diagnostic] = []
    for file in sorted(files):
        root, findings = read(file, files[file])
        if root is not None:
            broken = check_app(root, findings)
            app = build_app(root, findings, broken)
            earlier = places.get(app.name)
            if earlier is not None:
                _report_taken(root, app, earlier, findings)
            elif app.name and app.at is not None:
                places[app.name] = app.at
            scenarios = read_scenarios(root, app, findings, broken)
            if today is not None and not findings.failed:
                check_daylight_saving(app, today, findings)
            if not findings.failed:
                apps[app.name] = CompiledApp(app=app, document=plain(root), root=root, scenarios=scenarios)
        diagnostics.extend(findings.diagnostics())
    return Compilation(apps=apps, diagnostics=tuple(sorted(diagnostics, key=Diagnostic.sort_key)))


def compile_schedule(
    app: App, name: str, spec: dict[str, Any], at: At | None = None
) -> tuple[Schedule | None, tuple[Diagnostic, ...]]:
    """Compiles one schedule against the datasets, programs, groups and calendars of an app.

    Args:
        spec: the schedule as the YAML would spell it.
        at: the place to which every diagnostic points.

    Returns:
        The schedule, or None if there is an error, and the diagnostics.
    """
    place = at if at is not None else At(file=f"{app.name}/{name}", line=1, column=1)
    findings = Findings(
        place.file,
        "\n" * (place.line - 1) + json.dumps(spec, default=str) if at is None else "",
    )
    node = from_value(spec, place.line, place.column)
    schedule = None
    if isinstance(node, MappingNode) and check_schedule(node, findings):
        scope = Scope(
            findings=findings,
            timezone=app.timezone,
            datasets=app.datasets,
            programs=app.programs,
            groups=app.groups,
            calendars=app.calendars,
        )
        schedule = build_schedule(ScalarNode(name, place.line, place.column), node, scope)
    if schedule is not None:
        whole = _with(app, schedule)
        check_cycles(whole, findings)
        args = node.get("args") if isinstance(node, MappingNode) else None
        check_upstream_arguments(whole, {name: args} if args else {}, findings)
    return (None if findings.failed else schedule), findings.diagnostics()


def _with(app: App, schedule: Schedule) -> App:
    return msgspec.structs.replace(app, schedules={**app.schedules, schedule.name: schedule})


def _report_taken(root: MappingNode, app: App, earlier: At, findings: Findings) -> None:
    findings.add(
        "N304",
        root.values["app"],
        f'the name of an app is its own, got "{app.name}" again',
        "rename one of the two apps",
        (Related(at=earlier, note="it stands here first"),),
    )
