"""Expiries: what is one, and how far away it may be."""

from datetime import UTC, datetime, timedelta

import pytest

from tidegate.domain.time.expiry import ExpiryError, Until, parse_expiry

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("never", None),
        ("4h", NOON + timedelta(hours=4)),
        ("2026-03-10T23:00:00+01:00", NOON + timedelta(hours=10)),
        ("366d", NOON + timedelta(days=366)),
    ],
)
def test_an_expiry_is_a_duration_an_instant_or_never(text: str, at: datetime | None) -> None:
    assert parse_expiry(text, NOON) == Until(at=at)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("soon", "a duration, an instant with a zone, or never"),
        ("2026-03-10T22:00:00", "a duration, an instant with a zone, or never"),
        ("2026-03-10T12:00:00Z", "in the future"),
        ("2027-03-12T00:00:00Z", "at most 366d away"),
    ],
)
def test_anything_else_is_refused(text: str, message: str) -> None:
    with pytest.raises(ExpiryError, match=message):
        parse_expiry(text, NOON)
