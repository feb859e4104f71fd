"""Fires: the due instants of a schedule's crons and timers, and which missed fires still count.

A fire becomes an event with an id made from schedule, leaf and instant, so it happens once, whether
the dispatcher or a Dagster schedule notices it first. A fire that is noticed late was missed;
`catch_up` decides whether it still counts (rules 9 and 19). One that does not count is recorded as
expired, since no event is dropped silently.

An `elapsed` leaf has a timer, which fires once the time has passed since its start. A timer since the
last run starts again when it fires, so that it fires again even if its job was discarded; a
timer since the last event stays stopped until the next event (rule 21). A timer that ends while its
program runs does not fire: it starts again, and once more at the end of the run.
"""

from collections.abc import Collection, Iterator
from datetime import date, datetime, timedelta
from itertools import islice

import msgspec

from tidegate.domain.model import Leaf, WallClock, leaves, satisfies_alone
from tidegate.domain.part_name import whole_name
from tidegate.domain.time import fire_times
from tidegate.domain.value import Value
from tidegate.scheduler.decision.missed import JOBS_PER_TICK, Expired, Span, judge_fires
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Event, EventKind, fire_event_key
from tidegate.scheduler.model.verdict import earliest


def cron_leaves(state: ScheduleState) -> Iterator[tuple[Leaf, WallClock]]:
    """Return the leaves of a schedule's trigger that fire at wall-clock times, each with its times."""
    for leaf in leaves(state.spec.trigger):
        if leaf.trigger.wall_clock is not None:
            yield leaf, leaf.trigger.wall_clock


def timer_leaves(state: ScheduleState) -> Iterator[tuple[Leaf, timedelta]]:
    """Return the leaves of a schedule's trigger that have a timer, each with its length."""
    for leaf in leaves(state.spec.trigger):
        if leaf.trigger.timer is not None:
            yield leaf, leaf.trigger.timer


def starts_again(state: ScheduleState, leaf: Leaf) -> bool:
    """Return whether the timer of a leaf starts again when it fires: if it counts from runs."""
    return leaf.trigger.runs_heard(state.spec.program) is not None


def next_fire(state: ScheduleState, after: datetime) -> datetime | None:
    """Return the earliest fire of any of the schedule's crons and timers after an instant.

    An expired timer is due at once. None without a fire within the horizon of `domain.time.fire_times`.
    """
    crons = [
        fire_times.next_fire(cron, counts_after(state, leaf, after)) for leaf, cron in cron_leaves(state)
    ]
    clocks = [_runs_out(state, leaf, length) for leaf, length in timer_leaves(state)]
    return earliest((*crons, *clocks))


def counts_after(state: ScheduleState, leaf: Leaf, after: datetime) -> datetime:
    """Return the instant after which the fires of a cron count, of those after another one.

    Those up to then have happened in another zone (`decision.changes.moved_crons`).
    """
    return max(after, state.clocks.get(leaf.path, after))


def programs_timed(state: ScheduleState) -> set[str]:
    """Return the programs ("app/program") from whose runs a timer of the schedule counts."""
    timed = (program_timed(state, leaf) for leaf, _ in timer_leaves(state))
    return {program for program in timed if program is not None}


def program_timed(state: ScheduleState, leaf: Leaf) -> str | None:
    """Return the program ("app/program") from whose runs the timer of a leaf counts."""
    runs = leaf.trigger.runs_heard(state.spec.program)
    return None if runs is None else whole_name(state.app, runs[0])


class DueFires(Value, kw_only=True):
    """The fires of a schedule that have become due.

    Attributes:
        events: the oldest first.
        rest: of leaves, by path, the missed fires that get jobs at the next ticks.
    """

    events: tuple[Event, ...]
    rest: dict[str, Span]


def due_fires(state: ScheduleState, now: datetime, running: Collection[str] = frozenset()) -> DueFires:
    """Return the fires of a schedule that have become due since the last ones.

    Args:
        running: the programs ("app/program") that have an active run.
    """
    found: list[Event] = []
    rest: dict[str, Span] = {}
    for leaf, cron in cron_leaves(state):
        judged = judge_fires(cron, counts_after(state, leaf, state.fires_after or now), now)
        found += [_cron_event(state.ref, leaf.path, cron, instant) for instant in judged.joining]
        if judged.expired is not None:
            found.append(_expired_event(state.ref, leaf.path, cron, judged.expired))
        if judged.own is not None:
            events, left = caught_up(state, leaf, cron, judged.own)
            found += events
            rest |= {} if left is None else {leaf.path: left}
    for leaf, length in timer_leaves(state):
        due = _runs_out(state, leaf, length)
        if due is not None and due <= now and program_timed(state, leaf) not in running:
            found.append(fire_event(state.ref, leaf.path, due, scheduled=False))
    return DueFires(events=tuple(sorted(found, key=lambda event: (event.time, event.id))), rest=rest)


def caught_up(
    state: ScheduleState, leaf: Leaf, cron: WallClock, own: Span
) -> tuple[list[Event], Span | None]:
    """Return the events of the first missed fires of a span, and what is left of it for the next tick."""
    # Inside `all` a fire waits for the other members, whose events could not join its own job.
    alone = satisfies_alone(state.spec.trigger, leaf.path)
    fires = list(islice(fire_times.fires(cron, own.after, own.until), JOBS_PER_TICK))
    left = Span(after=fires[-1], until=own.until) if len(fires) == JOBS_PER_TICK else None
    events = [_cron_event(state.ref, leaf.path, cron, instant, own_job=alone) for instant in fires]
    return events, left if left is not None and left.after < left.until else None


def after_fires(state: ScheduleState, now: datetime) -> ScheduleState:
    """Return the schedule after its due fires became events, with its next fire and restarted timers."""
    clocks = dict(state.clocks)
    for leaf, length in timer_leaves(state):
        due = _runs_out(state, leaf, length)
        if due is not None and due <= now:
            del clocks[leaf.path]
            if starts_again(state, leaf):
                clocks[leaf.path] = now
    moved = msgspec.structs.replace(state, fires_after=now, clocks=clocks)
    return msgspec.structs.replace(moved, next_fire_at=next_fire(moved, now))


def postponed(state: ScheduleState, now: datetime, running: Collection[str]) -> tuple[str, ...]:
    """Return the paths of the timers that end by `now`, and start again instead of firing."""
    return tuple(
        leaf.path
        for leaf, length in timer_leaves(state)
        if program_timed(state, leaf) in running
        and (due := _runs_out(state, leaf, length)) is not None
        and due <= now
    )


def with_timer(state: ScheduleState, path: str, event: Event) -> ScheduleState:
    """Return the schedule with the timer of one leaf started by an event."""
    before = state.clocks.get(path)
    start = event.arrived if before is None else max(before, event.arrived)
    moved = msgspec.structs.replace(state, clocks={**state.clocks, path: start})
    after = state.fires_after or event.arrived
    return msgspec.structs.replace(moved, next_fire_at=next_fire(moved, after))


def _runs_out(state: ScheduleState, leaf: Leaf, length: timedelta) -> datetime | None:
    """Return when the timer of a leaf fires; not before its schedule became active."""
    start = state.clocks.get(leaf.path)
    if start is None:
        return None
    due = start + length
    return due if state.active_since is None else max(due, state.active_since)


def fire_event(
    schedule: str,
    leaf: str,
    at: datetime,
    *,
    own_job: bool = False,
    expired: bool = False,
    scheduled: bool = True,
    day: date | None = None,
) -> Event:
    """Return the event of one fire.

    Its arrival is the instant of the fire, not the moment it was noticed, so that times counted
    from the satisfied trigger do not depend on how often the scheduler ticks.

    Args:
        scheduled: whether it is the fire of a cron, from which a business date can be counted.
        day: to which the fire of a cron belongs.
    """
    return Event(
        id=f"{fire_event_key(schedule, leaf)}@{at.isoformat()}",
        kind=EventKind.FIRE,
        key=fire_event_key(schedule, leaf),
        time=at,
        arrived=at,
        scheduled_for=at if scheduled else None,
        day=None if day is None else day.isoformat(),
        own_job=own_job,
        expired=expired,
    )


def _cron_event(
    schedule: str, leaf: str, cron: WallClock, at: datetime, *, own_job: bool = False, expired: bool = False
) -> Event:
    day = fire_times.day_of(cron, at)
    return fire_event(schedule, leaf, at, own_job=own_job, expired=expired, day=day)


def _expired_event(schedule: str, leaf: str, cron: WallClock, expired: Expired) -> Event:
    """Return the one event of missed fires that do not count any more."""
    event = _cron_event(schedule, leaf, cron, expired.last, expired=True)
    if expired.number == 1:
        return event
    return msgspec.structs.replace(
        event,
        id=f"{event.key}@{expired.first.isoformat()}..{expired.last.isoformat()}",
        first_at=expired.first,
        number=expired.number,
        detail=expired.why,
    )
