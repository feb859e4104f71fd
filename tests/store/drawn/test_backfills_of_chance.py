"""Backfills of schedules in random histories, on every store: no key twice at once, none missing, live first.

Two engines take turns, a crash loses a transaction, and people cancel, resume, suspend and deploy. A planted
bug shows of each check that it would see it.
"""

from collections.abc import Callable, Generator
from contextlib import suppress
from random import Random

import pytest

from tests.databases import MEMORY
from tests.worlds.filling import DAILY, Filling
from tests.worlds.world import at
from tidegate.domain.model import Priority
from tidegate.scheduler.commands.backfills import points
from tidegate.scheduler.decision.constraints import partition
from tidegate.scheduler.model.job import ACTIVE, Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.refused import InstanceRefused
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick import upstream
from tidegate.scheduler.tick.tick import advance_to

STEPS, SEEDS, SEEDS_OF_A_BUG = 60, 3, 40
DAYS = [f"2026-03-{day:02}" for day in range(1, 9)]
SLOTS = 2
TEXT = DAILY.replace("status: active", f"status: active, constraints: [{{concurrency: {{max: {SLOTS}}}}}]")


class Crash(Exception):
    """The engine dies before its transaction is committed."""


class Chance(Filling):
    """A history of chance, with what must be true after each step."""

    def __init__(self, seed: int, *stores: Store) -> None:
        super().__init__(TEXT, store=stores[0])
        self.engines = stores
        self.random = Random(seed)
        self.asked: dict[int, list[str]] = {}
        self.minute = 0
        self.known: set[str] = set()

    @property
    def clock(self) -> str:
        return f"{10 + self.minute // 60}:{self.minute % 60:02}"

    def live(self) -> None:
        """Every step is one of these deeds, then a tick."""
        deeds: list[Callable[[], object]] = [
            self.events_arrive, self.events_arrive, self.people_backfill, self.people_cancel,
            self.people_resume, self.runs_end, self.runs_end, self.runs_end,
            self.people_deploy, self.people_suspend, self.the_engine_dies, self.people_rerun,
        ]  # fmt: skip
        for _ in range(STEPS):
            self.step(self.random.choice(deeds))
        self.resume(self.clock, "daily")
        for number in self.asked:
            with suppress(InstanceRefused):
                self.resume_backfill(self.clock, number)
        for _ in range(20 * STEPS):
            if all(self.progress(number) == {"successful": len(keys)} for number, keys in self.asked.items()):
                return
            self.step(self.all_ends)
        raise AssertionError(f"not all of it succeeds: {[self.progress(number) for number in self.asked]}")

    def step(self, deed: Callable[[], object]) -> None:
        self.minute += 1
        self.store = self.random.choice(self.engines)
        deed()
        self.go(self.clock)
        self.check()

    # --- what happens ---

    def events_arrive(self) -> None:
        self.arrive(self.clock, "hourly", f"{self.random.choice(DAYS)}-05:00")

    def people_backfill(self) -> None:
        if len(self.asked) < 4:
            first, last = sorted(self.random.choices(range(len(DAYS)), k=2))
            lot, priority = self.random.randint(1, 3), None
            ends = (DAYS[first], DAYS[last])
            number = self.backfill(self.clock, "daily", between=ends, lot=lot, priority=priority)
            self.asked[number] = DAYS[first : last + 1]
            assert sorted(self.keys(number)) == self.asked[number], "a key is missing"

    def people_cancel(self) -> None:
        if self.asked:
            with suppress(InstanceRefused):
                self.cancel_backfill(self.clock, self.random.choice([*self.asked]))

    def people_resume(self) -> None:
        for number in [*self.asked][:1]:
            with suppress(InstanceRefused):
                self.resume_backfill(self.clock, number)
                assert sorted(self.keys(number)) == self.asked[number], "resumed with other keys"

    def runs_end(self) -> None:
        running = self.jobs("daily", JobState.LAUNCHED)
        if running:
            key = self.random.choice(running).key
            self.end_of(self.clock, key, "succeeded" if self.random.random() < 0.8 else "failed")

    def people_deploy(self) -> None:
        how = self.random.choice(["reset", "carry"])
        timeout = self.random.randint(10, 99)
        self.redeploy(self.clock, TEXT.replace("status:", f"on_update: {how}, timeout: {timeout}d, status:"))

    def people_suspend(self) -> None:
        (self.suspend if self.random.random() < 0.4 else self.resume)(self.clock, "daily")

    def the_engine_dies(self) -> None:
        with suppress(Crash), self.store.transaction() as transaction:
            advance_to(transaction, at(self.clock))
            raise Crash

    def people_rerun(self) -> None:
        for number in self.asked:
            for job in self.made(number):
                if job.state is JobState.FAILED:
                    self.rerun(self.clock, "daily", job.key, number)

    def all_ends(self) -> None:
        self.people_rerun()
        for job in self.jobs("daily", JobState.LAUNCHED):
            self.end_of(self.clock, job.key)

    # --- what must be true ---

    def check(self) -> None:
        jobs = self.jobs("daily")
        active = [job for job in jobs if job.state in ACTIVE]
        for key in {job.key for job in active}:
            beside = [job for job in active if job.key == key]
            assert len(beside) == 1 or all(job.instance is None for job in beside), "a key twice at once"
        new = [job for job in active if job.instance is not None and job.run_key not in self.known]
        self.known |= {job.run_key for job in new}
        waiting = [job for job in jobs if job.instance is None and job.reason is Reason.W_CONCURRENCY]
        decided = [job for job in new if job.decided_at == at(self.clock)]
        assert not decided or not [job for job in waiting if job.waiting], (
            "a live job waits behind a backfill"
        )
        for job in new:
            assert not self.before(job), "a lot begins before the one before it has succeeded"

    def before(self, job: Job) -> list[Job]:
        mine = job.of_task
        return [
            each
            for each in self.made(mine.number)
            if each.of_task.lot < mine.lot and each.state is not JobState.SUCCEEDED
        ]


@pytest.fixture
def engines(url: str, store: Store) -> Generator[tuple[Store, ...], None, None]:
    """Two engines on one store, where it can be opened twice."""
    if url == MEMORY:
        yield (store,)
        return
    other = open_store(url)
    yield store, other
    other.close()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_history_of_chance(seed: int, engines: tuple[Store, ...]) -> None:
    Chance(seed, *engines).live()


def _first(job: Job) -> Priority:
    return Priority.HIGH if job.instance is not None else job.priority


BUGS: dict[str, tuple[object, str, object]] = {
    "a key twice at once": (partition, "check", lambda _: None),
    "a live job waits behind a backfill": (Job, "launch_priority", property(_first)),
    "a lot begins before": (upstream._Lots, "before", lambda *_: ()),
    "a key is missing": (points, "keys_within", lambda *_: tuple(DAYS[:1])),
}


@pytest.mark.parametrize("check", BUGS)
def test_a_planted_bug_is_found(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*BUGS[check])
    with pytest.raises(AssertionError, match=check):
        for seed in range(SEEDS_OF_A_BUG):
            Chance(seed, MemoryStore()).live()
