"""Reads the actions of `given:` on tasks: `instance`, `report`, `backfill` and `cancel_backfill`.

Names and times are taken as they are written. One that does not exist is refused when the example is
played, so that `refused` can expect it.
"""

from typing import Any

from tidegate.compiler.reader.node import MappingNode, SequenceNode
from tidegate.compiler.scenarios.model.scenario import Action
from tidegate.compiler.scenarios.model.tasks import (
    ActOnInstance,
    CancelBackfill,
    ReportInstances,
    StartBackfill,
)
from tidegate.compiler.scenarios.scope import ExampleScope, read_fields, text_of, texts
from tidegate.domain.part_name import name_in
from tidegate.domain.wording import shown


def instance(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return an action of a person on an instance."""
    return read_fields(ActOnInstance, node, scope, _task(node, scope))


def report(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return a report of instances; one scheduled time may be given without a list."""
    read, scheduled = _task(node, scope), node.get("scheduled")
    if scheduled is not None:
        several = isinstance(scheduled, SequenceNode)
        read["scheduled"] = texts(node, "scheduled") if several else (text_of(scheduled),)
    return read_fields(ReportInstances, node, scope, read)


def backfill(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return the start of a backfill of a task, or of the whole app."""
    if not _own_app(node, scope):
        return None
    only = tuple(name_in(scope.app.name, name) for name in texts(node, "only"))
    return read_fields(StartBackfill, node, scope, {**_task(node, scope), "only": only})


def cancel_backfill(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return the cancelling of a backfill."""
    return read_fields(CancelBackfill, node, scope, _task(node, scope)) if _own_app(node, scope) else None


def _task(node: MappingNode, scope: ExampleScope) -> dict[str, Any]:
    task = node.get("task")
    return {} if task is None else {"task": name_in(scope.app.name, text_of(task))}


def _own_app(node: MappingNode, scope: ExampleScope) -> bool:
    """Return whether the app, if one is named, is the one of the example; report another one."""
    app = node.get("app")
    if app is None or text_of(app) == scope.app.name:
        return True
    summary = f"an example is about its own app, got a backfill of {shown(text_of(app))}"
    scope.findings.add("S105", app, summary, f"write app: {scope.app.name}")
    return False
