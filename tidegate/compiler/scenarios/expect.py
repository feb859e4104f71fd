"""Reads the expectations of `expect:`: one table, one reader for each kind.

The schema has checked the shapes and which options belong beside which kind, so that a reader
only checks names and times.
"""

from collections.abc import Callable
from datetime import timedelta

from tidegate.compiler.reader.node import MappingNode, plain
from tidegate.compiler.scenarios.scenario import (
    Expectation,
    ExpectDiscarded,
    Expected,
    ExpectLaunch,
    ExpectNone,
    ExpectRefused,
    ExpectWaiting,
)
from tidegate.compiler.scenarios.scope import ExampleScope, number_of


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
    return ExpectLaunch(schedule=name, when=when, partitions=keys, args=None if args is None else plain(args))


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
    when = scope.instant(node.get("at"), "`at`")
    name = scope.name(node.values["discarded"], "schedule")
    if name is None:
        return None
    return ExpectDiscarded(schedule=name, when=when, reason=node.text("reason") or None)


def _none(node: MappingNode, scope: ExampleScope) -> Expected | None:
    when = scope.instant(node.get("at"), "`at`")
    name = scope.name(node.values["none"], "schedule")
    return None if name is None or when is None else ExpectNone(schedule=name, when=when)


def _refused(node: MappingNode, scope: ExampleScope) -> Expected:
    return ExpectRefused(code=node.text("refused"), when=scope.instant(node.get("at"), "`at`"))


EXPECTATIONS: dict[str, Callable[[MappingNode, ExampleScope], Expected | None]] = {
    "launch": _launch,
    "waiting": _waiting,
    "discarded": _discarded,
    "none": _none,
    "refused": _refused,
}
