"""The work of a project in numbers: what runs, what waits, what has failed, and what is on hold."""

from datetime import datetime, timedelta

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.explain.withheld import withheld_publishes
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.answers import JobCount
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.wanted import LateWanted
from tidegate.scheduler.tick.held_apps import held_apps

RECENTLY = timedelta(hours=24)

RUNNING = (JobState.LAUNCHED, JobState.PENDING_LAUNCH)
WAITING = (JobState.PENDING_CONSTRAINT, JobState.PENDING_TRIGGER, JobState.PAUSED)

LATE_READ = 1000

ALIKE_READ = 1000
"""A job is named only among so many that wait for the same reason; of more, only the time is known."""

DEAD_LETTERS_READ = 1000
"""Dead letters that are read at once."""


class Oldest(Value, kw_only=True):
    """The job that waits for the longest time.

    Attributes:
        job: its id; None if too many wait for the same reason.
        since: when it was opened.
    """

    app: str
    job: str | None
    state: JobState
    reason: Reason | None
    since: datetime


class Work(Value, kw_only=True):
    """The numbers.

    Attributes:
        running: jobs that are launched, or about to be.
        dead_letters: jobs of which no run could be created, and that were not queued again.
        failed: see `count_failed`.
        late: jobs and periods of datasets that are past their deadline, up to `LATE_READ`.
        held: apps on hold.
        withheld: publishes that failed checks withhold.
        oldest_withheld: since when the oldest of them is withheld; None without any.
    """

    running: int
    waiting: int
    oldest_waiting: Oldest | None
    dead_letters: int
    failed: int
    late: int
    held: tuple[str, ...]
    withheld: int = 0
    oldest_withheld: datetime | None = None


def work_of(reader: ListingReader, apps: frozenset[str], now: datetime) -> Work:
    """Return the work of some apps."""
    counts = [count for count in reader.job_counts((*RUNNING, *WAITING)) if count.app in apps]
    waiting = [count for count in counts if count.state in WAITING]
    withheld = withheld_publishes(reader, apps)
    return Work(
        running=sum(count.jobs for count in counts if count.state in RUNNING),
        waiting=sum(count.jobs for count in waiting),
        oldest_waiting=None if not waiting else _oldest(reader, min(waiting, key=lambda each: each.oldest)),
        dead_letters=sum(job.app in apps for job in dead_letters(reader)),
        failed=count_failed(reader, apps, now),
        late=count_late(reader, apps, LATE_READ),
        held=tuple(sorted(held_apps(reader).keys() & apps)),
        withheld=len(withheld),
        oldest_withheld=withheld[0].at if withheld else None,
    )


def count_failed(reader: ListingReader, apps: frozenset[str] | None, now: datetime) -> int:
    """Return how many jobs of schedules and tasks ended as failed in the last 24 hours.

    Dead letters are among them; operations on tables are not, the pages of tables have those.
    """
    failures = reader.job_counts((JobState.FAILED,), ended_since=now - RECENTLY, operations=False)
    return sum(count.jobs for count in failures if apps is None or count.app in apps)


def count_late(reader: ListingReader, apps: frozenset[str] | None, most: int) -> int:
    """Return how many jobs and periods of datasets are past their deadline now, up to a number."""
    wanted = LateWanted(apps=None if apps is None else tuple(apps), now=True)
    of_jobs = (jobs for ref, jobs in reader.late_jobs().items() if apps is None or app_of(ref) in apps)
    return min(most, len(reader.late_periods(wanted, most)) + sum(of_jobs))


def _oldest(reader: EngineReader, count: JobCount) -> Oldest:
    jobs: tuple[Job, ...] = ()
    if count.jobs <= ALIKE_READ:
        jobs = reader.jobs(apps=(count.app,), states=(count.state,), reason=count.reason, limit=count.jobs)
    found = next((job.id for job in reversed(jobs) if job.opened_at == count.oldest), None)
    return Oldest(app=count.app, job=found, state=count.state, reason=count.reason, since=count.oldest)


def dead_letters(reader: EngineReader, schedule: str | None = None) -> tuple[Job, ...]:
    """Return the dead letters that were not queued again, oldest first.

    An operation on a table is none: its policy asks for it again.

    Args:
        schedule: of which; None for all.
    """
    schedules = None if schedule is None else (schedule,)
    found: tuple[Job, ...] = ()
    before: tuple[datetime, str] | None = None
    while page := reader.jobs(
        schedules=schedules,
        states=(JobState.FAILED,),
        reason=Reason.F_LAUNCH,
        before=before,
        limit=DEAD_LETTERS_READ,
    ):
        found = (*(job for job in page if job.maintenance is None), *found)
        before = page[0].opened_at, page[0].id
    return found
