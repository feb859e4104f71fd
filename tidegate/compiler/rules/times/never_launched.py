"""The rule that the windows of a schedule leave it an instant to launch.

    fire ──► ready, after each `delay` ──► inside all `skip` windows? ──► once all `wait` windows are open
                                            else discarded at once         else discarded by the timeout

A schedule never launches if its windows are never open together, or if no fire of its crons gets through.
The check is a proof over the minutes of a week in all years (`domain.time.week_minutes`). Where another
constraint may delay a launch into the window, it is a warning.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import product

from tidegate.compiler.diagnostics.diagnostic import Place, Related
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.duration import duration_text
from tidegate.domain.model import (
    Composite,
    Constraint,
    Schedule,
    Trigger,
    WallClock,
    WindowConstraint,
    leaves,
)
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

Windows = Sequence[WindowConstraint]


def check_windows(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Report a schedule that its windows never let launch."""
    windows = tuple(c.hours for c in schedule.constraints if c.hours is not None)
    if not windows or len({window.timezone for window in windows}) > ZONES_COMPARED:
        return
    at = next((window.at for window in reversed(windows) if window.at is not None), place)
    trigger, crons = schedule.trigger, crons_alone(schedule.trigger)
    if not any(_open(windows, of) for of in _offsets(windows)):
        _report_disjoint(schedule, windows, at, scope)
    elif schedule.timeout.after < _delay(schedule):
        pass  # the rule of timeouts reports it
    elif crons:
        _check_fires(schedule, crons, windows, at, scope)
    elif isinstance(trigger, Composite) and trigger.alternatives and trigger.quiet is None:
        # Each member satisfies it alone, so that the others may launch: a warning.
        for member in trigger.of:
            _check_fires(schedule, crons_alone(member), windows, member.at or at, scope, alone=False)


def _report_disjoint(schedule: Schedule, windows: Windows, at: Place, scope: Scope) -> None:
    together = f"the windows of a schedule must be open at the same time, got {_spans(windows)}"
    overlap = "let them overlap, or delete one; one window may wrap midnight"
    related = tuple(Related(at=w.at, note=f"{_span(w)} is here") for w in windows[:-1] if w.at is not None)
    if schedule.timeout.then == "run" and any(window.otherwise == "wait" for window in windows):
        scope.findings.add("L432", at, f"{together}, so only its timeout launches a job", overlap, related)
    else:
        scope.findings.add("L431", at, f"{together}, which never happens", overlap, related)


def _check_fires(
    schedule: Schedule,
    crons: Sequence[WallClock],
    windows: Windows,
    at: Place,
    scope: Scope,
    *,
    alone: bool = True,
) -> None:
    """Report crons whose fires never lead to a launch.

    Args:
        alone: whether the schedule fires by these crons only; else it is a warning.
    """
    jobs = _Jobs(schedule, crons, windows)
    if not crons or (jobs.launched_by_timeout and jobs.waits and not jobs.skips):
        return
    fires, code = listed([f'"{cron.cron}"' for cron in crons], "and"), "L431" if alone else "L432"
    if not jobs.skips:
        if not jobs.may_launch(delayed=True):
            after = duration_text(schedule.timeout.after)
            got = (
                f"the window {_spans(jobs.waits)} must open before the timeout, got cron {fires} and {after}"
            )
            hint = "write a longer `timeout`, choose a time inside the window, or `then: run`"
            scope.findings.add(code, at, got, hint)
        return
    spans, hint = _spans(jobs.skips), "choose a time inside the window, or write `otherwise: wait`"
    if not jobs.may_launch(delayed=True):
        got = f"a cron must fire inside the window {spans}, got {fires}, whose jobs are all discarded"
        scope.findings.add(code, at, got, hint)
    elif not jobs.may_launch(delayed=False):
        delayed = any(_may_delay(constraint) for constraint in schedule.constraints)
        unless = " unless another constraint delays them into it" if delayed else ""
        got = f"got cron {fires}, whose jobs are all discarded{unless}"
        must = f"a job must become ready inside the window {spans}, {got}"
        scope.findings.add("L432" if delayed else code, at, must, hint)


def _may_delay(constraint: Constraint) -> bool:
    """Return whether a constraint delays launches for a time that is not known here."""
    return constraint.otherwise == "wait" and constraint.hours is None and constraint.delayed is None


class _Jobs:
    """The jobs of crons: when each is ready, and when it may be launched."""

    def __init__(self, schedule: Schedule, crons: Sequence[WallClock], windows: Windows) -> None:
        self.waits = tuple(window for window in windows if window.otherwise == "wait")
        self.skips = tuple(window for window in windows if window.otherwise == "skip")
        self.launched_by_timeout = schedule.timeout.then == "run"
        self._fires = [(cron.timezone, fire_minutes(cron)) for cron in crons]
        self._delay = _delay(schedule) // MINUTE
        self._timeout = -(-schedule.timeout.after // MINUTE)

    def may_launch(self, *, delayed: bool) -> bool:
        """Return whether a job may be launched in some year.

        Args:
            delayed: whether other constraints may delay a launch up to the timeout.
        """
        at_once = not (delayed or self.waits or self._delay)
        return any(
            self._launches(later(fired, -offset), of, delayed=delayed)
            for of in _offsets((*self.waits, *self.skips))
            for zone, fired in self._fires
            # A launch at the instant of its fire sees one offset of each zone; between a fire and a later
            # launch the clocks may change.
            for offset in ((of[zone],) if at_once and zone in of else offsets(zone))
        )

    def _launches(self, fired: int, of: Mapping[str, int], *, delayed: bool) -> int:
        """Return the minutes of launches, with one offset of each zone."""
        ready, last = later(fired, self._delay), later(fired, self._timeout)
        waits, skips, wait_at_most = _open(self.waits, of), _open(self.skips, of), self._timeout - self._delay
        found = last & skips if self.launched_by_timeout and (delayed or self.waits) else 0
        if delayed:
            return found | (spread(ready, wait_at_most) & waits & skips)
        found |= ready & waits & skips
        for first, gap in starts(waits):
            # What has waited is launched when the window opens.
            if skips >> first & 1 and spread(ready, min(gap, wait_at_most)) >> first & 1:
                found |= 1 << first
        return found


def _offsets(windows: Windows) -> Iterator[Mapping[str, int]]:
    """Yield each combination of the offsets that the zones of windows have in a year."""
    zones = sorted({window.timezone for window in windows})
    for found in product(*(offsets(zone) for zone in zones)):
        yield dict(zip(zones, found, strict=True))


def _open(windows: Windows, of: Mapping[str, int]) -> int:
    """Return the minutes in UTC at which all windows may be open, with one offset of each zone."""
    found = EVERY_MINUTE
    for window in windows:
        found &= later(window_minutes(window), -of[window.timezone])
    return found


def crons_alone(trigger: Trigger) -> tuple[WallClock, ...]:
    """Return the crons of a trigger whose jobs become ready at their fires; () for any other trigger."""
    clocks = [leaf.trigger.wall_clock for leaf in leaves(trigger)]
    if _waits(trigger) or None in clocks:
        return ()
    return tuple(clock for clock in clocks if clock is not None)


def _waits(trigger: Trigger) -> bool:
    if trigger.quiet is not None or trigger.wait_at_most is not None:
        return True
    return isinstance(trigger, Composite) and any(_waits(member) for member in trigger.of)


def _delay(schedule: Schedule) -> timedelta:
    """Return the time between a fire and the first instant at which every `delay` holds, at least."""
    one_event = not isinstance(schedule.trigger, Composite)
    delays = (c.delayed for c in schedule.constraints if c.otherwise == "wait")
    return max(
        (d.for_ for d in delays if d is not None and (d.from_ == "satisfied" or one_event)),
        default=timedelta(),
    )


def _spans(windows: Windows) -> str:
    return listed([_span(window) for window in windows], "and")


def _span(window: WindowConstraint) -> str:
    days = f" on {listed(window.days, 'and')}" if window.days else ""
    return f"{window.from_:%H:%M}-{window.to:%H:%M} {window.timezone}{days}"
