"""A world of chance in which people also override what was deployed, and expect data by a deadline.

What they do is drawn by other dice, between the deeds of `ChanceWorld`. An oracle judges the overrides, and
the deadlines are computed once more from the events that were put in.
"""

import random
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from tests.doubles.faulty_store import FaultyStore
from tests.simulation.chance.app import with_deadlines
from tests.simulation.chance.world import ChanceWorld
from tests.simulation.history import FAULT_RATE, STEPS, played
from tests.simulation.people.deeds import (
    ADA,
    DEADLINES,
    EXPECTED,
    arrival_by_chance,
    deed_by_chance,
    some_deadlines,
)
from tests.simulation.people.oracle import PeopleOracle
from tests.worlds.by import CLI
from tidegate.domain.model import App
from tidegate.scheduler.commands.by_hand.held_apps import release_app
from tidegate.scheduler.commands.reverts import revert
from tidegate.scheduler.launch.outbox import LaunchRequest, offer_launches
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.records.expected import LATE_TOTALS
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.held_apps import held_apps
from tidegate.scheduler.tick.instant import TickReport

DEEDS = ("person",) * 3 + ("lands",) * 3 + ("deadline",) + ("nothing",) * 5


class PeopleWorld(ChanceWorld):
    """One history with overrides and deadlines."""

    oracle: PeopleOracle
    oracle_kind = PeopleOracle
    wrong_ticks = 0.0

    def __init__(self, store: FaultyStore, seed: int) -> None:
        self._people = random.Random(f"people {seed}")
        self._deadlines = some_deadlines(self._people)
        self._without: set[str] = set()
        super().__init__(store, seed)

    def live(self, steps: int) -> None:
        """Some deeds are followed by one of people."""
        for _ in range(steps):
            super().live(1)
            match self._people.choice(DEEDS):
                case "person":
                    self._person()
                case "lands":
                    self.add([arrival_by_chance(self._people, self.number("l"), self.now)])
                case "deadline" if self._people.random() < 0.3:
                    self._other_deadline()
                case _:
                    pass

    def settle(self) -> None:
        """First all that expires has expired, and what has no expiry is ended."""
        with self.store.reading() as reader:
            expiring = [each.expires_at for each in reader.records(OVERRIDES) if each.expires_at is not None]
        self.now = max([self.now, *expiring])
        self.latest = max(self.latest, self.now)
        self.tick()
        self.within(lambda transaction: release_app(transaction, "a", self.now, by=CLI))
        with self.store.reading() as reader:
            switched = [each.ref for each in reader.records(OVERRIDES) if each.kind == "status"]
        for ref in switched:
            with suppress(Refused):
                self.within(lambda transaction, ref=ref: revert(transaction, ref, self.now, ADA, "status"))
        super().settle()

    def deploy(self, app: App, *, update_schedules: bool = True) -> None:
        """The app has the deadlines that are wanted now."""
        self.oracle.expected.deploying(self._deadlines)
        super().deploy(with_deadlines(app, self._deadlines), update_schedules=update_schedules)
        self.oracle.expected.deployed(self._deadlines, self.now, self.latest)

    def add(self, events: Sequence[Event]) -> None:
        """What the journal says so far does not know these events."""
        self.judge()
        super().add(events)
        self.oracle.expected.added(events)

    def tick(self, now: datetime | None = None) -> TickReport:
        """Nothing is overdue after it."""
        report = super().tick(now)
        self.judge()
        self.oracle.ticked(now or self.now)
        return report

    def offer_launches(self, limit: int = 25, now: datetime | None = None) -> tuple[LaunchRequest, ...]:
        """Like the dispatcher it leaves out an app on hold."""
        at = now or self.now
        return self.within(
            lambda t: () if "a" in held_apps(t) else offer_launches(t, at, "a", limit),
        )

    def judge_at_the_end(self) -> None:
        super().judge_at_the_end()
        with self.store.reading() as reader:
            self.oracle.same_overrides(reader.records(OVERRIDES))
            totals = {
                each.name: each.number for each in reader.records(LATE_TOTALS) if each.kind == "dataset"
            }
        late = {f"a/{name}": number for name, number in self.oracle.expected.late.items()}
        assert totals == late, f"late were {totals}, the journal says {late}"

    def _hands(self) -> None:
        with self.store.reading() as reader:
            exists = bool(reader.schedules())
        if exists:
            super()._hands()

    def _person(self) -> None:
        with self.store.reading() as reader:
            names = [state.name for state in reader.schedules()]
            names += [each.name for each in reader.records(OVERRIDES) if each.kind != "held"]
        deed = deed_by_chance(self._people, sorted({*names}) or ["s0"], self.now)
        if deed.spec is not None:
            self.oracle.put(deed.spec)
        deed.give(self)

    def _other_deadline(self) -> None:
        """A deadline is added or changed, or removed for good."""
        dataset = self._people.choice(EXPECTED)
        if dataset in self._without:
            return
        if dataset in self._deadlines and self._people.random() < 0.3:
            del self._deadlines[dataset]
            self._without.add(dataset)
        else:
            self._deadlines[dataset] = self._people.choice(DEADLINES)
        self.deploy(self.chance.app, update_schedules=False)


def history(
    store: Store, seed: int, *, steps: int = STEPS, rate: float = FAULT_RATE, after_commit: bool = False
) -> PeopleWorld:
    """Play one history; it raises where the engine broke a promise. The arguments are those of `history`."""

    def play(faulty: FaultyStore) -> PeopleWorld:
        world = PeopleWorld(faulty, seed)
        world.live(steps)
        world.settle()
        return world

    what = f"people, seed {seed} with {steps} steps failed"
    return played(store, seed, rate, what, play, after_commit=after_commit)
