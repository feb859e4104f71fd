"""I moved my app to another time zone: one night was never processed, and another one twice.

A fire at a fixed time is meant by its name on the wall clock. Whatever the zones, each name fires once.
"""

from datetime import UTC, datetime, timedelta

import pytest

from tests.effort import pick
from tests.field.played import launched
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.compiler.render.diff_text import consequence_text
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.live import difference
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.tick.tick import tick

ZONES = ("UTC", "America/Los_Angeles", "Asia/Tokyo", "Pacific/Kiritimati", "Asia/Kolkata")
START = datetime(2026, 3, 10, tzinfo=UTC)
APP = """
app: moved
timezone: {zone}
datasets: {{o: {{partitions: {{cycle: day, start: 2026-01-01, timezone: {zone}}}}}}}
programs: {{p: {{run: x.p, writes: [o]}}}}
schedules:
  s: {{program: p, trigger: {{cron: "{cron}", catch_up: none}}, on_update: {on_update}, status: active}}
tasks:
  t: {{program: p, cycle: day, at: {{time: "12:00"}}, status: active}}
"""
EXAMPLE = """
examples:
  - name: it
    start: 2026-03-08T00:00:00Z
    until: 2026-03-16T00:00:00Z
    given: [{given}]
    expect: []
"""
MOVES = [
    (one, other, cron, START + timedelta(hours=hours, minutes=17))
    for one in ZONES
    for other in ZONES
    if one != other
    for cron in ("30 0 * * *", "0 12 * * *", "30 23 * * *")
    for hours in range(0, 24, 5)
]


def app(zone: str, cron: str = "0 2 * * *", on_update: str = "reset") -> str:
    return APP.format(zone=zone, cron=cron, on_update=on_update)


def moving(zone: str, cron: str, *moves: tuple[datetime, str], on_update: str = "reset") -> list[str]:
    """What is launched other than once for each date that both zones have."""
    given = ", ".join(
        f"{{at: {at.isoformat()}, update: {{s: {{trigger: "
        f"{{cron: '{cron}', catch_up: none, timezone: {to}}}}}}}}}"
        for at, to in moves
    )
    keys = [key for _, key in launched(app(zone, cron, on_update) + EXAMPLE.format(given=given), "s")]
    return [day for day in (f"2026-03-{number:02}" for number in range(9, 14)) if keys.count(day) != 1]


@pytest.mark.parametrize(("zone", "to", "cron", "at"), pick(MOVES, 40))
@pytest.mark.parametrize("on_update", ["reset", "carry"])
def test_each_date_is_written_once(zone: str, to: str, cron: str, at: datetime, on_update: str) -> None:
    assert moving(zone, cron, (at, to), on_update=on_update) == []


def test_there_and_back_again_writes_each_date_once() -> None:
    there, back = START + timedelta(days=1, hours=1), START + timedelta(days=1, hours=1, minutes=10)
    assert moving("UTC", "0 2 * * *", (there, "Asia/Tokyo"), (back, "UTC")) == []


def test_a_time_that_another_cron_had_at_the_same_instant_is_not_lost() -> None:
    at = START + timedelta(days=1, hours=2, minutes=30)
    text = app("UTC", "0 2,11 * * *") + EXAMPLE.format(
        given=f"{{at: {at.isoformat()}, update: {{s: {{trigger: "
        "{cron: '0 2,11 * * *', timezone: Asia/Tokyo}}}}"
    )
    # 11:00 in Tokyo is 02:00 in UTC, when the former cron has fired for its own 02:00.
    assert [when for when, _ in launched(text, "s") if when.date() == at.date()][:3] == [
        START + timedelta(days=1, hours=2),
        at,
        START + timedelta(days=1, hours=17),
    ]


def planned(zone: str, to: str, at: datetime) -> list[str]:
    """What `plan` says of the schedule and the task when the app moves."""
    store = MemoryStore()
    before, after = (
        {name: found.app for name, found in compile_files({"a.yaml": app(z).encode()}).apps.items()}
        for z in (zone, to)
    )
    with store.transaction() as transaction:
        deploy(transaction, before, START - timedelta(hours=1), by=CLI)
    tick(store, START)
    tick(store, at)
    with store.reading() as reader:
        changes = difference(reader, after).schedules()
    return [consequence_text(each) for change in changes for each in change.consequences]


def test_plan_names_what_fires_at_once_and_which_days_have_begun_further_east() -> None:
    texts = planned("UTC", "Pacific/Kiritimati", START + timedelta(hours=20))
    assert "fires at once, since the time is over in its zone: 2026-03-11 02:00 Pacific/Kiritimati" in texts
    assert "1 instance is made, whose days have begun in its zone: 2026-03-11" in texts


def test_plan_names_what_does_not_fire_again() -> None:
    texts = planned("UTC", "America/Los_Angeles", START + timedelta(hours=5))
    assert "does not fire again for 2026-03-10 02:00 America/Los_Angeles" in texts
