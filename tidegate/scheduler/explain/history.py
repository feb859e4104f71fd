"""The history of a job for people: its entries in the journal, and its attempts.

The instances of a task that were made together have one entry, which names no job: it is shown here as the
entry of each of them.
"""

from collections.abc import Iterator
from datetime import datetime

from tidegate.domain.value import Value
from tidegate.scheduler.model.event import partition_event_key
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.load import load_app

PUBLISHED_MAX = 1_000
"""The newest events of an output that are looked at for those of one run."""


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


def published_nothing(reader: EngineReader, job: Job) -> bool:
    """Return whether a job has succeeded and all that its run has published has 0 rows.

    Only the newest events of each output are looked at; of an older run nothing is known.
    """
    if job.state is not JobState.SUCCEEDED or job.launch is None or job.run_id is None:
        return False
    app = load_app(reader, job.app)
    program = None if app is None else app.programs.get(job.launch.program)
    keys = () if program is None else [partition_event_key(job.app, name) for name in program.writes]
    found = [
        event.rows
        for key in keys
        for event in reader.events(key_prefix=key, limit=PUBLISHED_MAX)
        if event.key == key and event.run_id == job.run_id
    ]
    return bool(found) and not any(rows is None or rows for rows in found)


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
