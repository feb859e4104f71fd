"""A world of cycle tasks that dice drive: time passes, runs end, people interfere and deploy, processes die.

What a deed does to the instances is judged at once, by `tests.simulation.tasks.deeds`.
"""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

from tests.doubles.faulty_store import FaultyStore
from tests.simulation.history import played
from tests.simulation.tasks.app import ChanceApps
from tests.simulation.tasks.journal import judge_journal
from tests.simulation.tasks.landed import Landings, drawn_key
from tests.simulation.tasks.live import of
from tests.simulation.tasks.oracle import judge_quiet, judge_tables
from tidegate.domain.model import Priority
from tidegate.domain.tasks.grid import slot_at
from tidegate.domain.tasks.key import scheduled_key
from tidegate.scheduler.commands.backfills.request import Wanted, backfills
from tidegate.scheduler.commands.tasks.reports import Times
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.launch.outbox import LaunchRequest
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.protocol import Store
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
ABSENCE = timedelta(hours=70)
QUIET = (timedelta(minutes=5), timedelta(minutes=20), *(timedelta(hours=3),) * 9, timedelta(minutes=20))
"""The pauses of the time in which nothing happens any more."""

STEPS = 80
FEW_INSTANCES = 30
TICKS_OF_AN_INSTANT = 60
ROUNDS_OF_AN_INSTANT = 1_500
"""The most launches after each other while nothing happens: a chain of `self` over some days."""


class TaskWorld(Landings):
    """The dice, and what they choose."""

    now: datetime

    def __init__(self, store: FaultyStore, seed: int, *, changes: bool, landed: bool) -> None:
        self.dice = random.Random(seed)
        super().__init__(store, self.dice.choice(STARTS))
        self._changes = changes
        self._lands = landed
        self.chance = ChanceApps(self.dice, landed=landed)
        self._requests: list[str] = []
        self.deploy_all(self.chance.apps)

    def live(self, steps: int) -> None:
        """Do this many things."""
        deeds: list[tuple[Callable[[], object], int]] = [
            (self._pass_time, 16),
            (self._end_a_run, 16),
            (self._report, 6),
            (self._act_on_one, 6),
            (self._backfill, 2),
            (self._cancel, 2),
            (self._switch, 3),
        ]
        if self._changes:
            deeds += [(self._redeploy, 5), (self._delete, 1), (self._drop_an_app, 1), (self._be_away, 1)]
        if self._lands:
            deeds += [(self._land, 16), (self._delete_and_rerun, 2)]
        for _ in range(steps):
            self.choose(self.dice, deeds)
            if not self._changes or self.dice.random() < 0.8:
                self.settle_instant()

    # --- what is chosen ---

    def _pass_time(self) -> None:
        self.now += self.dice.choice(PAUSES)

    def _be_away(self) -> None:
        self.now += ABSENCE

    def _end_a_run(self) -> None:
        if self.runs:
            run = self.dice.choice(sorted(self.runs))
            if self._changes and self.dice.random() < 0.1:
                self.catch_up()
                self.end_badly(run, died=True)
                return
            ends = [RunStatus.SUCCEEDED] * 6 + [RunStatus.FAILED] * 2 + [RunStatus.CANCELLED] * self._changes
            self.end_run(run, self.dice.choice(ends))

    def _report(self) -> None:
        ref = self.dice.choice(self.chance.refs())
        jobs = self._begun(ref)
        keys = [of(job).key for job in self.dice.sample(jobs, min(len(jobs), 3))] or ["2026-10-31"]
        status = self.dice.choice(("successful", "successful", "failed"))
        times, request = Times(scheduled=keys), ""
        if self._changes:
            if self.dice.random() < 0.4:
                times = Times(from_=keys[0], to=keys[-1])
            elif self.dice.random() < 0.4 and ref in self.specs():
                times = Times(scheduled=[self._any_time(ref) for _ in range(2)])
            if self.dice.random() < 0.5:
                request = self.dice.choice((*self._requests[-3:], f"r{len(self._requests)}"))
                self._requests.append(request)
        self.report(ref, times, status, request)

    def _any_time(self, ref: str) -> str:
        """The key of a time of the last days, on the grid of a task or off it, or still to come."""
        at = self.now - timedelta(minutes=self.dice.randrange(-60, 3 * 24 * 60))
        return scheduled_key(self.task(ref), slot_at(self.task(ref), at).scheduled)

    def _act_on_one(self) -> None:
        jobs = [job for ref in self.chance.refs() for job in self._begun(ref)]
        if jobs:
            job, action = self.dice.choice(jobs), self.dice.choice(list(Action))
            self.act(job, action, downstream=self.dice.random() < 0.5)

    def _backfill(self) -> None:
        first = (self.now - timedelta(days=self.dice.randrange(1, 5))).date()
        last = first + timedelta(days=self.dice.randrange(3))
        app, _, task = self.dice.choice(self.chance.refs()).partition("/")
        wanted = Wanted(
            app=app,
            task=task if self.dice.random() < 0.9 else None,
            from_=first.isoformat(),
            to=last.isoformat(),
            lot=self.dice.randrange(1, 3),
            upstream=self.dice.random() < 0.5,
            priority=Priority.HIGH if first.day % 3 == 0 else None,
        )
        self.backfill(wanted)

    def _cancel(self) -> None:
        with self.store.reading() as reader:
            known = [each.number for each in backfills(reader)]
        if known:
            self.cancel_backfill(self.dice.choice(known))

    def _switch(self) -> None:
        ref = self.dice.choice(self.chance.refs())
        if ref in self.specs():
            self.switch(ref, active=self.dice.random() < 0.5)

    def _redeploy(self) -> None:
        for _ in range(self.dice.choice((1, 1, 2))):
            self.chance.change(self.now)
        self.deploy_all(self.chance.apps)

    def _delete(self) -> None:
        ref = self.dice.choice(self.chance.refs())
        if ref in self.specs():
            self.delete(ref)

    def _land(self) -> None:
        """Data lands: some of a source's dataset, mostly as it comes, sometimes read much later."""
        app = self.dice.choice(sorted(self.chance.apps))
        datasets = self.chance.apps[app].datasets
        tasks = [each.as_task for each in self.chance.apps[app].schedules.values()]
        names = [each.dataset for each in tasks if each.dataset_collected] or ["landed"]
        dataset = datasets[self.dice.choice(names) or ""]
        keys = [drawn_key(self.dice, dataset, self.now) for _ in range(self.dice.choice((1, 1, 2, 4)))]
        late = self.dice.choice((timedelta(0),) * 4 + PAUSES)
        self.land(app, dataset, keys + keys[:1] * (self.dice.random() < 0.1), self.now - late)

    def _delete_and_rerun(self) -> None:
        """A task is deleted, and then one of those that it has waited for runs again with downstream."""
        done = ("SUCCEEDED", "FAILED")
        jobs = {job.id: job for ref in self.specs() for job in self._begun(ref) if str(job.state) in done}
        pairs = [
            (jobs[edge.job], job)
            for job in jobs.values()
            for edge in of(job).upstream
            if edge.job in jobs and jobs[edge.job].schedule != job.schedule
        ]
        if pairs:
            upstream, consumer = self.dice.choice(pairs)
            self.delete(consumer.schedule)
            self.act(upstream, Action.RERUN, downstream=True)

    def _drop_an_app(self) -> None:
        """The second app leaves the project; the next deployment brings it back."""
        self.deploy_all({"a": self.chance.apps["a"]})

    def _begun(self, ref: str) -> list[Job]:
        with self.store.reading() as reader:
            jobs = [job for job in reader.jobs(schedules=[ref]) if job.instance is not None]
        begun = [job for job in jobs if of(job).scheduled <= self.now]
        return sorted(begun, key=lambda job: (of(job).key, job.id))

    # --- the end ---

    def quiet(self) -> None:
        """Nothing happens any more: all that is ready runs, and succeeds."""
        if not self.chance.refs():
            return
        self.deploy_all(self.chance.apps)
        for ref in self.specs():
            self.switch(ref, active=True)
        if self.dice.random() < 0.5:
            self.repair()
        for pause in QUIET:
            self._run_all()
            self.now += pause
        self._run_all()
        with self.store.reading() as reader:
            judge_quiet(reader, self.now)

    def repair(self) -> None:
        """People repair everything: what failed or is paused runs again, what is awaited is reported."""
        self.settle_instant()
        for job in sorted(self.open_or_failed(), key=lambda job: (of(job).key, job.id)):
            match str(job.state):
                case "FAILED":
                    self.act(job, Action.RERUN, downstream=self.dice.random() < 0.3)
                case "PAUSED":
                    self.act(job, Action.RESUME, downstream=False)
                case _:
                    self.act(job, Action.MARK_SUCCESSFUL, downstream=False)

    def _run_all(self) -> None:
        for _ in range(ROUNDS_OF_AN_INSTANT):
            self.settle_instant(judged=False)
            if not self.runs:
                break
            for run in sorted(self.runs):
                self.end_run(run, RunStatus.SUCCEEDED)
        self.judge()

    # --- judgement ---

    def settle_instant(self, *, judged: bool = True) -> None:
        """Tick and launch at this instant until nothing changes, and judge each tick."""
        for _ in range(TICKS_OF_AN_INSTANT):
            report = self.tick()
            if judged:
                self.judge()
            requests = [request for app in ("a", "b") for request in self.offered(app)]
            started = [self.start(each) for each in requests if not (judged and self._lost(each))]
            if not started and not report.decided and not report.fired:
                self.settled()
                return
        raise AssertionError("an instant does not end")

    def _lost(self, request: LaunchRequest) -> bool:
        """Whether a request leads to no run: it is lost, or refused."""
        fate = self.dice.random() if self._changes else 1.0
        if fate < 0.05:
            self.reject(request)
        return fate < 0.15

    def judge(self) -> None:
        """Judge the tables."""
        with self.store.reading() as reader:
            judge_tables(reader, self.now)

    def judge_at_the_end(self) -> None:
        """Judge the journal."""
        with self.store.reading() as reader:
            judge_journal(reader.journal(), reader)


def history(
    store: Store,
    seed: int,
    steps: int = STEPS,
    rate: float = 0.25,
    *,
    changes: bool = False,
    landed: bool = False,
) -> TaskWorld:
    """Play one history; it raises where the engine broke a promise.

    In every other one, a tick makes so few instances that it leaves days to the next one.

    Args:
        changes: whether tasks are changed and deleted, requests are lost, and the scheduler is away for days.
        landed: whether data reports the instances of sources as well, and tasks wait for long periods.
    """

    def play(faulty: FaultyStore) -> TaskWorld:
        with (
            patch.object(tick, "INSTANCES_PER_TICK", (INSTANCES_PER_TICK, FEW_INSTANCES)[seed % 2]),
            patch.object(working_set, "TASKS_PER_PAGE", 2),
        ):
            world = TaskWorld(faulty, seed, changes=changes, landed=landed)
            world.live(steps)
            world.judge_at_the_end()
            if changes:
                world.quiet()
                world.judge_at_the_end()
        return world

    kinds = f"tasks{' and changes' if changes else ''}{' and data' if landed else ''}"
    what = f"{kinds}, seed {seed} with {steps} steps"
    return played(store, seed, rate, what, play)
