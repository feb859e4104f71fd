"""Ingest: before the jobs of an instant are decided, timers and crons fire, and events are routed."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidegate.scheduler.decision.fires import after_fires, due_fires, postponed, programs_timed, with_timer
from tidegate.scheduler.decision.route import Router, joins_any_key, leaf_at
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import (
    NO_SCHEDULE,
    PARTITION_KEY,
    Delivery,
    Event,
    EventKind,
    Subscription,
    event_facts,
)
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.run import program_resource
from tidegate.scheduler.tick.generate import generate
from tidegate.scheduler.tick.landed import Again, Landed, land
from tidegate.scheduler.tick.load import load_apps
from tidegate.scheduler.tick.missed import note_missed
from tidegate.scheduler.tick.unfinished import Going
from tidegate.scheduler.tick.working_set import WorkingSet


class Aside:
    """What an instant leaves to others: to maintenance, to the deadlines of datasets, to repairs and reruns.

    Attributes:
        operations: waiting ones that are due.
        repaired: jobs that await a further attempt, each with the launched one (id) that repairs it.
        again: finished instances of sources that events report, before the jobs of the instant.
        written: when each dataset was written last.
        landed: the events of partitions.
        left: what is left of the decisions to the next transaction.
    """

    def __init__(self) -> None:
        self.operations: list[Job] = []
        self.repaired: list[tuple[Job, str]] = []
        self.again: list[Again] = []
        self.written: dict[str, datetime] = {}
        self.landed: list[Event] = []
        self.left: Going | None = None

    @property
    def breaks(self) -> bool:
        """Whether a working set ends with the instant, as rows change that it may have read."""
        return bool(self.operations or self.repaired or self.again)

    def note(self, events: Sequence[Event]) -> None:
        """Note which datasets were written."""
        for event in events:
            # A partition whose checks have passed was written when it was materialised.
            if event.partition is not None and event.key.startswith(PARTITION_KEY):
                dataset = event.key.removeprefix(PARTITION_KEY)
                self.landed.append(event)
                self.written[dataset] = max(event.arrived, self.written.get(dataset, event.arrived))


def ingest(
    work: WorkingSet, instant: datetime, aside: Aside, refs: Collection[str] | None = None
) -> tuple[int, int]:
    """Route all events of an instant; return the numbers of fires and of events.

    Args:
        aside: takes the datasets that were written, and the finished instances that are reported.
        refs: the schedules whose crons and timers fire; None for all.
    """
    events = work.take_events(instant)
    _start_timers(work, events, instant)
    fired = _fire(work, instant, refs)
    events = sorted((*events, *work.take_events(instant)), key=lambda each: (each.arrived, each.id))
    aside.again += _route(work, events, instant)
    aside.note(events)
    return fired, len(events)


# --- timers and fires -------------------------------------------------------------------


def _start_timers(work: WorkingSet, events: Sequence[Event], instant: datetime) -> None:
    """Start the timers that count from these events, before due timers are taken."""
    listeners = work.listeners({event.key for event in events})
    for event in events:
        for listener in listeners[event.key]:
            state = work.schedule(listener.schedule)
            if event.origin is not None or event.only_for == NO_SCHEDULE:
                continue
            if not _starts_timer(event, listener, state):
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
    """Turn every due fire of the schedules into an event, and due days of the first tasks into instances.

    Returns:
        The number of fires and of tasks.
    """
    due = [state for state in work.take_schedules(instant) if refs is None or state.ref in refs]
    generated = generate(work, instant)
    timed = {program for state in due for program in programs_timed(state)}
    slots = work.slots([program_resource(program) for program in timed])
    running = {program for program in timed if slots[program_resource(program)]}
    found = {state.ref: due_fires(state, instant, running) for state in due}
    fires = [event for each in found.values() for event in each.events]
    work.add_events(fires)
    note_missed(work, {ref: each.rest for ref, each in found.items()})
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


def _route(work: WorkingSet, events: Sequence[Event], instant: datetime) -> list[Again]:
    """Deliver events to the jobs of all schedules and sources that listen to them; see `land`."""
    if not events:
        return []
    listeners = work.listeners({event.key for event in events})
    refs = {listener.schedule for each in listeners.values() for listener in each}
    states = {ref: work.schedule(ref) for ref in refs}
    apps = load_apps(work, states.values())
    work.open_jobs.prefetch(events, listeners, states, apps)
    work.last.prefetch(((event, each) for event in events for each in listeners[event.key]), states, apps)
    whole = {
        each.schedule
        for event in events
        for each in listeners[event.key]
        if joins_any_key(event, states[each.schedule].spec)
    }
    router = Router(
        work.open_jobs.of,
        sorted(whole),
        lambda view, added: work.held.view_with(view, added, instant),
        work.last.former(states),
    )
    landed: list[Landed] = []
    for event in events:
        for listener in listeners[event.key]:
            state = states[listener.schedule]
            # The row of an app may be damaged.
            if state.app not in apps or event.only_for not in (None, listener.schedule):
                continue
            if state.spec.task is not None:
                landed.append((event, listener))
            elif not _starts_timer(event, listener, state):
                router.route(event, listener, state, apps[state.app], instant)
    work.put_jobs(router.changed.values())
    work.add_deliveries(router.delivered)
    work.add_journal(_routing_entries(router, instant))
    return land(work, landed, states, apps, instant) if landed else []


def _routing_entries(router: Router, now: datetime) -> list[Entry]:
    delivered = [
        Entry(
            at=now,
            kind=EntryKind.EVENT if delivery.job is not None else EntryKind.EVENT_DISCARDED,
            schedule=delivery.schedule,
            job=delivery.job,
            event=delivery.event.id,
            reason=delivery.reason,
            data={
                "leaf": delivery.leaf,
                **event_facts(delivery.event),
                **_date(router, delivery.event),
                **_repairing(router, delivery),
            },
        )
        for delivery in router.delivered
    ]
    return router.opened + delivered


def _repairing(router: Router, delivery: Delivery) -> dict[str, Any]:
    """Return what an event has made its job a repair of."""
    found = router.repairing.get((delivery.event.id, delivery.job or ""))
    return {} if found is None else {"repairs": msgspec.to_builtins(found)}


def _date(router: Router, event: Event) -> dict[str, str]:
    """Return the date that a fire gave to its job."""
    return {"date": router.dated[event.id]} if event.id in router.dated else {}
