"""The `cron` trigger: `cron: "0 6 * * *"` with its options beside it.

They are `timezone`, `calendar`, `nth_business_day`, `catch_up` and `catch_up_at_most`.
"""

from datetime import UTC, datetime
from functools import lru_cache

from tidegate.compiler.reader.node import MappingNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.triggers.kind import TriggerKind, Written
from tidegate.compiler.values.calendar import calendar_at
from tidegate.compiler.values.texts import cron_of, duration_at, zone_of
from tidegate.domain.model import Calendar, CronTrigger
from tidegate.domain.time.cron import MAX_YEARS_APART
from tidegate.domain.time.fire_times import fires_on, next_fire
from tidegate.domain.wording import shown

_ANY_INSTANT = datetime(2024, 1, 1, tzinfo=UTC)
"""The start of the search for a fire. Lint has no clock, and weekdays and holidays recur."""


def _build(written: Written, scope: Scope) -> CronTrigger | None:
    node = written.node
    text = cron_of(node, scope)
    if text is None:
        return None
    catch_up = node.text("catch_up", "latest")
    at_most = duration_at(node.get("catch_up_at_most"), scope)
    if catch_up == "none" and at_most is not None:
        scope.findings.add(
            "V209",
            node.keys["catch_up_at_most"],
            "`catch_up_at_most` limits the fires to catch up, got `catch_up: none` beside it",
            "delete one of the two",
        )
    calendar = calendar_at(node, scope)
    if calendar is None and "calendar" in node.values:
        return None
    trigger = CronTrigger(
        cron=text,
        timezone=zone_of(node, scope),
        catch_up=catch_up,  # pyright: ignore[reportArgumentType] - one of the schema's enum
        catch_up_at_most=at_most,
        calendar=calendar,
        nth_business_day=_nth(node, scope),
        day_starts=scope.day_starts,
        **written.options,
    )
    return trigger if _ever_fires(trigger, node, scope) else None


def _ever_fires(trigger: CronTrigger, node: MappingNode, scope: Scope) -> bool:
    """Return whether the pattern meets a business day of its calendar; reports one that does not."""
    if trigger.calendar is None:
        return True
    if scope.findings.full or _meets_a_day(
        _days_of(trigger.cron), trigger.calendar, trigger.nth_business_day
    ):
        return True
    days = (
        f"business day {trigger.nth_business_day} of a month" if trigger.nth_business_day else "business day"
    )
    scope.findings.add(
        "V203",
        node.values["cron"],
        f'a cron fires on some {days} of its calendar "{trigger.calendar.name}", got {shown(trigger.cron)},'
        f" which never does within {MAX_YEARS_APART} years",
        "write a cron that matches business days, or add the days to `open` of the calendar",
    )
    return False


def _days_of(cron: str) -> str:
    """Return the same pattern at midnight: whether it meets a day has nothing to do with the hour."""
    return cron if cron.startswith("@") else " ".join(("0", "0", *cron.split()[2:]))


@lru_cache(maxsize=1024)
def _meets_a_day(cron: str, calendar: Calendar, nth: int | None) -> bool:
    """Return whether a pattern ever fires. Remembered: a search in vain looks at each day of nine years."""
    trigger = CronTrigger(cron=cron, calendar=calendar, nth_business_day=nth)
    if any(fires_on(trigger, day) for day in calendar.open):
        return True
    return next_fire(trigger, _ANY_INSTANT) is not None


def _nth(node: MappingNode, scope: Scope) -> int | None:
    """Return which business day of the month is meant; None for every one."""
    if "nth_business_day" not in node.values:
        return None
    nth = node.number("nth_business_day", 1)
    if nth == 0:
        scope.findings.add(
            "S107",
            node.values["nth_business_day"],
            "`nth_business_day` counts from 1, or from -1 backwards, got 0",
            "write 1 for the first business day of the month, -1 for the last",
        )
        return None
    return nth


KIND = TriggerKind(key="cron", build=_build)
