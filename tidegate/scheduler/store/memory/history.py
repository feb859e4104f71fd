"""The journal and the ledger in memory."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, Unpack

from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.retention import Snapshot
from tidegate.scheduler.store.answers import LedgerRow, Numbered
from tidegate.scheduler.store.ledger import ledger_rows
from tidegate.scheduler.store.memory.tables import Tables
from tidegate.scheduler.store.wanted import JournalWanted


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

    def journal(self, **wanted: Unpack[JournalWanted]) -> tuple[Entry, ...]:
        return tuple(self._tables.journal[place] for place in self._places(wanted))

    def journal_page(self, **wanted: Unpack[JournalWanted]) -> tuple[Numbered, ...]:
        held = self._tables
        return tuple(
            Numbered(number=held.numbers[place], entry=held.journal[place]) for place in self._places(wanted)
        )

    def _places(self, wanted: JournalWanted) -> Sequence[int]:
        """Return where in the journal the wanted entries are."""
        schedule, job, kinds = wanted.get("schedule"), wanted.get("job"), wanted.get("kinds")
        since, to, first = wanted.get("since"), wanted.get("to"), wanted.get("first")
        after, before, until = wanted.get("after"), wanted.get("before"), wanted.get("until")
        found: Sequence[int] = range(len(self._tables.journal))
        if any(value is not None for name, value in wanted.items() if name not in ("first", "limit")):
            found = [
                place
                for place, entry in enumerate(self._tables.journal)
                if schedule in (None, entry.schedule)
                and job in (None, entry.job)
                and (kinds is None or entry.kind in kinds)
                and (since is None or entry.at >= since)
                and (to is None or entry.at <= to)
                and (after is None or self._tables.numbers[place] > after)
                and (before is None or self._tables.numbers[place] < before)
                and (until is None or self._tables.numbers[place] <= until)
            ]
        limit = wanted.get("limit")
        return found[:first] if limit is None else found[max(0, len(found) - limit) :]

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
