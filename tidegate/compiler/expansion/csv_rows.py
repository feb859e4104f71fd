"""CSV as RFC 4180 has it, with the place of each mistake.

A field is in quotes or has none; a quote in a quoted field is doubled. Lines end with LF or CRLF. The module
`csv` takes what is malformed for text, and knows no columns: here nothing is guessed.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tidegate.domain.wording import shown

_QUOTED = re.compile(r'"([^"]*(?:""[^"]*)*)"')
_PLAIN = re.compile(r'[^",\r\n]*')
_LINE_END = re.compile(r"\r?\n")


class Field(NamedTuple):
    """A field with its offset in the text."""

    text: str
    offset: int


class Malformed(Exception):
    """A text that is not CSV.

    Attributes:
        offset: of the first wrong character.
    """

    def __init__(self, offset: int, message: str, hint: str) -> None:
        super().__init__(message)
        self.offset, self.message, self.hint = offset, message, hint


def records(text: str) -> Iterator[list[Field]]:
    """Yield the records of a text; empty lines at its end are none.

    Raises:
        Malformed: at the first mistake.
    """
    end = len(text.rstrip("\r\n"))
    position = 0
    while position < end:
        found: list[Field] = []
        while True:
            field, position = _field(text, position)
            found.append(field)
            if text[position : position + 1] != ",":
                break
            position += 1
        if position < len(text):
            closing = _LINE_END.match(text, position)
            if closing is None:
                raise _misplaced(text, position, found[-1])
            position = closing.end()
        yield found


def _field(text: str, position: int) -> tuple[Field, int]:
    """Return the field that begins at a position, and the position behind it."""
    if text[position : position + 1] == '"':
        quoted = _QUOTED.match(text, position)
        if quoted is None:
            raise Malformed(
                position,
                "a field that begins with a quote ends with one, got none",
                "close it, or double the quote",
            )
        return Field(quoted[1].replace('""', '"'), position), quoted.end()
    plain = _PLAIN.match(text, position)
    assert plain is not None, "the pattern also matches nothing"
    return Field(plain[0], position), plain.end()


def _misplaced(text: str, position: int, field: Field) -> Malformed:
    if text[position] == "\r":
        return Malformed(position, "a line ends with LF or CRLF, got a CR alone", "save it with line ends LF")
    if text[field.offset] == '"':
        return Malformed(
            position,
            f"behind a closing quote comes a comma or the end of the line, got {shown(text[position])}",
            'double a quote within the field: ""',
        )
    return Malformed(
        position,
        f"a quote is only in a field that is in quotes itself, got one in {shown(field.text)}",
        'write the field in quotes, and each quote in it twice: "a ""b"" c"',
    )
