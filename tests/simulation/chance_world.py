"""A world of chance: the engine's functions called in random order, with what life brings.

Events come twice, late and with wrong keys; observations repeat and overtake each other; requests
are lost, refused, or make two runs; people suspend, resume, trigger, cancel and deploy. Every
step is done again after a crash. Each seed is one history, and always the same one.
"""

import random
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from scheduler.claim import claim
from scheduler.deploy import deploy
from scheduler.enqueue import enqueue_fire
from scheduler.event import Event, EventKind, partition_event_key
from scheduler.fires import cron_leaves
from scheduler.job import ACTIVE, WAITING
from scheduler.manual import cancel, resume, suspend, trigger
from scheduler.observe import RunObservation, observe_runs
from scheduler.outbox import LaunchRequest, offers, reject
from scheduler.refused import Refused
from scheduler.run import RunStatus
from scheduler.store.protocol import Store
from scheduler.tick import TickReport, tick
from tests.simulation.chance_app import ChanceApp
from tests.simulation.faulty_store import Crash
from tests.simulation.invariants import Witness

START = datetime(2026, 3, 5, 12, tzinfo=UTC)
"""Three days before the clocks of New York are put forward."""

SETTLING_HOURS = 80

OLDEST_SATISFIED_JOB = timedelta(days=2)

T = TypeVar("T")


class ChanceWorld:
    """One history. The launches of one schedule, if it exists, always fail while the world lives.

    Args:
        store: may crash; see `tests.simulation.faulty_store`.
    """

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.now = START
        self.dice = random.Random(seed)
        self.chance = ChanceApp(self.dice)
        self.witness = Witness(store)
        self._events: list[Event] = []
        self._seen: list[RunObservation] = []
        self._runs: dict[str, RunObservation] = {}
        self._numbers = 0
        self._poisoned = f"a/s{self.dice.randint(0, 9)}"
        self._deploy()

    def live(self, steps: int) -> None:
        """Do random things, and check the invariants after each of them."""
        deeds: tuple[tuple[Callable[[], None], int], ...] = (
            (self._partitions, 8),
            (self._again, 2),
            (self._tick, 10),
            (self._launch, 8),
            (self._end_run, 6),
            (self._run_by_hand, 1),
            (self._repeat_observation, 2),
            (self._hands, 2),
            (self._enqueue, 1),
            (self._change, 1),
        )
        names, weights = [deed for deed, _ in deeds], [weight for _, weight in deeds]
        for _ in range(steps):
            self.now += timedelta(seconds=self.dice.choice((0, 0, 7, 60, 60, 600, 600, 3600, 3 * 3600)))
            self.dice.choices(names, weights)[0]()
            self.witness.check(self.now)

    def settle(self) -> None:
        """Let what has begun come to its end: no new events, and every launch works.

        Crons go on, so there may always be a job; but none may be an old one, since a satisfied
        job times out after a day at the latest and every run ends within the hour.
        """
        for _ in range(SETTLING_HOURS):
            self._tick()
            for request in self._offers():
                self._start(request)
            for run_id in sorted(self._runs):
                self._observe(self._runs[run_id], RunStatus.SUCCEEDED)
            self.witness.check(self.now)
            self.now += timedelta(hours=1)
        with self.store.reading() as reader:
            for job in reader.jobs(states=WAITING | ACTIVE):
                since = job.satisfied_at or self.now
                assert self.now - since < OLDEST_SATISFIED_JOB, f"{job} never came to an end"

    # --- after a crash, again ---

    def _do(self, deed: Callable[[], T]) -> T:
        while True:
            try:
                return deed()
            except Crash:
                continue

    # --- deeds ---

    def _partitions(self) -> None:
        self._numbers += 1
        dataset = self.dice.choice(("raw", "raw", "other", "hourly", "chunks", "plain", "out"))
        events: list[Event] = []
        for member in range(self.dice.randint(1, 4)):
            arrived = self.now - timedelta(seconds=self.dice.choice((0, 0, 0, 5, 900)))
            events.append(
                Event(
                    id=f"e{self._numbers}.{member}",
                    kind=EventKind.PARTITION,
                    key=partition_event_key("a", dataset),
                    time=arrived,
                    arrived=arrived,
                    partition=self._key(dataset),
                )
            )
        self._events += events
        self._add(events)

    def _key(self, dataset: str) -> str:
        day = f"2026-03-0{self.dice.randint(1, 5)}"
        if self.dice.random() < 0.05:
            return "no key"
        match dataset:
            case "hourly":
                return f"{day}-{self.dice.randint(0, 23):02}:00"
            case "chunks":
                return f"{day}|{self.dice.choice(('EWR', 'JFK'))}"
            case "plain":
                return ""
            case _:
                return day

    def _again(self) -> None:
        if self._events:
            self._add(self.dice.choices(self._events, k=2))

    def _add(self, events: list[Event]) -> None:
        def add() -> None:
            with self.store.transaction() as transaction:
                transaction.add_events(events)

        self._do(add)

    def _tick(self) -> TickReport:
        with self.witness.routing(self.now):
            report = self._do(lambda: tick(self.store, self.now))
        assert not report.errors, report.errors
        with self.store.reading() as reader:
            assert not reader.unrouted_events(1), "a tick leaves no event behind"
        return report

    def _offers(self) -> tuple[LaunchRequest, ...]:
        limit = self.dice.choice((1, 3, 25))

        def ask() -> tuple[LaunchRequest, ...]:
            with self.store.transaction() as transaction:
                return offers(transaction, self.now, "a", limit)

        return self._do(ask)

    def _launch(self) -> None:
        for request in self._offers():
            if request.schedule == self._poisoned:
                self._reject(request)
                continue
            match self.dice.choice(("start", "start", "start", "lose", "refuse", "twice")):
                case "start":
                    self._start(request)
                case "twice":
                    self._start(request)
                    self._start(request)
                case "refuse":
                    self._reject(request)
                case _:
                    pass

    def _reject(self, request: LaunchRequest) -> None:
        def refuse() -> None:
            with self.store.transaction() as transaction:
                reject(transaction, request.job, request.attempt, "refused by chance", self.now)

        self._do(refuse)

    def _start(self, request: LaunchRequest) -> None:
        self._numbers += 1
        run = RunObservation(
            run_id=f"run{self._numbers}",
            program=f"a/{request.launch.program}",
            job=request.job,
            attempt=request.attempt,
            status=RunStatus.QUEUED,
            at=self.now,
        )
        if self.dice.random() < 0.5:
            self._observe(run, RunStatus.QUEUED)
        if self._do(lambda: claim(self.store, request.job, request.attempt, run.run_id, self.now)).won:
            self.witness.won(request.job, request.attempt, run.run_id)
            self._runs[run.run_id] = run
            if self.dice.random() < 0.8:
                self._observe(run, RunStatus.STARTED)
        else:
            # A run that lost does nothing, and ends well.
            self._observe(run, RunStatus.SUCCEEDED)

    def _end_run(self) -> None:
        if self._runs:
            run = self._runs.pop(self.dice.choice(sorted(self._runs)))
            self._observe(
                run, self.dice.choice((RunStatus.SUCCEEDED,) * 4 + (RunStatus.FAILED, RunStatus.CANCELLED))
            )

    def _run_by_hand(self) -> None:
        self._numbers += 1
        run = RunObservation(
            run_id=f"hand{self._numbers}",
            program=f"a/{self.dice.choice('pqr')}",
            status=RunStatus.STARTED,
            at=self.now,
        )
        self._runs[run.run_id] = run
        self._observe(run, RunStatus.STARTED)

    def _observe(self, run: RunObservation, status: RunStatus) -> None:
        seen = RunObservation(
            run_id=run.run_id,
            program=run.program,
            job=run.job,
            attempt=run.attempt,
            status=status,
            at=self.now,
        )
        self._seen.append(seen)
        self._fold([seen])
        if status not in (RunStatus.QUEUED, RunStatus.STARTED):
            self._runs.pop(run.run_id, None)

    def _repeat_observation(self) -> None:
        if self._seen:
            self._fold(self.dice.choices(self._seen, k=3))

    def _fold(self, seen: list[RunObservation]) -> None:
        def fold() -> None:
            with self.store.transaction() as transaction:
                observe_runs(transaction, seen, self.now)

        self._do(fold)
        self.witness.observed(seen)

    def _hands(self) -> None:
        with self.store.reading() as reader:
            ref = self.dice.choice([state.ref for state in reader.schedules()])
            waiting = reader.jobs(schedules=[ref], states=WAITING)
        what = self.dice.choice(
            ("suspend", "resume", "resume", "resume", "trigger", "trigger", "force", "cancel")
        )
        key = self.dice.choice(["", "2026-03-01", *(job.key for job in waiting)])

        def act() -> None:
            with self.store.transaction() as transaction:
                if what == "suspend":
                    suspend(transaction, ref, self.now)
                elif what == "resume":
                    resume(transaction, ref, self.now)
                elif what == "cancel" and waiting:
                    cancel(transaction, waiting[0].id, self.now)
                elif what in ("trigger", "force"):
                    trigger(transaction, ref, self.now, key, what == "force")

        # A wrong key for this schedule, or a job that was cancelled before a crash, is refused.
        with suppress(Refused):
            self._do(act)

    def _enqueue(self) -> None:
        with self.store.reading() as reader:
            crons = [
                (state, cron)
                for state in reader.schedules()
                for leaf, cron in cron_leaves(state)
                if leaf.path == ""
            ]
        if not crons:
            return
        from compiler.cron import parse

        state, cron = self.dice.choice(crons)
        scheduled = parse(cron.cron).previous_fire(self.now, cron.timezone)

        def put() -> str:
            with self.store.transaction() as transaction:
                return enqueue_fire(transaction, state.ref, scheduled, self.now)

        with self.witness.routing(self.now):
            self._do(put)

    def _change(self) -> None:
        self.chance.change()
        self._deploy()

    def _deploy(self) -> None:
        def put() -> None:
            with self.store.transaction() as transaction:
                deploy(transaction, {"a": self.chance.app}, self.now)

        self._do(put)
