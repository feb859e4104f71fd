"""Reads the expectations of `expect:`: each kind is a struct whose fields are the options beside its key.

The schema has checked the shapes and which options belong beside which kind, so that only names and times
are checked here.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, plain
from tidegate.compiler.scenarios.model.maintenance import (
    ExpectDebt,
    ExpectDiscardedOperation,
    ExpectDue,
    ExpectMaintain,
)
from tidegate.compiler.scenarios.model.scenario import (
    Expectation,
    ExpectDiscarded,
    Expected,
    ExpectLate,
    ExpectLaunch,
    ExpectNone,
    ExpectRefused,
    ExpectWaiting,
    ExpectWithheld,
)
from tidegate.compiler.scenarios.model.tasks import ExpectInstance, ExpectInstances
from tidegate.compiler.scenarios.scope import ExampleScope, read_fields, text_of, texts
from tidegate.domain.part_name import whole_name
from tidegate.domain.wording import shown

EXPECTATIONS: dict[str, type[Expected]] = {
    "launch": ExpectLaunch,
    "waiting": ExpectWaiting,
    "discarded": ExpectDiscarded,
    "none": ExpectNone,
    "late": ExpectLate,
    "withheld": ExpectWithheld,
    "instance": ExpectInstance,
    "instances": ExpectInstances,
    "refused": ExpectRefused,
    "maintain": ExpectMaintain,
    "due": ExpectDue,
    "debt": ExpectDebt,
}
"""The kinds. The first field of each is what it is about, under the key of the kind."""

_SUBJECTS: dict[str, Callable[[ExampleScope, Node], str | None]] = {
    "schedule": lambda scope, node: scope.name(node, "schedule"),
    "name": ExampleScope.expecting,
    "task": ExampleScope.task,
    "table": ExampleScope.table,
    "code": ExampleScope.key,
}
"""The reader of what an expectation is about, by that field."""


def read_expectation(node: MappingNode, within: timedelta, scope: ExampleScope) -> Expectation | None:
    """Return one expectation, or None after a mistake was reported. `within` is the example's own slack."""
    kind = next(key for key in node.keys if key in EXPECTATIONS)
    slack = scope.duration(node.get("within"))
    expected = _expected(kind, node, scope)
    if expected is None:
        return None
    at = scope.findings.at(node)
    return Expectation(expected=expected, within=within if slack is None else slack, at=at)


def _expected(kind: str, node: MappingNode, scope: ExampleScope) -> Expected | None:
    of_table = kind == "discarded" and _is_of_table(node)
    struct = ExpectDiscardedOperation if of_table else EXPECTATIONS[kind]
    subject = struct.__struct_fields__[0]
    read_subject = ExampleScope.with_instances if kind == "instance" else _SUBJECTS[subject]
    read: dict[str, Any] = {subject: read_subject(scope, node.values[kind])}
    if kind in ("instance", "instances") and not _is_sound_instance(kind, node, scope):
        return None
    if "policy" in node.values:
        read["policy"] = whole_name(scope.app.name, text_of(node.values["policy"]))
    upstream = node.mapping("upstream")
    if upstream is not None and read[subject] is not None:
        read["upstream"] = _upstream(upstream, scope)
    return read_fields(struct, node, scope, read)


def _is_of_table(node: MappingNode) -> bool:
    """Return whether a `discarded` is about a table: beside `operation`, or by the form of its name."""
    name = text_of(node.values["discarded"])
    return "operation" in node.values or "." in name or "/" in name


def _is_sound_instance(kind: str, node: MappingNode, scope: ExampleScope) -> bool:
    """Return whether an instance is named and `empty` is of the kind's type, never a boolean for a number."""
    if kind == "instance" and "scheduled" not in node.values and "business_date" not in node.values:
        scope.findings.add(
            "S103",
            node.keys["instance"],
            "an instance needs the key `scheduled` or `business_date`, got neither",
            "add for example scheduled: 2026-03-10",
        )
        return False
    value = node.get("empty")
    type_, noun = (bool, "true or false") if kind == "instance" else (int, "a number")
    if value is None or (isinstance(value, ScalarNode) and type(value.value) is type_):
        return True
    scope.findings.add(
        "S104",
        value,
        f"`empty` beside `{kind}` must be {noun}, got {shown(plain(value))}",
        f"write {noun}, or delete `empty`",
    )
    return False


def _upstream(written: MappingNode, scope: ExampleScope) -> dict[str, tuple[str, ...]]:
    found = {name: scope.task(key) for name, key in written.keys.items()}
    return {task: texts(written, name) for name, task in found.items() if task is not None}
