"""A world of maintenance that dice drive: time passes, runs end or die, tables change, people interfere.

Instants are whole multiples of ten seconds, but those of deployments and of tables that go or come: nothing
else happens then, so it is clear what comes before what.
"""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.doubles.faulty_store import FaultyStore
from tests.simulation.hands import Hands
from tests.simulation.history import played
from tests.simulation.maintenance.app import DATASETS, PLAIN, chance_app
from tests.simulation.maintenance.limits import judge_hours
from tests.simulation.maintenance.missed import judge_missed, picture
from tests.simulation.maintenance.notes import Notes
from tests.simulation.maintenance.oracle import judge, judge_journal, judge_start
from tidegate.domain.maintenance.measures import DAY, HEALTHY
from tidegate.domain.model import Operation
from tidegate.scheduler.commands.maintain import run_by_hand
from tidegate.scheduler.intake.tables import TableFound, report_gone, report_health, report_tables
from tidegate.scheduler.launch.outbox import LaunchRequest
from tidegate.scheduler.launch.run_report import end_operation
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, Ended, Ending, Health
from tidegate.scheduler.model.refused import MaintenanceRefused
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.protocol import EngineTransaction, Store

START = datetime(2026, 3, 10, 11, 40, tzinfo=UTC)
PAUSES = (10, 60, 60, 60, 120, 300, 1800)
"""Seconds; the longest is an absence."""

ONE_SECOND, MICROSECOND = timedelta(seconds=1), timedelta(microseconds=1)
ENDINGS = (Ending.SUCCEEDED,) * 4 + (Ending.FAILED,) * 3 + (Ending.CONFLICT, Ending.STOPPED)
KEYS = ("2026-03-07", "2026-03-08", "2026-03-09")
BY = By(actor="dice")


class TablesOfChance(Hands):
    """Hands on an app of policies, and the judgement after each tick."""

    now: datetime

    def __init__(self, store: FaultyStore, seed: int) -> None:
        self.dice = random.Random(seed)
        super().__init__(store, START)
        app = chance_app(self.dice)
        self.deploy(app)
        self.notes = Notes(START, app)
        self.operations: dict[str, tuple[int, datetime]] = {}
        self.judged: set[str] = set()
        self.refused: list[str] = []
        self.happened: set[str] = set()
        self._exact = True
        self.within(lambda t: report_tables(t, [TableFound(catalog_name=each) for each in PLAIN], self.now))

    def live(self, steps: int) -> None:
        """Do this many things."""
        deeds = (
            (self.pass_time, 12),
            (self.measure, 6),
            (self.end_an_operation, 10),
            (self.kill_a_run, 1),
            (self.end_a_run, 3),
            (self.arrive, 5),
            (self.ask, 3),
            (self.go_or_come, 1),
            (self.redeploy, 1),
            (self.tick_late, 1),
        )
        for _ in range(steps):
            self.choose(self.dice, deeds)
            self.settle_instant()

    # --- deeds ---

    def pass_time(self) -> None:
        """Let time pass; often everything before the new instant is done before anything else."""
        seconds = self.dice.choice(PAUSES)
        aligned = datetime.fromtimestamp(self.now.timestamp() // 10 * 10, UTC)
        moved = max(self.now, aligned + timedelta(seconds=seconds))
        if moved > self.now:
            self.now, self._exact = moved, self.dice.random() < 0.7
            if self._exact:
                self.tick(moved - MICROSECOND)

    def measure(self) -> None:
        """Measure the tables that are to be measured, or some; not everything may be known of them."""
        with self.store.reading() as reader:
            names = [table.name for table in reader.due_records(MAINTAINED_TABLES, None, 9)]
        found = {name: self._health() for name in names or self.dice.sample([*PLAIN, *DATASETS], 2)}
        self.within(lambda t: report_health(t, found, self.now))

    def _health(self) -> Health:
        dice = self.dice
        if dice.random() < 0.15:
            return Health(measured_at=self.now, failure="no catalog")
        values = {**HEALTHY, "snapshots": float(dice.choice((3, 99, 100, 500)))}
        values["newest_snapshot_age"] = dice.choice((0, 6.5 * DAY, 7 * DAY, 31 * DAY))
        if dice.random() < 0.2:
            del values["snapshots"]
        return Health(measured_at=self.now, values=values)

    def end_an_operation(self) -> None:
        """The run of an operation reports its end; it may have ended already."""
        begun = sorted(job for job, (_, at) in self.operations.items() if at < self.now)
        if not begun:
            return
        job = self.dice.choice(begun)
        attempt, _ = self.operations.pop(job)
        ended = Ended(
            ending=self.dice.choice(ENDINGS),
            changed=self.dice.random() < 0.5,
            bytes=self.dice.choice((0, 100, 400)),
        )
        self.happened.add(str(ended.ending))
        if not self.within(lambda t: end_operation(t, job, attempt, ended, self.now)):
            self.notes.late.add(job)
        self.end(f"operation-{job}", RunStatus.SUCCEEDED)

    def kill_a_run(self) -> None:
        """The run of an operation dies: nothing is heard of it any more, or Dagster sees that it failed."""
        begun = sorted(job for job, (_, at) in self.operations.items() if at < self.now)
        if begun:
            job = self.dice.choice(begun)
            del self.operations[job]
            run = self.runs.pop(f"operation-{job}")
            if self.dice.random() < 0.5:
                self.see(run, self.dice.choice((RunStatus.FAILED, RunStatus.SUCCEEDED, RunStatus.CANCELLED)))

    def end_a_run(self) -> None:
        """The run of a pipeline ends."""
        pipelines = sorted(run for run in self.runs if not run.startswith("operation-"))
        if pipelines:
            self.end(self.dice.choice(pipelines), self.dice.choice((RunStatus.SUCCEEDED, RunStatus.FAILED)))

    def arrive(self) -> None:
        """A partition arrives: one of a dataset that is maintained, or one that begins a pipeline."""
        dataset, number = self.dice.choice(("raw", "raw", "out", "out", "whole")), self.number("e")
        event = Event(
            id=number,
            kind=EventKind.PARTITION,
            key=partition_event_key("a", dataset),
            time=self.now,
            arrived=self.now,
            partition="" if dataset == "whole" else self.dice.choice(KEYS),
        )
        self.add([event])

    def ask(self) -> None:
        """A person asks for operations."""
        table = self.dice.choice([*PLAIN * 3, *DATASETS, "w.z.z", "tidegate.a.out"])
        operation = self.dice.choice([None, *Operation])
        policy = self.dice.choice([None, None, None, *self.notes.app.policies])
        self.try_(lambda t: run_by_hand(t, table, self.now, operation=operation, policy=policy, by=BY))

    def go_or_come(self) -> None:
        """A table goes, or comes back, at an instant of its own."""
        self._step_aside()
        table = self.dice.choice(PLAIN)
        with self.store.reading() as reader:
            (known,) = reader.records(MAINTAINED_TABLES, name=(table,))
        if known.gone:
            self.within(lambda t: report_tables(t, [TableFound(catalog_name=table)], self.now))
            self.notes.back[table] = self.now
        else:
            self.within(lambda t: report_gone(t, [table], self.now))
            self.notes.gone[table] = self.now

    def redeploy(self) -> None:
        """Another app, or the same one as before, at an instant of its own."""
        self._step_aside()
        former = self.dice.choice(self.notes.deployed)[1]
        app = former if self.dice.random() < 0.4 else chance_app(self.dice)
        self.deploy(app)
        self.notes.deployed.append((self.now, app))

    def _step_aside(self) -> None:
        self.now += ONE_SECOND
        self._exact = False

    def tick_late(self) -> None:
        """Another scheduler ticks, whose clock is behind."""
        self.tick(self.now - timedelta(seconds=self.dice.choice((1, 30, 600))))

    def try_(self, deed: Callable[[EngineTransaction], Any]) -> None:
        """Do what may be refused; a refusal changes nothing."""
        try:
            self.within(deed)
        except MaintenanceRefused as refused:
            self.refused.append(refused.code)

    # --- the scheduler ---

    def launch(self) -> bool:
        """Offer, and begin the runs; a request may be lost, or be refused for now."""
        requests = self.offer_launches()
        for request in requests:
            if self.dice.random() < (0.1 if request.maintenance is not None else 0.3):
                self.reject(request)
            elif request.maintenance is None:
                self.start(request)
            elif self.dice.random() < 0.9:
                self._begin(request)
        return bool(requests)

    def _begin(self, request: LaunchRequest) -> None:
        """The run of an operation begins."""
        with self.store.reading() as reader:
            (job,) = reader.jobs(ids=(request.job,))
        self.start_job(job, f"operation-{job.id}")
        if f"operation-{job.id}" in self.runs:
            self.operations[job.id] = job.attempt, self.now

    def settle_instant(self) -> None:
        """Tick and launch at this instant until nothing changes, and judge each tick."""
        for _ in range(50):
            before = picture(self.store, self.notes, self.now) if self._exact else None
            report = self.tick()
            self.judge()
            if before is not None:
                with self.store.reading() as reader:
                    judge_missed(before, reader, self.notes, self.now)
            self._exact = False
            if not self.launch() and not report.decided and not report.fired:
                return
        raise AssertionError("an instant does not end")

    # --- judgement ---

    def judge(self) -> None:
        with self.store.reading() as reader:
            judge(reader, self.notes, self.now)
            runs = reader.operation_runs()
            fresh = [run for run in runs if run.job not in self.judged]
            if not fresh:
                return
            before = {run.started_at for run in runs if run.job in self.judged and not run.by_hand}
            twice = before & {run.started_at for run in fresh if not run.by_hand}
            assert not twice, f"two polls at an instant: {twice}"
            jobs = {job.id: job for job in reader.jobs()}
            self.happened |= {str(job.reason) for job in jobs.values() if job.maintenance is not None}
            pipelines = [job for job in jobs.values() if job.maintenance is None]
            for run in fresh:
                launch = jobs[run.job].launch
                assert launch is not None
                self.notes.filters[run.job] = launch.args["excluded"]
                judge_start(run, runs, self.notes, pipelines)
                self.judged.add(run.job)
                self._meet(run)

    def _meet(self, run: Any) -> None:
        names = ("by_hand", "probe", "forced", "excluded")
        self.happened |= {name for name in names if getattr(run, name)}

    def judge_at_the_end(self) -> None:
        with self.store.reading() as reader:
            judge_journal(reader.journal(), reader)
            if judge_hours(reader.operation_runs(), self.notes):
                self.happened.add("full hour")


def history(store: Store, seed: int, steps: int = 150, rate: float = 0.2) -> TablesOfChance:
    """Play one history; it raises where the engine broke a promise."""

    def play(faulty: FaultyStore) -> TablesOfChance:
        world = TablesOfChance(faulty, seed)
        world.settle_instant()
        world.live(steps)
        world.judge_at_the_end()
        return world

    return played(store, seed, rate, f"maintenance, seed {seed} with {steps} steps", play)
