"""A rule on pages and docstrings: the modules and files of ours that they name exist."""

import re
from collections.abc import Iterable, Iterator

from tests.tidy.finding import Finding, module_of

FILE = re.compile(r"`((?:[\w.]+/)+\w+\.py)`")
"""A file by its path from the project's folder, from the package, or by the end of its path."""

MODULE = re.compile(r"`((?:compiler|dagster_defs|domain|scheduler|spark_jobs|tidegate|tests)(?:\.\w+){2,})`")

OTHERS = ("programs/", "dagster/")
"""Folders of users, and of Dagster."""

PLACEHOLDER = "KIND"


class Mentions:
    """Knows the files of the project.

    Args:
        files: the Python files, by their path from the project's folder.
    """

    def __init__(self, files: Iterable[str]) -> None:
        self._files = frozenset(end for file in files for end in _ends(file))
        self._modules = frozenset(module_of(end) for end in self._files)

    def check(self, path: str, text: str) -> Iterator[Finding]:
        """Yield every mention of a file or a module that does not exist."""
        for line, written in enumerate(text.splitlines(), 1):
            for found in FILE.finditer(written):
                if not self._has_file(found[1]):
                    yield Finding(path=path, line=line, message=f"{found[1]} does not exist")
            for found in MODULE.finditer(written):
                if not self._has_module(found[1]):
                    yield Finding(path=path, line=line, message=f"module {found[1]} does not exist")

    def _has_file(self, name: str) -> bool:
        return name in self._files or name.startswith(OTHERS) or PLACEHOLDER in name

    def _has_module(self, name: str) -> bool:
        package, room, *_ = name.split(".")
        if package == "tidegate" and f"tidegate.{room}" not in self._modules:
            return True  # `tidegate` is also the name of a catalog
        # The last part may be a name in the module.
        return bool({name, name.rpartition(".")[0]} & self._modules)


def _ends(file: str) -> Iterator[str]:
    """Yield the ends of a path, and of the paths of its folders, but for single names."""
    parts = file.split("/")
    for length in range(2, len(parts) + 1):
        for first in range(length - 1):
            yield "/".join(parts[first:length])
