"""Placeholders of templates: `${each.NAME}` in a text, with the rule of variables (`domain/variables.py`).

`$${each.NAME}` is the text `${each.NAME}` itself; a reference in braces, `{{ … }}`, is text like any other
and may contain one. A text is cut into pieces once, when it is read, and filled in for each row. What is
filled in is not looked at again, so a value that looks like a placeholder stays what it is.
"""

import re
from collections.abc import Iterator

from tidegate.domain.error import UserError
from tidegate.domain.variables import MAX_EXPANDED_CHARACTERS, NAME

MARK = "${each."
"""A text without it has no placeholder."""

_PLACEHOLDER = re.compile(r"(\$?)\$\{each\.([^}]*)(\}?)")


class PlaceholderError(UserError, ValueError):
    """A placeholder that is malformed, or a text that is too long once it is filled in."""


def pieces_of(text: str) -> tuple[str, ...]:
    """Return the literal pieces of a text, and between each two of them the name of a placeholder.

    Raises:
        PlaceholderError: a placeholder is malformed.
    """
    found: list[str] = []
    literal, end = "", 0
    for match in _PLACEHOLDER.finditer(text):
        literal, end = literal + text[end : match.start()], match.end()
        dollar, name, closing = match.groups()
        if dollar:
            literal += match[0][1:]
        elif not closing or NAME.fullmatch(name) is None:
            raise PlaceholderError(
                f"a placeholder is `${{each.NAME}}`, got {match[0][:60]!r}",
                "a name is of letters, digits and `_`; write $${each. for the text itself",
            )
        else:
            found += [literal, name]
            literal = ""
    return (*found, literal + text[end:])


def escaped_placeholders(text: str) -> str:
    """Return a text such that reading it as YAML gives the text itself, whatever it looks like."""
    return _PLACEHOLDER.sub(lambda match: f"${match[0]}", text)


def names_of(pieces: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the placeholders of a text, as often as it has them."""
    return pieces[1::2]


def filled(pieces: tuple[str, ...], values: dict[str, str]) -> str:
    """Return a text with the values of its placeholders.

    Raises:
        PlaceholderError: it is too long.
    """
    text = "".join(_parts(pieces, values))
    if len(text) > MAX_EXPANDED_CHARACTERS:
        raise PlaceholderError(
            f"a text with its placeholders has at most {MAX_EXPANDED_CHARACTERS:,} characters,"
            f" got {len(text):,}",
            "use fewer or shorter values",
        )
    return text


def _parts(pieces: tuple[str, ...], values: dict[str, str]) -> Iterator[str]:
    for position, piece in enumerate(pieces):
        yield values[piece] if position % 2 else piece
