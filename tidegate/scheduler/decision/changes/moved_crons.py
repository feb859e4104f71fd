"""Moved crons: which fires happen, and which do not, when the zone of a cron changes.

A fire at a fixed time of the day is meant by its name, the time that the pattern names on the wall clock, as
is the scheduled time of a task:

    it has happened in the former zone                 ──► it does not happen again in the new one
    it has not, and its time is over in the new zone   ──► it happens at once
    it has not, and its time is to come                ──► it happens then

So no date is left out, and none is written twice. A pattern of hours fires in every real hour, whatever the
zone. A deployment carries it out, and `plan` says it. Pure.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

import msgspec

from tidegate.domain.model import WallClock
from tidegate.domain.time import fire_times
from tidegate.domain.value import Value
from tidegate.scheduler.decision.fires import counts_after, cron_leaves, fire_event
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Event

ZONES_APART = timedelta(hours=27)
"""More than two zones are apart, with a clock change between them."""

MICROSECOND = timedelta(microseconds=1)


class MovedCron(Value, kw_only=True):
    """What the change of a zone does to the fires of a cron.

    Attributes:
        leaf: its path in the trigger.
        at_once: the fires whose times are over in the new zone.
        skipped: those to come that have happened in the former one.
    """

    leaf: str
    cron: WallClock
    at_once: tuple[datetime, ...] = ()
    skipped: tuple[datetime, ...] = ()

    def events(self, schedule: str, now: datetime) -> Iterator[Event]:
        """Yield the events of the fires that happen at once.

        An earlier fire, in the former zone, may have been at the same instant, so the name tells them apart.
        """
        for at, name in zip(self.at_once, names_of(self.cron, self.at_once), strict=True):
            event = fire_event(schedule, self.leaf, at, day=fire_times.day_of(self.cron, at))
            yield msgspec.structs.replace(event, id=f"{event.id} {name}", arrived=now)


def names_of(cron: WallClock, fires: tuple[datetime, ...]) -> tuple[str, ...]:
    """Return the names of fires for people."""
    return tuple(f"{fire_times.wall_of(cron, at):%Y-%m-%d %H:%M} {cron.timezone}" for at in fires)


def moved_crons(before: ScheduleState, after: ScheduleState, now: datetime) -> tuple[MovedCron, ...]:
    """Return what becomes of the fires of the crons that a schedule keeps, by leaf.

    Args:
        before: all that was due before now is done.
    """
    if not (before.fires and after.fires):
        return ()
    former = {leaf.path: (leaf, cron) for leaf, cron in cron_leaves(before)}
    found: list[MovedCron] = []
    for leaf, cron in cron_leaves(after):
        was = former.get(leaf.path)
        if was is None or _pattern(was[1]) != _pattern(cron):
            continue
        since = counts_after(before, was[0], now - MICROSECOND)
        if was[1].timezone == cron.timezone:
            # Some of its fires may still be ahead that have happened before an earlier change.
            skipped = tuple(fire_times.fires(cron, now - MICROSECOND, since)) if since >= now else ()
            found.append(MovedCron(leaf=leaf.path, cron=cron, skipped=skipped))
        elif fire_times.is_fixed(cron):
            found.append(_moved(leaf.path, was[1], cron, since, now))
    return tuple(each for each in found if each.at_once or each.skipped)


def _moved(leaf: str, was: WallClock, cron: WallClock, since: datetime, now: datetime) -> MovedCron:
    following = fire_times.next_fire(was, since)
    if following is None:
        return MovedCron(leaf=leaf, cron=cron)
    name = fire_times.wall_of(was, following)
    before = now - MICROSECOND
    over = fire_times.fires(cron, now - ZONES_APART, before)
    ahead = fire_times.fires(cron, before, now + ZONES_APART)
    return MovedCron(
        leaf=leaf,
        cron=cron,
        at_once=tuple(at for at in over if fire_times.wall_of(cron, at) >= name),
        skipped=tuple(at for at in ahead if fire_times.wall_of(cron, at) < name),
    )


def _pattern(cron: WallClock) -> tuple[object, ...]:
    return cron.cron, cron.calendar, cron.nth_business_day
