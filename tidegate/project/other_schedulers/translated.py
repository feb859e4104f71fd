"""What a translation is: the parts of an app with comments at their places, and the YAML text of it.

The text has the layout of `tidegate fmt`. Texts from outside are values in quotes or comments of one line, in
which no character can end the line or hide what follows.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tidegate.compiler.reader.text import MAX_FILE_BYTES
from tidegate.compiler.render.yaml_text import Note, below, comments, notes, scalar
from tidegate.domain.error import UserError
from tidegate.domain.time.cron import CronError, parse

MAX_NAME_CHARACTERS = 58
"""A name has at most 63; the rest is for the number of a repeated one."""

MAX_SCHEDULES = 1_000
"""An app has at most so many examples, and each schedule gets one."""

BEFORE_THE_FIRE = timedelta(seconds=30)
"""A scenario begins so long before its fire: no cron fires between the two."""

FIRST_FIRES_FROM = datetime(2026, 1, 1, tzinfo=UTC)
"""Scenarios are about the first fire after it, so that the same crontab has the same ones on any day."""


class NotTranslated(Exception):
    """Says why something is not translated."""


def check_cron(pattern: str) -> None:
    """Check that a pattern is one of ours.

    Raises:
        NotTranslated: it is not.
    """
    try:
        parse(pattern)
    except CronError as error:
        raise NotTranslated(error.message) from None


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
        return sum(isinstance(line, Note) for line in comments) + sum(notes(part.value) for part in parts)

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
        yield from comments(self.head, "")
        yield f"timezone: {scalar(self.timezone)}"
        for section, parts in self.parts.items():
            if parts:
                yield from ("", f"{section}:")
            for number, part in enumerate(parts):
                if number and section == "schedules":
                    yield ""
                yield from comments(part.above, "  ")
                yield f"  {scalar(part.name)}:{below(part.value, '    ')}"
        if self.below:
            yield ""
            yield from comments(self.below, "  " if self.schedules else "")
        if self.examples:
            yield from ("", f"examples:{below(list(self.examples), '  ')}")


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
