"""Histories of repairs: input comes late, twice or again, runs read tables and publish, processes die.

What a run publishes is a function of the partitions in its manifest, as they are when it begins to read.
"""

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.doubles.faulty_store import FaultyStore
from tests.simulation.hands import Hands
from tests.simulation.repairs.app import HOURS, READS, ChanceRepairs
from tests.simulation.repairs.oracle import Place, RepairOracle
from tests.simulation.repairs.tables import Tables
from tests.worlds.by import CLI
from tidegate.domain.published import PartitionFact
from tidegate.scheduler.commands.existing_events import EventsToReplay, replay_events
from tidegate.scheduler.intake.published import PublishedEvents
from tidegate.scheduler.launch.outbox import LaunchRequest
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key, publish_event_id
from tidegate.scheduler.model.job import ACTIVE, WAITING
from tidegate.scheduler.model.keep import Keep
from tidegate.scheduler.model.records.last_launch import LAST_LAUNCHES
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.retention.prune import prune

START = datetime(2026, 3, 2, tzinfo=UTC)
MINUTES = (0, 0, 1, 5, 10, 20, 20, 60, 60, 180)
BETWEEN_LOTS = (0, 5, 40, 90, 600, 1500)
"""Minutes between the last lots of input, of which some are beyond the bounds."""

KEPT = timedelta(hours=6)
KEEP = Keep(finished_jobs=KEPT, events=KEPT, journal=None)
QUIET_MAX = 600
"""A history that does not come to rest in so many rounds is endless."""


class RepairWorld(Hands):
    """One history.

    Attributes:
        versions: what has landed so far: the newest version of each partition.
        tables: what runs have published.
    """

    def __init__(self, store: FaultyStore, seed: int) -> None:
        super().__init__(store, START)
        self.dice = random.Random(f"repairs {seed}")
        self.chance = ChanceRepairs(self.dice)
        self.oracle = RepairOracle(self.chance, self._event)
        self.events: dict[str, Event] = {}
        self.versions: dict[Place, int] = {}
        self.tables = Tables()
        self._asked: dict[str, LaunchRequest] = {}
        self._judged_by: dict[str, dict[str, Any]] = {}
        self._promised: list[str] = []
        self._changes, self.prunes = self.dice.random() < 0.3, self.dice.random() < 0.2
        self._wanted = self._all_partitions()
        self.deploy_now()

    def live(self, steps: int) -> None:
        """Do random things, and let what has not come yet come late."""
        deeds = (
            (self._land, 6),
            (self._rewrite, 2),
            (self._again, 1),
            (self.tick, 8),
            (self._launch, 8),
            (self._end_run, 6),
            (self._change, 1),
            (self._prune, 1),
        )
        for _ in range(steps):
            self.now += timedelta(minutes=self.dice.choice(MINUTES))
            self.choose(self.dice, deeds)
        while missing := sorted(self._wanted - self.versions.keys()):
            self.come(self.dice.sample(missing, min(len(missing), self.dice.choice((1, 5, 40)))))
            self.settle(rounds=self.dice.choice((1, QUIET_MAX)))
            self.now += timedelta(minutes=self.dice.choice(BETWEEN_LOTS))

    def settle(self, rounds: int = QUIET_MAX) -> None:
        """Let every run succeed, and time pass, until nothing is under way."""
        for _ in range(rounds):
            self.tick()
            requests = self.offer_launches(1000)
            for request in requests:
                self._start(request)
            for run_id in sorted(self.runs):
                self._succeed(run_id)
            if requests or self._unrouted():
                continue
            due = self._next_check()
            if due is None:
                return
            self.now = max(self.now + timedelta(minutes=1), due)
        assert rounds < QUIET_MAX, f"endless: after {rounds} rounds something is still under way"

    def judge_at_the_end(self) -> None:
        """What was put in has come once, and all that is promised of the keys is kept."""
        self._read()
        with self.store.reading() as reader:
            active = reader.jobs(states=ACTIVE)
        assert not active, f"under way at the end: {active}"
        listening: dict[str, list[str]] = {}
        for id, event in self.events.items():
            dataset = event.key.rpartition("/")[2]
            names = [name for name in self.chance.app.schedules if dataset in self._listened(name)]
            listening[id] = names if event.only_for is None else [event.only_for.partition("/")[2]]
        self.oracle.heard_once(listening)
        self.oracle.nothing_waits()

    def deploy_now(self) -> None:
        """Deploy the app as it is wanted now."""
        self._read()
        before = self._judged_by
        self.deploy(self.chance.app)
        self._read()
        self._judged_by = {name: self.chance.judged_by(name) for name in READS}
        self.oracle.specs = {name: self.chance.app.schedules[name] for name in READS}
        for name, text in self._judged_by.items():
            if before.get(name, text) != text:
                self.oracle.change(name)

    def come(self, parts: Iterable[Place]) -> None:
        """Partitions land, in their next version."""
        events: list[Event] = []
        for dataset, key in parts:
            version = self.versions[dataset, key] = self.versions.get((dataset, key), 0) + 1
            self.tables.land(dataset, key, version)
            event = Event(
                id=f"{dataset} {key} {version}",
                kind=EventKind.PARTITION,
                key=partition_event_key("a", dataset),
                time=self.now,
                arrived=self.now,
                partition=key,
            )
            self.events[event.id] = event
            events.append(event)
        self.add(events)

    def promises(self, place: Place) -> bool:
        """Return whether the table of a key, and all that it is made of, must be as if all came in time."""
        launches = self.oracle.chain.get(place)
        if (
            place in self.oracle.beyond
            or place in self.oracle.too_late
            or (launches and not self.tables.is_published(launches[-1][0]))
        ):
            return False
        parts = self.chance.parts(*place)
        return all(
            self.promises((dataset, part))
            for dataset, keys in parts.items()
            if dataset in self.oracle.specs
            for part in keys
        )

    # --- input ---

    def _all_partitions(self) -> set[Place]:
        """Return what comes in the end: nearly all of it."""
        days = {(name, day) for name in ("a", "b", "c") for day in self.chance.days}
        found = sorted({*days, *(("h", hour) for hour in HOURS)})
        never = self.dice.sample(found, self.dice.choice((0, 0, 0, 1, 3)))
        return {*found} - {*never}

    def _land(self) -> None:
        missing = sorted(self._wanted - self.versions.keys())
        dataset = self.dice.choice("abch")
        of_one = [each for each in missing if each[0] == dataset]
        if of_one:
            self.come(self.dice.sample(of_one, min(len(of_one), self.dice.choice((1, 2, 7, 23)))))

    def _rewrite(self) -> None:
        if self.versions:
            self.come([self.dice.choice(sorted(self.versions))])

    def _again(self) -> None:
        """What has come is reported a second time."""
        if self.events:
            self.add([self.events[self.dice.choice(sorted(self.events))]])

    # --- launches and runs ---

    def _launch(self) -> None:
        for request in self.offer_launches(self.dice.choice((1, 5, 100))):
            match self.dice.choices(("start", "lose", "refuse", "twice"), (12, 2, 1, 1))[0]:
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
        """A run begins, and reads the partitions of its manifest."""
        if not self.start(request):
            return
        run_id = self.winners[request.job, request.attempt]
        self._asked[run_id] = request
        if request.schedule != "a/pooled":
            self.tables.begin(run_id, request)

    def _end_run(self) -> None:
        if self._promised:
            self.recover(self._promised.pop())
        if not self.runs:
            return
        run_id = self.dice.choice(sorted(self.runs))
        match self.dice.choices(("succeed", "fail", "die", "die later"), (8, 2, 1, 1))[0]:
            case "succeed":
                self._succeed(run_id)
            case "die later" if self._publish(run_id):
                self._promised.append(self._asked[run_id].job)
                self.end_badly(run_id, died=True)
            case how:
                self.end_badly(run_id, died=how == "die")

    def _succeed(self, run_id: str) -> None:
        if self._publish(run_id):
            self.end(run_id, RunStatus.SUCCEEDED)
        else:
            self.end_badly(run_id, died=False)

    def _publish(self, run_id: str) -> bool:
        """Publish what a run has made, and report it; False for a run that is refused."""
        request = self._asked[run_id]
        name = request.schedule.partition("/")[2]
        if name == "pooled":
            return True
        if not self.tables.publish(run_id):
            self.oracle.met["refused"] += 1
            return False
        events = PublishedEvents(lambda: self.store, lambda: self.now, run_id)
        facts = [PartitionFact(f"a/{name}", key, rows=1, bytes=1) for key in request.launch.partitions]
        self.do(lambda: events.report(request.job, facts))
        ids = {publish_event_id(request.job, fact.dataset, fact.key) for fact in facts}
        with self.store.reading() as reader:
            found = reader.events(ids=ids)
        repairs = request.launch.repairs
        assert {event.repairs for event in found} <= {repairs}, f"{request.job} repairs {repairs}: {found}"
        self.events.update({event.id: event for event in found})
        return True

    # --- people, and upkeep ---

    def _change(self) -> None:
        if self._changes:
            self.chance.change()
            self.deploy_now()

    def _prune(self) -> None:
        """Retention removes what is old; a key that awaits a repair is not forgotten."""
        if not self.prunes:
            return
        self._read()
        self.do(lambda: prune(self.store, KEEP, self.now))
        with self.store.reading() as reader:
            known = {(each.schedule.partition("/")[2], each.key) for each in reader.records(LAST_LAUNCHES)}
        for place, last in list(self.oracle.last.items()):
            if place not in known:
                old = last.since < self.now - KEPT
                assert old and not last.awaits(), f"retention has forgotten {last} of {place}"
                del self.oracle.last[place]
                self.oracle.beyond[place] = "pruned"
                self.oracle.met["pruned"] += 1

    def replay(self) -> None:
        """A person brings what came too late, from the first tables on."""
        for name in READS:
            late = [place for place in sorted(self.oracle.too_late) if place[0] == name]
            for dataset, key in sorted({part for place in late for part in self.oracle.too_late.pop(place)}):
                wanted = EventsToReplay(
                    key=partition_event_key("a", dataset), partitions=(key,), schedules=(f"a/{name}",)
                )
                self.within(
                    lambda transaction, wanted=wanted: replay_events(transaction, wanted, self.now, CLI)
                )
                self.oracle.met["replayed"] += 1
            self.settle()

    # --- what is known ---

    def _event(self, id: str) -> Event:
        if id not in self.events:
            with self.store.reading() as reader:
                (self.events[id],) = reader.events(ids=[id])
        return self.events[id]

    def _read(self) -> None:
        with self.store.reading() as reader:
            entries = reader.journal()
        self.oracle.read_all(entries[self.oracle.read :])

    def _unrouted(self) -> bool:
        with self.store.reading() as reader:
            return bool(reader.unrouted_events(1))

    def _next_check(self) -> datetime | None:
        with self.store.reading() as reader:
            jobs = reader.jobs(states=WAITING | ACTIVE)
        return min((job.next_check_at for job in jobs if job.next_check_at is not None), default=None)

    def _listened(self, name: str) -> tuple[str, ...]:
        return ("joined",) if name == "pooled" else self.chance.inputs(name)
