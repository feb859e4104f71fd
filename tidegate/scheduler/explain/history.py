"""The history of a job for people: its entries in the journal, and its attempts.

The instances of a task that were made together have one entry, which names no job: it is shown here as the
entry of each of them.
"""

from collections.abc import Iterator
from datetime import datetime

from tidegate.domain.value import Value
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.engine_reader import EngineReader


class Attempt(Value, kw_only=True):
    """One attempt.

    Attributes:
        attempt: its number, from 1; None where it is not known.
        ended: when it ended; None while it runs or waits.
        run: id of its run; "" for the one that waits for its pause to end.
        status: of the run, or "waits".
        started: of the attempt that waits, when it starts at the earliest.
        because: why it failed, as its run has said; "" if it has not.
    """

    attempt: int | None
    run: str
    status: str
    started: datetime | None = None
    ended: datetime | None = None
    because: str = ""


def attempts(reader: EngineReader, job: Job) -> Iterator[Attempt]:
    """Yield an attempt for each observed run of a job, the oldest first, and one for a pause."""
    noted = failure_texts(reader, job)
    runs = reader.runs(jobs=[job.id])
    for run in sorted(runs, key=lambda run: (run.attempt or 0, run.seen_at)):
        yield Attempt(
            attempt=run.attempt,
            run=run.run_id,
            status=run.status.value,
            started=run.started_at,
            ended=run.ended_at,
            because=noted.get(run.run_id, ""),
        )
    if job.waiting and job.retry_at is not None:
        yield Attempt(
            attempt=job.attempt,
            run="",
            status="waits",
            started=job.retry_at,
            because="not earlier than this",
        )


def failure_texts(reader: EngineReader, job: Job) -> dict[str | None, str]:
    """Return why runs of a job failed, as they have said last, by run."""
    entries = reader.journal(job=job.id, kinds=(EntryKind.FAILURE,))
    return {entry.run_id: entry.data["message"] for entry in entries}


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
