"""The note of the next dates on which a clock change affects a schedule.

It concerns crons at fixed times that are skipped or repeated, and windows that open or close within such
an hour. Hourly patterns continue in real time and are not noted. The behaviour is defined in
docs/adr/0008-cron-and-daylight-saving.md; the file is correct, so this is neither an error nor a
warning. `today` is an argument.

The note of crons whose two day fields are lists or ranges: a day fires that matches either of them. So `0 8
1-7 * 1` is not the first Monday of a month but each Monday and each of the first seven days. The file is
correct, and many mean something else: the note has the number of fires in the coming year. `today` is an
argument.
"""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from functools import partial
from itertools import groupby

from tidegate.compiler.diagnostics.diagnostic import MAX_DIAGNOSTICS_PER_FILE, Findings
from tidegate.domain.model import App, At, WallClock, WindowConstraint, leaves
from tidegate.domain.time.calendar import opens_on
from tidegate.domain.time.clock_change import ClockChange, clock_changes
from tidegate.domain.time.cron import DayFilter, parse
from tidegate.domain.time.fire_times import fires_on
from tidegate.domain.time.wall_clock import first_instant
from tidegate.domain.wording import listed, plural

DAYS_COUNTED = 365


def check_day_fields(app: App, today: date, findings: Findings) -> None:
    """Note crons that fire on days that match either of two day fields."""
    for text, fires, at in _crons_of(app):
        pattern = parse(text)
        if not pattern.either_day or at is None:
            continue
        days = sum(fires(today + timedelta(days=number)) for number in range(DAYS_COUNTED))
        found = plural(days * len(pattern.hours) * len(pattern.minutes), "fire")
        findings.add(
            "L424",
            at,
            f'a day matches either day field of a cron with two lists or ranges, got "{text}":'
            f" {found} in the coming year",
            "nothing if that is meant; if only one of the two counts, write * for the other",
        )


def _crons_of(app: App) -> Iterator[tuple[str, DayFilter, At | None]]:
    """Yield the crons of an app, of schedules and of operations, with its days and its place."""
    for schedule in app.schedules.values():
        for leaf in leaves(schedule.trigger):
            cron = leaf.trigger.wall_clock
            if cron is not None:
                yield cron.cron, partial(fires_on, cron), leaf.trigger.at
    for policy in app.policies.values():
        for plan in policy.operations.values():
            if plan.cron is not None:
                yield plan.cron, parse(plan.cron).matches, plan.at


DAYS_LOOKED_AHEAD = 366
"""A year contains both changes of every zone."""

TIMES_NAMED = 3
"""Of more times of a day, only the first and the last are printed."""

_ONE_DAY = timedelta(days=1)
_REMEDY = "choose another hour, or `timezone: UTC`"

NOTES_PER_APP = 10
"""Notes must not displace errors; the last note gives the number of further ones."""

Touched = list[tuple[date, str]]
"""The affected dates, each with the effect."""


def check_daylight_saving(app: App, today: date, findings: Findings) -> None:
    """Note the next dates on which a clock change affects crons and windows of the app.

    Args:
        today: the first day of the `DAYS_LOOKED_AHEAD` days that are checked.
    """
    notes = list(_notes(app, today))
    kept = notes[: min(NOTES_PER_APP, MAX_DIAGNOSTICS_PER_FILE - len(findings.diagnostics()))]
    for number, (at, summary, hint) in enumerate(kept):
        more = len(notes) - len(kept) if number == len(kept) - 1 else 0
        rest = f"; {more} more crons and windows of this app are affected" if more else ""
        findings.add("L420", at, summary, f"{hint}{rest}")


def _notes(app: App, today: date) -> Iterator[tuple[At, str, str]]:
    """Yield place, summary and hint of every note."""
    for schedule in app.schedules.values():
        for leaf in leaves(schedule.trigger):
            cron, at = leaf.trigger.wall_clock, leaf.trigger.at
            if cron is not None and at is not None:
                touched = list(_of_cron(cron, today))
                if touched:
                    yield at, *_wording(f'cron "{cron.cron}"', cron.timezone, touched)
        for constraint in schedule.constraints:
            window, at = constraint.hours, constraint.at
            if window is not None and at is not None:
                touched = list(_of_window(window, today))
                if touched:
                    name = f"window {window.from_:%H:%M}-{window.to:%H:%M}"
                    yield at, *_wording(name, window.timezone, touched)


def _wording(name: str, zone: str, touched: Touched) -> tuple[str, str]:
    dates = listed([str(day) for day, _ in touched], "and")
    effects = "; ".join(f"on {day} {effect}" for day, effect in touched)
    return f"the clocks of {zone} change around the {name}, got {dates}", f"{effects}; {_REMEDY}"


def _of_cron(cron: WallClock, today: date) -> Iterator[tuple[date, str]]:
    pattern = parse(cron.cron)
    if pattern.hours_kind != "fixed":
        return
    for change in _coming(cron.timezone, today):
        for day, walls in groupby(pattern.walls_between(*change.changed), datetime.date):
            times = _named([wall.time() for wall in walls])
            if not fires_on(cron, day):
                continue
            if change.forward:
                yield day, f"there is no {times}: it runs at {_shown(change.shown_after, day)}"
            else:
                yield day, f"{times} is repeated: it runs the second time"


def _of_window(window: WindowConstraint, today: date) -> Iterator[tuple[date, str]]:
    for change in _coming(window.timezone, today):
        for day in _dates(change):
            effect = _effect_on_window(window, change, day)
            if effect is not None:
                yield day, effect


def _effect_on_window(window: WindowConstraint, change: ClockChange, day: date) -> str | None:
    """Return the effect of a clock change on a window on a date; None without a visible effect."""
    first, second = change.changed
    opens, closes = datetime.combine(day, window.from_), datetime.combine(day, window.to)
    opened_before = window.to <= window.from_
    begins = opens_on(window, day)
    ends = opens_on(window, day - _ONE_DAY) if opened_before else begins
    if change.forward and begins and not opened_before and first <= opens and closes <= second:
        return f"it does not open: {_shown(first, day)} is followed by {_shown(second, day)}"
    # At the edge of the hour the window opens or closes at the usual instant.
    opens_within, closes_within = begins and first < opens < second, ends and first < closes < second
    if not opens_within and not closes_within:
        return None
    if not change.forward:
        return f"{_shown(first, day)} to {_shown(second, day)} is repeated: the window opens twice"
    does = "opens" if opens_within else "closes"
    return (
        f"there is no {window.from_ if opens_within else window.to:%H:%M}: it {does} at {_shown(second, day)}"
    )


def _coming(zone: str, today: date) -> Iterator[ClockChange]:
    begin = first_instant(datetime.combine(today, time()), zone)
    return clock_changes(zone, begin - timedelta(seconds=1), begin + timedelta(days=DAYS_LOOKED_AHEAD))


def _dates(change: ClockChange) -> Iterator[date]:
    """Yield the dates of the wall times that a change skips or doubles."""
    first, second = change.changed
    day = first.date()
    while datetime.combine(day, time()) < second:
        yield day
        day += _ONE_DAY


def _named(times: list[time]) -> str:
    """Return ascending times of a day as text."""
    words = [f"{at:%H:%M}" for at in times]
    return listed(words, "or") if len(words) <= TIMES_NAMED else f"time from {words[0]} to {words[-1]}"


def _shown(wall: datetime, day: date) -> str:
    return f"{wall:%H:%M}" if wall.date() == day else f"{wall:%H:%M} of {wall.date()}"
