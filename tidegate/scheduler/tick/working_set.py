"""The working set: the rows of one tick, cached in memory and written back as sets.

A tick replays many instants (see `scheduler.tick.tick`), and each instant reads what the one before
has written. The set reads a row from the transaction once, changes it in memory as often as
needed, and writes it once, in `flush`. It decides nothing.

`until` is the last instant that the set covers: if more rows are due than one set may hold, it ends
before the first instant whose rows may be incomplete, or at it, and the next set continues there.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import SUBSCRIPTIONS, Delivery, Event, Subscription
from tidegate.scheduler.model.job import WAITING, Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.run import Launched, ProgramHistory
from tidegate.scheduler.model.verdict import earliest
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.due import TASKS_PER_PAGE, DueQueue, WokenQueues
from tidegate.scheduler.tick.due_rows import due_rows
from tidegate.scheduler.tick.held_events import HeldEvents
from tidegate.scheduler.tick.last_launches import LastLaunches
from tidegate.scheduler.tick.load import load_apps
from tidegate.scheduler.tick.open_jobs import OpenJobs
from tidegate.scheduler.tick.pending import PendingWrites
from tidegate.scheduler.tick.unfinished import Going, Turns

V = TypeVar("V", bound=Value)


class WorkingSet:
    """The rows that are due between the engine's clock and an instant, and the rows they depend on.

    Args:
        clock: everything before it is done; rows that arrived late are due now.
        until: the last instant to cover.
        instances: of tasks that may be made: no task is due when none of these are left (`instances_left`).
        limit: of jobs that are due at one instant; None for all.
        going: what is left of the decisions at the clock, which the set then goes on with.

    Attributes:
        after: more jobs are due at its last instant behind this place; None if none are.
        held, queues, last: events of its jobs, woken queues of blocked jobs, and last launches of keys.
        open_jobs, turns: the jobs that events may join, and those still to be decided at an instant.
    """

    def __init__(
        self,
        transaction: EngineTransaction,
        clock: datetime,
        until: datetime,
        *,
        instances: int = 0,
        limit: int | None = None,
        going: Going | None = None,
    ) -> None:
        self._transaction, self._clock = transaction, clock
        due = due_rows(transaction, clock, until, limit, going)
        self.until, self.after = due.until, due.after
        self.instances_left = instances
        self._records: dict[str, dict[str, Any]] = {}
        self._states: dict[str, ScheduleState] = {}
        self._jobs: dict[str, Job] = {}
        self.open_jobs = OpenJobs(transaction, self._jobs, self.as_known)
        self.held, self.last = HeldEvents(transaction, self.flush), LastLaunches(transaction)
        self._slots: dict[str, int] = {}
        self._history: dict[str, ProgramHistory] = {}
        self._launches: dict[str, tuple[datetime, tuple[datetime, ...]]] = {}
        self._listeners: dict[str, tuple[Subscription, ...]] = {}
        self._pending, self._events = PendingWrites(), list(due.events)
        self.turns = Turns(transaction)
        self._due_schedules, self._due_tasks = DueQueue(self._fires_at), DueQueue(self._fires_at)
        self._due_jobs, self._more_tasks = DueQueue(self._checked_at), True
        self.queues = WokenQueues(transaction.woken(until))
        for state in due.schedules:
            self._cache_schedule(state)
        for job in due.jobs:
            self._cache_job(job)
        self._prefetch()

    def _prefetch(self) -> None:
        """Read in one query each what the instants of this set will ask for one by one."""
        listeners = self.listeners({event.key for event in self._events})
        refs = {listener.schedule for each in listeners.values() for listener in each}
        self.schedules(refs=refs | {job.schedule for job in self._jobs.values()})
        states = {ref: self._states[ref] for ref in refs}
        self.open_jobs.prefetch(self._events, listeners, states, load_apps(self, states.values()))
        self.held.prefetch(self._jobs.values(), (event.partition or "" for event in self._events))

    # --- due rows ---

    def next_instant(self) -> datetime | None:
        """Return the earliest instant, up to `until`, at which a row is due; the clock for late rows."""
        arrival = self._events[-1].arrived if self._events else None
        fires = (self._due_schedules.first(), self._first_task())
        first = earliest((*fires, self._due_jobs.first(), arrival, self.queues.first()))
        if first is None or first > self.until:
            return None
        self._clock = max(self._clock, first)
        return self._clock

    def take_events(self, instant: datetime) -> list[Event]:
        """Return the unrouted events that have arrived by an instant, in order, and mark them as routed."""
        taken: list[Event] = []
        while self._events and self._events[-1].arrived <= instant:
            taken.append(self._events.pop())
        self._pending.routed += [event.id for event in taken]
        return taken

    def take_schedules(self, instant: datetime) -> list[ScheduleState]:
        """Return the schedules that have a due fire, by instant and ref; without tasks."""
        return [self._states[ref] for ref in self._due_schedules.take(instant)]

    def take_tasks(self, instant: datetime) -> list[ScheduleState]:
        """Return the first tasks that have a day to generate, by instant and ref."""
        return [self._states[ref] for ref in self._due_tasks.take(instant)] if self.instances_left > 0 else []

    def _first_task(self) -> datetime | None:
        """Return the earliest instant at which a task has a day to generate, if instances may be made."""
        left = self.instances_left > 0
        if left and self._more_tasks and self._due_tasks.first() is None:
            # A task with another day that is due comes again, in a later page.
            page = self._flushed.due_schedules(self.until, TASKS_PER_PAGE, tasks=True)
            self._more_tasks = bool(page)
            for state in page:
                self._states[state.ref] = state
                self._due_tasks.add(state.next_fire_at or self.until, state.ref)
        return self._due_tasks.first() if left else None

    def take_jobs(self, instant: datetime) -> list[Job]:
        """Return the jobs that are due for a decision, by instant and id; see `after`."""
        last = self.after if instant == self.until else None
        return [self._jobs[id] for id in self._due_jobs.take(instant, last)]

    def queued_jobs(self, queue: str, after: str, limit: int) -> list[Job]:
        """Return the first jobs of a queue behind a place, in launch order."""
        return self.as_known(self._flushed.queued_jobs(queue, after, limit))

    def mark_looked_at(self, queues: Collection[str]) -> None:
        """Let queues rest until they are woken again; call it once their jobs are decided."""
        self._flushed.mark_looked_at(queues)

    def _fires_at(self, instant: datetime, ref: str) -> bool:
        return self._states[ref].next_fire_at == instant

    def _checked_at(self, instant: datetime, id: str) -> bool:
        return self._jobs[id].decided_when_due and self._jobs[id].next_check_at == instant

    def unreadable(self, refs: Collection[str]) -> set[str]:
        """Return those of some schedules without a state that are deployed: their rows are damaged."""
        return {*refs} & {*self._transaction.schedule_refs()}

    # --- reading; the signatures of `scheduler.store.protocol.Reader` ---

    def records(self, kind: Kind[V], /, **among: Collection[str] | None) -> tuple[V, ...]:
        """Return the records of some names, of a kind whose key is one name, by that."""
        (name,) = kind.key
        names = kind.narrowed_by(among)[name]
        known = self._records.setdefault(kind.name, {})
        missing = {each for each in names if each not in known}
        if missing:
            found = {kind.key_of(each): each for each in self._transaction.records(kind, **{name: missing})}
            known.update((each, found.get((each,))) for each in missing)
        cached: Iterator[V | None] = (known[each] for each in sorted(names))
        return tuple(each for each in cached if each is not None)

    def schedules(self, *, refs: Collection[str]) -> tuple[ScheduleState, ...]:
        """Return deployed schedules, by ref."""
        missing = {each for each in refs if each not in self._states}
        if missing:
            for state in self._transaction.schedules(refs=missing):
                self._cache_schedule(state)
        return tuple(self._states[ref] for ref in sorted(refs) if ref in self._states)

    def schedule(self, ref: str) -> ScheduleState:
        """Return a schedule that is known to be deployed."""
        cached = self._states.get(ref)
        return cached if cached is not None else self.schedules(refs=(ref,))[0]

    def listeners(self, keys: Collection[str]) -> dict[str, tuple[Subscription, ...]]:
        """Return the leaves that listen to each event key. Every key has an entry."""
        missing = {each for each in keys if each not in self._listeners}
        if missing:
            found: dict[str, list[Subscription]] = {key: [] for key in missing}
            listed = self._transaction.records(SUBSCRIPTIONS, event_key=missing)
            # One whose row is damaged is left out: the others go on.
            states = {state.ref for state in self.schedules(refs={each.schedule for each in listed})}
            for listener in listed:
                if listener.schedule in states:
                    found[listener.event_key].append(listener)
            self._listeners.update((key, tuple(each)) for key, each in found.items())
        return {key: self._listeners[key] for key in keys}

    def waiting_jobs(self, refs: Collection[str]) -> list[Job]:
        """Return every waiting job of some schedules, by `opened_at` and id."""
        return self.as_known(self._flushed.jobs(schedules=refs, states=WAITING))

    def as_known(self, jobs: Iterable[Job]) -> list[Job]:
        """Return jobs of the store as this set has them; others would be new to it when they change."""
        known = list(jobs)
        for job in known:
            if job.id not in self._jobs:
                self._cache_job(job)
        return [self._jobs[job.id] for job in known]

    def slots(self, resources: Collection[str]) -> dict[str, int]:
        """Return the number of taken slots of each resource. Every resource has an entry."""
        missing = {each for each in resources if each not in self._slots}
        if missing:
            for resource, taken in self._transaction.slots(missing).items():
                self._slots[resource] = taken + self._pending.unread.pop(resource, 0)
        return {resource: self._slots[resource] for resource in resources}

    def history(self, programs: Collection[str]) -> dict[str, ProgramHistory]:
        """Return the newest ends of each program's runs. Every program has an entry."""
        missing = {each for each in programs if each not in self._history}
        if missing:
            self._history.update(self._transaction.history(missing))
        return {program: self._history[program] for program in programs}

    def launches(self, programs: Collection[str], since: datetime) -> dict[str, tuple[datetime, ...]]:
        """Return the launches of each program after `since`, oldest first. Every program has an entry."""
        for program in programs:
            cached = self._launches.get(program)
            if cached is None or cached[0] > since:
                found = [*self._transaction.launches([program], since)[program]]
                found += [each.at for each in self._pending.launches if each.program == program]
                self._launches[program] = (since, tuple(sorted(found)))
        return {program: tuple(at for at in self._launches[program][1] if at > since) for program in programs}

    def jobs(self, *, ids: Collection[str]) -> tuple[Job, ...]:
        """Return the jobs with these ids."""
        return self._flushed.jobs(ids=ids)

    def events(self, *, key: str, partitions: Collection[str], limit: int | None) -> tuple[Event, ...]:
        """Return the events of some partitions of one key."""
        return self._transaction.events(key=key, partitions=partitions, limit=limit)

    def instances(
        self,
        tasks: Collection[str] | None = None,
        first: datetime | None = None,
        last: datetime | None = None,
        *,
        backfill: int = 0,
    ) -> tuple[Job, ...]:
        """Return the instances of tasks in a range of scheduled times, or those of a backfill."""
        return self._flushed.instances(tasks, first, last, backfill=backfill)

    def instance_before(self, task: str, scheduled: datetime, *, backfill: int = 0) -> Job | None:
        """Return the last instance of a task with an earlier scheduled time, past empty runs."""
        return self._flushed.instance_before(task, scheduled, backfill=backfill)

    def cursor(self, name: str) -> Any:
        """Return the value that is stored under a name."""
        return self._transaction.cursor(name)

    def set_cursor(self, name: str, value: Any) -> None:
        """Store a value under a name."""
        self._transaction.set_cursor(name, value)

    def wake(self, resources: Collection[str], at: datetime) -> None:
        """Make the jobs that are blocked on any of these resources due at an instant of this set."""
        blocked = self.as_known(sorted(self._flushed.jobs(blocked_on=resources), key=lambda job: job.id))
        self.put_jobs([msgspec.structs.replace(job, next_check_at=at) for job in blocked])

    def put_edges(self, job: str, upstream: Collection[str]) -> None:
        """Record the upstream instances of an instance."""
        self._pending.edges[job] = tuple(upstream)

    def put_schedule(self, state: ScheduleState) -> None:
        """Change a schedule's fire times and timers."""
        self._cache_schedule(state)
        self._pending.states[state.ref] = None

    def put_jobs(self, jobs: Iterable[Job]) -> None:
        """Open or change jobs."""
        for job in jobs:
            if job.id not in self._jobs:
                self.held.mark_opened(job.id)
            self._cache_job(job)
            self._pending.jobs[job.id] = None

    def add_events(self, events: Sequence[Event]) -> None:
        """Store new events; they are routed with the other events of their instant."""
        new = self._transaction.add_events(events)
        if new:
            self._events = sorted((*self._events, *new), key=lambda e: (e.arrived, e.id), reverse=True)

    def add_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        """Record deliveries; put their jobs first."""
        self.held.add(deliveries)
        self._pending.deliveries += deliveries

    def remove_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        """Remove deliveries from their jobs."""
        # The store has those that this set has added only after a flush.
        self.flush()
        counted = self.held.remove(deliveries)
        self._transaction.remove_deliveries(deliveries, counted)

    def take_slots(self, holder: str, resources: Collection[str]) -> None:
        """Take one slot of each resource for a job that has none yet."""
        for resource in set(resources):
            (self._slots if resource in self._slots else self._pending.unread)[resource] += 1
        self._pending.slots[holder] = tuple(resources)

    def add_launch(self, launched: Launched) -> None:
        """Record a launch of a program."""
        since, instants = self._launches.get(launched.program, (None, ()))
        if since is not None:
            self._launches[launched.program] = (since, (*instants, launched.at))
        self._pending.launches.append(launched)

    def add_journal(self, entries: Iterable[Entry]) -> None:
        """Append entries."""
        self._pending.journal += entries

    @property
    def _flushed(self) -> EngineTransaction:
        """The transaction, with all changes of this set."""
        self.flush()
        return self._transaction

    def flush(self) -> None:
        """Write all changes since the last flush."""
        if self._pending.empty:
            return
        pending, self._pending = self._pending, PendingWrites()
        pending.write(self._transaction, self._states, self._jobs)
        self.held.write(self._jobs)
        self.last.write()

    def _cache_schedule(self, state: ScheduleState) -> None:
        self._states[state.ref] = state
        if state.spec.task is None and state.next_fire_at is not None and state.next_fire_at <= self.until:
            self._due_schedules.add(state.next_fire_at, state.ref)

    def _cache_job(self, job: Job) -> None:
        self._jobs[job.id] = job
        self.open_jobs.note(job)
        if job.decided_when_due and job.next_check_at is not None and job.next_check_at <= self.until:
            self._due_jobs.add(job.next_check_at, job.id)
