"""The invariants, told apart from the engine: what must hold whatever happened.

The witness reads the store as an outsider would, remembers what it saw, and does its own
sums. It shares no code with the engine but the names of its values.
"""

from collections import Counter, defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from compiler.model import AllTrigger, AnyTrigger, CronTrigger, PartitionsTrigger, Schedule
from scheduler.deployed import ScheduleState
from scheduler.event import Delivery, Event
from scheduler.job import Job
from scheduler.observe import RunObservation
from scheduler.store.protocol import Reader, Store
from tests.simulation.chance_app import GROUP_LIMITS, PROGRAM_LIMITS

NEXT = {
    "PENDING_TRIGGER": {
        "PENDING_CONSTRAINT",
        "PENDING_LAUNCH",
        "LAUNCHED",
        "SUCCEEDED",
        "FAILED",
        "DISCARDED",
    },
    "PENDING_CONSTRAINT": {"PENDING_LAUNCH", "LAUNCHED", "SUCCEEDED", "FAILED", "DISCARDED"},
    "PENDING_LAUNCH": {"LAUNCHED", "SUCCEEDED", "FAILED", "DISCARDED"},
    "LAUNCHED": {"SUCCEEDED", "FAILED"},
    "SUCCEEDED": set(),
    "FAILED": set(),
    "DISCARDED": set(),
}
"""What a job may have become between two looks."""

EVERYTHING = 1_000_000


class Witness:
    """Looks at a store after every step, and remembers."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._states: dict[str, str] = {}
        self._winners: dict[tuple[str, int], str] = {}
        self._programs: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._manual: dict[str, str] = {}
        self._manual_groups: dict[str, tuple[str, ...]] = {}
        self._manual_ended: set[str] = set()
        self._ends: set[str] = set()

    # --- what the world tells ---

    def won(self, job: str, attempt: int, run_id: str) -> None:
        """A run says that its claim was granted."""
        holder = self._winners.setdefault((job, attempt), run_id)
        assert holder == run_id, f"two runs won attempt {attempt} of {job}: {holder} and {run_id}"

    def observed(self, seen: Sequence[RunObservation]) -> None:
        """Observations were folded."""
        with self._store.reading() as reader:
            specs = [state.spec for state in reader.schedules()]
        for each in seen:
            if each.status not in ("queued", "started"):
                self._ends.add(each.run_id)
            if each.job is not None:
                continue
            if each.status not in ("queued", "started"):
                self._manual_ended.add(each.run_id)
            elif each.run_id not in self._manual:
                program = each.program.partition("/")[2]
                self._manual[each.run_id] = program
                groups = {g for spec in specs if spec.program == program for g in groups_of(spec)}
                self._manual_groups[each.run_id] = tuple(groups)

    @contextmanager
    def routing(self, now: datetime) -> Generator[None]:
        """Around a tick: every event that was not routed before is delivered to whoever listens, once."""
        with self._store.reading() as reader:
            states = {state.ref: state for state in reader.schedules()}
            known = {event.id for event in reader.events(limit=EVERYTHING)}
            waiting = {event.id for event in reader.unrouted_events(EVERYTHING)}
        yield
        with self._store.reading() as reader:
            unrouted = {event.id for event in reader.unrouted_events(EVERYTHING)}
            events = {event.id: event for event in reader.events(limit=EVERYTHING)}
            routed = sorted((waiting | (events.keys() - known)) - unrouted)
            delivered: dict[str, list[Delivery]] = defaultdict(list)
            for delivery in reader.deliveries_of_events(routed):
                delivered[delivery.event.id].append(delivery)
        for id in routed:
            check_delivered(events[id], delivered[id], states)

    # --- after every step ---

    def check(self, now: datetime) -> None:
        """Everything that must hold at any moment."""
        with self._store.reading() as reader:
            jobs = reader.jobs()
            deliveries = reader.deliveries([job.id for job in jobs])
            states = {state.ref: state for state in reader.schedules()}
            self._transitions(jobs)
            self._limits(reader, jobs, states)
            check_one_waiting(jobs, deliveries)
            check_ledger(reader)
            check_launches(jobs, deliveries)
            check_journal(reader, jobs)
            for job in jobs:
                if job.state in ("PENDING_TRIGGER", "PENDING_CONSTRAINT"):
                    assert job.reason is None or str(job.reason).startswith("W-"), job
                    assert job.next_check_at or job.blocked_on or str(job.reason) == "W-TRIGGER", job
                    # Suspending discards what waits; only a person opens a job after that.
                    assert job.by_hand or states[job.schedule].active, job
                if job.state == "SUCCEEDED":
                    winner = self._winners[job.id, job.attempt]
                    assert winner == job.run_id and winner in self._ends, f"{job.id} ended without {winner}"

    def _transitions(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            state = str(job.state)
            before = self._states.get(job.id, state)
            assert state == before or state in NEXT[before], f"{job.id}: {before} -> {state}"
            self._states[job.id] = state
        assert self._states.keys() == {job.id for job in jobs}, "a job has vanished"

    def _limits(self, reader: Reader, jobs: Sequence[Job], states: dict[str, ScheduleState]) -> None:
        active: Counter[str] = Counter()
        launched: set[str] = set()
        for job in jobs:
            if job.state in ("PENDING_LAUNCH", "LAUNCHED"):
                if job.id not in self._programs:
                    spec = states[job.schedule].spec
                    self._programs[job.id] = (spec.program, groups_of(spec))
                    launched |= {spec.program, *groups_of(spec)}
                program, groups = self._programs[job.id]
                active.update((program, *groups))
        for run_id, program in self._manual.items():
            if run_id not in self._manual_ended:
                active.update((program, *self._manual_groups[run_id]))
        for name, limit in (PROGRAM_LIMITS | GROUP_LIMITS).items():
            # Runs by hand may exceed a limit; then nothing is launched on top of them.
            assert name not in launched or active[name] <= limit, f"{name}: {active[name]} of {limit}"
        taken = reader.slots(
            [f"program:a/{name}" for name in ("p", "q", "r")] + [f"group:{name}" for name in GROUP_LIMITS]
        )
        counted = {resource: active[resource.rpartition("/")[2].removeprefix("group:")] for resource in taken}
        assert taken == counted


def groups_of(spec: Schedule) -> tuple[str, ...]:
    """The groups that a schedule names."""
    return tuple(
        sorted({c.group for c in spec.constraints if c.__class__.__name__.startswith("Conc") and c.group})
    )


def listening(trigger: Any, path: tuple[str, ...] = ()) -> dict[str, Any]:
    """The leaves of a trigger by path."""
    if isinstance(trigger, AllTrigger | AnyTrigger):
        found: dict[str, Any] = {}
        for index, member in enumerate(trigger.of):
            found |= listening(member, (*path, str(index)))
        return found
    return {".".join(path): trigger}


def hears(leaf: Any, path: str, ref: str, event: Event) -> bool:
    """Whether a leaf of a schedule is meant by an event."""
    if isinstance(leaf, CronTrigger):
        return event.key == f"fire:{ref}:{path}"
    if isinstance(leaf, PartitionsTrigger):
        return event.key == f"partition:a/{leaf.dataset}"
    return event.key == f"run:a/{leaf.program}:{leaf.status}"


def check_delivered(event: Event, delivered: Sequence[Delivery], states: dict[str, ScheduleState]) -> None:
    """An event is delivered once at every leaf that hears it, and nowhere else."""
    expected = {
        (ref, path): state
        for ref, state in states.items()
        for path, leaf in listening(state.spec.trigger).items()
        if hears(leaf, path, ref, event)
    }
    places = Counter((delivery.schedule, delivery.leaf) for delivery in delivered)
    assert places.keys() == expected.keys(), f"{event.id}: {places} instead of {sorted(expected)}"
    for place, count in places.items():
        # A cron's fire counts for every key that waits; everything else has one job.
        shared = event.kind == "fire" and expected[place].spec.for_each is not None
        assert count == 1 or shared, f"{event.id} was delivered {count} times at {place}"
    for delivery in delivered:
        assert (delivery.job is None) != (delivery.reason is None), delivery
        if not expected[(delivery.schedule, delivery.leaf)].active:
            assert delivery.reason in ("D-SUSPENDED", "D-EXPIRED"), delivery


def check_one_waiting(jobs: Sequence[Job], deliveries: dict[str, tuple[Delivery, ...]]) -> None:
    """One waiting job for a schedule and key, apart from those of missed fires."""
    seats = Counter(
        (job.schedule, job.key)
        for job in jobs
        if job.state in ("PENDING_TRIGGER", "PENDING_CONSTRAINT")
        and not any(delivery.event.own_job for delivery in deliveries[job.id])
    )
    assert all(count == 1 for count in seats.values()), seats


def check_ledger(reader: Reader) -> None:
    """What was delivered is consumed, pending or discarded, and the sum is right."""
    events = [event.id for event in reader.events(limit=EVERYTHING)]
    landed = Counter(delivery.schedule for delivery in reader.deliveries_of_events(events))
    rows = {row.schedule: row.consumed + row.pending + sum(row.discarded.values()) for row in reader.ledger()}
    assert rows == dict(landed)


def check_launches(jobs: Sequence[Job], deliveries: dict[str, tuple[Delivery, ...]]) -> None:
    """Two launches share no event at the same leaf and key, and a manifest is what was collected."""
    used: dict[tuple[str, str, str, str], str] = {}
    for job in jobs:
        if job.launch is None:
            continue
        keys: dict[str, set[str]] = defaultdict(set)
        for delivery in deliveries[job.id]:
            place = (job.schedule, delivery.leaf, delivery.event.id, job.key)
            other = used.setdefault(place, job.id)
            assert other == job.id, f"{place} was consumed by {other} and {job.id}"
            if delivery.event.kind == "partition":
                keys[delivery.event.key.partition("/")[2]].add(delivery.event.partition or "")
        assert {name: tuple(sorted(found)) for name, found in keys.items()} == job.launch.manifest


def check_journal(reader: Reader, jobs: Sequence[Job]) -> None:
    """The journal tells of every launch and discard, once."""
    told = Counter((str(entry.kind), entry.job) for entry in reader.journal() if entry.job is not None)
    for job in jobs:
        assert told["launch", job.id] == (job.launch is not None), job
        assert told["discarded", job.id] == (job.state == "DISCARDED"), job
        assert told["claim", job.id] <= 1, job
