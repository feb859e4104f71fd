"""Expiries: until when something holds, as `4h` from now, an instant with a zone, or `never`."""

from datetime import UTC, datetime, timedelta

from tidegate.domain.duration import DurationError, parse_duration
from tidegate.domain.error import UserError
from tidegate.domain.value import Value
from tidegate.domain.wording import shown

MAX_EXPIRY = timedelta(days=366)
"""What holds for longer is not an exception: it belongs in the YAML."""

HINT = "write a duration such as 30m, 4h or 2d, an instant such as 2026-03-10T22:00:00Z, or never"


class ExpiryError(UserError, ValueError):
    """A text that is not an expiry, or one that is over."""


class Until(Value, kw_only=True):
    """An expiry that was given.

    Attributes:
        at: aware, UTC; None for never.
    """

    at: datetime | None = None


def until_after(now: datetime, expires: timedelta | None) -> Until | None:
    """Return the expiry that is so long after `now`; None for none."""
    return None if expires is None else Until(at=now + expires)


def parse_expiry(text: str, now: datetime) -> Until:
    """Parse an expiry; a duration counts from `now`.

    Raises:
        ExpiryError: the text is not an expiry, or it is not after `now`, or more than 366 days later.
    """
    if text == "never":
        return Until()
    at = _after_duration(text, now) or _instant(text)
    if at is None:
        raise ExpiryError(
            f"an expiry is a duration, an instant with a zone, or never, got {shown(text)}", HINT
        )
    if at <= now:
        raise ExpiryError(f"an expiry is in the future, got {shown(text)}", HINT)
    if at - now > MAX_EXPIRY:
        raise ExpiryError(f"an expiry is at most {MAX_EXPIRY.days}d away, got {shown(text)}", HINT)
    return Until(at=at)


def _after_duration(text: str, now: datetime) -> datetime | None:
    try:
        return now + parse_duration(text, minimum=timedelta(0))
    except (DurationError, OverflowError):
        return None


def _instant(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
        return None if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
