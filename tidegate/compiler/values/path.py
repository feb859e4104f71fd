"""The path of a dataset: inside the project, and made of plain names.

Spark and Hadoop read and write the folder, so names with a special meaning are refused: patterns, hidden
names, and names that a file system does not support. `compiler.rules.datasets.own_folder` checks that
datasets do not share a folder.
"""

from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.wording import shown

MAX_NAME_BYTES = 255
"""The longest name in the file systems of Linux and in HDFS."""

PATTERN_CHARACTERS = '*?"<>|$[]{}\\'
"""Hadoop reads some of these as a pattern, and people may read the others as one."""

_HINT = "write a path inside the project, such as landing/flights"
_OUTSIDE = (
    f"{_HINT}; where data is elsewhere, set `paths_from` in [warehouse] of tidegate.toml to its folder or URL"
)
_RELATIVE, _INSIDE = "a path is relative, with forward slashes", "a path stays inside the project"


def path_of(node: MappingNode, scope: Scope) -> str | None:
    """Return the path of a dataset without its last slash; None without a path, or after reporting it."""
    place = node.get("path")
    if not isinstance(place, ScalarNode) or not isinstance(place.value, str):
        return None
    wrong = _fault(place.value)
    if wrong is not None:
        hint = _OUTSIDE if wrong in (_RELATIVE, _INSIDE) else _HINT
        scope.findings.add("V207", place, f"{wrong}, got {shown(place.value)}", hint)
        return None
    return place.value.rstrip("/")


def _fault(path: str) -> str | None:
    parts = path.rstrip("/").split("/")
    if path.startswith(("/", "~")) or "\\" in path or ":" in path:
        return _RELATIVE
    if ".." in parts:
        return _INSIDE
    if "" in parts or "." in parts or path != path.strip() or not _is_plain(path):
        return "a path is made of plain names"
    if any(part.startswith((".", "_")) for part in parts):
        return 'a name that begins with "." or "_" is hidden from Spark'
    if any(len(part.encode(errors="replace")) > MAX_NAME_BYTES for part in parts):
        return f"a name has at most {MAX_NAME_BYTES} bytes"
    return None


def _is_plain(path: str) -> bool:
    return path.isprintable() and not any(character in path for character in PATTERN_CHARACTERS)
