"""The end of a job: what it becomes, and what it gives back.

    discarded by a decision, a person or a deploy ─┐
    no run could be made of it (a dead letter) ────┼──► the entry that says so ──► `end_job`
    its run has ended ─────────────────────────────┘

Pure. `scheduler.tick.end_jobs` writes the end into the store, and `scheduler.explain.past` into the past.
"""

from datetime import datetime

from tidegate.domain.value import Value
from tidegate.scheduler.decision.after import record
from tidegate.scheduler.model.job import ACTIVE, Job
from tidegate.scheduler.model.journal import Entry, EntryKind


class End(Value, kw_only=True):
    """The end of one job.

    Attributes:
        job: as it is from then on.
        frees_slots: it held slots, which others may take now.
        forgets_launch: its launch came to nothing and counts in no rate.
    """

    job: Job
    frees_slots: bool
    forgets_launch: bool


def end_job(job: Job, entry: Entry) -> End:
    """The end of a job that an entry says.

    Raises:
        IllegalTransition: it cannot end so, for it has ended already.
    """
    held_slots = job.state in ACTIVE
    return End(
        job=record(job, entry, next_check_at=None, blocked_on=None),
        frees_slots=held_slots,
        forgets_launch=held_slots and entry.kind is not EntryKind.RUN,
    )


def discard_entry(job: Job, reason: str, at: datetime) -> Entry:
    """The entry that says that a job is discarded, and why."""
    return Entry(at=at, kind=EntryKind.DISCARDED, schedule=job.schedule, job=job.id, reason=reason)
