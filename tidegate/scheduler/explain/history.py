"""History: the entries of one job in the journal, for people.

The instances of a task that were made together have one entry, which names no job: it is shown here as the
entry of each of them.
"""

from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.engine_reader import EngineReader

NEWEST_MAX = 1_000
"""Of a job with many events so many entries are shown, and so many events, the newest of each."""


def history_of(reader: EngineReader, job: Job, limit: int | None = NEWEST_MAX) -> tuple[Entry, ...]:
    """Return the newest entries of a job, oldest first.

    Args:
        limit: how many; None for all.
    """
    entries = reader.journal(job=job.id, limit=limit)
    if job.instance is None or any(entry.kind is EntryKind.INSTANCE for entry in entries):
        return entries
    data = {"key": job.key}
    made = Entry(at=job.opened_at, kind=EntryKind.INSTANCE, schedule=job.schedule, job=job.id, data=data)
    return (made, *entries)
