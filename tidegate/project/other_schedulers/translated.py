"""What a translation is: the parts of an app with comments at their places, and the YAML text of it.

The text has the layout of `tidegate fmt`. Texts from outside are values in quotes or comments of one line, in
which no character can end the line or hide what follows.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tidegate.compiler.reader.scalar import ScalarError, resolve
from tidegate.compiler.reader.text import MAX_FILE_BYTES, suspect_character
from tidegate.domain.error import UserError
from tidegate.domain.wording import LINE_END

NOT_TRANSLATED = "not translated: "
FLOW_CHARACTERS = 90
"""A value that is not longer is written on one line."""

MAX_NAME_CHARACTERS = 58
"""A name has at most 63; the rest is for the number of a repeated one."""

MAX_SCHEDULES = 1_000
"""An app has at most so many examples, and each schedule gets one."""

BEFORE_THE_FIRE = timedelta(seconds=30)
"""A scenario begins so long before its fire: no cron fires between the two."""

_PLAIN = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_./+-]*")

_OLD_BOOLEANS = ("y", "n", "yes", "no", "on", "off")
"""Texts to us, and no texts to tools that read YAML 1.1."""


class Note(str):
    """What was not translated; it is written as a comment, and counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A program, dataset or schedule: its name and values, and the lines of comments above it."""

    name: str
    value: dict[str, Any]
    above: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Translated:
    """The app of a translation.

    Attributes:
        head: comments above the zone of the app.
        parts: the parts of each section, in the order of the file.
        below: comments behind the last schedule.
        examples: the scenarios.
        programs: the text of each program that is to be written, by the name of its module.
    """

    app: str
    timezone: str
    head: tuple[str, ...] = ()
    parts: dict[str, list[Part]] = field(default_factory=dict)
    below: tuple[str, ...] = ()
    examples: tuple[dict[str, Any], ...] = ()
    programs: dict[str, str] = field(default_factory=dict)

    @property
    def schedules(self) -> int:
        """The number of its schedules."""
        return len(self.parts.get("schedules", ()))

    @property
    def not_translated(self) -> int:
        """The number of its notes."""
        parts = [part for section in self.parts.values() for part in section]
        comments = [*self.head, *self.below, *(line for part in parts for line in part.above)]
        return sum(isinstance(line, Note) for line in comments) + sum(_notes(part.value) for part in parts)

    def text(self) -> str:
        """Return the YAML.

        Raises:
            UserError: an app cannot have so much.
        """
        text = "\n".join((*self._lines(), ""))
        if self.schedules > MAX_SCHEDULES or len(text.encode()) > MAX_FILE_BYTES:
            raise UserError(
                f"{self.schedules:,} schedules are too many for one app: it has at most"
                f" {MAX_SCHEDULES:,}, in a file of 1 MiB",
                "divide the file, and import each part as an app of its own",
            )
        return text

    def _lines(self) -> Iterator[str]:
        yield f"app: {self.app}"
        yield from _comments(self.head, "")
        yield f"timezone: {_scalar(self.timezone)}"
        for section, parts in self.parts.items():
            if parts:
                yield from ("", f"{section}:")
            for number, part in enumerate(parts):
                if number and section == "schedules":
                    yield ""
                yield from _comments(part.above, "  ")
                yield f"  {_scalar(part.name)}:{_below(part.value, '    ')}"
        if self.below:
            yield ""
            yield from _comments(self.below, "  " if self.schedules else "")
        if self.examples:
            yield from ("", f"examples:{_below(list(self.examples), '  ')}")


def legal_name(text: str, otherwise: str) -> str:
    """Return a text as a name of the language; `otherwise` where nothing of it is left."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:MAX_NAME_CHARACTERS].strip("_")
    if not name:
        return otherwise
    return name if name[0].isalpha() else f"{otherwise}_{name}"[:MAX_NAME_CHARACTERS]


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return a name that is not taken: itself, or with `_2`, `_3` and so on."""
    others = set(taken)
    return next(
        each
        for each in (name, *(f"{name}_{number}" for number in range(2, len(others) + 3)))
        if each not in others
    )


def example_of_fire(schedule: str, fire: datetime) -> dict[str, Any]:
    """Return the scenario of a fire: right before it begins, and ends with the launch.

    Args:
        fire: with its zone.
    """
    return {
        "name": f"{schedule} starts on {fire:%a %Y-%m-%d} at {fire:%H:%M}",
        "start": (fire - BEFORE_THE_FIRE).isoformat(),
        "expect": [{"at": f"+{BEFORE_THE_FIRE.seconds}s", "launch": schedule}],
        "expect_only": [schedule],
    }


def _notes(value: Any) -> int:
    if isinstance(value, dict | list):
        return sum(map(_notes, value.values() if isinstance(value, dict) else value))
    return isinstance(value, Note)


def _comments(lines: Iterable[str], indent: str) -> Iterator[str]:
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


def _scalar(value: Any) -> str:
    """Return a value as it is written: a text is plain where YAML reads the same text."""
    if not isinstance(value, str):
        return json.dumps(value)
    text = value.replace("${env.", "$${env.")
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
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _below(value: Any, indent: str, *, flow: bool = False) -> str:
    """Return what is written behind a key: a value on the same line, or lines below it."""
    if not isinstance(value, dict | list):
        return f" {_scalar(value)}"
    fits = not _notes(value) and len(indent) + len(_flow(value)) <= FLOW_CHARACTERS
    if not value or (fits and flow) or (fits and len(value) == 1 and isinstance(value, dict)):
        return f" {_flow(value)}"
    return "".join(f"\n{line}" for line in _block(value, indent))


def _block(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield f"{indent}{_scalar(key)}:{_below(member, indent + '  ', flow=True)}"
        return
    for item in value:
        if isinstance(item, Note):
            yield from _comments([item], indent)
        elif isinstance(item, dict) and (len(item) > 2 or _notes(item)):
            first, *others = list(_block(item, f"{indent}  "))
            yield f"{indent}- {first.lstrip()}"
            yield from others
        else:
            yield f"{indent}- {_flow(item)}"
