"""Hands on the engine: each does one thing to a store, again and again until it is done.

A process that died in a transaction begins again like a restarted one. The hands remember which
runs are going on and who was asked to work, as the world outside of the store does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

import msgspec

from tests.doubles.faulty_store import FAILURES, FaultyStore
from tests.worlds.by import CLI
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.gauge import report_gauges
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.intake.published import observe_recovered
from tidegate.scheduler.launch.outbox import LaunchRequest, offer_launches, reject
from tidegate.scheduler.launch.run_report import claim
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.instant import TickReport
from tidegate.scheduler.tick.tick import tick

T = TypeVar("T")

TRIES_MAX = 200
"""A deed that fails so often never succeeds."""


class Hands:
    """What can be done to a store.

    Attributes:
        now: the time that the clock on the wall shows.
        runs: the runs that are going on, by id.
        ticks: how many were done.
    """

    def __init__(self, store: FaultyStore, start: datetime) -> None:
        self.store = store
        self.now = start
        self.runs: dict[str, RunObservation] = {}
        self.winners: dict[tuple[str, int], str] = {}
        self.ticks = 0
        self._numbers = 0

    def copy(self, store: FaultyStore) -> Hands:
        """Hands that know what these know, on another store."""
        copied = Hands(store, self.now)
        copied.runs = dict(self.runs)
        copied.winners = dict(self.winners)
        copied.ticks = self.ticks
        copied._numbers = self._numbers
        return copied

    @staticmethod
    def choose(dice: random.Random, deeds: Sequence[tuple[Callable[[], object], int]]) -> None:
        """Do one of these, by chance; each has a weight."""
        dice.choices([deed for deed, _ in deeds], [weight for _, weight in deeds])[0]()

    def do(self, deed: Callable[[], T]) -> T:
        """Do it until it is done."""
        for _ in range(TRIES_MAX):
            try:
                return deed()
            except FAILURES:
                continue
        raise AssertionError("a deed failed again and again")

    def within(self, deed: Callable[[EngineTransaction], T]) -> T:
        """Do it in a transaction of its own."""

        def once() -> T:
            with self.store.transaction() as transaction:
                return deed(transaction)

        return self.do(once)

    def deploy(self, app: App, *, update_schedules: bool = True) -> None:
        """Deploy one app."""
        self.within(lambda t: deploy(t, {app.name: app}, self.now, update_schedules=update_schedules, by=CLI))

    def add(self, events: Sequence[Event]) -> None:
        """Events reach the store."""
        self.within(lambda transaction: transaction.add_events(events))

    def tick(self, now: datetime | None = None) -> TickReport:
        """One tick, of a scheduler whose clock may show another time."""
        at = now or self.now
        report = self.do(lambda: tick(self.store, at))
        self.ticks += 1
        assert not report.errors, report.errors
        return report

    def offer_launches(self, limit: int = 25, now: datetime | None = None) -> tuple[LaunchRequest, ...]:
        """What is to be launched now."""
        return self.within(lambda transaction: offer_launches(transaction, now or self.now, "a", limit))

    def reject(self, request: LaunchRequest) -> None:
        """A request fails."""
        self.within(lambda t: reject(t, request.job, request.attempt, "refused by chance", self.now))

    def start(self, request: LaunchRequest, *, seen_queued: bool = False, seen_started: bool = True) -> bool:
        """A run is made of a request; returns whether it was allowed to work."""
        run = RunObservation(
            run_id=self.number("run"),
            program=f"a/{request.launch.program}",
            job=request.job,
            attempt=request.attempt,
            status=RunStatus.QUEUED,
            at=self.now,
        )
        if seen_queued:
            self.see(run, RunStatus.QUEUED)
        if not self.do(lambda: claim(self.store, request.job, request.attempt, run.run_id, self.now)).won:
            # A run that lost does nothing, and ends well.
            self.see(run, RunStatus.SUCCEEDED)
            return False
        holder = self.winners.setdefault((request.job, request.attempt), run.run_id)
        assert holder == run.run_id, f"no duplicates: {holder} and {run.run_id} work for {request.job}"
        self.runs[run.run_id] = run
        if seen_started:
            self.see(run, RunStatus.STARTED)
        return True

    def start_job(self, job: Job, run_id: str) -> None:
        """The run of a job begins, by whatever request."""
        assert job.launch is not None
        run = RunObservation(
            run_id=run_id,
            program=f"{job.app}/{job.launch.program}",
            job=job.id,
            attempt=job.attempt,
            status=RunStatus.STARTED,
            at=self.now,
        )
        if self.do(lambda: claim(self.store, job.id, job.attempt, run_id, self.now)).won:
            self.runs[run_id] = run
            self.see(run, RunStatus.STARTED)

    def start_by_hand(self, program: str) -> None:
        """A person starts a run."""
        run = RunObservation(
            run_id=self.number("hand"), program=f"a/{program}", status=RunStatus.STARTED, at=self.now
        )
        self.runs[run.run_id] = run
        self.see(run, RunStatus.STARTED)

    def end(self, run_id: str, status: RunStatus) -> None:
        """A run ends, and that is seen."""
        self.see(self.runs.pop(run_id), status)

    def end_badly(self, run_id: str, *, died: bool) -> None:
        """A run fails, or dies without a word."""
        run = msgspec.structs.replace(self.runs.pop(run_id), died=died)
        self.see(run, RunStatus.FAILED)

    def recover(self, job: str) -> None:
        """Recovery has finished what a run of a job had promised to publish."""
        self.within(lambda transaction: observe_recovered(transaction, job, self.now))

    def see(self, run: RunObservation, status: RunStatus) -> RunObservation:
        """A run is observed now."""
        seen = msgspec.structs.replace(run, status=status, at=self.now)
        self.fold([seen])
        return seen

    def fold(self, seen: Sequence[RunObservation]) -> None:
        """Observations reach the engine."""
        self.within(lambda transaction: observe_runs(transaction, seen, self.now))

    def gauge(self, name: str, value: float) -> None:
        """A person reports a number."""
        self.within(lambda transaction: report_gauges(transaction, {name: value}, self.now, by=CLI))

    def number(self, prefix: str) -> str:
        """A name that nothing else has."""
        self._numbers += 1
        return f"{prefix}{self._numbers}"
