"""I changed the time zone of my job in the evening, and one day was never run.

A scheduled time is a name on the wall clock. Whatever the zones, each name of a task runs once.
"""

from datetime import UTC, datetime, timedelta

import pytest

from tests.effort import pick
from tests.field.played import failures

ZONES = ("UTC", "America/Los_Angeles", "Asia/Tokyo", "Pacific/Kiritimati", "Asia/Kolkata")
START = datetime(2026, 3, 10, tzinfo=UTC)
APP = """
app: moved
timezone: {zone}
datasets: {{o: {{partitions: {{cycle: day, start: 2026-01-01}}}}}}
programs: {{p: {{run: x.p, writes: [o]}}}}
tasks:
  t: {{program: p, cycle: day, at: {{time: "{time}"}}, timezone: {zone}, status: active}}
examples:
  - name: it
    start: 2026-03-08T00:00:00Z
    until: 2026-03-15T00:00:00Z
    given: [{{at: {at}, update: {{t: {{timezone: {to}}}}}}}]
    expect_only: []
    expect: [{expect}]
"""
DAYS = ("2026-03-10", "2026-03-11", "2026-03-12")
MOVES = [
    (one, other, time, START + timedelta(hours=hours, minutes=17))
    for one in ZONES
    for other in ZONES
    if one != other
    for time in ("00:30", "12:00", "23:30")
    for hours in range(0, 24, 5)
]


@pytest.mark.parametrize(("zone", "to", "time", "at"), pick(MOVES, 40))
def test_each_day_has_one_run(zone: str, to: str, time: str, at: datetime) -> None:
    once = ", ".join(
        f"{{at: 2026-03-15T00:00:00Z, instance: t, scheduled: {day}, status: successful, attempt: 1}}"
        for day in DAYS
    )
    assert failures(APP.format(zone=zone, to=to, time=time, at=at.isoformat(), expect=once)) == []


def test_the_day_whose_time_is_over_in_the_new_zone_runs_at_once() -> None:
    at = START + timedelta(days=1, hours=1)
    launched = f"{{at: {at.isoformat()}, instance: t, scheduled: 2026-03-11, status: running}}"
    text = APP.format(zone="UTC", to="Asia/Tokyo", time="02:00", at=at.isoformat(), expect=launched)
    assert failures(text) == []
