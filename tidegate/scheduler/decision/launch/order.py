"""Launch order: the order in which jobs that are ready together take free slots (rules 4 and 14).

Priority alone would starve jobs of low priority. So a lower priority is a penalty in time, which
waiting compensates:

    key = the instant at which the trigger was satisfied + the penalty of the priority

The smallest key goes first; of two equal keys, the job that was satisfied first. So at the same
instant the higher priority wins, and the jobs of one schedule start in the order of their keys. The bound:
a job of higher priority overtakes only if it was satisfied later by less than the difference of the
penalties, which is an hour at most.
"""

from datetime import datetime, timedelta

from tidegate.domain.model import Priority
from tidegate.scheduler.model.job import Job

PENALTIES: dict[Priority, timedelta] = {
    Priority.HIGH: timedelta(0),
    Priority.NORMAL: timedelta(minutes=30),
    Priority.LOW: timedelta(minutes=60),
}
"""How much later than a job of high priority a job of this priority counts as ready."""

LaunchOrderKey = tuple[datetime, datetime, str, str, str]
"""Compares in launch order."""


def launch_order_key(job: Job, satisfied_at: datetime | None) -> LaunchOrderKey:
    """Return the sort key of a job among the ready jobs, smallest first.

    Args:
        satisfied_at: when its trigger was satisfied; None counts from its opening.
    """
    ready = satisfied_at or job.opened_at
    return ready + PENALTIES[job.priority], ready, job.schedule, job.key, job.id
