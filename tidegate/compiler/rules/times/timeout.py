"""The rules for waits that never end in a launch: they outlast the timeout, or `skip` allows no wait.

A job is discarded by its timeout, or launched by it with `then: run`. A `delay` that is longer never ends,
and neither does a `quiet` or `wait_at_most` that is longer than a timeout from the first event. A `delay`
with `otherwise: skip` is judged when everything else holds, so without another wait it is always unmet.

The rule for constraints that can hold a business date for longer than the default timeout. With `batching:
date` each date waits for itself, and one that waits longer than the timeout is discarded (rule 5): no other
job writes it. How long a run takes, or a gauge is too high, only the user knows. The warning is given only
with the default timeout: a written timeout is deliberate. Windows have a rule of their own
(`compiler.rules.times.timeout`).

The rule for a window that stays closed for longer than the default timeout. With `days` or a calendar a
window is closed at least over the weekend, and a job that becomes ready on Friday evening is discarded on
Saturday (rule 5). The warning is given only with the default timeout: a written timeout is deliberate.
"""

from collections.abc import Iterator
from datetime import timedelta

from tidegate.compiler.diagnostics.diagnostic import Place
from tidegate.compiler.rules.triggers.batch import any_event_satisfies
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.duration import duration_text
from tidegate.domain.model import Composite, DelayConstraint, Program, Schedule, Trigger, WindowConstraint
from tidegate.domain.time.calendar import DAY_NAMES


def check_held_date(schedule: Schedule, program: Program, place: Place, scope: Scope) -> None:
    """Warn of the first constraint that can hold a date for longer than the default timeout."""
    if schedule.timeout.at is not None or not schedule.keyed_by_date:
        return
    for constraint in schedule.constraints:
        if constraint.otherwise == "skip" or constraint.hours is not None or constraint.delayed is not None:
            continue
        longest = constraint.longest_wait(program.timeout)
        if longest is not None and longest <= schedule.timeout.after:
            continue
        least = "7d" if longest is None else duration_text(longest)
        scope.findings.add(
            "L413",
            constraint.at if constraint.at is not None else place,
            "without a `timeout` a date that waits is discarded after 24h,"
            f" got `{constraint.kind}`, which can hold it for longer",
            f"write `timeout: {least}` or more beside `constraints`, so that no date is lost",
        )
        return


HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def check_closed_window(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Warn of windows that stay closed for longer than the default timeout."""
    if schedule.timeout.at is not None:
        return
    for constraint in schedule.constraints:
        window = constraint.hours
        if window is None or constraint.otherwise == "skip":
            continue
        closed = longest_closed(window)
        if closed <= schedule.timeout.after:
            continue
        hours, days = -(-closed // HOUR), -(-closed // DAY)
        scope.findings.add(
            "L413",
            constraint.at if constraint.at is not None else place,
            f"without a `timeout` a job is discarded after 24h, got a window that stays closed for {hours}h",
            f"write `timeout: {days}d` beside `constraints`, or `timeout: {{after: {days}d, then: run}}`",
        )


def longest_closed(window: WindowConstraint) -> timedelta:
    """Return the longest closed time of a window in a week without holidays."""
    weekend = () if window.calendar is None else window.calendar.weekend
    opens = [
        number
        for number, day in enumerate(DAY_NAMES)
        if day not in weekend and (not window.days or day in window.days)
    ]
    if not opens:
        # It opens only on dates in the calendar's `open`.
        return len(DAY_NAMES) * DAY
    following = [*opens[1:], opens[0] + len(DAY_NAMES)]
    apart = max(after - before for before, after in zip(opens, following, strict=True))
    return apart * DAY - open_for(window)


def open_for(window: WindowConstraint) -> timedelta:
    """Return how long the window is open, on a day on which no clock changes."""
    minutes = (window.to.hour - window.from_.hour) * 60 + window.to.minute - window.from_.minute
    return timedelta(minutes=minutes) % DAY


NO_WAIT = timedelta()


def check_timeout(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Report each wait that is longer than the timeout."""
    timeout = schedule.timeout
    at_once = any_event_satisfies(schedule.trigger) and schedule.trigger.quiet is None
    for delay in _delays(schedule, "wait"):
        needed = delay.for_
        if timeout.from_ == "satisfied" and delay.from_ == "first_event" and not at_once:
            continue
        if timeout.from_ == "first_event" and delay.from_ == "satisfied":
            needed += _least_wait(schedule.trigger)
        if timeout.after < needed:
            _report(schedule, f"delay: {duration_text(delay.for_)}", needed, delay.at or place, scope)
    if timeout.from_ == "first_event":
        least = _least_wait(schedule.trigger)
        if timeout.after < least:
            at = schedule.trigger.at or place
            _report(schedule, f"quiet: {duration_text(least)}", least, at, scope)
        for wait, at in _waits(schedule.trigger):
            if timeout.after < wait:
                _report(schedule, f"wait_at_most: {duration_text(wait)}", wait, at or place, scope)


def check_delay(schedule: Schedule, place: Place, scope: Scope) -> None:
    """Report a `delay` with `otherwise: skip`, which discards jobs that need not wait longer."""
    waited = max((delay.for_ for delay in _delays(schedule, "wait")), default=NO_WAIT)
    others = any(c.otherwise == "wait" and c.delayed is None for c in schedule.constraints)
    at_once = any_event_satisfies(schedule.trigger) and schedule.trigger.quiet is None
    for delay in _delays(schedule, "skip"):
        if delay.for_ <= waited or (delay.from_ == "first_event" and not at_once):
            continue
        shown = duration_text(delay.for_)
        if others:
            scope.findings.add(
                "L432",
                delay.at or place,
                f"`otherwise: skip` discards a job that launches within {shown}, got `delay: {shown}`",
                "delete `otherwise: skip` to wait",
            )
        else:
            scope.findings.add(
                "L431",
                delay.at or place,
                f"a job is judged before a `delay` has passed, so `otherwise: skip` discards each one,"
                f" got `delay: {shown}`",
                "delete `otherwise: skip` to wait, or use `since_last_run` to skip runs that are too close",
            )


def _report(schedule: Schedule, what: str, needed: timedelta, at: Place, scope: Scope) -> None:
    timeout = schedule.timeout
    after, least = duration_text(timeout.after), duration_text(needed)
    if timeout.then == "run":
        scope.findings.add(
            "V209",
            at,
            f"`{what}` has no effect beyond the timeout, got a job that is launched after {after}",
            f"delete one of the two, or write `timeout: {{after: {least}, then: run}}` or more",
        )
        return
    default = ", the default timeout" if timeout.at is None else ""
    scope.findings.add(
        "L433",
        at,
        f"the timeout must not end before `{what}`, got a job that is discarded after {after}{default}",
        f"write a timeout of {least} or more, or a shorter wait",
    )


def _delays(schedule: Schedule, otherwise: str) -> Iterator[DelayConstraint]:
    for constraint in schedule.constraints:
        if constraint.delayed is not None and constraint.otherwise == otherwise:
            yield constraint.delayed


def _least_wait(trigger: Trigger) -> timedelta:
    """Return the time between the first event and the moment the trigger holds, at least."""
    least = trigger.quiet or NO_WAIT
    if isinstance(trigger, Composite):
        least = max(least, sorted(_least_wait(member) for member in trigger.of)[trigger.needed - 1])
    return least if trigger.wait_at_most is None else min(least, trigger.wait_at_most)


def _waits(trigger: Trigger) -> Iterator[tuple[timedelta, Place | None]]:
    """Yield every `wait_at_most` of a trigger and its members, with its place."""
    if trigger.wait_at_most is not None:
        yield trigger.wait_at_most, trigger.at
    if isinstance(trigger, Composite):
        for member in trigger.of:
            yield from _waits(member)
