"""Reads the actions of `given:` on tables: `table`, `operation_ends`, `maintain` and `disable`.

Names are taken as they are written, but for the dataset that `table` or `operation_ends` names. A table or
policy that does not exist is refused when the example is played, so that `refused` can expect it.
"""

from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.scenarios.model.maintenance import (
    DisablePolicy,
    MaintainByHand,
    OperationEnds,
    TableWritten,
)
from tidegate.compiler.scenarios.model.scenario import Action
from tidegate.compiler.scenarios.scope import ExampleScope, read_fields, text_of, texts
from tidegate.domain.maintenance.measures import MEASURES


def table(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return the writing of a table, or its end; `health` and `gone` are beside its name."""
    name = scope.table(node.values["table"])
    gone = node.flag("gone", False)
    if gone and "health" in node.values:
        summary = "a table that is gone has no health, got `gone` and `health`"
        scope.findings.add("S110", node.keys["health"], summary, "delete one of the two")
        return None
    if node.text("health"):
        return None if name is None else TableWritten(table=name, health=None)
    found = node.mapping("health")
    health = {} if found is None else _health(found, scope)
    if name is None or health is None:
        return None
    return TableWritten(table=name, health=health, gone=gone)


def _health(node: MappingNode, scope: ExampleScope) -> dict[str, float] | None:
    """Return what is measured, each measure in its unit; None after a mistake was reported."""
    found: dict[str, float] = {}
    for name, value in node.values.items():
        match MEASURES[name].unit:
            case "bytes":
                number = scope.size(value)
            case "seconds":
                age = scope.duration(value)
                number = None if age is None else age.total_seconds()
            case _:
                number = node.decimal(name, 0)
        if number is not None:
            found[name] = float(number)
    return found if len(found) == len(node.values) else None


def operation_ends(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return how the coming runs of an operation go; one end may be given without a list."""
    one = node.text("ends")
    ends = (one,) if one else texts(node, "ends")
    return read_fields(OperationEnds, node, scope, {"table": scope.table(node.values["table"]), "ends": ends})


def maintain(node: MappingNode, scope: ExampleScope) -> Action | None:
    """Return a run by hand."""
    return read_fields(MaintainByHand, node, scope, {"table": scope.any_table(node.values["table"])})


def disable(node: ScalarNode, _scope: ExampleScope) -> Action:
    """Return the deployment that disables a policy."""
    return DisablePolicy(policy=text_of(node))
