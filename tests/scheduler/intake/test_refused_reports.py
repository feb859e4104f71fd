"""Refused reports: each is kept once, the newest first, and no more than a bounded number."""

from datetime import UTC, datetime, timedelta

from tidegate.scheduler.intake.report import (
    MAX_REFUSED,
    RefusedReport,
    note_refused,
    refused_reports,
)
from tidegate.scheduler.store.memory.store import MemoryStore

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def reported(number: int) -> RefusedReport:
    at = NOON + timedelta(minutes=number)
    return RefusedReport(id=f"r{number}", at=at, key="partition:a/d", partition=str(number), reason="no key")


def test_a_report_that_is_read_twice_is_one_and_the_newest_comes_first() -> None:
    store = MemoryStore()
    with store.transaction() as transaction:
        note_refused(transaction, [])
        assert refused_reports(transaction) == ()
        note_refused(transaction, [reported(1), reported(3)])
        note_refused(transaction, [reported(3), reported(2), reported(2)])
        note_refused(transaction, [reported(1)])
        assert refused_reports(transaction) == (reported(3), reported(2), reported(1))


def test_the_oldest_are_forgotten() -> None:
    store = MemoryStore()
    with store.transaction() as transaction:
        note_refused(transaction, [reported(number) for number in range(MAX_REFUSED)])
        note_refused(transaction, [reported(MAX_REFUSED)])
        kept = refused_reports(transaction)
    assert (len(kept), kept[0], kept[-1]) == (MAX_REFUSED, reported(MAX_REFUSED), reported(1))
