"""Outlook: how many rows a pass would remove. It reads page by page, and changes nothing.

A whole outlook looks at every old row, as a pass does. One with a limit takes the same time however many rows
are old, and counts no more than some.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.decision.retention import RATES, event_may_go, launches_before, run_may_go
from tidegate.scheduler.model.keep import Keep
from tidegate.scheduler.model.retention import OldEvent, Pruned
from tidegate.scheduler.model.work_of_job import work_of_commit
from tidegate.scheduler.retention.journal import journal_outlook
from tidegate.scheduler.retention.prune import ROWS_PER_SLICE, prunable_jobs
from tidegate.scheduler.store.answers import Position
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.tick.clock import engine_clock

T = TypeVar("T")

ALL = 1_000_000_000

PAGES_GLIMPSED = 10
"""Of each table, by an outlook with a limit."""


class Outlook(Value, kw_only=True):
    """What a pass would remove.

    Attributes:
        whole: whether every old row was looked at; otherwise a pass removes at least so many.
    """

    pruned: Pruned
    whole: bool


def outlook(reader: ListingReader, keep: Keep, now: datetime) -> Pruned:
    """Return what a whole pass would remove now."""
    return glimpse(reader, keep, now, pages=ALL).pruned


def glimpse(reader: ListingReader, keep: Keep, now: datetime, pages: int = PAGES_GLIMPSED) -> Outlook:
    """Return what a pass would remove now of the oldest rows of each table."""
    stored = engine_clock(reader)
    if stored is None:
        return Outlook(pruned=Pruned(), whole=True)
    clock, look = min(stored, now), _Look(pages)
    gone = _jobs(reader, keep, clock, look)
    events, deliveries = _events(reader, keep, clock, gone, look)
    journal, ended = journal_outlook(reader, keep.journal, clock, gone, pages)
    pruned = Pruned(
        jobs=len(gone),
        events=events,
        deliveries=deliveries,
        runs=_runs(reader, keep, clock, gone, look),
        launches=_launches(reader, keep, clock, look),
        journal=journal,
    )
    return Outlook(pruned=pruned, whole=ended and not look.stopped)


class _Look:
    """A look at some pages of each table.

    Attributes:
        stopped: whether there were more pages of one.
    """

    def __init__(self, pages: int) -> None:
        self.rows_most = pages * ROWS_PER_SLICE
        self.stopped = False
        self._most = pages

    def pages(
        self, read: Callable[[Position | None], Sequence[T]], last: Callable[[T], Position]
    ) -> Iterator[Sequence[T]]:
        """Yield the pages of a table."""
        after: Position | None = None
        seen = 0
        while rows := read(after):
            if seen == self._most:
                self.stopped = True
                return
            yield rows
            after, seen = last(rows[-1]), seen + 1


def _jobs(reader: ListingReader, keep: Keep, clock: datetime, look: _Look) -> set[str]:
    if keep.finished_jobs is None:
        return set()
    before = clock - keep.finished_jobs
    promised = frozenset(work_of_commit(each.commit).job for each in reader.commitments())
    pages = look.pages(
        lambda after: reader.old_jobs(before, after, ROWS_PER_SLICE),
        lambda old: (old.job.opened_at, old.job.id),
    )
    return {id for rows in pages for id in prunable_jobs(reader, rows, before, promised)}


def _events(
    reader: ListingReader, keep: Keep, clock: datetime, gone: set[str], look: _Look
) -> tuple[int, int]:
    if keep.events is None:
        return 0, 0
    before, events, deliveries = clock - keep.events, 0, 0
    for rows in look.pages(
        lambda after: reader.old_events(before, after, ROWS_PER_SLICE),
        lambda old: (old.event.arrived, old.event.id),
    ):
        jobs: dict[str, set[str]] = {old.event.id: set() for old in rows}
        counts = dict.fromkeys(jobs, 0)
        for each in reader.deliveries_of_events(jobs.keys()):
            counts[each.event.id] += 1
            jobs[each.event.id].update({each.job} if each.job else ())
        asked = {id for each in jobs.values() for id in each if id not in gone}
        stored = {job.id for job in reader.jobs(ids=asked)}
        for old in rows:
            if event_may_go(_without(old, stored & jobs[old.event.id])):
                events += 1
                deliveries += counts[old.event.id]
    return events, deliveries


def _without(old: OldEvent, jobs: set[str]) -> OldEvent:
    return msgspec.structs.replace(old, has_job=bool(jobs))


def _runs(reader: ListingReader, keep: Keep, clock: datetime, gone: set[str], look: _Look) -> int:
    if keep.finished_jobs is None:
        return 0
    before, found = clock - keep.finished_jobs, 0
    for rows in look.pages(
        lambda after: reader.old_runs(before, after, ROWS_PER_SLICE),
        lambda old: (old.run.seen_at, old.run.run_id),
    ):
        history = reader.history({old.run.program for old in rows})
        for old in rows:
            freed: Any = msgspec.structs.replace(old, has_job=old.has_job and old.run.job not in gone)
            found += run_may_go(freed, history[old.run.program], before)
    return found


def _launches(reader: ListingReader, keep: Keep, clock: datetime, look: _Look) -> int:
    if keep.launches is None:
        return 0
    before = launches_before(reader.constraints(RATES), keep.launches, keep.clock_error, clock)
    found = len(reader.old_launches(before, look.rows_most))
    look.stopped |= found == look.rows_most
    return found
