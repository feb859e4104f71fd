"""Instants in texts: UTC, with the local time beside it."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tidegate.scheduler.explain.instant_text import instant_text

NOON = datetime(2026, 11, 21, 11, 48, 13, tzinfo=UTC)
NIGHT = datetime(2026, 3, 10, 2, 0, tzinfo=UTC)

CASES = [
    (NOON, "America/New_York", "2026-11-21 11:48:13Z (06:48 New York)"),
    (NIGHT, "America/New_York", "2026-03-10 02:00:00Z (03-09 22:00 New York)"),
    (NIGHT, "Asia/Kathmandu", "2026-03-10 02:00:00Z (07:45 Kathmandu)"),
    (NOON, "America/Argentina/Buenos_Aires", "2026-11-21 11:48:13Z (08:48 Buenos Aires)"),
    (NOON, "Europe/London", "2026-11-21 11:48:13Z (11:48 London)"),
    (NOON, "UTC", "2026-11-21 11:48:13Z"),
    (NOON, "Etc/UTC", "2026-11-21 11:48:13Z"),
]


@pytest.mark.parametrize(("instant", "zone", "expected"), CASES)
def test_the_local_time_is_beside_utc(instant: datetime, zone: str, expected: str) -> None:
    assert instant_text(instant, ZoneInfo(zone)) == expected


def test_without_a_zone_only_utc_is_shown() -> None:
    assert instant_text(NOON) == "2026-11-21 11:48:13Z"
