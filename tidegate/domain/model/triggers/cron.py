"""The `cron` trigger: fires at wall-clock times, on the business days of a calendar if it has one."""

from datetime import time, timedelta

from tidegate.domain.model.shared import Calendar
from tidegate.domain.model.triggers.facts import CatchUp, LeafTrigger, WallClock


class CronTrigger(LeafTrigger, kw_only=True, tag="cron"):
    """Fires at wall-clock times.

    Attributes:
        cron: five fields, or one of the @-names (rule 9).
        catch_up: which fires that were missed during downtime are caught up.
        catch_up_at_most: older fires are never caught up.
        calendar: it fires only on business days of this calendar.
        day_starts: the app's; a fire before it belongs to the day before.
        nth_business_day: only this business day of the month, from 1; -1 is the last. Needs a calendar.
    """

    cron: str
    timezone: str = "UTC"
    catch_up: CatchUp = "latest"
    catch_up_at_most: timedelta | None = None
    calendar: Calendar | None = None
    nth_business_day: int | None = None
    day_starts: time = time()

    @property
    def wall_clock(self) -> WallClock:
        return self

    @property
    def noun(self) -> str:
        return "a cron"

    def one_line(self) -> str:
        line = f"cron {self.cron} {self.timezone}"
        if self.calendar is None:
            return line
        nth = self.nth_business_day
        days = "business days" if nth is None else f"business day {nth} of the month"
        return f"{line}, {days} of {self.calendar.name}"
