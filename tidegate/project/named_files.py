"""Where the files are that the YAML names: in the project, and nowhere else.

A diagnostic shows lines of its file, and what lies elsewhere may be a secret. A file of rows is looked for
beside the YAML file that names it, then in its project: the nearest folder at or above it with a
`tidegate.toml`, else the folder of the file itself.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from tidegate.compiler.reader import MappingNode, read
from tidegate.compiler.reader.text import MAX_FILE_BYTES
from tidegate.compiler.scope.project_files import ProjectFile, ReadFile
from tidegate.project.settings.settings import SETTINGS_FILE


def files_of_project(project: Path, base: Path | None = None) -> ReadFile:
    """Return a reader of the files that the YAML of a project names; it reads nothing outside the project.

    Args:
        project: the folder to which paths are relative.
        base: folder to which names in messages are relative; default: the working folder, if it has the file.
    """

    def read_file(path: str, beside: str = "", max_bytes: int = MAX_FILE_BYTES) -> ProjectFile:
        try:
            found = (
                _beside((base or Path.cwd()) / beside, path) if beside else _inside(project, path, project)
            )
            if isinstance(found, str):
                return ProjectFile(name=path, fault=found)
            with found.open("rb") as stream:
                return ProjectFile(name=shown_name(found, base), content=stream.read(max_bytes + 1))
        except (OSError, ValueError) as error:
            return ProjectFile(name=path, fault=str(getattr(error, "strerror", None) or error).lower())

    return read_file


def _beside(file: Path, path: str) -> Path | str:
    """Return the file that a YAML file names, beside it or in its project; else why there is none."""
    folder = file.absolute().parent
    project = next((each for each in (folder, *folder.parents) if (each / SETTINGS_FILE).is_file()), folder)
    found = [_inside(folder, path, project), _inside(project, path, project)]
    # What is there counts first; of two faults the one that says more than that nothing is there.
    return min(found, key=lambda each: (isinstance(each, str), each == MISSING))


MISSING = "no such file"


def _inside(folder: Path, path: str, project: Path) -> Path | str:
    """Return a file below a folder that is inside the project; else why there is none."""
    file = Path(os.path.normpath(folder.absolute() / path))
    if path.startswith("/") or not file.is_relative_to(project.absolute()):
        return "a path that leads out of the project"
    if not file.exists():
        return MISSING
    if not file.resolve().is_relative_to(project.resolve()):
        return "a link that leads out of the project"
    return file if file.is_file() else "not a regular file"


def rows_named(contents: Mapping[str, bytes], base: Path | None = None) -> Iterator[Path]:
    """Yield the files of rows that YAML files name, where they exist."""
    for file, data in contents.items():
        if b"templates" not in data or b"rows" not in data:
            continue
        root, _ = read(file, data)
        templates = None if root is None else root.mapping("templates")
        for template in templates.values.values() if templates is not None else ():
            rows = template.mapping("for") if isinstance(template, MappingNode) else None
            found = _beside((base or Path.cwd()) / file, rows.text("rows")) if rows is not None else ""
            if isinstance(found, Path):
                yield found


def shown_name(file: Path, base: Path | None) -> str:
    """Return the file's name for messages: relative to the base, or to the working folder if it is in it."""
    if base is not None:
        return os.path.relpath(file, base)
    absolute, here = file.absolute(), Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(file)
