"""Where the code of an asset is: the line of the YAML, and that of the program's function or query.

Dagster's UI opens them in an editor. Nothing is imported: a program is looked for among the files of the
project, and its function among their lines. What is not found there, such as a program of an installed
package, has no reference.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from dagster import CodeReferencesMetadataValue, LocalFileCodeReference

from tidegate.domain.model import At, Program

CODE_REFERENCES = "dagster/code_references"

MAX_SOURCE_BYTES = 1_000_000
"""A larger module is not looked at."""

_FUNCTION = re.compile(r"^(?:async +)?def +(\w+)", re.MULTILINE)


class CodeReferences:
    """Finds the code of assets below the folder of a project, each module once."""

    def __init__(self, project: Path | str) -> None:
        """Args:
        project: its absolute folder; one that is not local has no references.
        """
        self._project = str(project) if isinstance(project, Path) else None
        self._functions = cache(partial(functions_of, Path(project)))

    def metadata(self, at: At | None, program: Program | None = None) -> Mapping[str, Any]:
        """Return the metadata with the references of an asset; empty where there are none.

        Args:
            at: of the asset in the YAML.
            program: that makes it; None for what no program of the location writes.
        """
        if self._project is None:
            return {}
        found: list[Any] = [*self._of_program(program)] if program is not None else []
        if at is not None:
            found.append(self._reference(at.file, "YAML", at.line))
        return {CODE_REFERENCES: CodeReferencesMetadataValue(code_references=found)} if found else {}

    def _of_program(self, program: Program) -> Iterator[LocalFileCodeReference]:
        for query in program.sql:
            yield self._reference(query.file, query.output)
        module, _, name = program.run.rpartition(".")
        # A module has a function `run`, so the whole path may name one.
        for path, function in ((module, name), (program.run, "run")):
            place = self._functions(path).get(function)
            if place is not None:
                yield self._reference(place[0], program.run, place[1])
                return

    def _reference(self, file: str, label: str, line: int | None = None) -> LocalFileCodeReference:
        return LocalFileCodeReference(file_path=f"{self._project}/{file}", line_number=line, label=label)


def functions_of(project: Path, module: str) -> Mapping[str, tuple[str, int]]:
    """Return the functions of a module with their file, relative to the project, and line, from 1 on."""
    path = module.replace(".", "/")
    for file in (f"{path}.py", f"{path}/__init__.py") if path else ():
        try:
            if (project / file).stat().st_size > MAX_SOURCE_BYTES:
                return {}
            text = (project / file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        return {
            found[1]: (file, text.count("\n", 0, found.start()) + 1) for found in _FUNCTION.finditer(text)
        }
    return {}
