"""A dataset's own path: inside the project, and made of plain names.

What stands here becomes a folder that Spark and Hadoop read and write, so a name that means
something to one of them is refused: patterns, hidden names, names that a file system cannot keep. Part
of building a dataset; that no two datasets share a folder
is the rule of tidegate/compiler/rules/own_folder.py.
"""

from tidegate.compiler.builders.scope import Scope
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.domain.wording import shown

MAX_NAME_BYTES = 255
"""As long as a name may be in the file systems of Linux and in HDFS."""

PATTERN_CHARACTERS = '*?"<>|$[]{}\\'
"""Hadoop reads some of these as a pattern, and people read the others as one."""

_HINT = "write a path inside the project, such as landing/flights"


def path_of(node: MappingNode, scope: Scope) -> str | None:
    """The path of a dataset without its last slash; None without one, and for one that is refused."""
    place = node.get("path")
    if not isinstance(place, ScalarNode) or not isinstance(place.value, str):
        return None
    wrong = _fault(place.value)
    if wrong is not None:
        scope.findings.add("V207", place, f"{wrong}, got {shown(place.value)}", _HINT)
        return None
    return place.value.rstrip("/")


def _fault(path: str) -> str | None:
    parts = path.rstrip("/").split("/")
    if path.startswith(("/", "~")) or "\\" in path or ":" in path:
        return "a path is relative, with forward slashes"
    if ".." in parts:
        return "a path stays inside the project"
    if "" in parts or "." in parts or path != path.strip() or not _is_plain(path):
        return "a path is made of plain names"
    if any(part.startswith((".", "_")) for part in parts):
        return 'a name that begins with "." or "_" is hidden from Spark'
    if any(len(part.encode(errors="replace")) > MAX_NAME_BYTES for part in parts):
        return f"a name has at most {MAX_NAME_BYTES} bytes"
    return None


def _is_plain(path: str) -> bool:
    return path.isprintable() and not any(character in path for character in PATTERN_CHARACTERS)
