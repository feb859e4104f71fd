"""Instants in paths and queries."""

from datetime import UTC, datetime

from tidegate.server.problem import Problem


def instant_of(name: str, text: str) -> datetime:
    """Return the instant that a parameter gives.

    Raises:
        Problem: 400 for what is not an ISO 8601 instant with a zone.
    """
    try:
        found = datetime.fromisoformat(text)
        instant = found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Problem(400, f"{name} must be an ISO 8601 instant, got {text!r:.100}") from None
    if found.tzinfo is None:
        raise Problem(400, f"{name} must have a zone, got {text!r:.100}", hint="write 2026-03-10T22:00:00Z")
    return instant
