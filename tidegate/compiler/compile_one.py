"""One schedule or task, compiled with the parts of a deployed app.

Its specification comes from a scenario's `update`, from the command line or from a call, not from a file.
"""

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from tidegate.compiler.builders.existing_job import check_arguments
from tidegate.compiler.builders.schedule import build_schedule
from tidegate.compiler.builders.sql_arguments import check_sql_schedule
from tidegate.compiler.builders.task import build_task
from tidegate.compiler.diagnostics.diagnostic import Diagnostic, Findings
from tidegate.compiler.reader import MappingNode, Node, ScalarNode, from_value
from tidegate.compiler.reader.json_text import JsonText
from tidegate.compiler.rules.cycles.schedules import check_cycles
from tidegate.compiler.rules.cycles.tasks import check_task_cycles
from tidegate.compiler.rules.lost_parts import report_lost
from tidegate.compiler.rules.namespaces import NO_NAMESPACES, Namespaces, check_namespaces
from tidegate.compiler.rules.references import Launch, check_upstream_arguments
from tidegate.compiler.schema.check import check_part
from tidegate.compiler.schema.validator import part_schema
from tidegate.compiler.schema.whole_numbers import whole_numbers
from tidegate.compiler.scope.others import Known, Others, nothing_known
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.upstream import Tasks, link
from tidegate.domain.model import App, At, OnUpdate, Schedule
from tidegate.domain.wording import shown


def compile_schedule(
    app: App,
    name: str,
    spec: dict[str, Any] | JsonText,
    at: At | None = None,
    on_update: OnUpdate = "reset",
    namespaces: Namespaces = NO_NAMESPACES,
    known: Known = nothing_known,
) -> tuple[Schedule | None, tuple[Diagnostic, ...]]:
    """Compile one schedule with the datasets, programs, groups and calendars of an app.

    Args:
        app: the app, with the parts of other apps that the schedule may name (`with_others`).
        spec: the schedule as builtin values of its YAML, or as a text with the place of each value.
        at: the place of all diagnostics of builtin values.
        namespaces, known: see `compile_files`.

    Returns:
        The schedule, or None after an error, and the diagnostics.
    """
    node, findings = _alone(app, name, spec, at, "schedules")
    check_namespaces(node, (), namespaces, findings)
    schedule = None
    if isinstance(node, MappingNode) and check_part("schedules", node, findings):
        key = ScalarNode(name, node.line, node.column)
        scope = _scope(app, findings, on_update, known)
        schedule = build_schedule(key, node, scope)
        _check_not_lost(schedule, key, findings)
        if schedule is not None:
            whole = _with(app, schedule)
            check_cycles(whole, findings)
            check_upstream_arguments(whole, [(schedule, node.get("args"))], findings)
            _check_launch(Launch(schedule, key, node.get("args")), scope)
    return (None if findings.failed else schedule), findings.diagnostics()


def compile_task(
    app: App,
    name: str,
    spec: dict[str, Any] | JsonText,
    at: At | None = None,
    on_update: OnUpdate = "reset",
    others: Iterable[App] = (),
    namespaces: Namespaces = NO_NAMESPACES,
) -> tuple[Schedule | None, tuple[Diagnostic, ...]]:
    """Compile one task as `compile_schedule` compiles a schedule, with its upstream tasks.

    Args:
        others: the other apps with their tasks, which may be detected or named; the app itself is ignored.
    """
    node, findings = _alone(app, name, spec, at, "tasks")
    check_namespaces(node, (), namespaces, findings)
    others = tuple(others)
    task = None
    if isinstance(node, MappingNode) and check_part("tasks", node, findings):
        key = ScalarNode(name, node.line, node.column)
        known = {other.name: other for other in others}
        scope = _scope(app, findings, on_update, lambda: known)
        task = build_task(key, node, scope)
        _check_not_lost(task, key, findings)
        if task is not None:
            apps = (_with(app, task), *(other for other in others if other.name != app.name))
            task = link(task, node, apps[0], Tasks(apps), findings)
            _check_launch(Launch(task, key, node.get("args")), scope)
            check_task_cycles((_with(app, task), *apps[1:]), {app.name: findings})
    return (None if findings.failed else task), findings.diagnostics()


def _check_launch(launch: Launch, scope: Scope) -> None:
    """Judge the arguments by the queries of the program, or the config of its existing job by them.

    The text of the config is not here: its mistakes are at the name of the schedule or task.
    """
    check_sql_schedule(launch, scope)
    program = scope.programs.get(launch.schedule.program)
    if program is not None and program.existing is not None:
        config = from_value(program.existing.config, launch.key.line, launch.key.column)
        check_arguments([launch], {program.name: config}, scope)


def _check_not_lost(built: Schedule | None, key: ScalarNode, findings: Findings) -> None:
    if built is None and not findings.failed:
        report_lost(shown(key.value), key, findings)


def _alone(
    app: App, name: str, spec: dict[str, Any] | JsonText, at: At | None, section: str
) -> tuple[Node, Findings]:
    """Return one specification as a node at its place, and the collector of its diagnostics."""
    schema = part_schema(section)
    if isinstance(spec, JsonText):
        return whole_numbers(spec.root, schema), Findings(f"{app.name}/{name}", spec.text)
    place = at if at is not None else At(file=f"{app.name}/{name}", line=1, column=1)
    findings = Findings(
        place.file,
        "\n" * (place.line - 1) + json.dumps(spec, default=str) if at is None else "",
    )
    node = from_value(spec, place.line, place.column)
    return (whole_numbers(node, schema) if isinstance(node, MappingNode) else node), findings


def _scope(app: App, findings: Findings, on_update: OnUpdate, known: Known) -> Scope:
    return Scope(
        others=Others(known=known),
        findings=findings,
        timezone=app.timezone,
        day_starts=app.day_starts,
        app=app.name,
        datasets=app.datasets,
        programs=app.programs,
        groups=app.groups,
        calendars=app.calendars,
        on_update=on_update,
    )


def _with(app: App, schedule: Schedule) -> App:
    return msgspec.structs.replace(app, schedules={**app.schedules, schedule.name: schedule})
