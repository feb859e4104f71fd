"""Launch order: the order in which jobs that are ready together take free slots (rules 4 and 14).

Priority alone would starve jobs of low priority. So a lower priority is a penalty in time, which
waiting compensates:

    key = the instant at which the trigger was satisfied + the penalty of the priority

The smallest key goes first; of two equal keys, the job that was satisfied first. So at the same
instant the higher priority wins, and the jobs of one schedule start in the order of their keys. Of instances
of tasks the earlier scheduled time goes first, then the earlier start time, then those of no backfill. One
that waits for a partition counts as ready from its start time, so of two of them the earlier one is next. The
bound: a job of higher priority overtakes only if it was satisfied later by less than the difference of the
penalties, which is an hour at most.

Instances of a backfill that was started without a priority come after all other jobs, whatever their age:
nothing that is older than a day's work is in a hurry.

The outbox has an order of its own (`offer_rank`): what is to end as a dead letter, what is offered alone, and
the others in launch order, pipelines before operations on tables, so that many of them delay no pipeline. A
rejected request never reached the launcher, so it does not make its job a suspect; a job that was rejected
goes after the others, and takes no place from them.

Turns are the jobs that are still to be decided at an instant, in this order (`scheduler.tick.unfinished`).
"""

from datetime import UTC, datetime, timedelta
from enum import StrEnum

from tidegate.domain.model import Priority
from tidegate.domain.value import Value
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.reason import Reason

PENALTIES: dict[Priority, timedelta] = {
    Priority.HIGH: timedelta(0),
    Priority.NORMAL: timedelta(minutes=30),
    Priority.LOW: timedelta(minutes=60),
}
"""How much later than a job of high priority a job of this priority counts as ready."""

NO_TIME = datetime.min.replace(tzinfo=UTC)

MICROSECOND = timedelta(microseconds=1)

LaunchOrderKey = tuple[bool, datetime, datetime, datetime, datetime, int, str, str, str]
"""Compares in launch order."""


def launch_order_key(job: Job, satisfied_at: datetime | None) -> LaunchOrderKey:
    """Return the sort key of a job among the ready jobs, smallest first.

    Args:
        satisfied_at: when its trigger was satisfied; None counts from its opening.
    """
    ready = satisfied_at or job.opened_at
    scheduled, start, number = NO_TIME, NO_TIME, 0
    if job.instance is not None:
        ready = job.instance.start if job.reason is Reason.W_PARTITION else ready
        scheduled, start, number = job.instance.scheduled, job.instance.start, job.instance.number
    key = (job.schedule, job.key, job.id)
    priority = job.launch_priority
    first = ready + PENALTIES[priority or Priority.LOW]
    return priority is None, first, ready, scheduled, start, number, *key


def launch_rank(job: Job) -> str:
    """Return the place of a blocked job in launch order, as a text that compares like its key."""
    behind, first, ready, scheduled, start, number, *names = launch_order_key(job, job.satisfied_at)
    parts = [f"{(each - NO_TIME) // MICROSECOND:018d}" for each in (first, ready, scheduled, start)]
    # The separator comes before every character of a name, as the end of a name does.
    return "\x01".join((f"{behind:d}", *parts, f"{number:010d}", *names))


SUSPECT_AFTER_OFFERS = 2
"""After this many offers without a run a job is offered alone."""

OFFERS_MAX = 7
"""After this many offers the job is a dead letter; with the back-off that takes about ten minutes."""


def is_suspect(job: Job) -> bool:
    """Return whether a job in the outbox is offered alone."""
    return job.offers - job.rejected >= SUSPECT_AFTER_OFFERS


def offer_rank(job: Job) -> str | None:
    """Return the place of a job in the outbox, as a text; None for one that is not in it."""
    if job.state is not JobState.PENDING_LAUNCH or job.gave_back:
        return None
    if job.offers >= OFFERS_MAX:
        return f"0\x01{job.id}"
    if is_suspect(job):
        return f"1\x01{job.offers}\x01{job.id}"
    return f"2\x01{job.rejected > 0:d}{job.maintenance is not None:d}\x01{launch_rank(job)}"


class Known(StrEnum):
    """What is known of a decision before its turn, and would not be found again.

    Attributes:
        TIMED_OUT: an instance is discarded, though an upstream instance has ended at the instant since.
        POSTPONED: an error has postponed it.
    """

    TIMED_OUT = "timed out"
    POSTPONED = "postponed"


class Turn(Value, kw_only=True):
    """A job that is still to be decided at an instant.

    Attributes:
        job: its id.
        at: the instant.
        rank: its place in launch order.
        queue: that it was read from; None for a job that was due itself.
        known: None where the decision is made at its turn.
    """

    job: str
    at: datetime
    rank: str
    queue: str | None = None
    known: Known | None = None


TURNS = Kind(name="turns", value=Turn, key=("job",), order=("rank", "job"), due="at")
