"""Checks that the programs, checks and sources of the YAML can be imported, in a child process.

Lint reads the YAML only. `plan`, `deploy`, `dev` and `lint --imports` also import what `run:` and
`incremental:` name, as a run does: with the project's folder first on the Python path. A missing module or
function and a wrong signature are errors; a module that fails to import is a warning, since the machine of
the runs may have what this one lacks.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tidegate.compiler.compile import Compilation
from tidegate.compiler.diagnostics.catalogue import CATALOGUE
from tidegate.compiler.diagnostics.diagnostic import Diagnostic, merged
from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode
from tidegate.domain.model import At
from tidegate.domain.value import Value
from tidegate.project.loading import RUN_MODULE

IMPORT_SECONDS = 120
"""How long all imports together may take: a large project imports Spark, pandas and its own packages."""


class Named(Value, kw_only=True):
    """A dotted path in the YAML. `kind` is its key, "run" or "incremental"; "check" for that of a check."""

    kind: str
    path: str
    at: At
    end_column: int
    source: str


def check_imports(compilation: Compilation, project: Path) -> Compilation:
    """Return the compilation with the diagnostics of what cannot be imported.

    Args:
        project: the folder that comes first on the Python path.
    """
    named = list(_named(compilation, project))
    wanted = list(dict.fromkeys((each.kind, each.path) for each in named))
    faults = dict(zip(wanted, _probe(wanted, project), strict=True)) if wanted else {}
    found = merged(
        (
            Diagnostic(
                code=fault["code"],
                severity=CATALOGUE[fault["code"]].severity,
                at=msgspec.structs.replace(each.at, row=""),
                end_column=each.end_column,
                summary=fault["summary"],
                hint=fault["hint"],
                source=each.source,
            ),
            each.at.row,
        )
        for each in named
        if (fault := faults[each.kind, each.path]) is not None
    )
    together = sorted((*compilation.diagnostics, *found), key=Diagnostic.sort_key)
    return Compilation(apps=compilation.apps, diagnostics=tuple(together))


def _named(compilation: Compilation, project: Path) -> Iterator[Named]:
    """Yield each program, check and source that the apps without errors name."""
    for compiled in compilation.apps.values():
        lines = lines_of(compiled.file, project)
        for kind, place in _places(compiled.outline):
            if isinstance(place, ScalarNode) and isinstance(place.value, str):
                yield Named(
                    kind=kind,
                    path=place.value,
                    at=At(file=compiled.file, line=place.line, column=place.column, row=place.row),
                    end_column=place.end_column or place.column + 1,
                    source=lines[place.line - 1] if place.line <= len(lines) else "",
                )


def _places(root: MappingNode) -> Iterator[tuple[str, Node | None]]:
    programs, datasets = root.mapping("programs"), root.mapping("datasets")
    for node in programs.values.values() if programs is not None else ():
        if isinstance(node, MappingNode):
            yield "run", node.get("run")
            reads = (read for read in node.items("reads") if isinstance(read, MappingNode))
            yield from (("incremental", read.get("incremental")) for read in reads)
    for node in datasets.values.values() if datasets is not None else ():
        checks = node.items("checks") if isinstance(node, MappingNode) else ()
        yield from (("check", check.get("run")) for check in checks if isinstance(check, MappingNode))


def lines_of(file: str, project: Path) -> list[str]:
    """Return the lines of a file, for the messages; none if it can no longer be read."""
    for path in (project / file, Path(file)):
        try:
            return path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            continue
    return []


def _probe(wanted: list[tuple[str, str]], project: Path) -> list[dict[str, str] | None]:
    """Return the fault of each path, from a child process."""
    with tempfile.TemporaryDirectory(prefix="tidegate-imports-") as folder:
        answer = Path(folder) / "faults.json"
        try:
            child = subprocess.run(
                [*RUN_MODULE, "tidegate.project.import_probe", str(answer)],
                input=json.dumps(wanted),
                cwd=project,
                env=import_environment(project),
                capture_output=True,
                text=True,
                timeout=IMPORT_SECONDS,
                check=False,
            )
            ended = f"the process that imports it ended with {child.returncode}"
        except subprocess.TimeoutExpired:
            ended = f"the imports took more than {IMPORT_SECONDS} s"
        if answer.exists():
            return json.loads(answer.read_text(encoding="utf-8"))
    if len(wanted) > 1:
        # One of them ended the process: each is tried alone.
        return [fault for each in wanted for fault in _probe([each], project)]
    (_, path) = wanted[0]
    hint = "correct the module; --no-imports skips this check"
    return [{"code": "N313", "summary": f"{path} cannot be imported here, got {ended}", "hint": hint}]


def import_environment(project: Path) -> dict[str, str]:
    """Return the environment in which runs find modules: the project's folder comes first."""
    others = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(project), *([others] if others else [])])}
