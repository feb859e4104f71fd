"""Business dates: the period that is over on a day, as a partition key.

A business date is counted from a day and not from an instant: the day that a cron names in its zone, or that
the wall clock of an app shows. That day is carried to the outputs as it reads, whatever zone they have. So
what fires at two in the morning of 10 March in Tokyo is about 9 March everywhere. Hours and minutes are
shorter than the difference between two zones: of outputs that have them it is the last period that was over
at the instant. `scheduler.decision.launch.dates` knows where the day comes from.
"""

from datetime import date, datetime

from tidegate.domain.model import Cycle, PartitionScheme, TimeDimension
from tidegate.domain.partition_key import period_before
from tidegate.domain.time.wall_clock import first_instant

BY_THE_CLOCK: tuple[Cycle, ...] = ("minute", "hour")
"""The cycles whose business dates are counted from an instant, and not from a day."""

_DAYS = TimeDimension(name="day", cycle="day", start="1970-01-01")
"""The periods of outputs that have none of their own."""


def is_by_the_clock(outputs: PartitionScheme | None) -> bool:
    """Return whether the business dates of some outputs are counted from an instant, and not from a day."""
    return outputs is not None and outputs.time is not None and outputs.time.cycle in BY_THE_CLOCK


def business_date(day: date, at: datetime, outputs: PartitionScheme | None) -> str:
    """Return the key of the period before a day, or of hours and minutes of the last one over at an instant.

    Args:
        day: as it reads, in whatever zone.
        at: aware; the instant itself.
        outputs: whose cycle is counted; without a cycle it is a day.

    Raises:
        OverflowError: the calendar has no period before.
    """
    if outputs is None or outputs.time is None:
        return period_before(first_instant(_midnight(day), "UTC"), _DAYS)
    counted_from = at if is_by_the_clock(outputs) else first_instant(_midnight(day), outputs.time.timezone)
    return period_before(counted_from, outputs.time)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)
