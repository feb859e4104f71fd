"""The note of crons whose two day fields are lists or ranges: a day fires that matches either of them.

So `0 8 1-7 * 1` is not the first Monday of a month but each Monday and each of the first seven days. The file
is correct, and many mean something else: the note has the number of fires in the coming year. `today` is an
argument.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from functools import partial

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.domain.model import App, At, leaves
from tidegate.domain.time.cron import DayFilter, parse
from tidegate.domain.time.fire_times import fires_on
from tidegate.domain.wording import plural

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
