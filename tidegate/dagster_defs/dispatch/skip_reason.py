"""The skip reason of a dispatcher's tick: the waiting jobs, their reasons and next times.

Jobs that only a constraint blocks come first, since users ask about them most. Jobs are listed
until the text reaches its limit, and the rest are counted: a tick every five seconds stores this
text 17,000 times a day.
"""

from collections.abc import Sequence

from tidegate.scheduler.explain.why import waiting_line
from tidegate.scheduler.model.job import Job, JobState

WAITING_JOBS_MAX = 20
TEXT_CHARACTERS = 800


def skip_reason(waiting: Sequence[Job]) -> str:
    """Return the text for an app's waiting jobs; at most `WAITING_JOBS_MAX` + 1 are needed."""
    if not waiting:
        return "no waiting jobs"
    many = len(waiting) > WAITING_JOBS_MAX
    ordered = sorted(waiting[:WAITING_JOBS_MAX], key=lambda job: job.state is JobState.PENDING_TRIGGER)
    lines: list[str] = []
    for job in ordered:
        line = waiting_line(job)
        if lines and len("; ".join([*lines, line])) > TEXT_CHARACTERS:
            break
        lines.append(line)
    count = f"more than {WAITING_JOBS_MAX}" if many else str(len(ordered))
    rest = "; and others: see `tidegate jobs list`" if many or len(lines) < len(ordered) else ""
    return f"{count} waiting: {'; '.join(lines)}{rest}"
