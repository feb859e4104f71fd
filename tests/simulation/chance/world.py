"""A world of chance: the engine's functions called in random order, with what life brings.

Events come twice, late, in bursts and with wrong keys; observations repeat and overtake each
other; requests are lost, refused, or make two runs; two schedulers tick, whose clocks differ, and
the clock on the wall jumps both ways; people suspend, resume, trigger, cancel, queue again and
deploy; numbers are reported. Each seed is one history, and always the same one.
"""

import random
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from tests.doubles.faulty_store import FaultyStore
from tests.simulation.chance.app import ChanceApp
from tests.simulation.chance.schedule import DATASETS, GAUGE_MAX, GAUGES
from tests.simulation.world import World
from tests.worlds.by import CLI
from tidegate.scheduler.commands.by_hand.manual import cancel, resume, suspend, trigger
from tidegate.scheduler.intake.observe import RunObservation
from tidegate.scheduler.launch.dead_letter import requeue
from tidegate.scheduler.launch.outbox import LaunchRequest
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import WAITING, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.tick.missed import has_missed

START = datetime(2026, 3, 5, 12, tzinfo=UTC)
"""Three days before the clocks of New York are put forward."""

SETTLING_STEPS = (timedelta(minutes=10),) * 12 + (timedelta(hours=1),) * 24 + (timedelta(hours=6),) * 12
"""After so long every timeout and every wait of `chance_schedule` is over."""

BUSY_MINUTES_MAX = 120

OLDEST_JOB = timedelta(days=2, hours=12)
"""A wait of a day at most, then a timeout of a day, and the night between two ticks."""

STEPS = (0, 0, 1, 7, 60, 60, 600, 600, 3600, 3 * 3600)
"""Seconds between two deeds; the longest two are absences."""

HOUR = timedelta(hours=1)

AHEAD = timedelta(days=3)
"""So far a clock is ahead that is wrong for one tick."""


class ChanceWorld(World):
    """One history. The launches of one schedule, if it exists, always fail while the world lives.

    Args:
        ticks_in_a_row: how many ticks follow each other, seconds apart, whenever there is one.
        retries: whether schedules start failed runs again, and runs die.
    """

    wrong_ticks = 0.4
    """How often a clock that goes wrong is ahead for one tick."""

    def __init__(
        self, store: FaultyStore, seed: int, ticks_in_a_row: int = 1, *, retries: bool = False
    ) -> None:
        super().__init__(store, START)
        self._ticks_in_a_row = ticks_in_a_row
        self.dice = random.Random(seed)
        self._deaths = random.Random(~seed) if retries else None
        self._recoveries = random.Random(f"recoveries {seed}") if retries else None
        self._promised: list[str] = []
        self.chance = ChanceApp(self.dice, retries=retries)
        self._events: list[Event] = []
        self._seen: list[RunObservation] = []
        self.latest = START
        self._clock = random.Random(f"clock {seed}")
        self._poisoned = f"a/s{self.dice.randint(0, 9)}"
        self.deploy(self.chance.app)

    def live(self, steps: int) -> None:
        """Do random things."""
        deeds = (
            (self._partitions, 8),
            (self._again, 2),
            (self._tick, 10),
            (self._launch, 8),
            (self._end_run, 6),
            (self._run_by_hand, 1),
            (self._repeat_observation, 2),
            (self._hands, 3),
            (self._queue_again, 1),
            (self._report, 1),
            (self._change, 1),
            (self._clock_goes_wrong, 1),
        )
        for _ in range(steps):
            self.now += timedelta(seconds=self.dice.choice(STEPS))
            self.latest = max(self.latest, self.now)
            self.choose(self.dice, deeds)

    def settle(self) -> None:
        """Let what has begun come to its end: no new events, and every launch works.

        Crons go on, so there may always be a job; but none may be an old one. It is over as soon as
        nothing is under way.
        """
        self._resume_all()
        for step in SETTLING_STEPS:
            self.now += step
            self.tick()
            if self.now > self.latest:
                # Not while the clock on the wall is behind: what is due then is not due again yet.
                self.judge_after_tick()
            self._finish()
            if self.now > self.latest and not self._under_way():
                break
        self.tick()
        self.judge_at_the_end()
        self.oracle.settled(self.now, OLDEST_JOB)

    def _under_way(self) -> bool:
        self.judge()
        with self.store.reading() as reader:
            return bool(self.oracle.unfinished()) or has_missed(reader)

    def _finish(self) -> None:
        """Launch and end, minute by minute, until nothing more is to be launched."""
        for _ in range(BUSY_MINUTES_MAX):
            requests = self.offer_launches()
            for request in requests:
                self.start(request)
            for run_id in sorted(self.runs):
                self.end(run_id, RunStatus.SUCCEEDED)
            if not requests:
                break
            self.now += timedelta(minutes=1)
            self.tick()

    def _resume_all(self) -> None:
        for name in GAUGES:
            self.gauge(name, 0)
        with self.store.reading() as reader:
            refs = [state.ref for state in reader.schedules()]
        for ref in refs:
            self.within(lambda transaction, ref=ref: resume(transaction, ref, self.now, by=CLI))

    # --- events ---

    def _partitions(self) -> None:
        dice = self.dice
        number, dataset = self.number("e"), dice.choice(DATASETS)
        members = 30 if dice.random() < 0.05 else dice.randint(1, 4)
        events: list[Event] = []
        for member in range(members):
            arrived = self.now - timedelta(seconds=dice.choice((0, 0, 0, 5, 900)))
            size = dice.choice((None, 4_000_000, 30_000_000))
            events.append(
                Event(
                    id=f"{number}.{member}",
                    kind=EventKind.PARTITION,
                    key=partition_event_key("a", dataset),
                    time=arrived,
                    arrived=arrived,
                    partition=self._key(dataset),
                    bytes=size,
                    rows=None if size is None else size // 10_000,
                )
            )
        self._events += events
        self.add(events)

    def _key(self, dataset: str) -> str:
        day = f"2026-03-0{self.dice.randint(1, 5)}"
        wrong = self.dice.random()
        if wrong < 0.05:
            return "no key"
        if wrong < 0.08:
            # A mistyped year.
            day = day.replace("2026", "2062")
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
            self.add(self.dice.choices(self._events, k=2))

    # --- the scheduler, and another one beside it ---

    def _tick(self) -> None:
        match self.dice.choice(("mine", "mine", "mine", "stale", "both")):
            case "mine":
                self.tick()
            case "stale":
                self.tick(self._stale())
            case _:
                self.tick(self._stale())
                self.tick()
        for _ in range(self._ticks_in_a_row - 1):
            self.now += timedelta(seconds=self.dice.choice((1, 5, 30)))
            self.tick()

    def _stale(self) -> datetime:
        """What the clock of the other scheduler shows."""
        return self.now - timedelta(seconds=self.dice.choice((1, 30, 300)))

    def _clock_goes_wrong(self) -> None:
        self.now += timedelta(seconds=self.dice.choice((-3600, -300, -30, 86_400)))
        if self._clock.random() < self.wrong_ticks:
            # It is ahead for one tick.
            self.tick(self.now + AHEAD)
            self.tick()

    # --- launches and runs ---

    def _launch(self) -> None:
        for request in self.offer_launches(self.dice.choice((1, 3, 25))):
            if request.schedule == self._poisoned:
                self.reject(request)
                continue
            match self.dice.choice(("start", "start", "start", "lose", "refuse", "twice")):
                case "start":
                    self._start(request)
                case "twice":
                    self._start(request)
                    self._start(request)
                case "refuse":
                    self.reject(request)
                case _:
                    pass

    def _start(self, request: LaunchRequest) -> None:
        queued, started = self.dice.random() < 0.5, self.dice.random() < 0.8
        self.start(request, seen_queued=queued, seen_started=started)

    def _end_run(self) -> None:
        self._recover()
        if self.runs:
            run_id = self.dice.choice(sorted(self.runs))
            if self._deaths is not None and self._deaths.random() < 0.5:
                self._promised += [self.runs[run_id].job or run_id]
                self.end_badly(run_id, died=self._deaths.random() < 0.5)
                return
            self.end(
                run_id, self.dice.choice((RunStatus.SUCCEEDED,) * 4 + (RunStatus.FAILED, RunStatus.CANCELLED))
            )

    def _recover(self) -> None:
        """Another process finishes a publish: of a run that has failed, or of one that still runs."""
        if self._recoveries is None or self._recoveries.random() < 0.7:
            return
        promised = [*self._promised, *(run.job for run in self.runs.values() if run.job is not None)]
        if promised:
            self.recover(self._recoveries.choice(promised))

    def _run_by_hand(self) -> None:
        if self.dice.random() < 0.2:
            self._succeed_unseen()
        else:
            self.start_by_hand(self.dice.choice("pqr"))

    def _succeed_unseen(self) -> None:
        """A run of a person ends whose start was not seen."""
        run = RunObservation(
            run_id=self.number("hand"),
            program=f"a/{self.dice.choice('pqr')}",
            status=RunStatus.SUCCEEDED,
            at=self.now,
        )
        self.see(run, RunStatus.SUCCEEDED)

    def see(self, run: RunObservation, status: RunStatus) -> RunObservation:
        """It may be reported again."""
        self._seen.append(super().see(run, status))
        return self._seen[-1]

    def _repeat_observation(self) -> None:
        if self._seen:
            self.fold(self.dice.choices(self._seen, k=3))

    # --- people ---

    def _hands(self) -> None:
        with self.store.reading() as reader:
            ref = self.dice.choice([state.ref for state in reader.schedules()])
            waiting = reader.jobs(schedules=[ref], states=WAITING)
        what = self.dice.choice(
            ("suspend", "suspend", "resume", "resume", "resume", "trigger", "trigger", "force", "cancel")
        )
        key = self.dice.choice(["", "2026-03-01", *(job.key for job in waiting)])
        now = self.now
        # A wrong key for this schedule, or a job that was cancelled before a crash, is refused.
        with suppress(Refused):
            match what:
                case "suspend":
                    self.within(lambda transaction: suspend(transaction, ref, now, by=CLI))
                case "resume":
                    self.within(lambda transaction: resume(transaction, ref, now, by=CLI))
                case "cancel" if waiting:
                    self.within(lambda transaction: cancel(transaction, waiting[0].id, now, by=CLI))
                case "trigger" | "force":
                    self.within(
                        lambda transaction: trigger(transaction, ref, now, key, what == "force", by=CLI)
                    )
                case _:
                    pass

    def _queue_again(self) -> None:
        with self.store.reading() as reader:
            failed = reader.jobs(states=(JobState.FAILED,))
        dead = [job.id for job in failed if job.reason is Reason.F_LAUNCH]
        if dead:
            with suppress(Refused):
                self.within(lambda transaction: requeue(transaction, dead[0], self.now, by=CLI))

    def _report(self) -> None:
        self.gauge(self.dice.choice(GAUGES), self.dice.choice((0, GAUGE_MAX, GAUGE_MAX + 10)))

    def _change(self) -> None:
        self.chance.change()
        self.deploy(self.chance.app, update_schedules=self.dice.random() < 0.8)
