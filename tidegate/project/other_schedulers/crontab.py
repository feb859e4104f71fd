"""A crontab as an app: each line is a schedule, with a program that runs its command.

The dialect is that of Vixie cron and cronie, whose patterns are ours: five fields or an alias, and a day that
matches either of two lists or ranges. Where crons disagree on a pattern, it is not translated. The command is
text from here to the program: it is never a part of the YAML's values.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath

from tidegate.compiler.values.texts import is_zone
from tidegate.domain.time.cron import Cron, parse
from tidegate.domain.time.wall_clock import zone_of
from tidegate.project.other_schedulers.translated import (
    FIRST_FIRES_FROM,
    Note,
    NotTranslated,
    Part,
    Translated,
    check_cron,
    example_of_fire,
    free_name,
    legal_name,
)

NO_NAME = "command"
"""The name of a command that has none of its own, such as `[ -x /a ] && /a`."""

ZONE_OF_THE_MACHINE = (
    "Cron takes the zone of its machine where no CRON_TZ is above a line. Write that zone here.",
)

PROGRAM = '''\
"""Runs a command that cron has run. It has failed if the command ends with a code other than 0."""

import subprocess
from pathlib import Path
from typing import Any

COMMAND = {command}


def run(spark: Any, inputs: Any, params: Any) -> dict[str, Any]:
    """Run the command in the shell and the folder in which cron runs it: `sh`, and the home of the user."""
    ended = subprocess.run(["sh", "-c", COMMAND], stdin=subprocess.DEVNULL, cwd=Path.home(), check=False)
    if ended.returncode != 0:
        raise RuntimeError(f"the command ended with code {{ended.returncode}}")
    return {{}}
'''

_VARIABLE = re.compile(r"""(?P<name>[A-Za-z_]\w*|"[^"]*"|'[^']*')[ \t]*=[ \t]*(?P<value>.*)""", re.ASCII)
_ALIAS = re.compile(r"(?P<cron>@\S+)(?:[ \t]+(?P<command>.*))?")
_FIELDS = re.compile(r"(?P<cron>\S+(?:[ \t]+\S+){4})(?:[ \t]+(?P<command>.*))?")
_PERCENT = re.compile(r"\\.|%")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_STEP_OF_A_NUMBER = re.compile(r"(?:^|,)\w+/")

_OPENING = ("(", "{", "!", "((")
_JOINTS = ("&&", ";", "||")


@dataclass(kw_only=True, slots=True)
class _Reading:
    """What has been read of a crontab so far.

    Attributes:
        zone: of the lines that follow; "" where the machine's counts.
        above: comments that belong to the next schedule.
        zones: that of each schedule.
    """

    zone: str = ""
    above: list[str] = field(default_factory=list)
    programs: list[Part] = field(default_factory=list)
    schedules: list[Part] = field(default_factory=list)
    zones: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)


def read_crontab(data: bytes, app: str) -> Translated:
    """Return the app of a crontab; a line that cannot be translated is a note at its place."""
    reading = _Reading()
    # Bytes that are not UTF-8 come back as the same bytes when the command is run.
    for line in data.decode("utf-8", "surrogateescape").removeprefix("\ufeff").split("\n"):
        _read_line(reading, line.rstrip("\r").strip(" \t"))
    zones = reading.zones
    own = zones[0] if zones and "" not in zones else "UTC"
    schedules = [_with_zone(part, zone, own) for part, zone in zip(reading.schedules, zones, strict=True)]
    return Translated(
        app=app,
        timezone=own,
        head=ZONE_OF_THE_MACHINE if "" in zones else (),
        parts={"programs": reading.programs, "schedules": schedules},
        below=_without_outer_gaps(reading.above),
        examples=tuple(
            example_of_fire(part.name, _first_fire(part.value["trigger"]["cron"], zone or own))
            for part, zone in zip(schedules, zones, strict=True)
        ),
        programs=reading.texts,
    )


def _read_line(reading: _Reading, line: str) -> None:
    if not line or line.startswith("#"):
        reading.above.append(line.lstrip("#").strip(" \t"))
        return
    variable = _VARIABLE.match(line)
    try:
        if variable is not None:
            reading.zone = _zone(variable["name"].strip("\"'"), variable["value"], reading.zone)
        else:
            _add_schedule(reading, line, *_entry(line))
    except NotTranslated as error:
        reading.above.append(Note(f"{line} ({error})"))


def _zone(name: str, value: str, zone: str) -> str:
    """Return the zone of the lines after a variable.

    Raises:
        NotTranslated: the variable says something else, or a zone that does not exist.
    """
    if name != "CRON_TZ":
        raise NotTranslated("a variable of the commands: set it in their programs")
    named = value.strip().strip("\"'")
    if not is_zone(named):
        raise NotTranslated(
            f"not a time zone: the lines below have {zone or 'UTC'}; write the zone that is meant"
        )
    return named


def _entry(line: str) -> tuple[str, str]:
    """Return the pattern and the command of a line.

    Raises:
        NotTranslated: it has none, or another one than ours would be.
    """
    found = _ALIAS.fullmatch(line) if line.startswith("@") else _FIELDS.fullmatch(line)
    if found is None:
        raise NotTranslated("not five fields and a command")
    pattern, command = " ".join(found["cron"].split()), (found["command"] or "")
    if pattern.lower() == "@reboot":
        raise NotTranslated("no time: the start of a machine is nothing that a schedule knows")
    _check_pattern(pattern)
    if not command.strip():
        raise NotTranslated("no command")
    if "\0" in command:
        raise NotTranslated("a command with the character NUL")
    # `\%` is a percent sign, and a bare one ends the command: what follows is its input.
    if any(sign == "%" for sign in _PERCENT.findall(command)):
        raise NotTranslated("% ends the command, and what follows is its input: give it to the program")
    return pattern, _PERCENT.sub(lambda sign: "%" if sign[0] == "\\%" else sign[0], command)


def _check_pattern(pattern: str) -> None:
    """Check that a pattern means the same here.

    Raises:
        NotTranslated: it does not, or crons disagree on it.
    """
    if _STEP_OF_A_NUMBER.search(pattern.replace(" ", ",")):
        raise NotTranslated("crons disagree on a step of a single number: write a range, such as 5-59/15")
    if any(text[0] != "*" and "*" in text.split(",") for text in pattern.split()):
        raise NotTranslated("crons disagree on * in a list: write the field as * alone")
    check_cron(pattern)


def _add_schedule(reading: _Reading, line: str, pattern: str, command: str) -> None:
    name = free_name(legal_name(_file_name(command), NO_NAME), reading.texts)
    reading.programs.append(Part(name=name, value={"run": f"programs.{name}"}))
    above = (*_without_outer_gaps(reading.above), line)
    value = {"program": name, "trigger": {"cron": pattern}, "status": "active"}
    reading.schedules.append(Part(name=name, value=value, above=above))
    reading.zones.append(reading.zone)
    reading.texts[name] = PROGRAM.format(command=repr(command))
    reading.above.clear()


def _file_name(command: str) -> str:
    """Return the name of the file that a command runs, without its ending."""
    return PurePosixPath(next(_words(command), "")).stem


def _words(command: str) -> Iterator[str]:
    """Yield the words of a command from the file that it runs on.

    What comes before it is left out: variables, `cd FOLDER &&` and parentheses.
    """
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        words = command.split()
    at = 0
    while at < len(words) and (
        words[at] in _OPENING or _ASSIGNMENT.fullmatch(words[at]) or words[at] == "cd"
    ):
        if words[at] == "cd":
            at = next((end for end in range(at, len(words)) if words[end] in _JOINTS), len(words))
        at += 1
    yield from words[at:] or words[:1]


def _with_zone(part: Part, zone: str, own: str) -> Part:
    if zone in ("", own):
        return part
    trigger = {**part.value["trigger"], "timezone": zone}
    return Part(name=part.name, value={**part.value, "trigger": trigger}, above=part.above)


def _first_fire(pattern: str, zone: str) -> datetime:
    cron: Cron = parse(pattern)
    return cron.next_fire(FIRST_FIRES_FROM, zone).astimezone(zone_of(zone))


def _without_outer_gaps(lines: list[str]) -> tuple[str, ...]:
    """Return comments without empty lines around them, and at most one between them."""
    found: list[str] = []
    for line in lines:
        if line or (found and found[-1]):
            found.append(line)
    return tuple(found[:-1] if found and not found[-1] else found)
