"""The `run` trigger: runs of a program that started or ended."""

from tidegate.compiler.reader.node import ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.triggers.kind import TriggerKind, Written
from tidegate.domain.model import RunTrigger


def _build(written: Written, scope: Scope) -> RunTrigger | None:
    node = written.node.mapping("run")
    name = node.get("program") if node else None
    if node is None or not isinstance(name, ScalarNode):
        return None
    program = scope.program(name)
    if program is None:
        return None
    return RunTrigger(
        program=program.name,
        status=node.text("status", "succeeded"),  # pyright: ignore[reportArgumentType] - the schema's enum
        count=node.number("count", 1),
        **written.options,
    )


KIND = TriggerKind(key="run", build=_build)
