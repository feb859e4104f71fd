"""Specifications in bodies: compiled with what the store has, refused with the compiler's diagnostics."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from tidegate.compiler.compile import compile_files
from tidegate.compiler.diagnostics.diagnostic import Diagnostic
from tidegate.compiler.reader.json_text import JsonText, NotWritable, json_text
from tidegate.compiler.scope.formats import Formats, deployed_formats
from tidegate.domain.model import App, Schedule
from tidegate.project.named_files import files_of_project
from tidegate.project.one_schedule import broken_rules, compile_one, namespaces_of
from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.server.access import Caller
from tidegate.server.problem import Problem
from tidegate.server.service import Service
from tidegate.server.visible import hidden_from, names_any

SUMMARIES = 3
"""So many errors are named in `detail`; `diagnostics` has all."""


def compiled_app(
    service: Service, reader: EngineReader, caller: Caller, name: str, spec: dict[str, Any]
) -> App:
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
        namespaces=namespaces_of(settings, reader),
        read_file=files_of_project(settings.project),
        jobs_kept=settings.retention.finished_jobs,
    )
    hidden = hidden_from(reader, caller)
    if not compilation.ok:
        raise _wrong(f"the specification of app {name}", compilation.diagnostics, document, hidden)
    found = compilation.models()[name]
    # The alerts of parts that templates make are judged, too.
    whole = document._replace(root=compilation.apps[name].root)
    broken = broken_rules(service.settings, found, whole)
    if broken:
        raise _wrong(f"the specification of app {name}", broken, document, hidden)
    return found


def compiled_schedule(
    service: Service,
    reader: EngineReader,
    caller: Caller,
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
    document = _text(spec)
    found, diagnostics = compile_one(
        service.settings,
        deployed_apps(reader),
        app,
        name,
        document,
        before,
        namespaces_of(service.settings, reader),
    )
    if found is None:
        raise _wrong(f"schedule {app}/{name}", diagnostics, document, hidden_from(reader, caller))
    return found


def _text(spec: dict[str, Any]) -> JsonText:
    try:
        return json_text(spec)
    except NotWritable as error:
        raise Problem(400, error.message, hint=error.hint) from error


def _wrong(
    what: str, diagnostics: Iterable[Diagnostic], document: JsonText, hidden: Collection[str]
) -> Problem:
    """Return the problem of a specification with errors.

    Args:
        hidden: apps that no hint names, nor their parts.
    """
    errors = [each for each in diagnostics if each.severity == "error"]
    summaries = "; ".join(each.summary for each in errors[:SUMMARIES])
    return Problem(
        400,
        f"{what} is wrong: {summaries}",
        diagnostics=[_json(each, document.paths, hidden) for each in diagnostics],
    )


def _json(diagnostic: Diagnostic, paths: Mapping[int, str], hidden: Collection[str]) -> dict[str, Any]:
    names_other = names_any(f"{diagnostic.summary} {diagnostic.hint}", hidden)
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "path": paths.get(diagnostic.at.line, ""),
        "summary": diagnostic.summary,
        "hint": "" if names_other else diagnostic.hint,
    }
