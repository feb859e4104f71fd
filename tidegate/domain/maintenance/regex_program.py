"""The program of a regex: a parser of its text, which writes steps as it reads.

A step takes one character, which a pattern of `re` names, or branches to other steps without taking one: a
tuple of distances from itself. A text matches if some way through the steps takes it whole and
arrives behind the last step.

    a|b     branch(1, 3)  a  branch(2)  b        a*     branch(1, 3)  a  branch(-2)
    a+      a  branch(-1, 1)                     a?     branch(1, 2)  a

`regex` follows all ways at once. Refused are look-around and back-references, which no such program
has, and a repetition of something that itself repeats: it is a mistake, or has a simpler form.
"""

import re
from typing import NamedTuple

from tidegate.domain.error import UserError
from tidegate.domain.wording import shown

MAX_REGEX_CHARACTERS = 128

MAX_STEPS = 2_000
"""Counted repetitions are written out, so `(a{99}){99}` would have 10,000 steps."""

MAX_COUNT = 255
"""No name that a catalog accepts is much longer."""

_KINDS = "dDwWsS"

_SYNTAX_HINT = "write for example raw_[a-z]+, or (raw|clean)_.*"


class RegexError(UserError, ValueError):
    """A text that is not a regex of this dialect."""


Branch = tuple[int, ...]
Program = tuple[re.Pattern[str] | Branch, ...]


class _Part(NamedTuple):
    """The steps of a part of a regex, and whether a varying number of repetitions is in it."""

    steps: Program
    repeats: bool = False


class _Count(NamedTuple):
    """How often something is repeated; `most` is None without a limit."""

    least: int
    most: int | None

    @property
    def varies(self) -> bool:
        """Whether it repeats, and not always the same number of times."""
        return self.most is None or 1 < self.most != self.least


def program_of(text: str) -> Program:
    """Return the program of a regex.

    Raises:
        RegexError: the text is not a regex of this dialect, or is too long or too large.
    """
    if len(text) > MAX_REGEX_CHARACTERS:
        raise RegexError(
            f"a regex has at most {MAX_REGEX_CHARACTERS} characters, got {len(text)}",
            "split it into several patterns, or use globs",
        )
    if not text:
        raise RegexError('a regex is not empty, got "//"', _SYNTAX_HINT)
    reader = _Reader(text)
    found = reader.alternatives()
    if reader.rest:
        raise RegexError(
            f'each ")" of a regex closes a "(", got {shown(text)}', 'write \\) for the character ")" itself'
        )
    return found.steps


class _Reader:
    """The parser, at a place of the text."""

    def __init__(self, text: str) -> None:
        before = text.removesuffix("$")
        escaped = (len(before) - len(before.rstrip("\\"))) % 2 == 1
        self._text = text if escaped else before
        self._at = 1 if text.startswith("^") else 0

    @property
    def rest(self) -> str:
        """The text that is not yet read."""
        return self._text[self._at :]

    def alternatives(self) -> _Part:
        """Read alternatives, up to the end or the `)` of their group."""
        found = self._sequence()
        while self._skip("|"):
            other = self._sequence()
            both = ((1, len(found.steps) + 2), *found.steps, (len(other.steps) + 1,), *other.steps)
            found = _Part(both, found.repeats or other.repeats)
        return found

    def _sequence(self) -> _Part:
        steps: Program = ()
        repeats = False
        while self.rest and self.rest[0] not in "|)":
            part = self._repeated(self._item())
            steps, repeats = (*steps, *part.steps), repeats or part.repeats
            self._limit(len(steps))
        return _Part(steps, repeats)

    def _item(self) -> _Part:
        character = self._take()
        if character == "(":
            return self._group()
        if character == "[":
            return _one(self._class())
        if character == "\\":
            return _one(self._escaped())
        if character == ".":
            return _one(".")
        if character in "*+?{":
            raise RegexError(
                f"a repetition follows what it repeats, got {shown(self._so_far)}",
                f"write \\{character} for the character itself, .* for any characters",
            )
        if character in "^$":
            raise RegexError(
                f"a regex matches the whole text, got {shown(character)} inside {shown(self._text)}",
                f"delete it, or write \\{character} for the character itself",
            )
        return _one(re.escape(character))

    def _group(self) -> _Part:
        if self._skip("?") and not self._skip(":"):
            raise RegexError(
                f"a regex has groups ( ) and (?: ) only, got {shown(self._so_far + self.rest[:1])}",
                "write it without look-around, names and flags; several patterns may be listed",
            )
        found = self.alternatives()
        if not self._skip(")"):
            raise RegexError(
                f'each "(" of a regex is closed, got {shown(self._text)}',
                'add the ")", or write \\( for the character itself',
            )
        return found

    def _repeated(self, part: _Part) -> _Part:
        """Read the repetition behind an item, if there is one."""
        count = self._count()
        if count is None:
            return part
        self._skip("?")
        if self.rest and self.rest[0] in "*+?{":
            raise RegexError(
                f"an item of a regex is repeated once, got {shown(self._so_far + self.rest[0])}",
                "delete one of the two repetitions",
            )
        if part.repeats and count.most != 1:
            raise RegexError(
                f"a regex repeats nothing that itself repeats, got {shown(self._so_far)}",
                "write [a-z]+ instead of ([a-z]+)+, or use a glob",
            )
        return _Part(self._written_out(part.steps, count), part.repeats or count.varies)

    def _written_out(self, steps: Program, count: _Count) -> Program:
        times = count.least + 1 if count.most is None else count.most
        self._limit(times * (len(steps) + 1))
        optional: Program = ((1, len(steps) + 1), *steps)
        if count.most is not None:
            return steps * count.least + optional * (count.most - count.least)
        if count.least == 0:
            return ((1, len(steps) + 2), *steps, (-len(steps) - 1,))
        return (*(steps * count.least), (-len(steps), 1))

    def _count(self) -> _Count | None:
        for sign, least, most in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self._skip(sign):
                return _Count(least, most)
        return self._counted() if self._skip("{") else None

    def _counted(self) -> _Count:
        inside, closed, _ = self.rest.partition("}")
        first, comma, last = inside.partition(",")
        most = last if comma else first
        if not closed or not _is_count(first) or not (_is_count(most) or (comma and not most)):
            raise RegexError(
                f"a counted repetition has numbers, got {shown(self._so_far + inside + closed)}",
                "write for example {3}, {2,} or {2,5}, or \\{ for the character itself",
            )
        self._at += len(inside) + 1
        found = _Count(int(first), int(most) if most else None)
        limit = MAX_COUNT if found.most is None else found.most
        if not found.least <= limit <= MAX_COUNT:
            raise RegexError(
                f"a counted repetition goes up from 0 to {MAX_COUNT}, got {shown('{' + inside + '}')}",
                "write for example {3}, {2,} or {2,5}",
            )
        return found

    def _escaped(self) -> str:
        if not self.rest:
            raise RegexError(
                f"a backslash has a character behind it, got {shown(self._text)}",
                "write \\\\ for a backslash itself",
            )
        character = self._take()
        if character in _KINDS:
            return f"\\{character}"
        if character.isascii() and character.isalnum():
            raise RegexError(
                f"a regex has the escapes \\d, \\w, \\s and those of signs, got {shown(chr(92) + character)}",
                "there are no back-references and no \\b; a plain letter or digit needs no backslash",
            )
        return re.escape(character)

    def _class(self) -> str:
        negated, members = self._skip("^"), ""
        while not members or not self._skip("]"):
            first = self._member()
            ranged = self.rest.startswith("-") and not self.rest.startswith("-]") and not _is_kind(first)
            members += f"{first}-{self._last(first)}" if ranged else first
        return f"[{'^' if negated else ''}{members}]"

    def _last(self, first: str) -> str:
        """Read the `-` of a range in a class, and its last character."""
        self._take()
        last = self._member()
        if _is_kind(last) or last[-1] < first[-1]:
            raise RegexError(
                f"a range of a class goes up from a character to another, got {shown(self._so_far)}",
                "write for example [a-z]; a `-` itself is the last of its class: [a-z-]",
            )
        return last

    def _member(self) -> str:
        """Read one character of a class, or a kind of characters."""
        if not self.rest:
            raise RegexError(
                f'each "[" of a regex is closed, got {shown(self._text)}',
                'add the "]", or write \\[ for the character itself',
            )
        character = self._take()
        return self._escaped() if character == "\\" else re.escape(character)

    def _take(self) -> str:
        self._at += 1
        return self._text[self._at - 1]

    def _skip(self, sign: str) -> bool:
        """Go over a sign, if it is next; return whether it was."""
        here = self.rest.startswith(sign)
        self._at += len(sign) if here else 0
        return here

    @property
    def _so_far(self) -> str:
        return self._text[: self._at]

    def _limit(self, steps: int) -> None:
        if steps > MAX_STEPS:
            raise RegexError(
                f"a regex has at most {MAX_STEPS} steps when its repetitions are written out,"
                f" got {shown(self._text)}",
                "write smaller numbers of repetitions, or `+`",
            )


def _one(character: str) -> _Part:
    """Return the step that takes one character, as `re` spells which."""
    return _Part((re.compile(character, re.DOTALL),))


def _is_kind(member: str) -> bool:
    return len(member) > 1 and member[1] in _KINDS


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit()
