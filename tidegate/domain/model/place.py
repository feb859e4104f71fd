"""The place of a part of an app in its YAML file, for diagnostics and `tidegate why`.

A place is not part of a fingerprint: moving a schedule down a file is not a change.
"""

from tidegate.domain.value import Value


class At(Value, kw_only=True, array_like=True):
    """A place in a YAML file. `line` and `column` count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"
