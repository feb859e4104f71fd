"""Reads the expectations of `expect:`: one table, one reader for each kind.

The schema has checked the shapes and which options belong beside which kind, so that a reader
only checks names and times.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import cast

from tidegate.compiler.reader.node import MappingNode, ScalarNode, plain
from tidegate.compiler.scenarios.expect import maintenance
from tidegate.compiler.scenarios.model.scenario import (
    Expectation,
    ExpectDiscarded,
    Expected,
    ExpectLate,
    ExpectLaunch,
    ExpectNone,
    ExpectRefused,
    ExpectWaiting,
)
from tidegate.compiler.scenarios.model.tasks import ExpectInstance, ExpectInstances, InstanceStatus
from tidegate.compiler.scenarios.scope import ExampleScope, number_of, optional_text, texts
from tidegate.domain.wording import shown


def read_expectation(node: MappingNode, within: timedelta, scope: ExampleScope) -> Expectation | None:
    """Return one expectation, or None after a mistake was reported. `within` is the example's own slack."""
    kind = next(key for key in node.keys if key in EXPECTATIONS)
    slack = scope.duration(node.get("within"))
    expected = EXPECTATIONS[kind](node, scope)
    if expected is None:
        return None
    at = scope.findings.at(node)
    return Expectation(expected=expected, within=within if slack is None else slack, at=at)


def _launch(node: MappingNode, scope: ExampleScope) -> Expected | None:
    when = scope.instant(node.get("at"), "`at`")
    name = scope.name(node.values["launch"], "schedule")
    if name is None:
        return None
    args = node.get("args")
    keys = None if node.get("partitions") is None else scope.keys(node.items("partitions"))
    return ExpectLaunch(
        schedule=name,
        when=when,
        scheduled=optional_text(node, "scheduled"),
        business_date=optional_text(node, "business_date"),
        number=number_of(node.get("number")),
        partitions=keys,
        args=None if args is None else plain(args),
    )


def _waiting(node: MappingNode, scope: ExampleScope) -> Expected | None:
    when = scope.instant(node.get("at"), "`at`")
    name = scope.name(node.values["waiting"], "schedule")
    next_check = scope.instant(node.get("next_check"), "`next_check`", bounded=False)
    if name is None or when is None:
        return None
    return ExpectWaiting(
        schedule=name,
        when=when,
        reason=node.text("reason") or None,
        next_check=next_check,
        collected=number_of(node.get("collected")),
    )


def _discarded(node: MappingNode, scope: ExampleScope) -> Expected | None:
    if maintenance.is_of_table(node):
        return maintenance.discarded(node, scope)
    when = scope.instant(node.get("at"), "`at`")
    name = scope.name(node.values["discarded"], "schedule")
    if name is None:
        return None
    return ExpectDiscarded(schedule=name, when=when, reason=node.text("reason") or None)


def _late(node: MappingNode, scope: ExampleScope) -> Expected | None:
    when = scope.instant(node.get("at"), "`at`")
    name = scope.expecting(node.values["late"])
    return None if name is None else ExpectLate(name=name, when=when, key=optional_text(node, "key"))


def _none(node: MappingNode, scope: ExampleScope) -> Expected | None:
    when = scope.instant(node.get("at"), "`at`")
    name = scope.name(node.values["none"], "schedule")
    return None if name is None or when is None else ExpectNone(schedule=name, when=when)


def _instance(node: MappingNode, scope: ExampleScope) -> Expected | None:
    when = scope.instant(node.get("at"), "`at`")
    name = scope.task(node.values["instance"])
    scheduled, date = optional_text(node, "scheduled"), optional_text(node, "business_date")
    if scheduled is None and date is None:
        scope.findings.add(
            "S103",
            node.keys["instance"],
            "an instance needs the key `scheduled` or `business_date`, got neither",
            "add for example scheduled: 2026-03-10",
        )
        return None
    empty = _of_type(node, "empty", bool, "true or false", scope)
    if name is None or when is None or empty is False:
        return None
    return ExpectInstance(
        task=name,
        when=when,
        scheduled=scheduled,
        business_date=date,
        number=number_of(node.get("number")),
        status=cast("InstanceStatus | None", node.text("status") or None),
        reason=node.text("reason") or None,
        empty=node.flag("empty", False) if "empty" in node.values else None,
        marked=node.flag("marked", False) if "marked" in node.values else None,
        attempt=number_of(node.get("attempt")),
        upstream=_upstream(node, scope),
        diagnostic=node.text("diagnostic") or None,
    )


def _upstream(node: MappingNode, scope: ExampleScope) -> dict[str, tuple[str, ...]] | None:
    written = node.mapping("upstream")
    if written is None:
        return None
    found: dict[str, tuple[str, ...]] = {}
    for name, key in written.keys.items():
        task = scope.task(key)
        if task is not None:
            found[task] = texts(written, name)
    return found


def _instances(node: MappingNode, scope: ExampleScope) -> Expected | None:
    when = scope.instant(node.get("at"), "`at`")
    name = scope.task(node.values["instances"])
    empty = _of_type(node, "empty", int, "a number", scope)
    if name is None or when is None or empty is False:
        return None
    return ExpectInstances(
        task=name,
        when=when,
        day=node.text("day"),
        count=number_of(node.get("count")),
        empty=number_of(node.get("empty")),
    )


def _of_type(node: MappingNode, key: str, type_: type[object], noun: str, scope: ExampleScope) -> bool:
    """Return whether a value is absent or of a type; report another one. A boolean is not a number."""
    value = node.get(key)
    if value is None or (isinstance(value, ScalarNode) and type(value.value) is type_):
        return True
    kind = "instance" if type_ is bool else "instances"
    got = shown(value.value if isinstance(value, ScalarNode) else plain(value))
    scope.findings.add(
        "S104",
        value,
        f"`{key}` beside `{kind}` must be {noun}, got {got}",
        f"write {noun}, or delete `{key}`",
    )
    return False


def _refused(node: MappingNode, scope: ExampleScope) -> Expected:
    return ExpectRefused(code=node.text("refused"), when=scope.instant(node.get("at"), "`at`"))


EXPECTATIONS: dict[str, Callable[[MappingNode, ExampleScope], Expected | None]] = {
    "launch": _launch,
    "waiting": _waiting,
    "discarded": _discarded,
    "none": _none,
    "late": _late,
    "instance": _instance,
    "instances": _instances,
    "refused": _refused,
    "maintain": maintenance.maintain,
    "due": maintenance.due,
    "debt": maintenance.debt,
}
