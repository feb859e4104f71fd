"""Values as YAML in the layout of `tidegate fmt`, such that reading it gives the same values.

Texts are plain where YAML reads the same text, else in quotes, in which no character can end the line or hide
what follows. What looks like a variable or a placeholder is escaped. Comments are written between values.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from tidegate.compiler.reader.placeholders import escaped_placeholders
from tidegate.compiler.reader.scalar import ScalarError, resolve
from tidegate.compiler.reader.text import suspect_character
from tidegate.domain.variables import escaped_variables
from tidegate.domain.wording import LINE_END

NOT_TRANSLATED = "not translated: "
FLOW_CHARACTERS = 90
"""A value that is not longer is written on one line."""

_PLAIN = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_./+-]*")

_OLD_BOOLEANS = ("y", "n", "yes", "no", "on", "off")
"""Texts to us, and booleans to tools that read YAML 1.1."""


class Note(str):
    """What was not translated; it is written as a comment, and counted."""


def notes(value: Any) -> int:
    """Return how many notes a value has."""
    if isinstance(value, dict):
        return sum(map(notes, cast("dict[str, Any]", value).values()))
    if isinstance(value, list):
        return sum(map(notes, cast("list[Any]", value)))
    return isinstance(value, Note)


def comments(lines: Iterable[str], indent: str) -> Iterator[str]:
    """Yield lines as comments; an empty line stays empty."""
    for line in lines:
        prefix = f"# {NOT_TRANSLATED}" if isinstance(line, Note) else "# "
        yield f"{indent}{prefix}{one_line(line)}".rstrip() if line else ""


def one_line(text: str) -> str:
    """Return a text as it can be in a comment: what would end the line, or is not seen, is escaped."""
    return "".join(_escaped(each) for each in text.replace("\t", " "))


def _escaped(character: str) -> str:
    if character.isascii() and character.isprintable():
        return character
    if LINE_END.match(character) or suspect_character(character) or "\ud800" <= character <= "\udfff":
        return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"
    return character


def scalar(value: Any) -> str:
    """Return a value as it is written: a text is plain where YAML reads the same text."""
    if not isinstance(value, str):
        return json.dumps(value)
    return _text(escaped_placeholders(escaped_variables(value)))


def _key(name: str) -> str:
    """Return a key as it is written; a key has no variables."""
    return _text(escaped_placeholders(name))


def _text(text: str) -> str:
    return text if _is_plain(text) else _quoted(text)


def _is_plain(text: str) -> bool:
    try:
        return (
            text.lower() not in _OLD_BOOLEANS
            and _PLAIN.fullmatch(text) is not None
            and isinstance(resolve(text), str)
        )
    except ScalarError:
        return False


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join("\\t" if each == "\t" else _escaped(each) for each in escaped) + '"'


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value).items()
        return "{" + ", ".join(f"{_key(key)}: {_flow(member)}" for key, member in members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, cast("list[Any]", value))) + "]"
    return scalar(value)


def below(value: Any, indent: str, *, flow: bool = False) -> str:
    """Return what is written behind a key: a value on the same line, or lines below it."""
    if not isinstance(value, dict | list):
        return f" {scalar(value)}"
    number = len(cast("dict[str, Any] | list[Any]", value))
    fits = not notes(value) and len(indent) + len(_flow(value)) <= FLOW_CHARACTERS
    if not number or (fits and flow) or (fits and number == 1 and isinstance(value, dict)):
        return f" {_flow(value)}"
    return "".join(f"\n{line}" for line in block(value, indent))


def block(value: Any, indent: str) -> Iterator[str]:
    """Yield the lines of a mapping or a list."""
    if isinstance(value, dict):
        for key, member in cast("dict[str, Any]", value).items():
            yield f"{indent}{_key(key)}:{below(member, indent + '  ', flow=True)}"
        return
    for item in cast("list[Any]", value):
        if isinstance(item, Note):
            yield from comments([item], indent)
        elif isinstance(item, dict) and (len(cast("dict[str, Any]", item)) > 2 or notes(item)):
            first, *others = list(block(item, f"{indent}  "))
            yield f"{indent}- {first.lstrip()}"
            yield from others
        else:
            yield f"{indent}- {_flow(item)}"
