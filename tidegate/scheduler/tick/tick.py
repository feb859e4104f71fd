"""The tick: the shell around the pure core. It loads rows, lets the core decide, and writes.

    due fires become events -> events are routed to jobs -> due jobs are decided -> outbox

The engine's clock is the instant up to which everything is done. A tick replays every instant from
this clock to now in order: it routes the events of an instant, then decides the jobs that are due
at it, as of that instant. So the same inputs give the same decisions whether ticks run every second
or every ten minutes (docs/adr/0010-a-tick-replays-its-instants.md). A late event counts at the
clock's instant, since past decisions do not change. A scheduler that was away for longer than
`AWAY_AFTER` does not replay that time: it handles everything since then as one instant, and
`catch_up` says which fires still count.

A tick is one transaction: events, jobs, slots, journal, fire times and timers change together or
not at all. A crash before the commit leaves the old state, and the next tick does the same again;
a crash after it leaves PENDING_LAUNCH jobs, which `scheduler.launch.outbox` offers until a run is
observed. The cost of a tick depends on due rows and new events, not on the number of schedules.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.decision.constraints import COUNTING_RUNS
from tidegate.scheduler.decision.fires import after_fires, due_fires, postponed, programs_timed, with_timer
from tidegate.scheduler.decision.launch.order import LaunchOrderKey, launch_order_key
from tidegate.scheduler.decision.outcome import Decision, Wait
from tidegate.scheduler.decision.route import Router, leaf_at
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Event, EventKind, Subscription, event_facts
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import program_resource
from tidegate.scheduler.store.protocol import Reader, Store, Transaction
from tidegate.scheduler.tick.apply import Applier
from tidegate.scheduler.tick.due import MICROSECOND
from tidegate.scheduler.tick.generate import generate
from tidegate.scheduler.tick.load import load_apps, load_job_views
from tidegate.scheduler.tick.working_set import WorkingSet

CLOCK = "clock"
"""Name of the cursor that holds the engine's clock, in ISO 8601."""

AWAY_AFTER = timedelta(minutes=15)
"""After a longer pause the scheduler counts as having been away."""

CLOCK_KEPT_FOR = timedelta(seconds=60)
"""An idle tick writes nothing while the stored clock is younger: replaying idle time has no effect."""

SETS_PER_TICK = 20
"""The most working sets of one transaction; the next tick continues with the rest."""


class TickReport(Value, kw_only=True):
    """The result of one tick: counts, ids of launched and discarded jobs, and errors."""

    fired: int = 0
    routed: int = 0
    decided: int = 0
    launched: tuple[str, ...] = ()
    discarded: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    def plus(self, other: "TickReport") -> "TickReport":
        """Return the sum of both reports."""
        return TickReport(
            **{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__}
        )


def tick(store: Store, now: datetime) -> TickReport:
    """Bring the store up to `now`.

    Any number of schedulers may tick on the same store: transactions are serialised.
    """
    with store.transaction() as transaction:
        return advance_to(transaction, now)


def advance_to(transaction: Transaction, now: datetime) -> TickReport:
    """Bring the store up to `now` inside the caller's transaction."""
    clock = engine_clock(transaction)
    if clock is None or abs(now - clock) > AWAY_AFTER:
        return _replay(transaction, now, now)
    return _replay(transaction, clock, max(clock, now))


def advance_before(transaction: Transaction, now: datetime) -> None:
    """Replay all instants before `now`, so that a command or an observation at `now` finds them done.

    Does nothing while the scheduler is away: it handles everything when it returns.
    """
    clock = engine_clock(transaction)
    if clock is not None and clock < now <= clock + AWAY_AFTER:
        _replay(transaction, clock, now - MICROSECOND)
        # Exact, not only once a minute: the caller may make older rows due, which must not count earlier.
        transaction.set_cursor(CLOCK, (now - MICROSECOND).isoformat())


def is_away(reader: Reader, now: datetime) -> bool:
    """Return whether the scheduler has done nothing for so long that it does not replay that time."""
    clock = engine_clock(reader)
    return clock is None or now - clock > AWAY_AFTER


def route_before(transaction: Transaction, now: datetime, refs: Collection[str]) -> None:
    """Let schedules take what is theirs before they change at `now`, also while the scheduler is away.

    While it is away their missed fires, and all events that have arrived, are routed by the schedules as they
    are; jobs are decided when it returns. So the change says what becomes of these events.

    Args:
        refs: the schedules that change ("app/name").
    """
    advance_before(transaction, now)
    if is_away(transaction, now):
        before = now - MICROSECOND
        work = WorkingSet(transaction, before, before)
        _take_in(work, before, refs)
        work.flush()


def engine_clock(reader: Reader) -> datetime | None:
    """Return the instant up to which the engine has done everything; None if it has never run."""
    stored = reader.cursor(CLOCK)
    return None if stored is None else datetime.fromisoformat(stored)


def effective_at(reader: Reader, at: datetime, now: datetime) -> datetime:
    """Return the instant at which something that happened at `at` and is observed at `now` takes effect.

    That is `now` if the scheduler was away; else `at`, but not before the engine's clock.
    """
    clock = engine_clock(reader)
    if clock is None or abs(now - clock) > AWAY_AFTER:
        return now
    return max(clock, min(at, now))


def _replay(transaction: Transaction, clock: datetime, until: datetime) -> TickReport:
    report, start = TickReport(), clock
    for _ in range(SETS_PER_TICK):
        work = WorkingSet(transaction, clock, until)
        while (instant := work.next_instant()) is not None:
            report = report.plus(_at(work, instant))
        work.flush()
        clock = work.until
        if clock >= until:
            break
    stored = engine_clock(transaction)
    if report != TickReport() or stored is None or abs(clock - stored) > CLOCK_KEPT_FOR or clock < start:
        transaction.set_cursor(CLOCK, clock.isoformat())
    return report


def _at(work: WorkingSet, instant: datetime) -> TickReport:
    """Replay one instant: route all its events, then decide its due jobs (rule 14)."""
    fired, routed = _take_in(work, instant)
    return msgspec.structs.replace(_decide(work, instant), fired=fired, routed=routed)


def _take_in(work: WorkingSet, instant: datetime, refs: Collection[str] | None = None) -> tuple[int, int]:
    """Route all events of an instant; return the numbers of fires and of events.

    Args:
        refs: the schedules whose crons and timers fire; None for all.
    """
    events = work.take_events(instant)
    _start_timers(work, events, instant)
    fired = _fire(work, instant, refs)
    events = sorted((*events, *work.take_events(instant)), key=lambda each: (each.arrived, each.id))
    _route(work, events, instant)
    return fired, len(events)


# --- timers and fires -------------------------------------------------------------------


def _start_timers(work: WorkingSet, events: Sequence[Event], instant: datetime) -> None:
    """Start the timers that count from these events, before due timers are taken."""
    listeners = work.listeners({event.key for event in events})
    for event in events:
        for listener in listeners[event.key]:
            state = work.schedule(listener.schedule)
            if event.origin is not None or not _starts_timer(event, listener, state):
                continue
            if not (state.active or state.holding):
                continue
            work.put_schedule(with_timer(state, listener.leaf, event))
            work.add_journal(
                [
                    Entry(
                        at=instant,
                        kind=EntryKind.CLOCK,
                        schedule=state.ref,
                        event=event.id,
                        data={"leaf": listener.leaf, "from": event.arrived.isoformat()},
                    )
                ]
            )


def _starts_timer(event: Event, listener: Subscription, state: ScheduleState) -> bool:
    """Return whether an event only starts the timer of a leaf."""
    if event.kind is EventKind.FIRE:
        return False
    leaf = leaf_at(state.spec, listener.leaf)
    return leaf is not None and leaf.timer is not None


def _fire(work: WorkingSet, instant: datetime, refs: Collection[str] | None) -> int:
    """Turn every due fire of the schedules into an event, and every due day of a task into its instances.

    Returns:
        The number of fires and of tasks.
    """
    due = [state for state in work.take_schedules(instant) if refs is None or state.ref in refs]
    tasks = [state for state in due if state.spec.task is not None]
    due = [state for state in due if state.spec.task is None]
    generated = generate(work, tasks, instant)
    timed = {program for state in due for program in programs_timed(state)}
    slots = work.slots([program_resource(program) for program in timed])
    running = {program for program in timed if slots[program_resource(program)]}
    fires = [event for state in due for event in due_fires(state, instant, running)]
    work.add_events(fires)
    for state in due:
        work.put_schedule(after_fires(state, instant))
        work.add_journal(
            Entry(
                at=instant,
                kind=EntryKind.CLOCK,
                schedule=state.ref,
                data={"leaf": path, "from": instant.isoformat()},
            )
            for path in postponed(state, instant, running)
        )
    return len(fires) + generated


# --- events -----------------------------------------------------------------------------


def _route(work: WorkingSet, events: Sequence[Event], instant: datetime) -> None:
    """Deliver events to the jobs of all schedules that listen to them."""
    if not events:
        return
    listeners = work.listeners({event.key for event in events})
    refs = {listener.schedule for each in listeners.values() for listener in each}
    states = {ref: work.schedule(ref) for ref in refs}
    apps = load_apps(work, states.values())
    router = Router(work.waiting_jobs(refs), lambda job: work.deliveries([job])[job])
    for event in events:
        for listener in listeners[event.key]:
            state = states[listener.schedule]
            if event.only_for not in (None, listener.schedule):
                continue
            if not _starts_timer(event, listener, state):
                router.route(event, listener, state, apps[state.app], instant)
    work.put_jobs(router.changed.values())
    work.add_deliveries(router.delivered)
    work.add_journal(_routing_entries(router, instant))


def _routing_entries(router: Router, now: datetime) -> list[Entry]:
    delivered = [
        Entry(
            at=now,
            kind=EntryKind.EVENT if delivery.job is not None else EntryKind.EVENT_DISCARDED,
            schedule=delivery.schedule,
            job=delivery.job,
            event=delivery.event.id,
            reason=delivery.reason,
            data={"leaf": delivery.leaf, **event_facts(delivery.event)},
        )
        for delivery in router.delivered
    ]
    return router.opened + delivered


# --- jobs -------------------------------------------------------------------------------


def _decide(work: WorkingSet, instant: datetime) -> TickReport:
    """Decide every due job in launch order, and take the slots of those that launch."""
    due = work.take_jobs(instant)
    if not due:
        return TickReport()
    views, orphans = load_job_views(work, due, instant)
    applier = Applier(work, instant)
    for job in orphans:
        applier.discard(job, Reason.D_DELETED)
    decisions = {view.job.id: applier.judge(view) for view in views if view.job.waiting}
    for view in sorted(views, key=lambda view: _launch_order(view.job, decisions.get(view.job.id))):
        decision = decisions.get(view.job.id)
        if applier.took_slots and (view.job.gave_back or (decision is not None and _may_change(decision))):
            # The jobs before it have taken slots: decide again.
            (view,), _ = load_job_views(work, [view.job], instant)
            decision = None if decision is None else applier.judge(view)
        if view.job.gave_back:
            applier.decide_again(view)
        elif decision is not None:
            applier.apply(view, decision)
    applier.wake_consumers()
    return TickReport(
        decided=len(due),
        launched=tuple(applier.launched),
        discarded=tuple(applier.discarded),
        errors=tuple(applier.errors),
    )


def _launch_order(job: Job, decision: Decision | None) -> LaunchOrderKey:
    return launch_order_key(job, job.satisfied_at if decision is None else decision.satisfied_at)


def _may_change(decision: Decision) -> bool:
    """Return whether launches at the same instant may change a decision.

    A job that waits goes on waiting, but perhaps for a constraint that comes earlier in the order of checks.
    """
    if decision.satisfied_at is None:
        return False
    return not isinstance(decision.outcome, Wait) or any(
        verdict.met and verdict.kind in COUNTING_RUNS for verdict in decision.constraints
    )
