"""The skip reason of a dispatcher's tick: what waits, for what, and until when.

Jobs that only a constraint holds back come first, since they are the ones people ask about.
Whole jobs are told until the text is long enough, and the others are counted: a tick every
five seconds stores this text 17,000 times a day.
"""

from collections.abc import Sequence

from tidegate.scheduler.explain.why import waiting_line
from tidegate.scheduler.model.job import Job, JobState

WAITING_JOBS_TOLD = 20
TEXT_CHARACTERS = 800


def skip_reason(waiting: Sequence[Job]) -> str:
    """The text for an app's waiting jobs, of which more than `WAITING_JOBS_TOLD` need not be given."""
    if not waiting:
        return "nothing waits"
    many = len(waiting) > WAITING_JOBS_TOLD
    ordered = sorted(waiting[:WAITING_JOBS_TOLD], key=lambda job: job.state is JobState.PENDING_TRIGGER)
    told: list[str] = []
    for job in ordered:
        line = waiting_line(job)
        if told and len("; ".join([*told, line])) > TEXT_CHARACTERS:
            break
        told.append(line)
    count = f"more than {WAITING_JOBS_TOLD}" if many else str(len(ordered))
    rest = "; and others: see `tidegate jobs list`" if many or len(told) < len(ordered) else ""
    return f"{count} waiting: {'; '.join(told)}{rest}"
