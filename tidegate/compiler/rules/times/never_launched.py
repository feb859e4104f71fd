"""The rule that the windows of a schedule leave it an instant to launch.

A schedule never launches if its windows are never open together, or if every fire of its crons is outside
them: a `skip` window discards the job at once, and a waiting job is discarded by its timeout. The check is
a proof over the minutes of a week in all years (`domain.time.week_minutes`). Where another constraint may
delay a launch into the window, it is a warning.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import product

from tidegate.compiler.diagnostics.diagnostic import Place, Related
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.duration import duration_text
from tidegate.domain.model import Composite, Schedule, Trigger, WallClock, WindowConstraint, leaves
from tidegate.domain.time.week_minutes import (
    EVERY_MINUTE,
    fire_minutes,
    later,
    offsets,
    spread,
    starts,
    window_minutes,
)
from tidegate.domain.wording import listed

MINUTE = timedelta(minutes=1)

ZONES_COMPARED = 4
"""With more zones, all combinations of their offsets are too many to try; then nothing is reported."""


class Minutes:
    """The minutes in UTC at which windows are open and crons fire, for one combination of offsets."""

    def __init__(self, offset: dict[str, int]) -> None:
        self._offset = offset

    def open(self, windows: tuple[WindowConstraint, ...]) -> int:
        """Return the minutes at which all windows may be open."""
        found = EVERY_MINUTE
        for window in windows:
            found &= later(window_minutes(window), -self._offset[window.timezone])
        return found


def check_windows(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Report a schedule that its windows never let launch."""
    windows = tuple(c.hours for c in schedule.constraints if c.hours is not None)
    if not windows or len({window.timezone for window in windows}) > ZONES_COMPARED:
        return
    at = next((window.at for window in reversed(windows) if window.at is not None), place)
    if not any(minutes.open(windows) for minutes in _combinations(windows)):
        _report_disjoint(schedule, windows, at, scope)
        return
    if schedule.timeout.after < _delay(schedule):
        # The rule of timeouts reports it.
        return
    crons = crons_alone(schedule.trigger)
    if crons:
        _check_fires(schedule, crons, windows, at, scope)
        return
    for member in _alternatives(schedule.trigger):
        crons = crons_alone(member)
        if crons:
            _check_fires(schedule, crons, windows, member.at or at, scope, alone=False)


def _report_disjoint(
    schedule: Schedule, windows: tuple[WindowConstraint, ...], at: Place, scope: Scope
) -> None:
    spans = listed([_span(window) for window in windows], "and")
    together = f"the windows of a schedule must be open at the same time, got {spans}"
    overlap = "let them overlap, or delete one; one window may wrap midnight"
    related = tuple(Related(at=w.at, note=f"{_span(w)} is here") for w in windows[:-1] if w.at is not None)
    if schedule.timeout.then == "run" and any(window.otherwise == "wait" for window in windows):
        scope.findings.add("L432", at, f"{together}, so only its timeout launches a job", overlap, related)
        return
    scope.findings.add("L431", at, f"{together}, which never happens", overlap, related)


def _check_fires(
    schedule: Schedule,
    crons: tuple[WallClock, ...],
    windows: tuple[WindowConstraint, ...],
    at: Place,
    scope: Scope,
    *,
    alone: bool = True,
) -> None:
    """Report crons whose fires never lead to a launch.

    Args:
        alone: whether the schedule fires by these crons only; else it is a warning.
    """
    waits = tuple(window for window in windows if window.otherwise == "wait")
    skips = tuple(window for window in windows if window.otherwise == "skip")
    delayed = any(
        c.otherwise == "wait" and c.hours is None and c.delayed is None for c in schedule.constraints
    )
    launches = _Launches(schedule, crons, waits, skips)
    if schedule.timeout.then == "run" and waits and not skips:
        return
    fires = listed([f'"{cron.cron}"' for cron in crons], "and")
    spans = listed([_span(window) for window in (skips or waits)], "and")
    if not launches.possible(delayed=True):
        if skips:
            got = f"a cron must fire inside the window {spans}, got {fires}, whose jobs are all discarded"
            hint = "choose a time inside the window, or write `otherwise: wait`"
        else:
            after = duration_text(schedule.timeout.after)
            got = f"the window {spans} must open before the timeout, got cron {fires} and {after}"
            hint = "write a longer `timeout`, choose a time inside the window, or `then: run`"
        scope.findings.add("L431" if alone else "L432", at, got, hint)
    elif skips and not launches.possible(delayed=False):
        scope.findings.add(
            "L431" if alone and not delayed else "L432",
            at,
            f"a job must become ready inside the window {spans}, got cron {fires}, whose jobs are all"
            f" discarded{' unless another constraint delays them into it' if delayed else ''}",
            "choose a time inside the window, or write `otherwise: wait`",
        )


class _Launches:
    """The minutes at which jobs of crons may be launched."""

    def __init__(
        self,
        schedule: Schedule,
        crons: tuple[WallClock, ...],
        waits: tuple[WindowConstraint, ...],
        skips: tuple[WindowConstraint, ...],
    ) -> None:
        self._fires = [(cron.timezone, fire_minutes(cron)) for cron in crons]
        self._waits = waits
        self._skips = skips
        self._delay = _delay(schedule) // MINUTE
        self._timeout = -(-schedule.timeout.after // MINUTE)
        self._overridden = schedule.timeout.then == "run"

    def possible(self, *, delayed: bool) -> bool:
        """Return whether a fire may be launched in some year.

        Args:
            delayed: whether other constraints may delay a launch up to the timeout.
        """
        at_once = not (delayed or self._waits or self._delay)
        return any(
            self._reached(later(fired, -offset), minutes, delayed=delayed)
            for zone, fired in self._fires
            for offset, minutes in self._combinations(zone, at_once=at_once)
        )

    def _reached(self, fired: int, minutes: Minutes, *, delayed: bool) -> int:
        ready, last = later(fired, self._delay), later(fired, self._timeout)
        waits, skips = minutes.open(self._waits), minutes.open(self._skips)
        found = last & skips if self._overridden and (delayed or self._waits) else 0
        if delayed:
            return found | (spread(ready, self._timeout - self._delay) & waits & skips)
        found |= ready & waits & skips
        for first, gap in starts(waits):
            reach = min(gap, self._timeout - self._delay)
            if skips >> first & 1 and spread(ready, reach) >> first & 1:
                found |= 1 << first
        return found

    def _combinations(self, zone: str, *, at_once: bool) -> Iterator[tuple[int, Minutes]]:
        """Yield the offsets of the cron's zone with those of the windows' zones.

        A launch at the instant of its fire sees one offset of each zone; between a fire and a later launch
        the clocks may change.
        """
        zones = sorted({window.timezone for window in (*self._waits, *self._skips)})
        for found in product(*(offsets(zone) for zone in zones)):
            known = dict(zip(zones, found, strict=True))
            own = known.get(zone) if at_once else None
            for offset in offsets(zone) if own is None else (own,):
                yield offset, Minutes(known)


def _combinations(windows: tuple[WindowConstraint, ...]) -> Iterator[Minutes]:
    zones = sorted({window.timezone for window in windows})
    # In one zone all windows move together, whatever its offset.
    choices: Callable[[str], tuple[int, ...]] = offsets if len(zones) > 1 else lambda _: (0,)
    for found in product(*(choices(zone) for zone in zones)):
        yield Minutes(dict(zip(zones, found, strict=True)))


def crons_alone(trigger: Trigger) -> tuple[WallClock, ...]:
    """Return the crons of a trigger whose jobs become ready at their fires; () for any other trigger."""
    if _waits(trigger):
        return ()
    clocks = [leaf.trigger.wall_clock for leaf in leaves(trigger)]
    return () if None in clocks else tuple(clock for clock in clocks if clock is not None)


def _alternatives(trigger: Trigger) -> tuple[Trigger, ...]:
    """Return the members of a trigger that each satisfy it alone."""
    if not isinstance(trigger, Composite) or not trigger.alternatives or trigger.quiet is not None:
        return ()
    return trigger.of


def _waits(trigger: Trigger) -> bool:
    if trigger.quiet is not None or trigger.wait_at_most is not None:
        return True
    return isinstance(trigger, Composite) and any(_waits(member) for member in trigger.of)


def _delay(schedule: Schedule) -> timedelta:
    """Return the time between a fire and the first instant at which every `delay` holds, at least."""
    delays = (c.delayed for c in schedule.constraints if c.otherwise == "wait")
    return max(
        (d.for_ for d in delays if d is not None and (d.from_ == "satisfied" or _one_cron(schedule))),
        default=timedelta(),
    )


def _one_cron(schedule: Schedule) -> bool:
    return not isinstance(schedule.trigger, Composite)


def _span(window: WindowConstraint) -> str:
    days = f" on {listed(window.days, 'and')}" if window.days else ""
    return f"{window.from_:%H:%M}-{window.to:%H:%M} {window.timezone}{days}"
