"""Histories of chance that are pruned at random instants, to be compared with the same histories unpruned.

The journal says all that was decided: which events came to which jobs, what was launched with what, and
what was discarded why. So two histories with equal journals have decided the same. The journal itself is
not pruned here.
"""

import random
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from tests.doubles.dump import dump
from tests.doubles.faulty_store import FaultyStore
from tests.doubles.reference.store import ReferenceStore
from tests.simulation.chance.world import ChanceWorld
from tests.simulation.history import played
from tidegate.scheduler.model.keep import Keep
from tidegate.scheduler.model.retention import Pruned
from tidegate.scheduler.retention.prune import prune_slice
from tidegate.scheduler.store.protocol import EngineTransaction, Store
from tidegate.scheduler.tick.instant import TickReport

T = TypeVar("T")

STEPS = 200
AS_LITTLE_AS_POSSIBLE = Keep(
    journal=None,
    events=timedelta(0),
    finished_jobs=timedelta(0),
    launches=timedelta(0),
    # The clock of this world goes wrong by a day, several times.
    clock_error=timedelta(days=3),
)
SLICES = (1, 5, 10)
OFTEN = 0.5


class PrunedWorld(ChanceWorld):
    """A world whose store is pruned by other dice, between any two deeds.

    Attributes:
        pruned: all that was pruned.
    """

    def __init__(self, store: FaultyStore, seed: int, keep: Keep | None) -> None:
        self.pruned = Pruned()
        self._keep = keep
        self._other_dice = random.Random(f"pruned {seed}")
        super().__init__(store, seed)

    def within(self, deed: Callable[[EngineTransaction], T]) -> T:
        """Some deeds come after a little pruning."""
        self.prune_by_chance()
        return super().within(deed)

    def tick(self, now: datetime | None = None) -> TickReport:
        self.prune_by_chance()
        return super().tick(now)

    def prune_by_chance(self) -> None:
        """Prune some slices, or none."""
        if self._keep is None or self._other_dice.random() > OFTEN:
            return
        keep = self._keep
        for _ in range(self._other_dice.choice(SLICES)):
            done = self.do(lambda: prune_slice(self.store, keep, self.now, at_once=True))
            self.pruned = self.pruned.plus(done.pruned)

    def judge_at_the_end(self) -> None:
        """Jobs that were pruned are not compared."""
        self.judge()


def lived(
    store: Store, seed: int, keep: Keep | None, *, steps: int = STEPS, rate: float = 0.0
) -> PrunedWorld:
    """Live through a history, pruned or not."""

    def play(faulty: FaultyStore) -> PrunedWorld:
        world = PrunedWorld(faulty, seed, keep)
        world.live(steps)
        world.settle()
        return world

    return played(store, seed, rate, f"seed {seed} with {steps} steps, pruned: {keep is not None}", play)


def compare(seed: int, *, steps: int = STEPS, store: Store | None = None, rate: float = 0.0) -> Pruned:
    """Compare a history with the same one pruned; return what was pruned."""
    whole = lived(ReferenceStore(), seed, None, steps=steps)
    pruned = lived(store or ReferenceStore(), seed, AS_LITTLE_AS_POSSIBLE, steps=steps, rate=rate)
    there, here = dump(whole.store), dump(pruned.store)
    for number, (one, other) in enumerate(zip(there["journal"], here["journal"], strict=False)):
        assert one == other, f"seed {seed}: decision {number} is {other} where nothing was pruned: {one}"
    assert len(there["journal"]) == len(here["journal"]), f"seed {seed}"
    for table in ("schedules", "subscriptions", "slots", "gauges", "unrouted", "apps"):
        assert there[table] == here[table], f"seed {seed}: {table}"
    assert open_jobs(there) == open_jobs(here), f"seed {seed}"
    with whole.store.reading() as one, pruned.store.reading() as other:
        assert one.ledger() == other.ledger(), f"seed {seed}: the ledger"
        programs = ["a/p", "a/q", "a/r"]
        assert one.history(programs) == other.history(programs), f"seed {seed}: the last runs"
    return pruned.pruned


def open_jobs(held: Mapping[str, Any]) -> list[Any]:
    """The jobs that are not over, with their deliveries."""
    jobs = [job for job in held["jobs"] if job["state"] not in ("SUCCEEDED", "FAILED", "DISCARDED")]
    ids = {job["id"] for job in jobs}
    return [jobs, [each for each in held["deliveries"] if each[3] in ids]]
