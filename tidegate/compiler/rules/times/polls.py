"""The warning for what is finer than a poll: operations are started at polls only.

A window that is shorter than a poll may open and close between two of them, so that nothing is started in it.
Of the times of a cron or an interval that is finer than a poll most are passed over. Clock changes are left
out.
"""

from datetime import date, timedelta
from functools import lru_cache
from itertools import pairwise

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.rules.times.timeout import open_for
from tidegate.domain.duration import duration_text
from tidegate.domain.model import App, OperationPlan
from tidegate.domain.time.cron import parse
from tidegate.domain.wording import shown

DAY_MINUTES = 1_440

_ANY_DAYS = tuple(date(2024, 1, 1) + timedelta(days=n) for n in range(366 + 365))
"""Days in which each date comes, and its distance from the next one of a year."""


def check_polls(app: App, poll: timedelta, findings: Findings) -> None:
    """Warn of windows, crons and intervals of operations that are shorter than a poll."""
    for policy in app.policies.values():
        for plan in policy.operations.values():
            for what, length in _lengths(plan):
                if length < poll and plan.at is not None:
                    findings.add(
                        "L470",
                        plan.at,
                        f"operations are started at polls, every {duration_text(poll)}, got {what}",
                        f"write {duration_text(poll)} or more, or a shorter `poll` in `maintenance`",
                    )


def _lengths(plan: OperationPlan) -> list[tuple[str, timedelta]]:
    """Return what an operation says of times, each with how short it is."""
    found: list[tuple[str, timedelta]] = []
    if plan.window is not None:
        length = open_for(plan.window)
        found.append((f"a window of {duration_text(length)}", length))
    if plan.cron is not None:
        apart = least_distance(plan.cron)
        found.append((f"the cron {shown(plan.cron)}, with fires {duration_text(apart)} apart", apart))
    if plan.interval is not None:
        found.append((f"an interval of {duration_text(plan.interval)}", plan.interval))
    return found


@lru_cache(maxsize=1024)
def least_distance(cron: str) -> timedelta:
    """Return the least distance between two fires of a cron, without clock changes."""
    pattern = parse(cron)
    minutes = [hour * 60 + minute for hour in pattern.hours for minute in pattern.minutes]
    within_a_day = [later - earlier for earlier, later in pairwise(minutes)]
    days = [number for number, day in enumerate(_ANY_DAYS) if pattern.matches(day)]
    days_apart = min((later - earlier for earlier, later in pairwise(days)), default=len(_ANY_DAYS))
    overnight = days_apart * DAY_MINUTES - minutes[-1] + minutes[0]
    return timedelta(minutes=min([*within_a_day, overnight]))
