"""A world with a witness, who asks `why` about every schedule and every job after each tick."""

from datetime import datetime
from typing import Any

import msgspec

from tests.worlds.world import World, at
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.explain.why import explain

BOOKS = (
    "closed",
    "next_check_at",
    "blocked_on",
    "needs",
    "offers",
    "offered_at",
    "decided_at",
    "launch",
    "resources",
)
"""What a job carries for the engine itself, and shows to no person."""


class Witness(World):
    """A world that remembers what `why` said after every tick."""

    def __init__(self, schedules: str, *, start: str = "00:00") -> None:
        super().__init__(schedules, start=start)
        self.seen: list[tuple[datetime, str, Any]] = []

    def tick(self, clock: str):
        report = super().tick(clock)
        with self.store.reading() as reader:
            names = [state.ref for state in reader.schedules()] + [job.id for job in reader.jobs()]
            self.seen += [(at(clock), name, shown(explain(reader, name, at(clock)))) for name in names]
        return report

    def recalled(self, instant: datetime, name: str) -> Any:
        with self.store.reading() as reader:
            past = store_at(reader, instant)
        with past.reading() as reader:
            return shown(explain(reader, name, instant))


def shown(explanations: tuple[Explanation, ...]) -> list[dict[str, Any]]:
    """What people see, as plain values, without the places: those may move in their file."""
    found = msgspec.to_builtins(explanations)
    for each in found:
        for job in filter(None, (each["job"], each["failed"])):
            for name in BOOKS:
                del job[name]
    return found
