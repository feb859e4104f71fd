"""A rule on kinds: code asks a trigger or an operation for facts, and does not test which kind it is."""

import ast
from collections.abc import Collection, Iterator
from typing import get_args

from tests.tidy.finding import Finding, Source
from tidegate.domain.model import Composite, TaskTrigger, Trigger

LEAVES = frozenset(
    kind.__name__ for kind in {*get_args(Trigger)} - {*get_args(Composite)} if kind is not TaskTrigger
)
"""Tasks are schedules of their own sort, for which `Schedule.task` asks; all others differ by their facts."""

SIDES = (
    "tidegate/domain/model/",
    "tidegate/compiler/triggers/",
    "tidegate/scheduler/decision/triggers/",
)
"""Each has a file for each kind, and a registry."""


OPERATION_SIDES = ("tidegate/domain/model/operation.py", "tidegate/spark_jobs/maintenance/", "tidegate/demo/")
"""What an operation is, what carries it out, and the example that starts one."""


def check_operations(source: Source) -> Iterator[Finding]:
    """Yield where a file outside of these names an operation on tables."""
    if source.path.startswith(OPERATION_SIDES):
        return
    for node in source.nodes:
        if (
            isinstance(node, ast.Attribute)
            and getattr(node.value, "id", "") == "Operation"
            and node.attr.isupper()
        ):
            yield source.finding(node.lineno, f"names {node.attr}; ask the operation for a fact")


def check_kinds(source: Source, kinds: Collection[str] = LEAVES) -> Iterator[Finding]:
    """Yield where a file outside the three sides names a kind of trigger."""
    if source.path.startswith(SIDES):
        return
    for node in source.nodes:
        if isinstance(node, ast.Name) and node.id in kinds:
            yield source.finding(node.lineno, f"names {node.id}; ask the trigger for a fact")
