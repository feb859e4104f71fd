"""A rule on the map of the house in docs/architecture.md: capability by layer, and where its files are.

Each path of a cell exists and is of the layer of its column. Each file, folder and page whose name has a word
of a capability is in the row of that capability, itself or with its folder.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from tests.tidy.finding import Finding

MAP_FILE = "docs/architecture.md"
HEADING = "## The map"
CODE = re.compile(r"`([^`]+)`")

LAYERS: Mapping[str, tuple[str, ...]] = {
    "domain": ("domain",),
    "compiler": ("compiler",),
    "decision": ("scheduler/model", "scheduler/decision"),
    "tick": (
        "scheduler/tick",
        "scheduler/intake",
        "scheduler/launch",
        "scheduler/retention",
        "scheduler/alerts",
    ),
    "commands": ("scheduler/commands",),
    "store": ("scheduler/store",),
    "explain": ("scheduler/explain", "scheduler/simulation", "listings"),
    "server": ("server",),
    "cli": ("cli",),
    "processes": (
        "alerts",
        "dagster_defs",
        "definitions.py",
        "components.py",
        "io_manager.py",
        "launcher",
        "processes",
        "project",
        "read.py",
        "spark_jobs",
        "watcher",
    ),
    "pages": ("docs",),
}
"""The columns, with what each layer consists of: below `tidegate/`, and the pages below `docs/`."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A capability: its line, its name, its words in the names of files, and the paths of each layer."""

    line: int
    name: str
    words: frozenset[str]
    cells: Mapping[str, tuple[str, ...]]

    def has(self, path: str) -> bool:
        """Return whether a path is in the row, itself or with its folder."""
        return any(
            path == each or path.startswith(f"{each}/") for cell in self.cells.values() for each in cell
        )


def rows(text: str) -> Iterator[Row]:
    """Yield the rows of the map; none if the page has none."""
    before, _, rest = text.partition(f"{HEADING}\n")
    line = before.count("\n") + 1
    for number, written in enumerate(rest.split("\n## ")[0].split("\n"), start=line + 1):
        if written.startswith("| **"):
            name, *cells = (cell.strip() for cell in written.strip("|").split("|"))
            paths = [tuple(path.rstrip("/") for path in CODE.findall(cell)) for cell in cells]
            yield Row(
                line=number,
                name=name.partition("**")[2].partition("**")[0],
                words=frozenset(CODE.findall(name)),
                cells=dict(zip(LAYERS, paths, strict=True)),
            )


def check_map(text: str, paths: Iterable[str]) -> Iterator[Finding]:
    """Yield what the map and the house do not have in common.

    Args:
        paths: every Python file, folder and page: below `tidegate/`, and pages with `docs/`.
    """
    known = sorted(paths)
    found = set(known)
    for row in rows(text):
        for layer, cell in row.cells.items():
            for path in cell:
                if path not in found:
                    yield _finding(row, f"{path} does not exist: write where it is now, or take it out")
                elif layer_of(path) != layer:
                    yield _finding(row, f"{path} is of the layer {layer_of(path)}, not of {layer}")
        for path in known:
            if row.words & set(PurePosixPath(path).stem.split("_")) and not row.has(path):
                cell = layer_of(path)
                yield _finding(row, f"add `{path}` to the cell {cell}, or name it after what it does")


def layer_of(path: str) -> str:
    """Return the layer of a path; "" for one that is of none."""
    for layer, places in LAYERS.items():
        if any(path == place or path.startswith(f"{place}/") for place in places):
            return layer
    return ""


def _finding(row: Row, message: str) -> Finding:
    return Finding(path=MAP_FILE, line=row.line, message=f"row {row.name}: {message}")
