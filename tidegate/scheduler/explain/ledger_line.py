"""One line of the ledger: the balance of a schedule's events, as JSON."""

from typing import Any

from tidegate.scheduler.store.answers import LedgerRow


def ledger_line(row: LedgerRow) -> dict[str, Any]:
    """Return the line: landed = consumed (succeeded, running, failed) + pending + discarded."""
    return {
        "schedule": row.schedule,
        "landed": row.landed,
        "consumed": row.consumed,
        "succeeded": row.succeeded,
        "running": row.running,
        "failed": sum(row.failed.values()),
        "pending": row.pending,
        "discarded": sum(row.discarded.values()),
        "failures": row.failed,
        "reasons": row.discarded,
    }
