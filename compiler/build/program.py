"""Programs: what is launched, and which datasets it reads and writes.

A dataset to read is a name, or a mapping which says that only what is new of it is read.
Whether that can be done is judged once the whole app is known (`compiler.rules.incremental`).
"""

from compiler.build.scope import Scope
from compiler.diagnostic import Related, shown
from compiler.model import Program
from compiler.reader.node import Mapping, Scalar


def build_program(key: Scalar, node: Mapping, scope: Scope) -> Program:
    """One program of an app; its datasets must be declared."""
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


def dataset_nodes(program: Mapping) -> tuple[Scalar, ...]:
    """The names of the datasets to read, where they stand."""
    entries = (
        entry.get("dataset") if isinstance(entry, Mapping) else entry for entry in program.items("reads")
    )
    return tuple(entry for entry in entries if isinstance(entry, Scalar))


def _incremental(program: Mapping) -> dict[str, bool | str]:
    found: dict[str, bool | str] = {}
    for entry in program.items("reads"):
        if not isinstance(entry, Mapping):
            continue
        how = entry.get("incremental")
        if isinstance(how, Scalar) and isinstance(how.value, bool | str) and how.value is not False:
            found[entry.text("dataset")] = how.value
    return found


def _refuse_repeated(reads: tuple[Scalar, ...], scope: Scope) -> None:
    first: dict[str, Scalar] = {}
    for name in reads:
        earlier = first.setdefault(str(name.value), name)
        if earlier is not name:
            scope.findings.add(
                "S108",
                name,
                f"`reads` names each dataset once, got {shown(name.value)} again",
                "delete one of the two",
                (Related(at=scope.at(earlier), note="it stands here first"),),
            )
