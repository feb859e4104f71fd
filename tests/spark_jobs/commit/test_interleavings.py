"""Any number of drivers, killed, asleep and cut off in any order: every row is in the table exactly once.

Each history is a table that is appended to from a source that grows. Drivers run jobs: they recover,
read what is new since the watermark, stage, and publish. They are stopped between any two effects for as
long as it pleases the seed, while clocks go on, leases run out and a cleaner removes what no attempt
may need. Readers look on all the time.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from random import Random
from typing import Any, ClassVar, cast

import pytest

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.effort import much
from tests.spark_jobs.commit.turns import SkewedClock, Turns, far
from tests.spark_jobs.staging import parts_of
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.lease import LEASE, LEASE_SECONDS, AttemptLease
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.commit.recovery import recover, recover_all
from tidegate.spark_jobs.commit.sequence import CommitSequence, watermark_resource
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect, Verified, step_kind, unknown
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.errors import SparkJobError
from tidegate.spark_jobs.repair.orphans import expire_dead_attempts, needed_tokens

TABLE, CONSUMER, SOURCE = "app/table", "app/program", "app/source"
TOUCHED = (TABLE, watermark_resource(CONSUMER, SOURCE))
JOBS = 6
TRIES = 4
TURNS = 500
SKEW_SECONDS = LEASE_SECONDS / 4 - 1


class World:
    """One history: the table, what is staged, and who is at work.

    Attributes:
        table: the rows of each commit, which are never changed.
        staged: the rows of each token.
        landed: how many rows the source has.
        seen: how often which ending came about.
        chance: the chance that a call to the store, or a step, fails.
    """

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.turns = Turns()
        self.clock = SkewedClock(self.turns)
        self.kept = MemoryCommitStepStore()
        self.chance = self.dice.choice([0, 0.02])
        self.store = far(self.kept, self.turns, self.loses)
        # Steps are handed the world where others are handed files.
        self.context = CommitContext(files=cast(Any, self))
        self.table: dict[str, tuple[int, ...]] = {}
        self.staged: dict[int, tuple[int, ...]] = {}
        self.landed = 3
        self.seen: Counter[str] = Counter()

    def loses(self) -> bool:
        """Draw whether a call fails."""
        return self.dice.random() < self.chance

    def run(self, job: str) -> None:
        """What `runner.run_program` does, but for Spark."""
        recover(TOUCHED, self.store, self.context, self.clock)
        if parts_of(job, self.store, self.context, self.clock) is not None:
            self.seen["published already"] += 1
            return
        with AttemptLease(self.store, job, TOUCHED, clock=self.clock) as token:
            mark = self.store.watermarks(CONSUMER, SOURCE).get("")
            number, position = (0, 0) if mark is None else (mark.number, int(mark.position))
            self.turns.point()
            rows = tuple(range(position, self.landed))
            self.turns.point()
            self.staged[token] = rows
            self.turns.point()
            publish(self.sequence(job, token, number + 1, rows), self.store, self.context, self.clock)
        self.seen["published"] += 1

    def sequence(self, job: str, token: int, number: int, rows: Sequence[int]) -> CommitSequence:
        """Appends the rows, moves the watermark past them, and sweeps."""
        moves = SetWatermark(
            consumer=CONSUMER,
            source=SOURCE,
            part="",
            number=number,
            position=str(rows[-1] + 1 if rows else self.position()),
            commit=job,
        )
        steps = (Append(commit=job, token=token), moves, Sweep(token=token))
        return CommitSequence(id=job, datasets=TOUCHED, token=token, steps=steps, result=())

    def retry(self, jobs: Sequence[str]) -> None:
        """A driver: it does its jobs one after the other, and tries each a few times."""
        for job in jobs:
            for _ in range(TRIES):
                try:
                    self.run(job)
                    break
                except (SparkJobError, ConnectionError) as failure:
                    self.seen[type(failure).__name__] += 1

    def clean(self) -> None:
        """Removes what is staged and belongs to no attempt."""
        staged = list(self.staged)
        self.turns.point()
        for attempt in expire_dead_attempts(self.store, self.clock.now()):
            self.seen["abandoned"] += attempt.token > 0
        for token in set(staged) - needed_tokens(self.store):
            self.turns.point()
            if self.staged.pop(token, None) is not None:
                self.seen["swept"] += 1

    def clean_often(self) -> None:
        """A driver that cleans again and again."""
        for _ in range(TRIES):
            try:
                self.clean()
            except (SparkJobError, ConnectionError) as failure:
                self.seen[type(failure).__name__] += 1

    def read(self) -> list[int]:
        """What a reader sees: all that was ever appended."""
        return sorted(row for rows in self.table.values() for row in rows)

    def position(self) -> int:
        """How far the watermark says that the source is in the table."""
        mark = self.kept.watermarks(CONSUMER, SOURCE).get("")
        return 0 if mark is None else int(mark.position)


@step_kind("test_append")
class Append(Value, kw_only=True):
    """Adds the staged rows of a token to the table, in one moment."""

    effect: ClassVar[Effect] = Effect.PUBLISHES

    commit: str
    token: int

    def verify(self, context: CommitContext) -> Verified:
        world = cast(World, context.files)
        world.turns.point()
        staged = self.token in world.staged
        world.turns.point()
        if self.commit in world.table:
            return DONE
        return NOT_DONE if staged else unknown("neither published nor staged")

    def execute(self, context: CommitContext) -> None:
        world = cast(World, context.files)
        world.turns.point()
        if world.loses():
            raise OSError("the file system is full")
        if self.commit not in world.table and self.token in world.staged:
            world.table[self.commit] = world.staged[self.token]
        world.turns.point()

    def describe(self) -> str:
        return "append"


@step_kind("test_sweep")
class Sweep(Value, kw_only=True):
    """Removes what a token has staged."""

    effect: ClassVar[Effect] = Effect.CLEANS

    token: int

    def verify(self, context: CommitContext) -> Verified:
        return NOT_DONE if self.token in cast(World, context.files).staged else DONE

    def execute(self, context: CommitContext) -> None:
        world = cast(World, context.files)
        world.turns.point()
        world.staged.pop(self.token, None)

    def describe(self) -> str:
        return "sweep"


def history(seed: int) -> Counter[str]:
    """One history to its end. Returns what came about in it."""
    world = World(seed)
    dice, turns = world.dice, world.turns

    def start() -> None:
        jobs = [f"job {n}" for n in range(dice.randrange(JOBS), JOBS)]
        skew = timedelta(seconds=dice.uniform(-SKEW_SECONDS, SKEW_SECONDS))
        turns.start(world.clean_often if dice.random() < 0.2 else lambda: world.retry(jobs), skew)

    for _ in range(3):
        start()
    last = turns.drivers[0]
    for _ in range(TURNS):
        chance = dice.random()
        if chance < 0.02:
            turns.kill(dice.choice(turns.drivers))
            world.seen["killed"] += 1
        elif chance < 0.04:
            world.clock.time += dice.choice([0.5, 1, 3]) * LEASE
        elif chance < 0.1:
            world.landed += dice.randrange(3)
        else:
            # Mostly the same one again, or none would get far.
            if last not in turns.drivers or chance < 0.3:
                last = dice.choice(turns.drivers)
            turns.step(last)
        while len(turns.drivers) < 3:
            start()
        seen = world.read()
        assert seen == list(range(len(seen))), f"seed {seed}: a row is lost, or there twice"
        assert world.position() <= len(seen), f"seed {seed}: the watermark is ahead of the table"
    while turns.drivers:
        turns.kill(turns.drivers[0])
    check_end(world, seed)
    return world.seen


def check_end(world: World, seed: int) -> None:
    """When all is quiet a recovery ends what is unfinished, and nothing is left over."""
    world.clock.time += 2 * LEASE
    world.chance = 0
    done = recover_all(world.kept, world.context, include_blocked=True, clock=world.clock)
    assert [one.error for one in done if one.error is not None] == [], f"seed {seed}"
    assert world.kept.list_unfinished() == ()
    assert world.read() == list(range(world.position())), f"seed {seed}"
    world.clean()
    assert world.staged == {}, f"seed {seed}: rubbish"
    assert world.kept.attempts() == ()
    world.run("the last job")
    assert world.read() == list(range(world.landed)), f"seed {seed}"


@pytest.mark.parametrize("seed", range(10))
def test_every_row_is_there_once(seed: int) -> None:
    history(seed)


ENDINGS = (
    *("published", "published already", "killed", "abandoned", "swept"),
    *("CommitBusy", "CommitConflict", "CommitFailed", "CommitFenced", "ConnectionError"),
)
"""Histories of all kinds are drawn: each of these comes about in some of them."""


@pytest.mark.endurance  # hundreds of histories
def test_every_row_is_there_once_in_all_kinds_of_histories() -> None:
    seen: Counter[str] = Counter()
    for seed in range(200, 200 + much(60)):
        seen += history(seed)
    assert all(seen[ending] for ending in ENDINGS), seen
    assert not seen["CommitUnknown"], "staging was taken away from a sequence that needed it"
