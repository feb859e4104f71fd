"""Apps made by chance out of chance schedules, and changed by chance. What lint refuses is left out."""

import json
import random
from collections.abc import Mapping
from datetime import timedelta
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

import msgspec

from tests.simulation.chance.schedule import chance_schedule
from tests.simulation.places import without_places
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App, Deadline, Retries

DAYS = {"cycle": "day", "start": "2026-01-01"}

HEAD: dict[str, Any] = {
    "app": "a",
    "timezone": "America/New_York",
    "calendars": {"office": {"closed": ["2026-03-06"]}},
    "datasets": {
        "raw": {"partitions": DAYS},
        "other": {"partitions": DAYS},
        "hourly": {"partitions": {"cycle": "hour", "start": "2026-01-01-00:00"}},
        "chunks": {"partitions": {"day": DAYS, "origin": ["EWR", "JFK"]}},
        "plain": {},
        "out": {"partitions": DAYS},
    },
    "programs": {
        "p": {"run": "programs.p", "writes": ["out"]},
        "q": {"run": "programs.q"},
        "r": {"run": "programs.r"},
    },
}

NUMBERS = 400
"""So many chance schedules are drawn from; each costs a process one compilation."""

TRIES_MAX = 60

NONE: Mapping[str, Deadline] = MappingProxyType({})
"""No dataset has a deadline."""


class ChanceApp:
    """An app that can be changed by chance.

    Attributes:
        app: as it is deployed next.
    """

    def __init__(
        self, dice: random.Random, *, retries: bool = False, deadlines: Mapping[str, Deadline] = NONE
    ) -> None:
        """Args:
        retries: whether schedules start failed runs again.
        deadlines: of the datasets.
        """
        self._dice = dice
        self._retries = retries
        self._deadlines = deadlines
        self._specs: dict[str, int] = {}
        self.app = compiled({})
        wanted = dice.randint(2, 6)
        for number in range(TRIES_MAX):
            if len(self._specs) < wanted:
                self._try({**self._specs, f"s{number}": self._number()})
        assert self._specs, "no schedule was accepted: the grammar of chance_schedule is out of date"

    def change(self) -> App:
        """Replace, delete or add a schedule; returns the app, unchanged if lint refuses the change."""
        name = self._dice.choice(sorted(self._specs))
        specs = dict(self._specs)
        match self._dice.choice(("replace", "replace", "delete", "add")):
            case "replace":
                specs[name] = self._number()
            case "delete" if len(specs) > 1:
                del specs[name]
            case _:
                specs["extra"] = self._number()
        self._try(specs)
        return self.app

    def _number(self) -> int:
        number = self._dice.randrange(NUMBERS)
        while not accepted(number):
            number = (number + 1) % NUMBERS
        return number

    def _try(self, specs: dict[str, int]) -> None:
        # Schedules that trigger each other in a circle are refused only when they are together.
        try:
            app = compiled(specs)
        except Refused:
            return
        app = with_retries(app) if self._retries else app
        self.app = with_deadlines(app, self._deadlines) if self._deadlines else app
        self._specs = specs


RETRIES = (
    None,
    Retries(max=1),
    Retries(max=3, wait=timedelta(minutes=10), backoff=2.0),
    Retries(max=0),
    Retries(max=2, wait=timedelta(hours=2)),
)


def with_retries(app: App) -> App:
    """The app with other retries for each schedule. Its seeds are those of the app without them."""
    schedules = {
        name: msgspec.structs.replace(spec, retries=RETRIES[number % len(RETRIES)])
        for number, (name, spec) in enumerate(sorted(app.schedules.items()))
    }
    return msgspec.structs.replace(app, schedules=schedules)


def with_deadlines(app: App, deadlines: Mapping[str, Deadline]) -> App:
    """The app with these deadlines of its datasets, by name."""
    datasets = {
        name: msgspec.structs.replace(dataset, deadline=deadlines.get(name))
        for name, dataset in app.datasets.items()
    }
    return msgspec.structs.replace(app, datasets=datasets)


class Refused(Exception):
    """Lint has an error."""


@cache
def accepted(number: int) -> bool:
    """Whether lint accepts the schedule of this number by itself."""
    try:
        app = compiled({"s": number})
    except Refused:
        return False
    spec = chance_schedule(number)
    spelled = {key: value if key == "args" else with_points(value) for key, value in spec.items()}
    pointed = _built({"s": spelled})
    assert bare(pointed) == bare(app), f"numbers: {spelled} has become {pointed.schedules}"
    return True


def with_points(value: Any) -> Any:
    """The same value with a point in each whole number: 2 as 2.0."""
    if isinstance(value, dict):
        return {key: with_points(member) for key, member in value.items()}
    if isinstance(value, list):
        return [with_points(member) for member in value]
    return float(value) if type(value) is int else value


def bare(app: App) -> Any:
    """The schedules of an app without their places."""
    return without_places(msgspec.json.decode(msgspec.json.encode(app.schedules)))


def compiled(specs: dict[str, int]) -> App:
    """The app of some schedules by name.

    Raises:
        Refused: lint found an error.
    """
    return _compiled(tuple(sorted(specs.items())))


@lru_cache(maxsize=4096)
def _compiled(specs: tuple[tuple[str, int], ...]) -> App:
    return _built({name: chance_schedule(number) for name, number in specs})


def _built(schedules: dict[str, dict[str, Any]]) -> App:
    compilation = compile_files({"a.yaml": json.dumps({**HEAD, "schedules": schedules}).encode()})
    if not compilation.ok:
        raise Refused("; ".join(str(d) for d in compilation.diagnostics))
    return compilation.apps["a"].app
