"""An instant as people and callers write it: ISO 8601 with a zone or an offset. Pure.

Recent: whether something has happened a short time ago, by a clock that may have been ahead meanwhile. What
the clock showed while it was ahead is not recent: else nothing would happen again until that time comes.
"""

from datetime import UTC, datetime, timedelta

from tidegate.domain.error import WrongUsage


def is_recent(at: datetime, now: datetime, within: timedelta) -> bool:
    """Return whether an instant is less than a span away from now; two clocks may differ by some of it."""
    return abs(now - at) < within


HINT = "write for example 2026-03-10T22:00:00Z or 2026-03-10T18:00:00-04:00"


def instant_of(text: str, name: str = "--at") -> datetime:
    """Parse an instant; returns it in UTC.

    Args:
        name: of the option or parameter.

    Raises:
        WrongUsage: the text is not an instant with a zone.
    """
    try:
        moment = datetime.fromisoformat(text)
        utc = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise WrongUsage(f'{name} must be an ISO 8601 instant, got "{text:.100}"', HINT) from None
    if moment.tzinfo is None:
        raise WrongUsage(f'{name} must have a zone or an offset, got "{text:.100}"', HINT)
    return utc
