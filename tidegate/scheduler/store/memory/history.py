"""The journal and the ledger in memory."""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import NamedTuple

from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.retention import Snapshot
from tidegate.scheduler.store.answers import LedgerRow, Numbered
from tidegate.scheduler.store.ledger import ledger_rows
from tidegate.scheduler.store.memory.tables import Tables


class Group(NamedTuple):
    """One event of one schedule and job, as the ledger counts it; `at` is the instant of its day.

    Attributes:
        events: the number of fires in a row, of an event of several.
    """

    schedule: str
    job: str | None
    event: str
    state: JobState | None
    reason: str | None
    at: datetime
    events: int = 1


class HistoryReader:
    """Nothing is pruned here, so there are no snapshots."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def entries_of(
        self, kinds: Collection[EntryKind], after: int, until: int, limit: int
    ) -> tuple[Numbered, ...]:
        found = [
            Numbered(number=number, entry=entry)
            for number, entry in zip(self._tables.numbers, self._tables.journal, strict=True)
            if after < number <= until and entry.kind in kinds
        ]
        return tuple(found[:limit])

    def deployments(self, before: int | None, limit: int) -> tuple[tuple[int, Entry], ...]:
        every = zip(self._tables.numbers, self._tables.journal, strict=True)
        found = [
            (number, entry)
            for number, entry in every
            if entry.kind is EntryKind.DEPLOY and (before is None or number < before)
        ]
        return tuple(found[::-1][:limit])

    def journal_page(
        self, after: int, limit: int, *, until: int | None = None, to: datetime | None = None
    ) -> tuple[Numbered, ...]:
        found = (
            Numbered(number=number, entry=entry)
            for number, entry in zip(self._tables.numbers, self._tables.journal, strict=True)
            if number > after and (until is None or number <= until) and (to is None or entry.at <= to)
        )
        return tuple(found)[:limit]

    def renames(self) -> tuple[Numbered, ...]:
        every = self.journal_page(0, len(self._tables.journal))
        return tuple(row for row in every if row.entry.kind is EntryKind.RENAME)

    def journal_ends(self) -> tuple[int, int]:
        numbers = self._tables.numbers
        return (numbers[0], numbers[-1]) if numbers else (0, 0)

    def snapshot(self, at: datetime | None = None) -> Snapshot | None:
        return None

    def snapshots(self) -> tuple[tuple[int, datetime], ...]:
        return ()

    def ledger(
        self, *, app: str | None = None, after: str = "", limit: int | None = None
    ) -> tuple[LedgerRow, ...]:
        groups = [
            (group.schedule, group.state, group.reason, group.events)
            for group in self._groups()
            if app is None or group.schedule.startswith(f"{app}/")
        ]
        return tuple(row for row in ledger_rows(groups) if row.schedule > after)[:limit]

    def _groups(self) -> Iterator[Group]:
        """Yield each event of each schedule and job that the store has, and those without a job."""
        for job_id, marks in self._tables.deliveries.items():
            job = None if job_id is None else self._tables.jobs.get(job_id)
            if job_id is not None and job is None:
                continue  # pruned: the sums have them
            found: dict[tuple[str, str], list[tuple[str | None, datetime]]] = {}
            for (event, schedule, _), mark in marks.items():
                found.setdefault((event, schedule), []).append((mark.reason, mark.at))
            for (event, schedule), own in found.items():
                reason = min((each for each, _ in own if each is not None), default=None)
                at = min(at for _, at in own) if job is None else job.ended_at or job.opened_at
                if job is not None and any(each is None for each, _ in own):
                    yield Group(schedule, job_id, event, job.state, job.reason, at)
                else:
                    number = self._tables.events[event].number
                    yield Group(schedule, job_id, event, None, reason, at, number)
