"""A fault of a query, with the place of its first wrong token in the text."""

from typing import Any

from tidegate.domain.value import Value


class Fault(Value, kw_only=True):
    """Why a query is refused.

    Attributes:
        code: of the catalogue of diagnostics.
        start, end: of the token, counted in characters from 0; `end` is after it.
    """

    code: str
    start: int
    end: int
    summary: str
    hint: str

    @classmethod
    def at(cls, token: Any, code: str, summary: str, hint: str) -> "Fault":
        """Return the fault of a token."""
        return cls(code=code, start=token.start, end=token.end + 1, summary=summary, hint=hint)

    @classmethod
    def of(cls, node: Any, code: str, summary: str, hint: str) -> "Fault":
        """Return the fault of a node of the tree: at its own place, else at that of its first part."""
        placed = (each for each in node.walk() if "start" in each.meta)
        meta = next((each.meta for each in placed), {"start": 0, "end": 0})
        return cls(code=code, start=meta["start"], end=meta["end"] + 1, summary=summary, hint=hint)


class Place(Value, kw_only=True):
    """A place in a text: lines and columns from 1."""

    line: int
    column: int
    end_column: int


def place_in(text: str, start: int, end: int) -> Place:
    """Return the place of a token in a text whose lines end with a line feed."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    stop = min(end, len(text) if line_end < 0 else line_end)
    return Place(
        line=text.count("\n", 0, start) + 1,
        column=start - line_start + 1,
        end_column=max(stop, start + 1) - line_start + 1,
    )
