"""The other code locations of a project, as entries of a workspace file: those that its own files name.

    workspace.yaml, else [tool.dagster] of pyproject.toml ─► entries without ours ─► paths made absolute

`tidegate dev` writes a workspace file of its own, since its code server has another port each time.
"""

import tomllib
from pathlib import Path
from typing import Any, cast

import yaml

from tidegate.project.environment import LOCATION_NAME, MODULE

PATHS = ("relative_path", "working_directory")
"""Settings of an entry that count from the folder of its file."""


def other_locations(project: Path) -> list[dict[str, Any]]:
    """Return the entries of the project's workspace without ours; empty where it has no readable one.

    Dagster reports what is wrong with such a file.
    """
    try:
        entries = _of_workspace(project) or _of_pyproject(project)
    except (OSError, ValueError, yaml.YAMLError):
        return []
    return [_absolute(entry, project) for entry in entries if not _is_ours(entry)]


def _of_workspace(project: Path) -> list[dict[str, Any]]:
    file = project / "workspace.yaml"
    read: Any = yaml.safe_load(file.read_text()) if file.is_file() else None
    listed = read.get("load_from") if isinstance(read, dict) else None
    return [each for each in cast("list[Any]", listed or []) if isinstance(each, dict)]


def _of_pyproject(project: Path) -> list[dict[str, Any]]:
    file = project / "pyproject.toml"
    read = tomllib.loads(file.read_text()) if file.is_file() else {}
    block: dict[str, Any] = read.get("tool", {}).get("dagster", {})
    named = block.get("code_location_name")
    names = [each["name"] for each in block.get("modules", ()) if each.get("type") == "module"]
    names += [block["module_name"]] if "module_name" in block else []
    location = {"location_name": named} if named else {}
    return [{"python_module": {"module_name": name, **location}} for name in names]


def _is_ours(entry: dict[str, Any]) -> bool:
    settings = next(iter(entry.values()), None)
    if not isinstance(settings, dict):
        return settings == MODULE
    return settings.get("module_name") == MODULE or settings.get("location_name") == LOCATION_NAME


def _absolute(entry: dict[str, Any], project: Path) -> dict[str, Any]:
    """Return an entry that says the same in a file of another folder."""
    ((kind, settings),) = entry.items()
    if isinstance(settings, str):
        return {kind: {"relative_path": str(project / settings)}} if kind == "python_file" else entry
    paths = {name: str(project / settings[name]) for name in PATHS if name in settings}
    return {kind: {**settings, **paths}}
