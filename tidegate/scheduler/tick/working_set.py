"""The working set: the rows that a tick has in its hands, read and written as sets.

A tick replays many instants (see `scheduler.tick.tick`), and each of them reads what the one before
has written. Here a row is read from the transaction once, changed in memory as often as need be,
and written once, by `flush`. Decides nothing. What is due is kept in two heaps, so that
finding the next instant never looks at rows which are not due.

`until` is how far this set reaches: if more is due than one set may hold, it ends before the first
instant of which something may be missing, and the next set goes on from there.
"""

import heapq
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from tidegate.scheduler.model.deployed import DeployedApp, ScheduleState
from tidegate.scheduler.model.event import Delivery, Event, Subscription
from tidegate.scheduler.model.job import WAITING, Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.run import Gauge, ProgramHistory
from tidegate.scheduler.model.verdict import earliest
from tidegate.scheduler.store.protocol import Launched, Transaction

ROWS_PER_SET = 5_000
"""How much of each kind is looked up as due at once; it bounds the memory of a set."""

MICROSECOND = timedelta(microseconds=1)

Row = TypeVar("Row")


class WorkingSet:
    """What is due between the engine's clock and an instant, and all that is needed to act on it.

    Args:
        clock: everything before has been done; what came late is due now.
        until: the last instant that is asked for.
    """

    def __init__(self, transaction: Transaction, clock: datetime, until: datetime) -> None:
        self._transaction = transaction
        self._clock = clock
        self.until = until
        self._apps: dict[str, DeployedApp] = {}
        self._states: dict[str, ScheduleState] = {}
        self._jobs: dict[str, Job] = {}
        self._of_schedule: dict[str, dict[str, None]] = {}
        self._deliveries: dict[str, list[Delivery]] = {}
        self._slots: dict[str, int] = {}
        self._history: dict[str, ProgramHistory] = {}
        self._launches: dict[str, tuple[datetime, tuple[datetime, ...]]] = {}
        self._gauges: dict[str, Gauge | None] = {}
        self._listeners: dict[str, tuple[Subscription, ...]] = {}
        self._written = _Written()
        events, self.until = _page(transaction.unrouted_events, _arrival, clock, until)
        self._events = list(reversed(events))
        states, reach = _page(lambda size: transaction.due_schedules(until, size), _fire, clock, until)
        self.until = min(self.until, reach)
        jobs, reach = _page(lambda size: transaction.due_jobs(until, size), _check, clock, until)
        self.until = min(self.until, reach)
        self._due_schedules: list[tuple[datetime, str]] = []
        self._due_jobs: list[tuple[datetime, str]] = []
        for state in states:
            self._know_schedule(state)
        for job in jobs:
            self._know_job(job)
        self._foresee()

    def _foresee(self) -> None:
        """Read at once what the instants of this set will ask for one by one."""
        listeners = self.listeners({event.key for event in self._events})
        refs = {listener.schedule for each in listeners.values() for listener in each}
        self.schedules(refs=refs | {job.schedule for job in self._jobs.values()})
        self.waiting_jobs(refs)
        self._know_deliveries(self._jobs)

    # --- what is due ---

    def next_instant(self) -> datetime | None:
        """The earliest instant, up to `until`, at which something is due; the clock for what is late."""
        while self._due_schedules and not self._fires_at(*self._due_schedules[0]):
            heapq.heappop(self._due_schedules)
        while self._due_jobs and not self._checked_at(*self._due_jobs[0]):
            heapq.heappop(self._due_jobs)
        heads = [heap[0][0] for heap in (self._due_schedules, self._due_jobs) if heap]
        if self._events:
            heads.append(self._events[-1].arrived)
        head = earliest(heads)
        if head is None or head > self.until:
            return None
        self._clock = max(self._clock, head)
        return self._clock

    def take_events(self, instant: datetime) -> list[Event]:
        """The unrouted events that have arrived by an instant, in order; they count as routed."""
        taken: list[Event] = []
        while self._events and self._events[-1].arrived <= instant:
            taken.append(self._events.pop())
        self._written.routed += [event.id for event in taken]
        return taken

    def take_schedules(self, instant: datetime) -> list[ScheduleState]:
        """The schedules of which a fire is due, by instant and ref."""
        return [self._states[ref] for ref in _pop_due(self._due_schedules, instant, self._fires_at)]

    def take_jobs(self, instant: datetime) -> list[Job]:
        """The waiting jobs that are due for a decision, by instant and id."""
        return [self._jobs[id] for id in _pop_due(self._due_jobs, instant, self._checked_at)]

    def _fires_at(self, instant: datetime, ref: str) -> bool:
        return self._states[ref].next_fire_at == instant

    def _checked_at(self, instant: datetime, id: str) -> bool:
        return self._jobs[id].waiting and self._jobs[id].next_check_at == instant

    # --- what is known; the signatures of `scheduler.store.protocol.Reader` ---

    def apps(self, *, names: Collection[str]) -> tuple[DeployedApp, ...]:
        """Deployed apps, by name."""
        missing = {each for each in names if each not in self._apps}
        if missing:
            self._apps.update((app.name, app) for app in self._transaction.apps(names=missing))
        return tuple(self._apps[name] for name in sorted(names) if name in self._apps)

    def schedules(self, *, refs: Collection[str]) -> tuple[ScheduleState, ...]:
        """Deployed schedules, by ref."""
        missing = {each for each in refs if each not in self._states}
        if missing:
            for state in self._transaction.schedules(refs=missing):
                self._know_schedule(state)
        return tuple(self._states[ref] for ref in sorted(refs) if ref in self._states)

    def schedule(self, ref: str) -> ScheduleState:
        """A deployed schedule that something listens for."""
        known = self._states.get(ref)
        return known if known is not None else self.schedules(refs=(ref,))[0]

    def listeners(self, keys: Collection[str]) -> dict[str, tuple[Subscription, ...]]:
        """The leaves that listen to each event key. Every key has an entry."""
        missing = {each for each in keys if each not in self._listeners}
        if missing:
            found: dict[str, list[Subscription]] = {key: [] for key in missing}
            for listener in self._transaction.subscriptions(missing):
                found[listener.event_key].append(listener)
            self._listeners.update((key, tuple(each)) for key, each in found.items())
        return {key: self._listeners[key] for key in keys}

    def waiting_jobs(self, refs: Collection[str]) -> list[Job]:
        """Every waiting job of some schedules, by `opened_at` and id."""
        missing = {each for each in refs if each not in self._of_schedule}
        if missing:
            for ref in missing:
                self._of_schedule[ref] = {}
            for job in self._transaction.jobs(schedules=missing, states=WAITING):
                if job.id not in self._jobs:
                    self._know_job(job)
            for job in self._jobs.values():
                if job.schedule in missing:
                    self._of_schedule[job.schedule][job.id] = None
        found = [self._jobs[id] for ref in refs for id in self._of_schedule[ref] if self._jobs[id].waiting]
        return sorted(found, key=lambda job: (job.opened_at, job.id))

    def deliveries(self, jobs: Collection[str]) -> dict[str, tuple[Delivery, ...]]:
        """What each job has collected, by arrival, then event id, then leaf. Every id has an entry."""
        self._know_deliveries(jobs)
        return {id: tuple(self._deliveries[id]) for id in jobs}

    def slots(self, resources: Collection[str]) -> dict[str, int]:
        """How many slots of each resource are taken. Every resource has an entry."""
        missing = {each for each in resources if each not in self._slots}
        if missing:
            self._slots.update(self._transaction.slots(missing))
        return {resource: self._slots[resource] for resource in resources}

    def history(self, programs: Collection[str]) -> dict[str, ProgramHistory]:
        """The newest ends of each program's runs. Every program has an entry."""
        missing = {each for each in programs if each not in self._history}
        if missing:
            self._history.update(self._transaction.history(missing))
        return {program: self._history[program] for program in programs}

    def launches(self, programs: Collection[str], since: datetime) -> dict[str, tuple[datetime, ...]]:
        """When runs of each program were launched after `since`, oldest first. Every program has an entry."""
        for program in programs:
            known = self._launches.get(program)
            if known is None or known[0] > since:
                found = [*self._transaction.launches([program], since)[program]]
                found += [each.at for each in self._written.launches if each.program == program]
                self._launches[program] = (since, tuple(sorted(found)))
        return {program: tuple(at for at in self._launches[program][1] if at > since) for program in programs}

    def gauges(self, names: Collection[str]) -> tuple[Gauge, ...]:
        """What was reported last for those of the named gauges that ever were, by name."""
        missing = {each for each in names if each not in self._gauges}
        if missing:
            found = {gauge.name: gauge for gauge in self._transaction.gauges(missing)}
            self._gauges.update((name, found.get(name)) for name in missing)
        known = (self._gauges[name] for name in sorted(names))
        return tuple(gauge for gauge in known if gauge is not None)

    # --- what changes ---

    def put_schedule(self, state: ScheduleState) -> None:
        """Change a schedule's place in time."""
        self._know_schedule(state)
        self._written.states[state.ref] = None

    def put_jobs(self, jobs: Iterable[Job]) -> None:
        """Open or change jobs."""
        for job in jobs:
            if job.id not in self._jobs:
                self._deliveries.setdefault(job.id, [])
            self._know_job(job)
            if job.schedule in self._of_schedule:
                self._of_schedule[job.schedule][job.id] = None
            self._written.jobs[job.id] = None

    def add_events(self, events: Sequence[Event]) -> None:
        """Store events that are not known yet; they are routed with those of their instant."""
        fresh = self._transaction.add_events(events)
        if fresh:
            self._events = sorted((*self._events, *fresh), key=lambda e: (e.arrived, e.id), reverse=True)

    def add_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        """Record deliveries; their jobs must have been put."""
        touched = {each.job for each in deliveries if each.job is not None}
        self._know_deliveries(touched)
        for delivery in deliveries:
            if delivery.job is not None:
                self._deliveries[delivery.job].append(delivery)
        for job in touched:
            self._deliveries[job].sort(key=_place)
        self._written.deliveries += deliveries

    def remove_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        """Take deliveries out of their jobs."""
        # They may have been recorded in this very set, and are then in the store only after a flush.
        self.flush()
        for delivery in deliveries:
            self._deliveries[delivery.job or ""].remove(delivery)
        self._transaction.remove_deliveries(deliveries)

    def take_slots(self, holder: str, resources: Collection[str]) -> None:
        """Take one slot of each resource for a job that has none yet."""
        for resource, taken in self.slots(resources).items():
            self._slots[resource] = taken + 1
        self._written.slots[holder] = tuple(resources)

    def add_launch(self, launched: Launched) -> None:
        """Note a launch of a program."""
        since, known = self._launches.get(launched.program, (None, ()))
        if since is not None:
            self._launches[launched.program] = (since, (*known, launched.at))
        self._written.launches.append(launched)

    def add_journal(self, entries: Iterable[Entry]) -> None:
        """Append entries."""
        self._written.journal += entries

    def flush(self) -> None:
        """Write all changes since the last flush."""
        written, self._written = self._written, _Written()
        transaction = self._transaction
        transaction.put_schedules([self._states[ref] for ref in written.states])
        transaction.put_jobs([self._jobs[id] for id in written.jobs])
        transaction.add_deliveries(written.deliveries)
        transaction.mark_routed(written.routed)
        transaction.take_slots(written.slots)
        transaction.add_launches(written.launches)
        transaction.add_journal(written.journal)

    # --- inside ---

    def _know_schedule(self, state: ScheduleState) -> None:
        self._states[state.ref] = state
        if state.next_fire_at is not None and state.next_fire_at <= self.until:
            heapq.heappush(self._due_schedules, (state.next_fire_at, state.ref))

    def _know_job(self, job: Job) -> None:
        self._jobs[job.id] = job
        if job.waiting and job.next_check_at is not None and job.next_check_at <= self.until:
            heapq.heappush(self._due_jobs, (job.next_check_at, job.id))

    def _know_deliveries(self, jobs: Collection[str]) -> None:
        missing = {each for each in jobs if each not in self._deliveries}
        if missing:
            found = self._transaction.deliveries(missing)
            self._deliveries.update((id, list(each)) for id, each in found.items())


class _Written:
    """What has changed since the last flush, in the order in which it changed."""

    def __init__(self) -> None:
        self.states: dict[str, None] = {}
        self.jobs: dict[str, None] = {}
        self.deliveries: list[Delivery] = []
        self.routed: list[str] = []
        self.slots: dict[str, tuple[str, ...]] = {}
        self.launches: list[Launched] = []
        self.journal: list[Entry] = []


def _place(delivery: Delivery) -> tuple[datetime, str, str, str]:
    return delivery.event.arrived, delivery.event.id, delivery.leaf, delivery.schedule


def _arrival(event: Event) -> datetime | None:
    return event.arrived


def _fire(state: ScheduleState) -> datetime | None:
    return state.next_fire_at


def _check(job: Job) -> datetime | None:
    return job.next_check_at


def _pop_due(
    heap: list[tuple[datetime, str]], instant: datetime, valid: Callable[[datetime, str], bool]
) -> list[str]:
    """The names at the head of a heap that are due, each once, without those that have moved on."""
    found: dict[str, None] = {}
    while heap and heap[0][0] <= instant:
        due, name = heapq.heappop(heap)
        if valid(due, name):
            found[name] = None
    return list(found)


def _page(
    query: Callable[[int], Sequence[Row]],
    due: Callable[[Row], datetime | None],
    clock: datetime,
    until: datetime,
) -> tuple[list[Row], datetime]:
    """The first rows that are due, and up to which instant they are all of them.

    What is due at one instant, and all that is late, belongs together (rule 14): a page is
    made larger until it reaches beyond.
    """
    size = ROWS_PER_SET
    while True:
        rows = list(query(size))
        instants = [due(row) or clock for row in rows]
        if len(rows) < size or instants[-1] > until:
            return rows, until
        if instants[-1] > max(clock, instants[0]):
            reach = instants[-1] - MICROSECOND
            return [row for row, instant in zip(rows, instants, strict=True) if instant <= reach], reach
        size *= 4
