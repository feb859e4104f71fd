"""The skip reason of a dispatcher's tick: the waiting jobs, their reasons and next times.

Jobs that only a constraint blocks come first, since users ask about them most, and operations on tables
last, which are many. Jobs are listed until the text reaches its limit, and the rest are counted: a tick every
five seconds stores this text 17,000 times a day.
"""

from collections.abc import Collection, Sequence

from tidegate.scheduler.explain.outcome import waiting_line
from tidegate.scheduler.model.job import WAITING, Job, JobState
from tidegate.scheduler.store.engine_reader import EngineReader

WAITING_JOBS_MAX = 20
TEXT_CHARACTERS = 800

JOBS_READ = 500
"""Waiting jobs that are looked at where operations on tables are among the newest ones."""


def waiting_jobs(reader: EngineReader, apps: Collection[str] | None) -> tuple[Job, ...]:
    """Return the newest waiting jobs of some apps, so many that the text has those of schedules."""
    found = reader.jobs(apps=apps, states=WAITING, limit=WAITING_JOBS_MAX + 1)
    if all(job.maintenance is None for job in found):
        return found
    return reader.jobs(apps=apps, states=WAITING, limit=JOBS_READ)


def skip_reason(waiting: Sequence[Job]) -> str:
    """Return the text for waiting jobs; of schedules, at most `WAITING_JOBS_MAX` + 1 are needed."""
    if not waiting:
        return "no waiting jobs"
    many = len(waiting) > WAITING_JOBS_MAX
    ordered = sorted(waiting, key=_order)[:WAITING_JOBS_MAX]
    lines: list[str] = []
    for job in ordered:
        line = waiting_line(job)
        if lines and len("; ".join([*lines, line])) > TEXT_CHARACTERS:
            break
        lines.append(line)
    count = f"more than {WAITING_JOBS_MAX}" if many else str(len(ordered))
    rest = "; and others: see `tidegate jobs list`" if many or len(lines) < len(ordered) else ""
    return f"{count} waiting: {'; '.join(lines)}{rest}"


def _order(job: Job) -> tuple[bool, bool]:
    return job.maintenance is not None, job.state is JobState.PENDING_TRIGGER
