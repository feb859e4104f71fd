"""Rules on imports: among the files and folders of one folder they form no circle.

A folder counts as one with all that is below it, so an arrow into any of its files is an arrow into it. Lazy
imports and those for types count too: a reader of the one side has to know the other.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from tests.tidy.finding import Finding, Source

MIN_FILE_LINES = 40
REGISTERED = (
    "tidegate/cli/",
    "tidegate/compiler/constraints/",
    "tidegate/compiler/render/diagnostics/",
    "tidegate/compiler/triggers/",
    "tidegate/dagster_defs/internals/",
    "tidegate/demo/",
    "tidegate/domain/model/triggers/",
    "tidegate/listings/",
    "tidegate/project/starter/",
    "tidegate/scheduler/decision/constraints/",
    "tidegate/scheduler/decision/triggers/",
    "tidegate/scheduler/store/sql/migrations/",
    "/steps/",
)
"""Folders of commands, lists and kinds, which have a file each: a table names them."""

SMALL = frozenset(
    {
        "tidegate/server/routes/lists.py",
    }
)
"""Small files of one user: the list only becomes shorter."""

Arrows = dict[str, dict[str, tuple[str, int]]]
"""Who imports whom, with the file and line of one such import."""


def check_circles(sources: Iterable[Source]) -> Iterator[Finding]:
    """Yield one circle of each folder that has any."""
    by_module = {source.module: source for source in sources}
    folders: dict[str, Arrows] = {}
    for module, source in by_module.items():
        for target, line in _imports(source, by_module):
            folder, one, other = _meeting(module, target)
            if one and other and one != other:
                entries = folders.setdefault(folder, {})
                entries.setdefault(one, {}).setdefault(other, (source.path, line))
                entries.setdefault(other, {})
    for _, entries in sorted(folders.items()):
        yield from _circle(entries)


def check_floor(sources: Iterable[Source]) -> Iterator[Finding]:
    """Yield each small file with importers in fewer than two folders, unless it is a kind."""
    by_module = {source.module: source for source in sources}
    folders: dict[str, set[str]] = {}
    for module, source in by_module.items():
        for target, _ in _imports(source, by_module):
            if target != module:
                folders.setdefault(target, set()).add(source.path.rpartition("/")[0])
    for module, source in by_module.items():
        size, users = len(source.lines), len(folders.get(module, ()))
        exempt = source.path.endswith("/__init__.py") or any(each in source.path for each in REGISTERED)
        if size < MIN_FILE_LINES and users < 2 and not exempt:
            text = f"{size} lines for one user; join it with its neighbour of the same idea"
            yield Finding(path=source.path, line=1, message=text)


def _imports(source: Source, known: Mapping[str, Source]) -> Iterator[tuple[str, int]]:
    for node in source.nodes:
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name if name in known else node.module for name in names]
        else:
            continue
        yield from ((name, node.lineno) for name in found if name in known)


def _meeting(module: str, target: str) -> tuple[str, str, str]:
    """Return the folder in which two modules part, and its entries with each; "" for the folder itself."""
    one, other = module.split("."), target.split(".")
    shared = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return ".".join(one[:shared]), ".".join(one[shared : shared + 1]), ".".join(other[shared : shared + 1])


def _circle(entries: Arrows) -> Iterator[Finding]:
    try:
        TopologicalSorter({name: sorted(targets) for name, targets in sorted(entries.items())}).prepare()
    except CycleError as error:
        # The sorter names each entry after what it imports, and the first one twice.
        circle = error.args[1][:0:-1]
        first = circle.index(min(circle))
        circle = [*circle[first:], *circle[: first + 1]]
        path, line = entries[circle[0]][circle[1]]
        steps = [
            f"{one} imports {other} ({entries[one][other][0]}:{entries[one][other][1]})"
            for one, other in pairwise(circle)
        ]
        yield Finding(path=path, line=line, message=f"imports form a circle: {', '.join(steps)}")
