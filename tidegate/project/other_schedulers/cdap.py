"""Schedules of CDAP as an app, from the JSON of its REST API: a list of schedules, or one.

Each workflow is a job of Dagster of the same name. A constraint that has no translation is a note at its
place. A schedule whose trigger has none, or that lint would refuse, is a note as a whole: without a member of
its `AND` it would start too often.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tidegate.compiler.render.yaml_text import one_line
from tidegate.compiler.values.texts import is_zone
from tidegate.domain.duration import DurationError, duration_text, parse_duration
from tidegate.domain.error import UserError
from tidegate.project.other_schedulers.quartz import pattern_of
from tidegate.project.other_schedulers.translated import (
    Note,
    NotTranslated,
    free_name,
    legal_name,
)

STATUSES = {
    "COMPLETED": "succeeded",
    "FAILED": "failed",
    "KILLED": "cancelled",
    "RUNNING": "started",
}
COMPOSITES = {"AND": "all", "OR": "any"}
DEFAULT_TIMEOUT = "1d"
MAX_DESCRIPTION_CHARACTERS = 2_000
MAX_JSON_CHARACTERS = 300
"""Of what a note shows of a schedule or a part of it."""

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})")

Json = dict[str, Any]
ProgramKey = tuple[str, str, str]
"""Namespace, application and name of a workflow."""


@dataclass(kw_only=True, slots=True)
class CdapSchedule:
    """A schedule that is translated.

    Attributes:
        value: its YAML; lists may have notes.
        above: comments and notes above it.
        programs, datasets: the names of those that it needs.
        source: the JSON of it, cut.
    """

    name: str
    value: dict[str, Any]
    above: list[str]
    programs: set[str]
    datasets: set[str]
    source: str


@dataclass(kw_only=True, slots=True)
class Names:
    """The names of programs, datasets and schedules that are given out."""

    programs: dict[ProgramKey, str] = field(default_factory=dict)
    datasets: dict[tuple[str, str], str] = field(default_factory=dict)
    schedules: set[str] = field(default_factory=set)

    def program(self, key: ProgramKey) -> str:
        """Return the name of a workflow."""
        if key not in self.programs:
            self.programs[key] = free_name(_name(key[2], "workflow"), self.programs.values())
        return self.programs[key]

    def dataset(self, key: tuple[str, str]) -> str:
        """Return the name of a dataset of a namespace."""
        if key not in self.datasets:
            self.datasets[key] = free_name(_name(key[1], "dataset"), self.datasets.values())
        return self.datasets[key]


def schedules_of(data: bytes) -> list[Any]:
    """Return the schedules of an answer of the REST API.

    Raises:
        UserError: it is not JSON, or has none.
    """
    try:
        read = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"not JSON: {error}", "give the answer of GET /v3/namespaces/NAMESPACE/apps/APP/schedules"
        ) from None
    if isinstance(read, dict):
        return [read]
    if not isinstance(read, list):
        raise UserError("neither a schedule nor a list of schedules", "give the answer of GET …/schedules")
    return read


def translate_schedule(found: Any, names: Names) -> CdapSchedule:
    """Return a schedule as ours.

    Raises:
        NotTranslated: it cannot be one.
    """
    if not isinstance(found, dict) or not isinstance(found.get("name"), str):
        raise NotTranslated("not a schedule with a name")
    reading = _Schedule(found, names)
    value = reading.value()
    name = free_name(_name(found["name"], "schedule"), names.schedules)
    names.schedules.add(name)
    return CdapSchedule(
        name=name,
        value=value,
        above=reading.above,
        programs=reading.programs,
        datasets=reading.datasets,
        source=json_of(found),
    )


def json_of(value: Any) -> str:
    """Return a value as JSON in one line, cut."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_JSON_CHARACTERS else f"{text[:MAX_JSON_CHARACTERS]}…"


def _name(text: str, otherwise: str) -> str:
    return legal_name(_CAPITAL.sub("_", text), otherwise)


class _Schedule:
    """The translation of one schedule."""

    def __init__(self, found: Json, names: Names) -> None:
        self._found, self._names = found, names
        self._namespace = str(found.get("namespace") or "default")
        self._application = str(found.get("application") or "")
        self.above: list[str] = []
        self.programs: set[str] = set()
        self.datasets: set[str] = set()

    def value(self) -> dict[str, Any]:
        """Return the YAML of the schedule, and note what it leaves out.

        Raises:
            NotTranslated: it has no program or trigger that can be translated.
        """
        program = self._program(_mapping(self._found.get("program"), "program"))
        trigger = self._trigger(_mapping(self._found.get("trigger"), "trigger"))
        description = self._found.get("description")
        constraints = [self._constraint(each) for each in self._found.get("constraints") or ()]
        notes = [each for each in constraints if isinstance(each, Note)]
        if len(notes) == len(constraints):
            self.above += notes
            constraints = []
        timeout = {"after": self._timeout(), "from": "first_event"}
        self._note_properties()
        return {
            **({"description": self._description(description)} if description else {}),
            "program": program,
            "trigger": trigger,
            **({"constraints": constraints} if constraints else {}),
            "timeout": timeout,
            "status": self._status(),
        }

    def _description(self, text: Any) -> str:
        if len(str(text)) > MAX_DESCRIPTION_CHARACTERS:
            self.above.append(Note("the end of the description, which is too long"))
        return "\n".join(map(one_line, str(text)[:MAX_DESCRIPTION_CHARACTERS].split("\n")))

    def _program(self, found: Json) -> str:
        """Return the name of a program, from a `program` or a `programId`."""
        kind = str(found.get("programType") or found.get("type") or "").upper()
        name = found.get("programName") or found.get("program")
        if kind != "WORKFLOW" or not isinstance(name, str):
            raise NotTranslated(f"a program that is not a workflow, {json_of(found)}")
        namespace = str(found.get("namespace") or self._namespace)
        application = str(found.get("application") or self._application)
        known = self._names.program((namespace, application, name))
        self.programs.add(known)
        return known

    def _trigger(self, found: Json) -> dict[str, Any]:
        kind = str(found.get("type"))
        match kind:
            case "TIME":
                return {"cron": pattern_of(str(found.get("cronExpression")))}
            case "PARTITION":
                return self._partitions(found)
            case "PROGRAM_STATUS":
                return self._runs(found)
            case "AND" | "OR":
                return self._composite(found, kind)
            case _:
                raise NotTranslated(f"a trigger that does not exist here, {json_of(found)}")

    def _partitions(self, found: Json) -> dict[str, Any]:
        dataset = _mapping(found.get("dataset"), "dataset")
        namespace = dataset.get("namespace") or self._namespace
        if namespace != self._namespace:
            raise NotTranslated(f"a dataset of another namespace, {json_of(dataset)}")
        name = self._names.dataset((str(namespace), str(dataset.get("dataset"))))
        count = _whole(found.get("numPartitions"), "numPartitions")
        self.datasets.add(name)
        # Without the partitions of the dataset each update counts, as each new partition did.
        several = {"count": count, "distinct": False} if count > 1 else {"count": count}
        return {"partitions": {"dataset": name, **several}}

    def _runs(self, found: Json) -> dict[str, Any]:
        program = self._program(_mapping(found.get("programId"), "programId"))
        statuses = found.get("programStatuses") or [found.get("programStatus")]
        known = [STATUSES.get(str(each)) for each in statuses] if isinstance(statuses, list) else [None]
        if None in known:
            raise NotTranslated(f"a status that does not exist here, {json_of(statuses)}")
        members = [{"run": {"program": program, "status": each}} for each in dict.fromkeys(known)]
        return members[0] if len(members) == 1 else {"any": members}

    def _composite(self, found: Json, kind: str) -> dict[str, Any]:
        members: list[Any] = []
        for each in found.get("triggers") or ():
            try:
                members.append(self._trigger(_mapping(each, "trigger")))
            except NotTranslated as error:
                if kind == "AND":
                    raise
                members.append(Note(str(error)))
        if all(isinstance(each, Note) for each in members):
            raise NotTranslated(f"no member of it can be translated, {json_of(found)}")
        return members[0] if len(members) == 1 else {COMPOSITES[kind]: members}

    def _constraint(self, found: Any) -> dict[str, Any] | Note:
        try:
            name, value = _constraint(_mapping(found, "constraint"))
        except NotTranslated as error:
            return Note(f"{error}, {json_of(found)}")
        if name != "delay" and found.get("waitUntilMet") is not True:
            value = {**value, "otherwise": "skip"}
        return {name: value}

    def _timeout(self) -> str:
        found = self._found.get("timeoutMillis")
        if found is None:
            return DEFAULT_TIMEOUT
        try:
            return _duration(found, "timeoutMillis")
        except NotTranslated as error:
            self.above.append(Note(f"{error}: {DEFAULT_TIMEOUT} in its place"))
            return DEFAULT_TIMEOUT

    def _status(self) -> str:
        found = self._found.get("status") or self._found.get("scheduleStatus")
        if found not in (None, "SUSPENDED", "SCHEDULED"):
            self.above.append(Note(f"the status {found}: suspended in its place"))
        return "active" if found == "SCHEDULED" else "suspended"

    def _note_properties(self) -> None:
        """Note the properties, which were arguments of the workflow: a job gets its values by `config`."""
        properties = self._found.get("properties") or {}
        if isinstance(properties, dict):
            self.above += [
                Note(f"property {key}={value}: write it as `config`") for key, value in properties.items()
            ]


def _constraint(found: Json) -> tuple[str, dict[str, Any]]:
    match found.get("type"):
        case "CONCURRENCY":
            return "concurrency", {"max": _whole(found.get("maxConcurrency"), "maxConcurrency")}
        case "DELAY":
            after = _duration(found.get("millisAfterTrigger"), "millisAfterTrigger")
            return "delay", {"for": after, "from": "first_event"}
        case "LAST_RUN":
            since = _duration(found.get("millisSinceLastRun"), "millisSinceLastRun")
            return "since_last_run", {"for": since, "measured_from": "end"}
        case "TIME_RANGE":
            zone = str(found.get("timeZone"))
            if not is_zone(zone):
                raise NotTranslated(f"not a time zone, {zone}")
            return "window", {**dict(_range(found)), "timezone": zone}
        case _:
            raise NotTranslated("a constraint that does not exist here")


def _range(found: Json) -> Iterator[tuple[str, str]]:
    for key, theirs in (("from", "startTime"), ("to", "endTime")):
        clock = _CLOCK.fullmatch(str(found.get(theirs)))
        if clock is None or int(clock[1]) > 23 or int(clock[2]) > 59:
            raise NotTranslated(f"{theirs} is not a time")
        yield key, f"{int(clock[1]):02}:{clock[2]}"


def _mapping(value: Any, name: str) -> Json:
    if not isinstance(value, dict):
        raise NotTranslated(f"{name} is not a mapping, {json_of(value)}")
    return value


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise NotTranslated(f"{name} is not a positive number, {json_of(value)}")
    return value


def _duration(value: Any, name: str) -> str:
    """Return milliseconds as a duration.

    Raises:
        NotTranslated: it is shorter or longer than ours may be.
    """
    try:
        text = duration_text(timedelta(milliseconds=_whole(value, name)))
        parse_duration(text)
    except (DurationError, OverflowError):
        raise NotTranslated(f"{name} is outside 0.1 seconds to 366 days, {value}") from None
    return text
