"""Programs: what is launched, and which datasets it reads and writes."""

from compiler.build.scope import Scope
from compiler.model import Program
from compiler.reader.node import Mapping, Scalar


def build_program(key: Scalar, node: Mapping, scope: Scope) -> Program:
    """One program of an app; its datasets must be declared."""
    for name in (*node.strings("reads"), *node.strings("writes")):
        scope.dataset(name)
    return Program(
        name=str(key.value),
        run=node.text("run"),
        reads=tuple(str(n.value) for n in node.strings("reads")),
        writes=tuple(str(n.value) for n in node.strings("writes")),
        description=node.text("description"),
        at=scope.at(key),
    )
