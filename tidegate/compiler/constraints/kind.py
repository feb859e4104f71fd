"""A kind of constraint in the compiler: a key of the YAML and a function that builds it.

A new kind is a new file in this folder, a line in the registry (`compiler.constraints`), a struct in the
model and a property in the schema.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tidegate.compiler.reader.node import MappingNode, Node
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model import At, Constraint, Otherwise


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstraintKind:
    """One kind of constraint.

    `build` receives the value of the key, the place of the key and the scope. It returns None after
    reporting an error.
    """

    key: str
    build: Callable[[Node, At, Scope], Constraint | None]


def otherwise_of(node: Node) -> Otherwise:
    """Return the effect of an unmet constraint: "wait" by default, or "skip"."""
    return "skip" if isinstance(node, MappingNode) and node.text("otherwise") == "skip" else "wait"
