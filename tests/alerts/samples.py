"""Alerts as the tests send them."""

from datetime import UTC, datetime
from typing import Any

from tidegate.scheduler.model.records.alert import Alert, AlertKind, Message

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def message(**changes: Any) -> Message:
    """A message on a failed schedule."""
    given: dict[str, Any] = {
        "kind": AlertKind.FAILED,
        "project": "p",
        "subject": "sales/report",
        "job": "sales.report-1",
        "run": "run-1",
        "reason": "F-RUN",
        "text": "ValueError: no fares (programs/fares.py:17)",
        "at": NOON,
        "since": NOON,
    }
    return Message(**(given | changes))


def alert(channel: str = "ops", id: str = "a1", **changes: Any) -> Alert:
    """An alert with such a message."""
    said = message(**changes)
    return Alert(
        id=id,
        project="p",
        channel=channel,
        kind=said.kind,
        subject=said.subject,
        message=said,
        made_at=NOON,
        next_at=NOON,
    )
