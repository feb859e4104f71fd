"""The sweep for deadlines: what has missed its deadline since the last one gets its entry, once.

    unfinished jobs of schedules with a deadline        ─┐
    jobs that have ended since the last sweep            ├─► late? ─► entry, and `late_at` of the job
                                                        ─┘
A job is late once: `late_at` and the entry are written together, and the next sweep passes it over. So it
does not matter how often, by whom, or after what pause or jump of the clock the sweep runs. It starts no run.
"""

from datetime import datetime

from tidegate.scheduler.decision.deadlines import due_at, late_entry, may_be_late
from tidegate.scheduler.decision.fold.after import after
from tidegate.scheduler.model.job import UNFINISHED, Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction, Store
from tidegate.scheduler.tick.clock import effective_at
from tidegate.scheduler.tick.due import MICROSECOND
from tidegate.scheduler.tick.expected import count_late

CURSOR = "deadlines"
"""Name of the cursor that holds the last entry that was looked at."""

ENTRIES_PER_SWEEP = 1_000
ENDS = frozenset({EntryKind.RUN, EntryKind.RECOVERED, EntryKind.MARKED, EntryKind.PASSED, EntryKind.REPORTED})


def sweep_deadlines(store: Store, now: datetime) -> int:
    """Note the jobs that have missed their deadline; return how many."""
    with store.reading() as reader:
        if not reader.schedules(deadline=True) or not (_found(reader, now) or _has_ended(reader)):
            return 0
    with store.transaction() as transaction:
        at = effective_at(transaction, now, now)
        found = _found(transaction, at)
        transaction.put_jobs([after(job, entry) for job, entry in found])
        transaction.add_journal([entry for _, entry in found])
        tasks = [job.schedule for job, _ in found if job.instance is not None]
        schedules = [job.schedule for job, _ in found if job.instance is None]
        count_late(transaction, {"task": tasks, "schedule": schedules})
        _advance(transaction)
        return len(found)


def next_late_job(reader: EngineReader) -> datetime | None:
    """Return the first instant at which an unfinished job has missed its deadline; None if none will."""
    states = {state.ref: state for state in reader.schedules(deadline=True)}
    if not states:
        return None
    jobs = reader.jobs(schedules=states.keys(), states=UNFINISHED)
    due = [due_at(states[job.schedule].spec, job) for job in jobs if may_be_late(job)]
    # At the deadline a job is in time.
    return min((each + MICROSECOND for each in due if each is not None), default=None)


def _found(reader: EngineReader, now: datetime) -> list[tuple[Job, Entry]]:
    """Return the jobs that are late now and were not before, each with its entry."""
    states = {state.ref: state for state in reader.schedules(deadline=True)}
    jobs = {job.id: job for job in reader.jobs(schedules=states.keys(), states=UNFINISHED)}
    after_, until = _place(reader), reader.journal_ends()[1]
    rows = reader.journal_page(kinds=ENDS, after=after_, until=until, first=ENTRIES_PER_SWEEP)
    ended = {row.entry.job for row in rows if row.entry.job is not None and row.entry.schedule in states}
    jobs |= {job.id: job for job in (reader.jobs(ids=ended) if ended else ())}
    entries = [(job, late_entry(states[job.schedule].spec, job, now)) for job in jobs.values()]
    return sorted(((job, entry) for job, entry in entries if entry is not None), key=lambda pair: pair[0].id)


def _has_ended(reader: EngineReader) -> bool:
    return reader.journal_ends()[1] - _place(reader) >= ENTRIES_PER_SWEEP


def _advance(transaction: EngineTransaction) -> None:
    place, until = _place(transaction), transaction.journal_ends()[1]
    rows = transaction.journal_page(kinds=ENDS, after=place, until=until, first=ENTRIES_PER_SWEEP)
    reached = rows[-1].number if len(rows) == ENTRIES_PER_SWEEP else until
    transaction.set_cursor(CURSOR, reached)


def _place(reader: EngineReader) -> int:
    """Return the number of the last entry that was looked at."""
    noted: int = reader.cursor(CURSOR) or 0
    return noted
