"""A world of cycle tasks that dice drive: time passes, runs end, people interfere, processes die."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

from tests.simulation.faulty_store import FaultyStore
from tests.simulation.hands import Hands
from tests.simulation.history import played
from tests.simulation.tasks.app import chance_app
from tests.simulation.tasks.oracle import judge_journal, judge_tables, of
from tidegate.scheduler.commands.backfills import Wanted, backfills, cancel_backfill, start_backfill
from tidegate.scheduler.commands.instances import By, InstanceName, act
from tidegate.scheduler.commands.manual import resume, suspend
from tidegate.scheduler.commands.reports import Times, report
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.refused import InstanceRefused
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.protocol import Store, Transaction
from tidegate.scheduler.tick import tick, working_set
from tidegate.scheduler.tick.generate import INSTANCES_PER_TICK

STARTS = (
    datetime(2026, 10, 31, 7, 30, tzinfo=UTC),
    datetime(2026, 3, 7, 22, tzinfo=UTC),
    datetime(2026, 4, 4, 3, tzinfo=UTC),
    datetime(2026, 6, 1, 12, tzinfo=UTC),
)
"""Near changes of the clocks in New York and Lord Howe, and far from any."""

PAUSES = (timedelta(0), timedelta(minutes=7), timedelta(minutes=40), timedelta(hours=3), timedelta(hours=11))
BY = By(actor="dice")


class TaskWorld(Hands):
    """Hands on an app of tasks, and the judgement after each tick."""

    now: datetime

    def __init__(self, store: FaultyStore, seed: int) -> None:
        self.dice = random.Random(seed)
        super().__init__(store, self.dice.choice(STARTS))
        self.app = chance_app(self.dice)
        self.deploy(self.app)
        self.made = {f"a/{name}": self.now for name in self.app.schedules}
        self.refused = 0

    def live(self, steps: int) -> None:
        """Do this many things."""
        deeds = (
            (self.pass_time, 8),
            (self.end_a_run, 8),
            (self.report_some, 3),
            (self.act_on_one, 3),
            (self.backfill, 1),
            (self.cancel, 1),
            (self.switch, 1),
        )
        for _ in range(steps):
            self.choose(self.dice, deeds)
            self.settle_instant()

    # --- deeds ---

    def pass_time(self) -> None:
        self.now += self.dice.choice(PAUSES)

    def end_a_run(self) -> None:
        if self.runs:
            run = self.dice.choice(sorted(self.runs))
            ends = (RunStatus.SUCCEEDED, RunStatus.SUCCEEDED, RunStatus.SUCCEEDED, RunStatus.FAILED)
            self.end(run, self.dice.choice(ends))

    def report_some(self) -> None:
        task = self.dice.choice(sorted(self.app.schedules))
        jobs = self._jobs(f"a/{task}")
        keys = [of(job).key for job in self.dice.sample(jobs, min(len(jobs), 3))] or ["2026-10-31"]
        status = self.dice.choice(("successful", "successful", "failed"))
        self.try_(lambda t: report(t, f"a/{task}", Times(scheduled=keys), status, self.now, BY))

    def act_on_one(self) -> None:
        jobs = [job for name in sorted(self.app.schedules) for job in self._jobs(f"a/{name}")]
        if not jobs:
            return
        job, action = self.dice.choice(jobs), self.dice.choice(list(Action))
        name = InstanceName(scheduled=of(job).key, number=of(job).number)
        downstream = self.dice.random() < 0.5
        self.try_(lambda t: act(t, job.schedule, name, action, self.now, BY, downstream=downstream))

    def backfill(self) -> None:
        first = (self.now - timedelta(days=self.dice.randrange(1, 5))).date()
        last = first + timedelta(days=self.dice.randrange(3))
        wanted = Wanted(
            app="a",
            task=self.dice.choice(sorted(self.app.schedules)),
            from_=first.isoformat(),
            to=last.isoformat(),
            lot=self.dice.randrange(1, 3),
            upstream=self.dice.random() < 0.5,
        )
        self.try_(lambda t: start_backfill(t, wanted, self.now, BY))

    def cancel(self) -> None:
        with self.store.reading() as reader:
            known = [each.number for each in backfills(reader)]
        if known:
            number = self.dice.choice(known)
            self.try_(lambda t: cancel_backfill(t, number, self.now, BY))

    def switch(self) -> None:
        ref = f"a/{self.dice.choice(sorted(self.app.schedules))}"
        turn = self.dice.choice((suspend, resume))
        self.within(lambda transaction: turn(transaction, ref, self.now))

    def try_(self, deed: Callable[[Transaction], Any]) -> None:
        """Do what may be refused; a refusal changes nothing."""
        try:
            self.within(deed)
        except InstanceRefused:
            self.refused += 1

    def _jobs(self, ref: str) -> list[Job]:
        with self.store.reading() as reader:
            jobs = [job for job in reader.jobs(schedules=[ref]) if job.instance is not None]
        begun = [job for job in jobs if of(job).scheduled <= self.now]
        return sorted(begun, key=lambda job: (of(job).key, job.id))

    # --- judgement ---

    def settle_instant(self) -> None:
        """Tick and launch at this instant until nothing changes, and judge each tick."""
        for _ in range(50):
            report = self.tick()
            self.judge()
            started = [self.start(request) for request in self.offer_launches()]
            if not started and not report.decided and not report.fired:
                return
        raise AssertionError("an instant does not end")

    def judge(self) -> None:
        with self.store.reading() as reader:
            judge_tables(reader, self.now, self.made)

    def judge_at_the_end(self) -> None:
        with self.store.reading() as reader:
            judge_journal(reader.journal(), reader)


def history(
    store: Store, seed: int, steps: int = 80, rate: float = 0.25, instances: int = INSTANCES_PER_TICK
) -> TaskWorld:
    """Play one history; it raises where the engine broke a promise.

    Args:
        instances: how many a tick makes, before it leaves the rest to the next one.
    """

    def play(faulty: FaultyStore) -> TaskWorld:
        with (
            patch.object(tick, "INSTANCES_PER_TICK", instances),
            patch.object(working_set, "TASKS_PER_PAGE", 2),
        ):
            world = TaskWorld(faulty, seed)
            world.live(steps)
        world.judge_at_the_end()
        return world

    return played(store, seed, rate, f"tasks, seed {seed} with {steps} steps", play)
