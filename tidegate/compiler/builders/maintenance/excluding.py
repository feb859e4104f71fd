"""The check of two keys that exclude each other."""

from tidegate.compiler.diagnostics.diagnostic import Related
from tidegate.compiler.reader.node import MappingNode
from tidegate.compiler.scope.scope import Scope


def refuse_both(mapping: MappingNode, one: str, other: str, rule: str, scope: Scope) -> None:
    """Report two keys of a mapping that exclude each other, at the second one."""
    if one not in mapping.keys or other not in mapping.keys:
        return
    first, second = sorted((mapping.keys[one], mapping.keys[other]), key=lambda key: (key.line, key.column))
    scope.findings.add(
        "V251",
        second,
        f"{rule}, got `{first.value}` and `{second.value}`",
        "delete one of the two",
        (Related(at=scope.at(first), note=f"`{first.value}` is here"),),
    )
