"""The files of a project that its YAML names: the `.sql` files of programs, the rows of templates.

The compiler reads no files: it asks for the text of each by its path in the YAML. What cannot be read is a
value with its reason, so that it becomes a diagnostic at the place in the YAML.
"""

from collections.abc import Mapping
from typing import Protocol

from tidegate.compiler.reader.text import MAX_FILE_BYTES
from tidegate.domain.value import Value


class ProjectFile(Value, kw_only=True):
    """A file of the project.

    Attributes:
        name: as messages show it.
        content: its bytes; empty if it cannot be read.
        fault: why it cannot be read, for example "no such file"; "" if it can.
    """

    name: str
    content: bytes = b""
    fault: str = ""

    def text(self) -> str | None:
        """Return its text with line feeds and without a byte order mark; None if it is not UTF-8."""
        try:
            return self.content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            return None


class ReadFile(Protocol):
    """Returns the file at a path, which is relative to the project and inside it."""

    def __call__(self, path: str, beside: str = "", max_bytes: int = MAX_FILE_BYTES) -> ProjectFile:
        """Return the file.

        Args:
            beside: the YAML file that names it, as messages show it: its folder is looked in first.
            max_bytes: of a larger file one byte more is returned.
        """
        ...


def no_files(path: str, beside: str = "", max_bytes: int = MAX_FILE_BYTES) -> ProjectFile:
    """Return that a file cannot be read: for texts that belong to no project."""
    return ProjectFile(name=path, fault="no project, so no such file")


def files_of(contents: Mapping[str, bytes]) -> ReadFile:
    """Return a reader of files whose contents are known by their paths."""

    def read(path: str, beside: str = "", max_bytes: int = MAX_FILE_BYTES) -> ProjectFile:
        found = contents.get(path)
        return ProjectFile(name=path, content=found or b"", fault="no such file" if found is None else "")

    return read
