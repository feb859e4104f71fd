"""History: the entries of one job in the journal, for people.

The instances of a task that were made together have one entry, which names no job: it is shown here as the
entry of each of them.
"""

from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.protocol import Reader


def history_of(reader: Reader, job: Job) -> tuple[Entry, ...]:
    """Return the entries of a job, oldest first."""
    entries = reader.journal(job=job.id)
    if job.instance is None or any(entry.kind is EntryKind.INSTANCE for entry in entries):
        return entries
    data = {"key": job.key}
    made = Entry(at=job.opened_at, kind=EntryKind.INSTANCE, schedule=job.schedule, job=job.id, data=data)
    return (made, *entries)
