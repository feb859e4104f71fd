"""Fires: which instants of a schedule's crons are due, and what a restart makes up for.

A fire becomes an event with an id made from schedule, leaf and instant, so it happens once
whoever notices it first, the dispatcher or a Dagster schedule. A fire that is noticed late was
missed; `catch_up` decides whether it still counts (DESIGN rules 9 and 19). One that does not
is recorded as expired, since nothing is dropped silently.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

from compiler.cron import parse
from compiler.model import AnyTrigger, CronTrigger, Leaf, Trigger, leaves
from scheduler.deployed import ScheduleState
from scheduler.event import Event, EventKind, fire_event_key
from scheduler.verdict import earliest

MISSED_AFTER = timedelta(seconds=120)
"""A fire noticed within this time is on time: it covers the tick's interval and a busy daemon."""

CATCH_UP_FIRES_MAX = 1000
"""The most fires of one cron that one tick makes up for or records; of more, the newest count.
A cron of every minute reaches it after 16 hours of downtime."""


def cron_leaves(state: ScheduleState) -> Iterator[tuple[Leaf, CronTrigger]]:
    """The crons in a schedule's trigger."""
    for leaf in leaves(state.spec.trigger):
        if isinstance(leaf.trigger, CronTrigger):
            yield leaf, leaf.trigger


def next_fire(state: ScheduleState, after: datetime) -> datetime | None:
    """The earliest fire of any of the schedule's crons after an instant; None without a cron."""
    return earliest(parse(cron.cron).next_fire(after, cron.timezone) for _, cron in cron_leaves(state))


def due_fires(state: ScheduleState, now: datetime) -> tuple[Event, ...]:
    """The fires of an active schedule that have come due since the last ones, oldest first."""
    after = state.fires_after or now
    found = [event for leaf, cron in cron_leaves(state) for event in _of_cron(state, leaf, cron, after, now)]
    return tuple(sorted(found, key=lambda event: (event.time, event.id)))


def suffices(trigger: Trigger, path: str) -> bool:
    """Whether the leaf at a path satisfies the whole trigger when it holds: no `all` stands above it."""
    for step in path.split(".") if path else ():
        if not isinstance(trigger, AnyTrigger):
            return False
        trigger = trigger.of[int(step)]
    return True


def fire_event(
    schedule: str, leaf: str, at: datetime, *, own_job: bool = False, expired: bool = False
) -> Event:
    """The event of one fire.

    Its arrival is the instant of the cron, not the moment it was noticed, so that whatever is
    counted from the trigger's satisfaction does not depend on how often the scheduler ticks.
    """
    return Event(
        id=f"{fire_event_key(schedule, leaf)}@{at.isoformat()}",
        kind=EventKind.FIRE,
        key=fire_event_key(schedule, leaf),
        time=at,
        arrived=at,
        scheduled_for=at,
        own_job=own_job,
        expired=expired,
    )


def _of_cron(
    state: ScheduleState, leaf: Leaf, cron: CronTrigger, after: datetime, now: datetime
) -> Iterator[Event]:
    ref = state.ref
    # Inside `all` a fire waits for the other members, which could never find a job of its own.
    alone = suffices(state.spec.trigger, leaf.path)
    instants = newest_fires(cron, after, now)
    for instant in instants:
        missed = now - instant > MISSED_AFTER
        too_old = cron.catch_up_at_most is not None and now - instant > cron.catch_up_at_most
        superseded = cron.catch_up == "latest" and instant != instants[-1]
        expired = missed and (too_old or superseded or cron.catch_up == "none")
        own_job = missed and cron.catch_up == "all" and not expired and alone
        yield fire_event(ref, leaf.path, instant, own_job=own_job, expired=expired)


def newest_fires(cron: CronTrigger, after: datetime, until: datetime) -> list[datetime]:
    """The fires in (after, until], oldest first, at most the newest `CATCH_UP_FIRES_MAX`."""
    parsed = parse(cron.cron)
    found = list(islice(parsed.fires(after, until, cron.timezone), CATCH_UP_FIRES_MAX + 1))
    if len(found) <= CATCH_UP_FIRES_MAX:
        return found
    newest: list[datetime] = []
    instant = parsed.previous_fire(until, cron.timezone)
    while len(newest) < CATCH_UP_FIRES_MAX and instant > after:
        newest.append(instant)
        instant = parsed.previous_fire(instant - timedelta(microseconds=1), cron.timezone)
    return newest[::-1]
