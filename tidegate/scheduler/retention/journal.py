"""The journal's part of a pass: snapshots are taken, and what comes before the oldest needed one goes.

    entries ... snapshot ... entries ... snapshot ... entries
    ◄─ go, but for those of jobs that may go on ─►│◄─ stay: `why --at` reads on from a snapshot

A snapshot is taken every some thousand entries, at least once a day, and after apps were renamed, for it has
the names of its time. So `why --at` reads a bounded part of the journal, however long it is. Part of the
shell.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from tidegate.scheduler.decision.retention import entry_may_go
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.retention import Pruned, Snapshot
from tidegate.scheduler.retention.state import state_of
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.upkeep import UpkeepTransaction

ENTRIES_BETWEEN = 20_000
"""Entries that `why --at` reads at most, but for those of a last hour: a fraction of a second."""

SNAPSHOT_EVERY = timedelta(days=1)
"""The time after which a snapshot is taken if there was any entry."""

PAGE = 1_000

PRUNED_UNTIL = "journal pruned until"
"""Name of the cursor that holds the instant of the snapshot with which the journal begins."""


def prune_journal(
    transaction: UpkeepTransaction, keep: timedelta | None, clock: datetime, after: int, limit: int
) -> tuple[Pruned, int | None]:
    """Take a snapshot if one is due, and remove a page of old entries.

    Args:
        after: the number of the last entry that was looked at.

    Returns:
        What was removed, and the number of the last entry that was looked at; None at the end.
    """
    if not after:
        _take_snapshot(transaction, clock)
    base = base_of(transaction, keep, clock)
    if base is None:
        return Pruned(), None
    rows = transaction.journal_page(after=after, until=base, first=limit)
    ids = {row.entry.job for row in rows if row.entry.job is not None}
    jobs = {job.id: job for job in transaction.jobs(ids=ids)} if ids else {}
    gone = [row.number for row in rows if entry_may_go(jobs.get(row.entry.job or ""), row.entry.kind)]
    if gone:
        transaction.drop_journal(gone)
        since = dict(transaction.snapshots())[base]
        transaction.set_cursor(PRUNED_UNTIL, since.isoformat())
    pruned = Pruned(journal=len(gone))
    if len(rows) == limit:
        return pruned, rows[-1].number
    old = [number for number, _ in transaction.snapshots() if number < base]
    transaction.drop_snapshots(old)
    return pruned.plus(Pruned(snapshots=len(old))), None


def pruned_until(reader: EngineReader) -> datetime | None:
    """Return the instant before which the journal was pruned; None if it is whole."""
    stored = reader.cursor(PRUNED_UNTIL)
    return None if stored is None else datetime.fromisoformat(stored)


def base_of(reader: EngineReader, keep: timedelta | None, clock: datetime) -> int | None:
    """Return the number of the newest snapshot that is old enough; what comes before it may go."""
    if keep is None:
        return None
    old = [number for number, at in reader.snapshots() if at <= clock - keep]
    return old[-1] if old else None


def journal_outlook(
    reader: EngineReader, keep: timedelta | None, clock: datetime, gone: Collection[str], pages: int
) -> tuple[int, bool]:
    """Return how many entries a pass would remove, and whether these are all.

    Args:
        gone: the jobs that it would remove.
        pages: how many are looked at.
    """
    base, after, found = base_of(reader, keep, clock), 0, 0
    while base is not None:
        rows = reader.journal_page(after=after, until=base, first=PAGE)
        if not rows:
            break
        if not pages:
            return found, False
        ids = {row.entry.job for row in rows if row.entry.job is not None and row.entry.job not in gone}
        jobs = {job.id: job for job in reader.jobs(ids=ids)} if ids else {}
        found += sum(entry_may_go(jobs.get(row.entry.job or ""), row.entry.kind) for row in rows)
        after, pages = rows[-1].number, pages - 1
    return found, True


def _take_snapshot(transaction: UpkeepTransaction, clock: datetime) -> None:
    _, last = transaction.journal_ends()
    taken = transaction.snapshots()
    number, at = taken[-1] if taken else (0, None)
    due = last - number >= ENTRIES_BETWEEN or at is None or clock - at >= SNAPSHOT_EVERY
    due = due or bool(transaction.journal_page(kinds=(EntryKind.RENAME,), after=number, first=1))
    if last > number and due:
        # Commands and ingestion write entries of later instants than the engine's clock.
        newest = [entry.at for entry in transaction.journal(after=max(number, last - PAGE))]
        at = max(clock, *newest)
        transaction.put_snapshot(Snapshot(number=last, at=at, state=state_of(transaction, clock)))
