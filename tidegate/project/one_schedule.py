"""One schedule of a deployed app: its text compiled with what the store has, under the rules of the project.

The server and the command line change single schedules; both compile them here, so that they accept and
refuse the same.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tidegate.compiler.compile_one import compile_schedule, compile_task
from tidegate.compiler.diagnostics.diagnostic import Diagnostic
from tidegate.compiler.reader.json_text import JsonText
from tidegate.compiler.render.written import written_schedule
from tidegate.compiler.rules.house import house_diagnostics
from tidegate.compiler.rules.named_settings import NamedSettings, diagnose_named_settings
from tidegate.compiler.rules.namespaces import NO_NAMESPACES, Namespaces
from tidegate.domain.model import App, Schedule
from tidegate.domain.model.others import with_others
from tidegate.project.settings.settings import Settings
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.store.engine_reader import EngineReader, namespaces_of_apps

NEW_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
"""Names of the language."""


def changed_text(state: ScheduleState, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text of a schedule with some keys replaced; None leaves a key as it is."""
    return {
        **written_schedule(state.spec),
        **{key: value for key, value in given.items() if value is not None},
    }


def compile_one(
    settings: Settings,
    apps: Mapping[str, App],
    app: str,
    name: str,
    document: JsonText,
    before: ScheduleState | None = None,
    namespaces: Namespaces = NO_NAMESPACES,
) -> tuple[Schedule | None, tuple[Diagnostic, ...]]:
    """Compile the specification of a schedule of a deployed app.

    Args:
        before: the schedule that it replaces; a task stays a task.

    Returns:
        The schedule, and why there is none: errors of the language, or broken rules of the project.
    """
    whole, on_update = with_others(apps[app], apps.values()), settings.on_update
    if before is not None and before.spec.task is not None:
        found, diagnostics = compile_task(whole, name, document, None, on_update, apps.values(), namespaces)
    else:
        found, diagnostics = compile_schedule(
            whole, name, document, None, on_update, namespaces, lambda: apps
        )
    if found is None:
        return None, tuple(diagnostics)
    named = msgspec.structs.replace(found, name=name)
    changed = msgspec.structs.replace(apps[app], schedules={**apps[app].schedules, name: named})
    broken = broken_rules(settings, changed, document, only=name)
    return (None, broken) if broken else (named, ())


def namespaces_of(settings: Settings, reader: EngineReader) -> Namespaces:
    """Return the namespaces of the project and of the deployed apps, for names that have one."""

    def deployed() -> Mapping[str, str]:
        return namespaces_of_apps(reader)

    return Namespaces(own=settings.namespace, deployed=deployed)


def broken_rules(
    settings: Settings, app: App, document: JsonText, only: str | None = None
) -> tuple[Diagnostic, ...]:
    """Return what breaks a rule of the project, if anything breaks one whose severity is error.

    Channels and clusters that the settings do not have are among them.

    Args:
        only: the schedule that a call is about; the others of the app are deployed already.
    """
    lines = document.text.split("\n")
    known = NamedSettings(channels=settings.channels, clusters=settings.clusters)
    named = diagnose_named_settings(document.root, known, app.name, document.text)
    broken = named + house_diagnostics(
        [app],
        settings.rules,
        lambda at: lines[at.line - 1] if at.line <= len(lines) else "",
        only=only,
    )
    return tuple(broken) if any(each.severity == "error" for each in broken) else ()
