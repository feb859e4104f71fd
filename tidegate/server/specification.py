"""Specifications in bodies: compiled with what the store has, refused with the compiler's diagnostics."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tidegate.compiler.compile import compile_files, compile_schedule, compile_task
from tidegate.compiler.diagnostics.diagnostic import Diagnostic
from tidegate.compiler.reader.json_text import JsonText, TooLarge, json_text
from tidegate.compiler.rules.house import house_diagnostics
from tidegate.compiler.scope.formats import Formats, deployed_formats
from tidegate.domain.model import App, Schedule
from tidegate.domain.model.others import with_others
from tidegate.scheduler.commands.live import deployed_apps
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.store.protocol import Reader
from tidegate.server.problem import Problem
from tidegate.server.service import Service

SUMMARIES = 3
"""So many errors are named in `detail`; `diagnostics` has all."""


def compiled_app(service: Service, reader: Reader, name: str, spec: dict[str, Any]) -> App:
    """Compile the specification of an app.

    Raises:
        Problem: 400 with diagnostics.
    """
    settings, document = service.settings, _text(spec)
    known = deployed_apps(reader)
    compilation = compile_files(
        {},
        on_update=settings.on_update,
        formats=Formats(default=settings.default_format, deployed=deployed_formats(known.values())),
        known=lambda: known,
        warehouse=settings.warehouse_folder,
        documents={name: document},
    )
    if not compilation.ok:
        raise _wrong(f"the specification of app {name}", compilation.diagnostics, document)
    found = compilation.models()[name]
    _check_rules(service, found, document, f"the specification of app {name}")
    return found


def compiled_schedule(
    service: Service,
    reader: Reader,
    app: str,
    name: str,
    spec: dict[str, Any],
    before: ScheduleState | None = None,
) -> Schedule:
    """Compile the specification of a schedule of a deployed app.

    Args:
        before: the schedule that it replaces; a task stays a task.

    Raises:
        Problem: 400 with diagnostics.
    """
    document, apps = _text(spec), deployed_apps(reader)
    whole = with_others(apps[app], apps.values())
    on_update = service.settings.on_update
    if before is not None and before.spec.task is not None:
        found, diagnostics = compile_task(whole, name, document, None, on_update, apps.values())
    else:
        found, diagnostics = compile_schedule(whole, name, document, None, on_update)
    if found is None:
        raise _wrong(f"schedule {app}/{name}", diagnostics, document)
    named = msgspec.structs.replace(found, name=name)
    schedules = {**apps[app].schedules, name: named}
    changed = msgspec.structs.replace(apps[app], schedules=schedules)
    _check_rules(service, changed, document, f"schedule {app}/{name}", only=name)
    return named


def _check_rules(service: Service, app: App, document: JsonText, what: str, only: str | None = None) -> None:
    """Refuse what breaks a rule of the project.

    Args:
        only: the schedule that a call is about; the others of the app are deployed already.

    Raises:
        Problem: 400 with diagnostics.
    """
    lines = document.text.split("\n")
    broken = house_diagnostics(
        [app],
        service.settings.rules,
        lambda at: lines[at.line - 1] if at.line <= len(lines) else "",
        only=only,
    )
    if any(each.severity == "error" for each in broken):
        raise _wrong(what, broken, document)


def _text(spec: dict[str, Any]) -> JsonText:
    try:
        return json_text(spec)
    except TooLarge as error:
        raise Problem(400, error.message, hint=error.hint) from error


def _wrong(what: str, diagnostics: Iterable[Diagnostic], document: JsonText) -> Problem:
    errors = [each for each in diagnostics if each.severity == "error"]
    summaries = "; ".join(each.summary for each in errors[:SUMMARIES])
    return Problem(
        400,
        f"{what} is wrong: {summaries}",
        diagnostics=[_json(each, document.paths) for each in diagnostics],
    )


def _json(diagnostic: Diagnostic, paths: Mapping[int, str]) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "path": paths.get(diagnostic.at.line, ""),
        "summary": diagnostic.summary,
        "hint": diagnostic.hint,
    }
