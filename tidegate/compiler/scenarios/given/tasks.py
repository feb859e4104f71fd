"""Reads the actions of `given:` on tasks: `instance`, `report`, `backfill` and `cancel_backfill`.

Names and times are taken as they are written. One that does not exist is refused when the example is
played, so that `refused` can expect it.
"""

from typing import cast

from tidegate.compiler.reader.node import MappingNode, SequenceNode
from tidegate.compiler.scenarios.model.scenario import Action
from tidegate.compiler.scenarios.model.tasks import (
    ActOnInstance,
    CancelBackfill,
    InstanceDo,
    ReportInstances,
    StartBackfill,
)
from tidegate.compiler.scenarios.scope import ExampleScope, number_of, optional_text, text_of, texts
from tidegate.domain.model import Priority
from tidegate.domain.part_name import name_in
from tidegate.domain.wording import shown


def instance(node: MappingNode, scope: ExampleScope) -> Action:
    """Return an action of a person on an instance."""
    return ActOnInstance(
        task=_task(node, scope),
        do=cast("InstanceDo", node.text("do")),
        scheduled=optional_text(node, "scheduled"),
        business_date=optional_text(node, "business_date"),
        number=number_of(node.get("number")),
    )


def report(node: MappingNode, scope: ExampleScope) -> Action:
    """Return a report of instances; one scheduled time may be given without a list."""
    several = isinstance(node.get("scheduled"), SequenceNode)
    one = None if several else optional_text(node, "scheduled")
    return ReportInstances(
        task=_task(node, scope),
        scheduled=texts(node, "scheduled") if one is None else (one,),
        from_=optional_text(node, "from"),
        to=optional_text(node, "to"),
        status="failed" if node.text("status") == "failed" else "successful",
        request=optional_text(node, "request") or "",
    )


def backfill(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return the start of a backfill of a task, or of the whole app."""
    if not _own_app(node, scope):
        return None
    priority = optional_text(node, "priority")
    return StartBackfill(
        task=_task(node, scope) if "task" in node.values else None,
        from_=text_of(node.values["from"]),
        to=text_of(node.values["to"]),
        lot=node.number("lot", 1),
        upstream=node.flag("upstream", False),
        only=tuple(name_in(scope.app.name, name) for name in texts(node, "only")),
        priority=None if priority is None else Priority(priority),
    )


def cancel_backfill(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return the cancelling of a backfill."""
    if not _own_app(node, scope):
        return None
    task = _task(node, scope) if "task" in node.values else None
    return CancelBackfill(task=task, number=number_of(node.get("number")))


def _task(node: MappingNode, scope: ExampleScope) -> str:
    return name_in(scope.app.name, text_of(node.values["task"]))


def _own_app(node: MappingNode, scope: ExampleScope) -> bool:
    """Return whether the app, if one is named, is the one of the example; report another one."""
    name = optional_text(node, "app")
    if name is None or name == scope.app.name:
        return True
    summary = f"an example is about its own app, got a backfill of {shown(name)}"
    scope.findings.add("S105", node.values["app"], summary, f"write app: {scope.app.name}")
    return False
