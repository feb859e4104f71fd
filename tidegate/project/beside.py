"""Our code location beside those of an existing Dagster project: what changes in its files, and what is left.

    a project of dg                           ─► defs.yaml with our component, among their definitions
    [tool.dagster] with `module_name` alone   ─► `modules` with both, in their pyproject.toml
    another [tool.dagster]                    ─► workspace.yaml with both: their block has one name for all
    none of them                              ─► workspace.yaml

A location of theirs keeps its name, because its switches and cursors belong to it. Each change is read again
before it is written: where the file would say anything else than before and our location, it stays as it is.
"""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import yaml

from tidegate.domain.error import UserError
from tidegate.project.environment import LOCATION_NAME, MODULE

PYPROJECT = "pyproject.toml"
DG_SETTINGS = "dg.toml"
WORKSPACE = "workspace.yaml"

COMPONENT = "tidegate.components.TidegateProject"
DEFS = "defs.yaml"

WITH_WORKSPACE = f"start Dagster by `dagster dev -w {WORKSPACE}`: without -w it takes {PYPROJECT} alone"

_OURS: dict[str, Any] = {"python_module": {"module_name": MODULE, "location_name": LOCATION_NAME}}
_HEADING = re.compile(r"\[tool\.dagster\][ \t]*(?:#.*)?")
_MODULE_NAME = re.compile(r"(?P<before>[ \t]*)module_name[ \t]*=(?P<value>[^#]*)(?P<comment>#.*)?")


class Beside(NamedTuple):
    """The change of an existing project.

    Attributes:
        files: the new content of files that change or are new, by their names.
        to_do: what people do themselves, in sentences.
    """

    files: dict[str, bytes]
    to_do: tuple[str, ...]


def location_beside(folder: Path) -> Beside:
    """Return how our code location comes into the project of a folder.

    Raises:
        UserError: a file of theirs cannot be read.
    """
    text, read = _toml(folder / PYPROJECT)
    tool = read.get("tool", {})
    block: dict[str, Any] = tool.get("dagster", {})
    if MODULE in _modules(block):
        return Beside({}, ())
    dg = _toml(folder / DG_SETTINGS)[1].get("project") or tool.get("dg", {}).get("project")
    if dg:
        return _with_component(folder, dg)
    if set(block) == {"module_name"}:
        changed = _with_both_modules(text, read)
        if changed is not None:
            return Beside({PYPROJECT: changed.encode()}, ())
        modules = _toml_modules([str(block["module_name"]), MODULE])
        return Beside({}, (f"in [tool.dagster] of {PYPROJECT}, write in place of module_name: {modules}",))
    if _modules(block):
        return _with_workspace(folder, _entries(block), (WITH_WORKSPACE,))
    return _with_workspace(folder, [], ())


def lists_others_only(folder: Path) -> bool:
    """Return whether a project lists code locations, and none is ours: then it is part of one of theirs.

    A file that cannot be read lists nothing.
    """
    workspace = folder / WORKSPACE
    try:
        if workspace.is_file():
            read = yaml.safe_load(workspace.read_text())
            return bool(read) and not _has_ours(read)
        read = _toml(folder / PYPROJECT)[1].get("tool", {})
    except (OSError, ValueError, yaml.YAMLError, UserError):
        return False
    listed = {name: read[name] for name in ("dagster", "dg") if name in read}
    return bool(listed) and not _has_ours(listed)


def _with_component(folder: Path, dg: Mapping[str, Any]) -> Beside:
    """Return the change of a project of dg: our component among its definitions, which are one location."""
    defs = str(dg.get("defs_module") or f"{dg.get('root_module')}.defs").replace(".", "/")
    found = next((path for path in (f"src/{defs}", defs) if (folder / path).is_dir()), None)
    if found is None:
        return Beside({}, (f"call `dg scaffold defs {COMPONENT} tidegate`: there is no folder {defs}",))
    if any(COMPONENT in text_of(file) for file in (folder / found).rglob(DEFS)):
        return Beside({}, ())
    target = Path(found, "tidegate", DEFS)
    content = f"type: {COMPONENT}\n\nattributes:\n  project: {os.path.relpath('.', target.parent)}\n"
    if (folder / target).exists():
        return Beside({}, (f"add a {DEFS} below {found}: {json.dumps(content)}",))
    return Beside({target.as_posix(): content.encode()}, ())


def text_of(file: Path) -> str:
    """Return the text of a file of theirs, as far as it can be read."""
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


def _toml(file: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = file.read_bytes().decode() if file.is_file() else ""
        return text, tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise UserError(f"{file} cannot be read: {error}", "correct the file") from error


def _modules(block: dict[str, Any]) -> list[str]:
    """Return the modules of a block, as Dagster finds them."""
    if "module_name" in block:
        return [str(block["module_name"])]
    listed = [each for each in block.get("modules", ()) if isinstance(each, dict)]
    return [str(each.get("name")) for each in listed if each.get("type") == "module"]


def _toml_modules(names: list[str]) -> str:
    entries = (f'{{type = "module", name = {json.dumps(name)}}}' for name in names)
    return f"modules = [{', '.join(entries)}]"


def _with_both_modules(text: str, read: dict[str, Any]) -> str | None:
    """Return a pyproject.toml with both modules in place of the one; None where its line is not found."""
    name = str(read["tool"]["dagster"]["module_name"])
    lines = text.split("\n")
    heading = next((at for at, line in enumerate(lines) if _HEADING.fullmatch(line.strip())), len(lines))
    for at in range(heading + 1, len(lines)):
        found = _MODULE_NAME.fullmatch(lines[at].rstrip("\r"))
        if found is not None:
            end = "\r" if lines[at].endswith("\r") else ""
            comment = f"  {found['comment']}" if found["comment"] else ""
            lines[at] = f"{found['before']}{_toml_modules([name, MODULE])}{comment}{end}"
            break
    changed = "\n".join(lines)
    both = [{"type": "module", "name": each} for each in (name, MODULE)]
    wanted = {**read, "tool": {**read["tool"], "dagster": {"modules": both}}}
    try:
        return changed if tomllib.loads(changed) == wanted else None
    except ValueError:
        return None


def _entries(block: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of a workspace file for the modules of a block, with the names that they have."""
    named = block.get("code_location_name")
    return [
        {"python_module": {"module_name": each, **({"location_name": str(named)} if named else {})}}
        for each in _modules(block)
    ]


def _with_workspace(folder: Path, theirs: list[dict[str, Any]], to_do: tuple[str, ...]) -> Beside:
    """Return a change of the workspace file: ours is added, and theirs where there is no file yet."""
    file = folder / WORKSPACE
    if not file.exists():
        entries = [*theirs, _OURS]
        text = yaml.safe_dump({"load_from": entries}, sort_keys=False)
        missing = () if theirs else (f"add your own code location to {WORKSPACE}, if you have one",)
        return Beside({WORKSPACE: text.encode()}, (*to_do, *missing))
    try:
        text = file.read_bytes().decode()
        read = yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UserError(f"{file} cannot be read: {error}", "correct the file") from error
    if _has_ours(read):
        return Beside({}, to_do)
    changed = _with_entry(text, read)
    if changed is None:
        return Beside({}, (*to_do, f"add to load_from of {WORKSPACE}: {json.dumps(_OURS)}"))
    return Beside({WORKSPACE: changed.encode()}, to_do)


def _has_ours(read: object) -> bool:
    """Return whether a value names our module, or a server of our location, wherever it does."""
    if isinstance(read, dict):
        return read.get("location_name") == LOCATION_NAME or any(_has_ours(each) for each in read.values())
    return any(map(_has_ours, read)) if isinstance(read, list) else read == MODULE


def _with_entry(text: str, read: object) -> str | None:
    """Return a workspace file with our entry at its end; None where it would say something else."""
    before = cast("dict[str, Any]", read).get("load_from") if isinstance(read, dict) else None
    if not isinstance(before, list):
        return None
    dashes = [line for line in text.split("\n") if line.lstrip(" ").startswith("- ")]
    indent = " " * min((len(line) - len(line.lstrip(" ")) for line in dashes), default=2)
    end = "\r\n" if "\r\n" in text else "\n"
    ours = ("- python_module:", f"    module_name: {MODULE}", f"    location_name: {LOCATION_NAME}")
    changed = text.rstrip() + "".join(f"{end}{indent}{line}" for line in ours) + end
    wanted = {**cast("dict[str, Any]", read), "load_from": [*cast("list[Any]", before), _OURS]}
    try:
        return changed if yaml.safe_load(changed) == wanted else None
    except yaml.YAMLError:
        return None
