"""A kind of trigger in the compiler: a key of the YAML and a function that builds it.

A new kind is one new file beside this one and one line in the registry (`compiler.triggers`), its
struct in `domain.model.triggers` and one property in the schema. The rules ask the struct for facts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypedDict

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.reader.node import MappingNode, Node
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import At, Dataset, Trigger
from tidegate.domain.model.triggers.facts import Checks
from tidegate.domain.wording import shown


class Options(TypedDict):
    """The options of every kind, as keyword arguments of its struct."""

    wait_at_most: timedelta | None
    quiet: timedelta | None
    quiet_at_most: timedelta | None
    collect_within: timedelta | None
    collect_existing: bool
    as_: str | None
    at: At


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A trigger as written in the YAML.

    Attributes:
        node: the mapping that holds the kind's key and the options beside it.
        options: the options of every kind, and the place of the kind's key.
        program: the program of the schedule; "" if unknown.
        member: builds a member of this trigger; returns None after an error.
    """

    node: MappingNode
    options: Options
    program: str
    member: Callable[[Node], Trigger | None]

    def members(self, nodes: tuple[Node, ...]) -> tuple[Trigger, ...] | None:
        """Return the triggers inside this one; None if one of them has an error."""
        built = tuple(found for node in nodes if (found := self.member(node)) is not None)
        return built if len(built) == len(nodes) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerKind:
    """One kind of trigger. `build` returns None after it has reported an error."""

    key: str
    build: Callable[[Written, Scope], Trigger | None]


def checks_of(node: MappingNode, dataset: Dataset, scope: Scope) -> Checks | None:
    """Return what a member asks of the checks of its dataset; report a dataset that has none."""
    check_checks(node, dataset.name, dataset, scope.findings)
    return "passed" if "checks" in node.values else None


def check_checks(node: MappingNode, name: str, dataset: Dataset, findings: Findings) -> None:
    """Report `checks: passed` of a dataset that is not the asset of other code.

    Args:
        name: of the dataset, as the app calls it.
    """
    if "checks" in node.values and not dataset.asset:
        summary = f"`checks: passed` waits for the checks of an asset, got {shown(name)} without `asset`"
        hint = "delete it: the checks of a dataset are judged before there is an event of it"
        findings.add("L437", node.keys["checks"], summary, hint)
