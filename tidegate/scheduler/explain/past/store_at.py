"""Past: the store as it was at a past instant, rebuilt from a snapshot and the journal.

    newest snapshot before ──► entries up to the instant, applied in order ──► a store in memory

The engine's own functions then read this store, so `why --at` explains a past instant exactly as
`why` did then. It holds everything that decisions depend on: apps and schedules, jobs with their
collected events, slots, launches, runs and gauges. So a bounded part of the journal is read, however
long it is. What was over before the snapshot is read from the present store when it is asked for.

Where no snapshot is old enough, the whole journal is read. Where that was pruned, it says so.
"""

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Unpack

from tidegate.scheduler.explain.instant_text import instant_text
from tidegate.scheduler.explain.past.entries import later_names, names_after
from tidegate.scheduler.explain.past.fold import Past
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.model.retention import Snapshot
from tidegate.scheduler.retention.journal import pruned_until
from tidegate.scheduler.retention.state import read_state
from tidegate.scheduler.store.answers import Numbered
from tidegate.scheduler.store.engine_reader import EngineReader, namespaces_of_apps
from tidegate.scheduler.store.memory.reader import MemoryReader
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.memory.tables import Tables
from tidegate.scheduler.store.wanted import JobsWanted, JournalWanted

PAGE = 2_000


def store_at(reader: EngineReader, instant: datetime) -> MemoryStore:
    """Return the store as it was after an instant was done.

    What it has not copied it asks the reader for, which has to stay open.

    Raises:
        Refused: the journal of that time was pruned.
    """
    base, renames = reader.snapshot(instant), reader.journal_page(kinds=(EntryKind.RENAME,))
    if base is not None and any(row.number > base.number for row in renames):
        # A snapshot has the names of its time.
        base = None
    if base is None:
        _check_journal(reader, instant, renames)
        past, store = Past(), MemoryStore()
    else:
        past, store = Past(_Recall(reader)), _PastStore(reader, instant)
        past.begin(read_state(base.state), base.at)
    later = later_names(renames)
    for row in _entries(reader, base, instant):
        past.read(row.entry, names_after(row.number, later))
    # People name an app as it is called now, whatever its namespace was then.
    past.in_namespaces(namespaces_of_apps(reader))
    return past.store(instant, store)


def _check_journal(reader: EngineReader, instant: datetime, renames: Collection[Numbered]) -> None:
    """Raise an error if the beginning of the journal was pruned."""
    pruned = pruned_until(reader)
    if pruned is None:
        return
    since, why = [pruned], f"the journal before {instant_text(pruned)} was pruned"
    if instant >= pruned:
        newest = max(renames, key=lambda row: row.number)
        why += f", and apps were renamed at {instant_text(newest.entry.at)}"
        since = [at for number, at in reader.snapshots() if number >= newest.number]
    ask = f"for {instant_text(since[0])} or later" if since else "after the next `tidegate store prune`"
    raise Refused(
        f"nothing is known of {instant_text(instant)}: {why}",
        f"ask {ask}; `journal` in [retention] of tidegate.toml keeps it longer",
    )


def _entries(reader: EngineReader, base: Snapshot | None, instant: datetime) -> Iterator[Numbered]:
    """Yield the entries after a snapshot that belong to an instant or to earlier ones.

    What is written when two more snapshots were taken is about later instants.
    """
    after = 0 if base is None else base.number
    beyond = [number for number, at in reader.snapshots() if number > after and at > instant]
    until = beyond[1] if len(beyond) > 1 else None
    while rows := reader.journal_page(after=after, until=until, to=instant, first=PAGE):
        yield from rows
        after = rows[-1].number


class _Recall:
    """Recalls jobs that were over before the snapshot, and went on after it."""

    def __init__(self, reader: EngineReader) -> None:
        self._reader = reader

    def __call__(self, past: Past, entry: Entry) -> tuple[Job | None, Mapping[tuple[str, str], Delivery]]:
        return recalled(self._reader, past, entry.job or "", entry)


def recalled(
    reader: EngineReader, past: Past, id: str, until: Entry | None, at: datetime | None = None
) -> tuple[Job | None, Mapping[tuple[str, str], Delivery]]:
    """Return a job from all its entries, and its events.

    Args:
        past: has its schedule.
        until: the first entry that does not count.
        at: only entries of this instant and earlier ones count.
    """
    alone, names = past.with_schedules(), names_after(0, [])
    row = next(iter(reader.jobs(ids=(id,))), None)
    if row is not None and row.instance is not None:
        # The instances of a task that were made together have one entry, which names no job.
        alone.put_made(row)
    for entry in reader.journal(job=id):
        if entry == until:
            break
        if at is None or entry.at <= at:
            alone.read(entry, names)
    return alone.job(id)


class _PastStore(MemoryStore):
    """A past whose jobs that were over before the snapshot are in the present store."""

    def __init__(self, present: EngineReader, instant: datetime) -> None:
        super().__init__()
        self._present = present
        self._instant = instant

    @contextmanager
    def reading(self) -> Generator[MemoryReader]:
        yield _PastReader(self.committed, self._present, self._instant)


class _PastReader(MemoryReader):
    """Reads the past; what is asked of a job by its id, or of a schedule's last job, is found there too."""

    def __init__(self, tables: Tables, present: EngineReader, instant: datetime) -> None:
        super().__init__(tables)
        self._present = present
        self._instant = instant

    def jobs(self, **wanted: Unpack[JobsWanted]) -> tuple[Job, ...]:
        ids, schedules, limit = wanted.get("ids"), wanted.get("schedules"), wanted.get("limit")
        over: Iterable[Job] = ()
        if ids is not None:
            over = self._present.jobs(ids=set(ids) - self._tables.jobs.keys(), until=self._instant)
        elif schedules and limit == 1 and wanted.get("states") is None:
            over = (job for ref in schedules for job in self._newest(ref) if job.id not in self._tables.jobs)
        found = (*super().jobs(**wanted), *map(self._as_it_was, over))
        ordered = sorted(found, key=lambda job: (job.opened_at, job.id))
        return tuple(ordered if limit is None else ordered[-limit:])

    def deliveries(self, jobs: Collection[str]) -> dict[str, tuple[Delivery, ...]]:
        """Those of a job that was over before the snapshot, which a repair sees, are in the present store."""
        found = super().deliveries(jobs)
        over = [id for id in jobs if id not in self._tables.jobs and not found[id]]
        return {**found, **(self._present.deliveries(over) if over else {})}

    def _newest(self, schedule: str) -> Iterator[Job]:
        """Yield the newest present job of a schedule in each state, which are ends of an index."""
        for state in JobState:
            yield from self._present.jobs(
                schedules=(schedule,), states=(state,), until=self._instant, limit=1
            )

    def journal(self, **wanted: Unpack[JournalWanted]) -> tuple[Entry, ...]:
        """Of a job also what comes before the snapshot."""
        if wanted.get("job") is None:
            return super().journal(**wanted)
        wanted["to"] = self._instant
        return self._present.journal(**wanted)

    def _as_it_was(self, job: Job) -> Job:
        """Return a job of the present store as it was; one that has ended by then has not changed since."""
        if job.state in FINISHED and job.ended_at is not None and job.ended_at <= self._instant:
            return job
        past = Past()
        # A task that was deleted later is known by the past alone.
        refs = (job.schedule,)
        past.begin_with(self._present.schedules(refs=refs) or self.schedules(refs=refs))
        before, _ = recalled(self._present, past, job.id, None, self._instant)
        return job if before is None else before
