"""LaunchOrderKey: in which order jobs that are ready at once get what is free (rules 4 and 14).

Priority alone would starve: while high jobs keep coming, a low one would never have its turn.
So a lower priority is a penalty in time, and waiting works it off:

    key = the moment the trigger was satisfied + the penalty of the priority

The smallest goes first; of two that are equal, the one that was satisfied first. So at the same
instant the higher priority wins, and the jobs of one schedule start in the order of their keys. The bound:
a job is overtaken by jobs of higher priority only if these were satisfied after it by less than the
difference of the penalties, so by less than an hour.
"""

from datetime import datetime, timedelta

from tidegate.domain.model import Priority
from tidegate.scheduler.model.job import Job

PENALTIES: dict[Priority, timedelta] = {
    Priority.HIGH: timedelta(0),
    Priority.NORMAL: timedelta(minutes=30),
    Priority.LOW: timedelta(minutes=60),
}
"""How much later than a high one a job of this priority is taken to have become ready."""

LaunchOrderKey = tuple[datetime, datetime, str, str, str]
"""Compares in the order of launching."""


def launch_order_key(job: Job, satisfied_at: datetime | None) -> LaunchOrderKey:
    """The place of a job among those that are ready with it, smallest first.

    Args:
        satisfied_at: when its trigger was satisfied; without one it counts from its opening.
    """
    ready = satisfied_at or job.opened_at
    return ready + PENALTIES[job.priority], ready, job.schedule, job.key, job.id
