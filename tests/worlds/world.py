"""A small world for the engine's tests: an app, a store in memory, and a clock that is an argument.

Times are written as on a clock, "10:00" or "10:00:30", of Tuesday 2026-03-10 in UTC; "1d 06:00" is
the day after. The world deploys what the YAML says, hands events and observations to the
store, and ticks only when a test asks for it.
"""

from datetime import UTC, datetime, timedelta

from tests.doubles.reference.store import ReferenceStore
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.scheduler.commands.by_hand.manual import cancel, resume, suspend, trigger
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.gauge import report_gauges
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.dead_letter import requeue, retry
from tidegate.scheduler.launch.outbox import LaunchRequest, offer_launches
from tidegate.scheduler.launch.run_report import Claim, claim
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.store.answers import LedgerRow
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.instant import TickReport
from tidegate.scheduler.tick.tick import tick

MIDNIGHT = datetime(2026, 3, 10, tzinfo=UTC)

DATASETS = """
app: a
datasets:
  raw: {partitions: {cycle: day, start: 2013-01-01}}
  other: {partitions: {cycle: day, start: 2013-01-01}}
  hourly: {partitions: {cycle: hour, start: 2013-01-01-00:00}}
  chunks: {partitions: {day: {cycle: day, start: 2013-01-01}, origin: [EWR, JFK, LGA]}}
  plain: {}
  out: {partitions: {cycle: day, start: 2013-01-01}}
  young: {partitions: {cycle: day, start: 2026-01-01}}
  origins: {partitions: {origin: [EWR, JFK, LGA]}}
  origins_out: {partitions: {origin: [EWR, JFK, LGA]}}
programs:
  p: {run: programs.p, writes: [out]}
  q: {run: programs.q}
  r: {run: programs.r}
  t: {run: programs.t, writes: [young]}
  o: {run: programs.o, writes: [origins_out]}
schedules:
"""
"""The head of the apps below: datasets of every scheme, and programs with and without outputs."""


def at(clock: str) -> datetime:
    """The instant that a clock shows, "HH:MM[:SS]" or "Nd HH:MM[:SS]"."""
    days, _, wall = clock.rpartition("d ")
    parts = [int(part) for part in wall.split(":")]
    hours, minutes, seconds = (*parts, 0)[:3]
    return MIDNIGHT + timedelta(days=int(days or 0), hours=hours, minutes=minutes, seconds=seconds)


def app_of(schedules: str, head: str = DATASETS) -> App:
    """The app of a head and some schedules, without errors."""
    return compiled_app(head + "\n".join(f"  {line}" for line in schedules.strip("\n").splitlines()) + "\n")


def compiled_app(text: str) -> App:
    """The app of a file, without errors."""
    compilation = compile_files({"a.yaml": text.encode()})
    assert compilation.ok, "\n".join(f"{d.at} {d.code} {d.summary}" for d in compilation.diagnostics)
    return next(iter(compilation.apps.values())).app


class Arriving:
    """A store in which events of the app `a` arrive."""

    def __init__(self, store: Store | None = None) -> None:
        self.store: Store = store or ReferenceStore()
        self._events = 0

    def arrive(
        self, clock: str, dataset: str, *keys: str, id: str | None = None, rows: int | None = None
    ) -> None:
        """Partitions arrive; without a key, a dataset without partitions is updated."""
        events: list[Event] = []
        for key in keys or ("",):
            self._events += 1
            events.append(
                Event(
                    id=id or f"e{self._events}",
                    kind=EventKind.PARTITION,
                    key=partition_event_key("a", dataset),
                    time=at(clock),
                    arrived=at(clock),
                    partition=key,
                    rows=rows,
                )
            )
        with self.store.transaction() as transaction:
            transaction.add_events(events)


class World(Arriving):
    """An app `a` in a store, and hands to do things to it."""

    compiled = staticmethod(app_of)
    """Makes the app of the part of its YAML that a test writes."""

    def __init__(self, schedules: str, *, start: str = "00:00", store: Store | None = None) -> None:
        super().__init__(store)
        self.redeploy(start, schedules)

    # --- what happens ---

    def redeploy(self, clock: str, schedules: str, *, update: bool = True) -> None:
        """Deploy other schedules of the app."""
        self.app = self.compiled(schedules)
        with self.store.transaction() as transaction:
            deploy(transaction, {self.app.name: self.app}, at(clock), update_schedules=update, by=CLI)

    def run(
        self,
        clock: str,
        program: str,
        status: str,
        id: str,
        job: str | None = None,
        attempt: int = 1,
        died: bool = False,
    ) -> None:
        """A run is seen: one of a job, or one that a person started."""
        seen = RunObservation(
            run_id=id,
            program=f"a/{program}",
            job=job,
            attempt=None if job is None else attempt,
            status=RunStatus(status),
            at=at(clock),
            died=died,
        )
        with self.store.transaction() as transaction:
            observe_runs(transaction, [seen], at(clock))

    def tick(self, clock: str) -> TickReport:
        return tick(self.store, at(clock))

    def offer_launches(self, clock: str, limit: int = 25) -> tuple[LaunchRequest, ...]:
        with self.store.transaction() as transaction:
            return offer_launches(transaction, at(clock), "a", limit)

    def claim(self, clock: str, job: str, run: str, attempt: int = 1) -> Claim:
        return claim(self.store, job, attempt, run, at(clock))

    def suspend(self, clock: str, schedule: str) -> bool:
        with self.store.transaction() as transaction:
            return suspend(transaction, f"a/{schedule}", at(clock), by=CLI)

    def resume(self, clock: str, schedule: str) -> bool:
        with self.store.transaction() as transaction:
            return resume(transaction, f"a/{schedule}", at(clock), by=CLI)

    def trigger(self, clock: str, schedule: str, key: str = "", force: bool = False) -> Job:
        with self.store.transaction() as transaction:
            return trigger(transaction, f"a/{schedule}", at(clock), key, force, by=CLI)

    def cancel(self, clock: str, job: str) -> Job:
        with self.store.transaction() as transaction:
            return cancel(transaction, job, at(clock), by=CLI)

    def retry(self, clock: str, job: str) -> Job:
        with self.store.transaction() as transaction:
            return retry(transaction, job, at(clock), by=CLI)

    def requeue(self, clock: str, job: str) -> Job:
        with self.store.transaction() as transaction:
            return requeue(transaction, job, at(clock), by=CLI)

    def report(self, clock: str, **gauges: float) -> None:
        """A person reports the values of gauges."""
        with self.store.transaction() as transaction:
            report_gauges(transaction, gauges, at(clock), by=CLI)

    def launch_all(self, clock: str) -> list[str]:
        """Offer, claim and start all that may launch; returns the job ids. The run of job j is `run-j`."""
        jobs = [request.job for request in self.offer_launches(clock)]
        for job in jobs:
            assert self.claim(clock, job, f"run-{job}").won
            self.run(clock, self.job(job).launch.program, "started", f"run-{job}", job)
        return jobs

    def end(self, clock: str, job: str, status: str = "succeeded") -> None:
        """The run of a launched job ends."""
        self.run(clock, self.job(job).launch.program, status, f"run-{job}", job)

    # --- what can be seen ---

    def job(self, id: str) -> Job:
        with self.store.reading() as reader:
            (job,) = reader.jobs(ids=[id])
        return job

    def jobs(self, schedule: str, *states: JobState) -> tuple[Job, ...]:
        with self.store.reading() as reader:
            return reader.jobs(schedules=[f"a/{schedule}"], states=states or None)

    def only(self, schedule: str) -> Job:
        """The only job that a schedule has had so far."""
        (job,) = self.jobs(schedule)
        return job

    def last(self, schedule: str) -> Job:
        return self.jobs(schedule)[-1]

    def outcome(self, schedule: str) -> tuple[str, str | None]:
        """State and reason of a schedule's newest job."""
        job = self.last(schedule)
        return str(job.state), None if job.reason is None else str(job.reason)

    def journal(self, schedule: str | None = None) -> tuple[Entry, ...]:
        with self.store.reading() as reader:
            return reader.journal(schedule=None if schedule is None else f"a/{schedule}")

    def ledger(self, schedule: str) -> LedgerRow:
        with self.store.reading() as reader:
            return next(row for row in reader.ledger() if row.schedule == f"a/{schedule}")
