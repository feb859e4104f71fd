"""The simulation: a virtual clock over a store, with planned actions and snapshots.

    due actions -> reports are stored -> tick -> offers -> launches -> again, until nothing
    changes -> snapshots of this instant -> the next instant

The next instant is the earliest one of a given action, the end of a run, a job's next check, a cron's
next fire, the expiry of an override, a poll that has work or a deadline. While the scheduler is down, it does
not tick, and reports are kept with their own time until it returns. What ticks, launches and runs is the
world (`world.py`).
"""

import heapq
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from tidegate.domain.launch_input import early_text
from tidegate.domain.part_name import Ref
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.verdict import earliest
from tidegate.scheduler.simulation.arrivals import Report
from tidegate.scheduler.simulation.describe import describe_work
from tidegate.scheduler.simulation.launcher import SimulatedRun
from tidegate.scheduler.simulation.moment import Moment
from tidegate.scheduler.simulation.tables import SimulatedOperation
from tidegate.scheduler.simulation.timeline import moments_of
from tidegate.scheduler.simulation.world import SimulatedWorld, World
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.clock import CLOCK, engine_clock
from tidegate.scheduler.tick.deadlines import next_late_job
from tidegate.scheduler.tick.expected import next_judgement
from tidegate.scheduler.tick.maintenance.poll import next_poll

INSTANTS_MAX = 100_000
"""The most instants of one simulation: a cron of every minute over two months."""

ROUNDS_PER_INSTANT_MAX = 1_000
"""The most rounds at one instant; more means that schedules trigger each other without time passing."""

FAR = datetime(9000, 1, 1, tzinfo=UTC)
"""Later than any instant of a simulation."""

ENTRIES_AT_ONCE = 16
"""Journal entries of the first read of an instant; each further read is larger by this factor."""


class SimulationLimit(Exception):
    """A simulation that exceeds one of its limits; the message says which."""


class Simulation:
    """A store, a virtual clock, and planned actions.

    Args:
        app: the app whose schedules are named without it.
        world: what ticks, launches and runs; by default every run is simulated.
    """

    def __init__(self, store: Store, start: datetime, app: str, world: World | None = None) -> None:
        self.store = store
        self.now = start
        self.moments: list[Moment] = []
        self.world: World = SimulatedWorld(store, {}) if world is None else world
        self._app = app
        self._due: list[tuple[datetime, bool, int, Callable[[], None]]] = []
        self._looks: list[tuple[datetime, int, Callable[[], None]]] = []
        self._reports: list[Report] = []
        self._down_until: datetime | None = None
        self._entries_seen = 0
        self._order = 0
        self._instants = 0

    # --- planned actions ---

    def at(self, when: datetime, do: Callable[[], None], *, first: bool = False) -> None:
        """Call a function at an instant, before the scheduler ticks.

        Args:
            first: call it before the other functions of the instant.
        """
        self._order += 1
        heapq.heappush(self._due, (when, not first, self._order, do))

    def look_at(self, when: datetime, look: Callable[[], None]) -> None:
        """Call a function at the end of an instant."""
        self._order += 1
        heapq.heappush(self._looks, (when, self._order, look))

    def report(self, *reports: Report) -> None:
        """Report events and observations to the store, now or when the scheduler returns."""
        self._reports.extend(reports)

    def go_down(self, until: datetime) -> None:
        """Stop the scheduler until an instant; it counts as having been away, for any duration."""
        self._down_until = until if self._down_until is None else max(until, self._down_until)
        with self.store.transaction() as transaction:
            transaction.set_cursor(CLOCK, None)
        self.at(until, lambda: None)

    def name_of(self, ref: str) -> str:
        """Return the name of a schedule in the scenario: without the app under test."""
        app, name = Ref.of(ref)
        return name if app == self._app else ref

    def subject_of(self, job: Job) -> tuple[str, str]:
        """Return what a job is about, and its key: a schedule, or a table and the operation on it."""
        if job.maintenance is not None:
            return job.maintenance.table, str(job.maintenance.operation)
        return self.name_of(job.schedule), job.key

    # --- the clock ---

    def run_until(self, until: datetime) -> None:
        """Play every instant up to and including `until`.

        Raises:
            SimulationLimit: there are too many instants, or one of them does not end.
        """
        while (instant := self._next_instant()) is not None and instant <= until:
            self._instants += 1
            if self._instants > INSTANTS_MAX:
                raise SimulationLimit(f"more than {INSTANTS_MAX:,} instants until {instant.isoformat()}")
            if instant > self.now:
                self.now = instant
                self._entries_seen = 0
            self._settle()
            while self._looks and self._looks[0][0] <= self.now:
                heapq.heappop(self._looks)[2]()
        self.now = until

    @property
    def _down(self) -> bool:
        return self._down_until is not None and self.now < self._down_until

    def _next_instant(self) -> datetime | None:
        planned = [heap[0][0] for heap in (self._due, self._looks) if heap]
        found = earliest(planned if self._down else (*planned, *self._engine_instants()))
        return None if found is None else max(found, self.now)

    def _engine_instants(self) -> list[datetime | None]:
        with self.store.reading() as reader:
            jobs = (*reader.due_jobs(FAR, 1), *reader.jobs(states=(JobState.PENDING_LAUNCH,)))
            fires = [state.next_fire_at for state in reader.schedules() if state.fires]
            poll = next_poll(reader, engine_clock(reader) or self.now)
            expiries = [each.expires_at for each in reader.due_records(OVERRIDES, FAR, 1)]
            deadlines = (next_judgement(reader), next_late_job(reader))
            woken = [at for _, at in reader.woken(FAR, 1)]
            return [*(job.next_check_at for job in jobs), *woken, *fires, *expiries, poll, *deadlines]

    def _settle(self) -> None:
        for _ in range(ROUNDS_PER_INSTANT_MAX):
            while self._due and self._due[0][0] <= self.now:
                heapq.heappop(self._due)[3]()
            moved = not self._down and self._round()
            self._collect()
            if not moved and not (self._due and self._due[0][0] <= self.now):
                return
        raise SimulationLimit(
            f"{self.now.isoformat()} does not end within {ROUNDS_PER_INSTANT_MAX} rounds:"
            " schedules trigger each other without time passing"
        )

    def _round(self) -> bool:
        """Run the scheduler once at this instant; return whether anything changed."""
        reports, self._reports = self._reports, []
        self.world.tables.close_overdue(self.now)
        self.world.tables.measure(self.now, written=bool(reports))
        changed = self.world.tick(reports, self.now)
        self._collect()
        launches = self.world.launch(self.now)
        for run in launches.runs:
            self._started(run)
        for operation in launches.operations:
            self._maintained(operation)
        return changed or launches.tried

    # --- runs ---

    def _started(self, run: SimulatedRun) -> None:
        (job,) = self._jobs([run.job])
        # The update of a dataset without partitions has the key "", which expectations leave out.
        keys = sorted({key for found in run.launch.manifest.values() for key in found if key})
        if not keys and not self._is_of_partitions(job):
            keys = list(run.launch.dates)
        instance = job.instance
        collects = instance is None or instance.keyed
        keys = keys if keys and collects else list(run.launch.partitions)
        about = instance.business_date if instance is not None and instance.keyed else None
        repair = "" if job.repairs is None else "repair"
        self.moments.append(
            Moment(
                when=self.now,
                kind="launched",
                schedule=self.name_of(job.schedule),
                key=job.key,
                job=job.id,
                partitions=tuple(keys),
                business_date=run.launch.business_date or about,
                number=0 if instance is None else instance.number,
                args=run.launch.args,
                provisional=bool(run.launch.provisional),
                repair=job.repairs is not None,
                text=", ".join(filter(None, (repair, early_text(run.launch.provisional)))),
            )
        )
        self.report(*self.world.start(run, self.now))
        self.at(run.ends_at, lambda: self._ended(run, job))

    def _is_of_partitions(self, job: Job) -> bool:
        """Return whether a run is about the partitions that it writes, and not about business dates."""
        with self.store.reading() as reader:
            found = reader.schedules(refs=[job.schedule])
        return any(state.spec.output_partition == "current" for state in found)

    def _ended(self, run: SimulatedRun, job: Job) -> None:
        (now,) = self._jobs([run.job])
        if now.instance is not None and now.attempt != run.attempt:
            # It was stopped, and fenced: it has published nothing.
            return
        self.report(*self.world.end(run))
        self.moments.append(
            Moment(
                when=run.ends_at,
                kind="ended",
                schedule=self.name_of(job.schedule),
                key=job.key,
                job=job.id,
                text=run.ends_as,
            )
        )

    def _maintained(self, run: SimulatedOperation) -> None:
        (job,) = self._jobs([run.job])
        table, operation = self.subject_of(job)
        self.moments.append(
            Moment(
                when=self.now,
                kind="maintained",
                schedule=table,
                key=operation,
                job=job.id,
                work=job.work,
                text=describe_work(job.work),
            )
        )
        # What ends at an instant has ended for all that is done then.
        self.at(run.ends_at, lambda: self.world.tables.end(run), first=True)

    # --- the timeline ---

    def _collect(self) -> None:
        """Turn the new journal entries of this instant into moments."""
        entries = self._entries_of_now()
        fresh = entries[self._entries_seen :]
        self._entries_seen = len(entries)
        jobs = {job.id: job for job in self._jobs([entry.job for entry in fresh if entry.job is not None])}
        self.moments += moments_of(fresh, jobs, self.name_of, self.subject_of)

    def _entries_of_now(self) -> list[Entry]:
        """Return the entries of this instant, which are the last ones of the journal."""
        limit = ENTRIES_AT_ONCE
        with self.store.reading() as reader:
            while len(newest := reader.journal(limit=limit)) == limit and newest[0].at >= self.now:
                limit *= ENTRIES_AT_ONCE
        return [entry for entry in newest if entry.at >= self.now]

    def _jobs(self, ids: Sequence[str]) -> tuple[Job, ...]:
        with self.store.reading() as reader:
            return reader.jobs(ids=set(ids)) if ids else ()
