"""What is asked about the programs of the YAML that exist in Dagster, and what the loaded locations answer.

    YAML ─► Request ─► child process: loads the locations, compares ─► Answers ─► diagnostics
    a project without YAML ─► their jobs, for its first schedule

The values cross the border of a process as JSON. Dagster is not imported here, since the command that asks
does not need it.
"""

from collections.abc import Mapping
from typing import Literal

from tidegate.domain.model import ExistingJob, PartitionScheme
from tidegate.domain.value import Value

Key = Literal["job", "assets", "location", "config", "partitions"]

NO_LOCATION = ""
"""In place of the name of a location: no workspace was found at all."""

UNKNOWN = "unknown"
"""The partitions of a job that a cron cannot choose, or that have no spelling in the language."""


class Question(Value, kw_only=True):
    """A program to compare.

    Attributes:
        program: "app/program".
        schemes: how its runs are cut; lint requires that they agree.
        several: the schedules that may launch a run of several partitions, by name.
    """

    program: str
    existing: ExistingJob
    schemes: tuple[PartitionScheme, ...] = ()
    several: tuple[str, ...] = ()


class Request(Value, kw_only=True):
    """What the child process does.

    Attributes:
        files: where locations are listed, the first that lists another one than ours counts.
        own_module, own_name: the location of the project itself, which is not loaded.
        seconds: how long all locations together may take to load.
        jobs: whether the jobs of all locations are wanted.
    """

    files: tuple[str, ...]
    own_module: str
    own_name: str
    seconds: float
    questions: tuple[Question, ...] = ()
    jobs: bool = False


class Fault(Value, kw_only=True):
    """A part of a program that disagrees with the loaded location.

    Attributes:
        key: of the program in the YAML.
        path: below that key.
        of_key: the place is the last key of the path, not its value.
    """

    code: str
    key: Key
    summary: str
    hint: str
    path: tuple[str | int, ...] = ()
    of_key: bool = False


class Answer(Value, kw_only=True):
    """What the loaded locations say about a program.

    Attributes:
        faults: what disagrees.
        away: the locations that are not loaded, and without which nothing more can be said.
        assets: what a selection has now, by their keys.
    """

    faults: tuple[Fault, ...] = ()
    away: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()


class TheirJob(Value, frozen=True, kw_only=True):
    """A job of others.

    Attributes:
        unique: whether no other location of theirs has a job of this name.
        partitions: as a dataset spells them, in one line; "" without any, or UNKNOWN.
        needs_config: whether a run without config is refused.
        schedule: the schedule of theirs that starts it; "" without one.
        cron: of that schedule.
        timezone: of that schedule; "" is UTC.
    """

    name: str
    location: str
    unique: bool = True
    partitions: str = ""
    needs_config: bool = False
    schedule: str = ""
    cron: str = ""
    timezone: str = ""


class Answers(Value, kw_only=True):
    """The answers to a request.

    Attributes:
        problems: why a location is not loaded, by its name.
        answers: by program.
        jobs: of all locations that are loaded.
    """

    problems: Mapping[str, str] = {}
    answers: Mapping[str, Answer] = {}
    jobs: tuple[TheirJob, ...] = ()
