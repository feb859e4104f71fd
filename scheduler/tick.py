"""The tick: the one shell around the pure core. It loads, lets the core decide, and writes.

    due crons become events -> events are routed to jobs -> due jobs are decided -> outbox

All of it happens in one transaction: events, jobs, slots, journal and the crons' place in time
change together or not at all. A crash before the commit leaves the old state and the next tick
does the same again; a crash after it leaves PENDING_LAUNCH jobs, which `scheduler.outbox`
offers until a run is seen. A tick costs what has become due plus what has arrived, never the
number of schedules.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from compiler.value import Value
from scheduler.decide import Decision, Discard, Launch, Wait, decide
from scheduler.event import Subscription
from scheduler.fires import due_fires, next_fire
from scheduler.job import Job, JobState, move
from scheduler.journal import Entry, EntryKind
from scheduler.launch import plan_launch
from scheduler.reason import Reason
from scheduler.route import Board
from scheduler.slice import Slice
from scheduler.slices import load_apps, load_slices
from scheduler.store.protocol import Store, Transaction

EVENTS_PER_BATCH = 1000
JOBS_PER_BATCH = 500
SCHEDULES_PER_BATCH = 1000
BATCHES_PER_TICK = 50
"""Bounds one transaction; what is left is picked up by the next tick."""

RETRY_AFTER_ERROR = timedelta(minutes=5)
"""A job whose decision raised an error (a bug of ours) is looked at again after this time."""


class TickReport(Value, kw_only=True):
    """What one tick did, in counts and in the ids of the jobs that it decided to launch."""

    fired: int = 0
    routed: int = 0
    decided: int = 0
    launched: tuple[str, ...] = ()
    discarded: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


def tick(store: Store, now: datetime) -> TickReport:
    """Bring the store up to `now`.

    Any number of schedulers may do this to the same store; transactions are serialised, and
    each sees what the one before has left.
    """
    with store.transaction() as transaction:
        return advance_to(transaction, now)


def advance_to(transaction: Transaction, now: datetime) -> TickReport:
    """`tick` inside a transaction that the caller holds."""
    fired = fire_due_crons(transaction, now)
    routed = route_new_events(transaction, now)
    return msgspec.structs.replace(decide_due_jobs(transaction, now), fired=fired, routed=routed)


# --- crons ------------------------------------------------------------------------------


def fire_due_crons(transaction: Transaction, now: datetime) -> int:
    """Turn every due instant of every active schedule's crons into an event; returns how many."""
    count = 0
    for _ in range(BATCHES_PER_TICK):
        due = transaction.due_schedules(now, SCHEDULES_PER_BATCH)
        if not due:
            break
        fires = [event for state in due for event in due_fires(state, now)]
        count += len(transaction.add_events(fires))
        transaction.put_schedules(
            [
                msgspec.structs.replace(state, fires_after=now, next_fire_at=next_fire(state, now))
                for state in due
            ]
        )
    return count


# --- events -----------------------------------------------------------------------------


def route_new_events(transaction: Transaction, now: datetime) -> int:
    """Route every event that has not been routed; returns how many there were."""
    count = 0
    for _ in range(BATCHES_PER_TICK):
        events = transaction.unrouted_events(EVENTS_PER_BATCH)
        if not events:
            break
        count += len(events)
        listeners = transaction.subscriptions({event.key for event in events})
        by_key: dict[str, list[Subscription]] = {}
        for listener in listeners:
            by_key.setdefault(listener.event_key, []).append(listener)
        refs = {listener.schedule for listener in listeners}
        states = {state.ref: state for state in transaction.schedules(refs=refs)}
        apps = load_apps(transaction, {state.app for state in states.values()})
        board = Board(
            transaction.jobs(schedules=refs, states=(JobState.PENDING_TRIGGER, JobState.PENDING_CONSTRAINT))
        )
        for event in events:
            for listener in by_key.get(event.key, ()):
                state = states[listener.schedule]
                board.route(event, listener, state, apps[state.app], now)
        transaction.put_jobs(list(board.changed.values()))
        transaction.add_deliveries(board.deliveries)
        transaction.mark_routed([event.id for event in events])
        transaction.add_journal(_routing_entries(board, now))
    return count


def _routing_entries(board: Board, now: datetime) -> list[Entry]:
    opened = [
        Entry(
            at=now,
            kind=EntryKind.JOB_OPENED,
            schedule=board.changed[job].schedule,
            job=job,
            data={"key": board.changed[job].key},
        )
        for job in board.opened
    ]
    delivered = [
        Entry(
            at=now,
            kind=EntryKind.EVENT if delivery.job is not None else EntryKind.EVENT_DISCARDED,
            schedule=delivery.schedule,
            job=delivery.job,
            event=delivery.event.id,
            reason=delivery.reason,
            data={"leaf": delivery.leaf, "arrived": delivery.event.arrived.isoformat()},
        )
        for delivery in board.deliveries
    ]
    return opened + delivered


# --- jobs -------------------------------------------------------------------------------


def decide_due_jobs(transaction: Transaction, now: datetime) -> TickReport:
    """Decide every waiting job that is due, and take the slots of those that may launch."""
    decided = 0
    launched: list[str] = []
    discarded: list[str] = []
    errors: list[str] = []
    for _ in range(BATCHES_PER_TICK):
        due = transaction.due_jobs(now, JOBS_PER_BATCH)
        if not due:
            break
        decided += len(due)
        slices, orphans = load_slices(transaction, due)
        writer = _Writer(transaction, now)
        for job in orphans:
            writer.discard(job, Reason.D_DELETED)
        ready: list[tuple[Slice, Decision]] = []
        for part in slices:
            decision = writer.judge(part)
            if decision is not None and isinstance(decision.outcome, Launch):
                ready.append((part, decision))
            elif decision is not None:
                writer.apply(part, decision)
        for part, _ in sorted(ready, key=_turn):
            current = writer.with_slots_taken(part)
            decision = writer.judge(current)
            if decision is not None:
                writer.apply(current, decision)
        writer.flush()
        errors += writer.errors
        launched += writer.launched
        discarded += writer.discarded
    return TickReport(
        decided=decided, launched=tuple(launched), discarded=tuple(discarded), errors=tuple(errors)
    )


def _turn(ready: tuple[Slice, Decision]) -> tuple[int, str, str]:
    """Among jobs ready at once: priority, then who was satisfied first, then the id (DESIGN rule 14)."""
    part, decision = ready
    satisfied = decision.satisfied_at.isoformat() if decision.satisfied_at is not None else ""
    return part.job.priority.rank, satisfied, part.job.id


class _Writer:
    """Turns decisions into rows; jobs and journal entries are written as sets by `flush`."""

    def __init__(self, transaction: Transaction, now: datetime) -> None:
        self._transaction = transaction
        self._now = now
        self._jobs: list[Job] = []
        self._entries: list[Entry] = []
        self._taken: Counter[str] = Counter()
        self.launched: list[str] = []
        self.discarded: list[str] = []
        self.errors: list[str] = []

    def judge(self, part: Slice) -> Decision | None:
        """The decision on one job; None, and another look later, where it raised an error."""
        try:
            decision = decide(part, self._now)
            if isinstance(decision.outcome, Launch):
                plan_launch(part, decision.satisfied_at)
        except Exception as error:  # noqa: BLE001 - one schedule's bug must not stop the others (DESIGN §6)
            self.postpone(part.job, error)
            return None
        return decision

    def with_slots_taken(self, part: Slice) -> Slice:
        """The slice with the slots as they are now that others of this batch have taken theirs."""
        slots = {resource: taken + self._taken[resource] for resource, taken in part.slots.items()}
        return msgspec.structs.replace(part, slots=slots)

    def flush(self) -> None:
        self._transaction.put_jobs(self._jobs)
        self._transaction.add_journal(self._entries)

    def apply(self, part: Slice, decision: Decision) -> None:
        """Write what was decided for one job."""
        job = part.job
        if decision.satisfied_at is not None and job.satisfied_at is None:
            self._note(job, EntryKind.SATISFIED, data={"since": decision.satisfied_at.isoformat()})
            job = msgspec.structs.replace(job, satisfied_at=decision.satisfied_at)
        match decision.outcome:
            case Wait() as wait:
                self._wait(job, wait)
            case Discard(reason=reason):
                self.discard(job, reason)
            case Launch(overridden=overridden):
                self._launch(job, msgspec.structs.replace(part, job=job), overridden)

    def _wait(self, job: Job, wait: Wait) -> None:
        if (wait.state, wait.reason) != (job.state, job.reason):
            check = None if wait.next_check is None else wait.next_check.isoformat()
            self._note(job, EntryKind.WAITING, wait.reason, {"next_check": check})
        self._jobs.append(
            move(
                job,
                wait.state,
                reason=wait.reason,
                next_check_at=wait.next_check,
                blocked_on=wait.blocked_on,
                decided_at=self._now,
            )
        )

    def _launch(self, job: Job, part: Slice, overridden: Sequence[Reason]) -> None:
        resources = part.resources
        # The slots and the state change in one transaction: nobody else can take the last one.
        self._transaction.take_slots(job.id, resources)
        self._taken.update(resources)
        plan = plan_launch(part, job.satisfied_at)
        self._note(
            job,
            EntryKind.LAUNCH,
            data={
                "partitions": list(plan.partitions),
                "overridden": [str(reason) for reason in overridden],
            },
        )
        self._jobs.append(
            move(
                job,
                JobState.PENDING_LAUNCH,
                reason=None,
                next_check_at=None,
                blocked_on=None,
                launch=plan,
                resources=resources,
                decided_at=self._now,
            )
        )
        self.launched.append(job.id)

    def discard(self, job: Job, reason: Reason) -> None:
        """Give a job up, for a reason."""
        self._note(job, EntryKind.DISCARDED, reason)
        self._jobs.append(discarded(job, reason, self._now))
        self.discarded.append(job.id)

    def postpone(self, job: Job, error: Exception) -> None:
        """Look at a job again later whose decision raised an error, and keep the line that says so."""
        line = f"{job.schedule}: {type(error).__name__}: {error}"
        self._note(job, EntryKind.WAITING, job.reason, {"error": line})
        self._jobs.append(
            msgspec.structs.replace(job, next_check_at=self._now + RETRY_AFTER_ERROR, detail=line)
        )
        self.errors.append(line)

    def _note(
        self, job: Job, kind: EntryKind, reason: Reason | None = None, data: dict[str, Any] | None = None
    ) -> None:
        self._entries.append(
            Entry(at=self._now, kind=kind, schedule=job.schedule, job=job.id, reason=reason, data=data or {})
        )


def discarded(job: Job, reason: Reason, now: datetime) -> Job:
    """The job, given up."""
    return move(
        job,
        JobState.DISCARDED,
        reason=reason,
        next_check_at=None,
        blocked_on=None,
        decided_at=now,
        ended_at=now,
    )
