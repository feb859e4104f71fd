"""A rule on kinds of triggers: code asks a trigger for facts and does not test which kind it is."""

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


def check_kinds(source: Source, kinds: Collection[str] = LEAVES) -> Iterator[Finding]:
    """Yield where a file outside the three sides names a kind of trigger."""
    if source.path.startswith(SIDES):
        return
    for node in source.nodes:
        if isinstance(node, ast.Name) and node.id in kinds:
            yield source.finding(node.lineno, f"names {node.id}; ask the trigger for a fact")
