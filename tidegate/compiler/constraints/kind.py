"""What a kind of constraint is to the compiler: a key of the YAML and a function that builds it.

A new kind is one new file beside this one, one line in the registry
(`compiler.constraints`), one struct in the model and one property in the schema.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tidegate.compiler.builders.scope import Scope
from tidegate.compiler.reader.node import MappingNode, Node
from tidegate.domain.model import At, Constraint, Otherwise


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstraintKind:
    """One kind of constraint.

    `build` gets the value of the key, the key's place and the scope; it returns None after
    it has reported an error.
    """

    key: str
    build: Callable[[Node, At, Scope], Constraint | None]


def otherwise_of(node: Node) -> Otherwise:
    """What an unmet constraint does: "wait" unless it says "skip"."""
    return "skip" if isinstance(node, MappingNode) and node.text("otherwise") == "skip" else "wait"
