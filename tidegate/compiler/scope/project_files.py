"""The files of a project that its YAML names, such as the `.sql` files of programs.

The compiler reads no files: it asks for the text of each by its path in the YAML. What cannot be read is a
value with its reason, so that it becomes a diagnostic at the place in the YAML.
"""

from collections.abc import Callable, Mapping

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


ReadFile = Callable[[str], ProjectFile]
"""Returns the file at a path, which is relative to the project and inside it."""


def no_files(path: str) -> ProjectFile:
    """Return that a file cannot be read: for texts that belong to no project."""
    return ProjectFile(name=path, fault="no project, so no such file")


def files_of(contents: Mapping[str, bytes]) -> ReadFile:
    """Return a reader of files whose contents are known by their paths."""

    def read(path: str) -> ProjectFile:
        found = contents.get(path)
        return ProjectFile(name=path, content=found or b"", fault="no such file" if found is None else "")

    return read
