"""The builder of programs, with the datasets that they read and write.

An entry of `reads` is a name, or a mapping that asks for incremental reading. `compiler.rules.incremental`
checks, for the whole app, whether incremental reading is possible.
"""

from tidegate.compiler.builders.scope import Scope
from tidegate.compiler.diagnostics.diagnostic import Related
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.domain.model import Program
from tidegate.domain.wording import shown


def build_program(key: ScalarNode, node: MappingNode, scope: Scope) -> Program:
    """Build a program of an app; report datasets that are not declared."""
    reads = dataset_nodes(node)
    for name in (*reads, *node.strings("writes")):
        scope.dataset(name)
    _refuse_repeated(reads, scope)
    return Program(
        name=str(key.value),
        run=node.text("run"),
        reads=tuple(dict.fromkeys(str(n.value) for n in reads)),
        writes=tuple(str(n.value) for n in node.strings("writes")),
        incremental=_incremental(node),
        description=node.text("description"),
        at=scope.at(key),
    )


def dataset_nodes(program: MappingNode) -> tuple[ScalarNode, ...]:
    """Return the nodes with the names of the datasets to read."""
    entries = (
        entry.get("dataset") if isinstance(entry, MappingNode) else entry for entry in program.items("reads")
    )
    return tuple(entry for entry in entries if isinstance(entry, ScalarNode))


def _incremental(program: MappingNode) -> dict[str, bool | str]:
    found: dict[str, bool | str] = {}
    for entry in program.items("reads"):
        if not isinstance(entry, MappingNode):
            continue
        how = entry.get("incremental")
        if isinstance(how, ScalarNode) and isinstance(how.value, bool | str) and how.value is not False:
            found[entry.text("dataset")] = how.value
    return found


def _refuse_repeated(reads: tuple[ScalarNode, ...], scope: Scope) -> None:
    first: dict[str, ScalarNode] = {}
    for name in reads:
        earlier = first.setdefault(str(name.value), name)
        if earlier is not name:
            scope.findings.add(
                "S108",
                name,
                f"`reads` names each dataset once, got {shown(name.value)} again",
                "delete one of the two",
                (Related(at=scope.at(earlier), note="the first one is here"),),
            )
