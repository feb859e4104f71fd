"""The clock of one machine was ahead: two schedulers were active, crons fired early, and all looked well.

A lease of the future that is renewed while one looks is another clock. The process that sees it does not
decide, and says by how much the clocks differ.
"""

from datetime import UTC, datetime, timedelta

import pytest

from tests.worlds.world import at
from tidegate.cli.operate.health.findings import Engine, Finding, Health, engine_findings
from tidegate.scheduler.explain.missed import last_tick_line
from tidegate.scheduler.launch.active_host import LEASE, RENEWED_WITHIN, ActiveHost, Lookout

NOW = at("12:00")
SECOND = timedelta(seconds=1)


def lease(looped_at: datetime) -> ActiveHost:
    return ActiveHost(process="other/1/m/b/s/9", since=NOW, looped_at=looped_at)


def seen(ahead: timedelta, *, renewed: bool, seconds: int = 6) -> list[str | None]:
    """What a process says that looks each second at a lease that is ahead of its clock."""
    lookout = Lookout()
    times = [NOW + SECOND * second for second in range(seconds)]
    return [lookout.other_clock(lease((time if renewed else NOW) + ahead), time) for time in times]


@pytest.mark.parametrize("ahead", [LEASE + SECOND, timedelta(minutes=10), timedelta(days=400)])
def test_a_lease_of_the_future_that_is_renewed_is_another_clock(ahead: timedelta) -> None:
    first, *rest = seen(ahead, renewed=True)
    assert first is not None and "whether it is renewed is looked at" in first
    assert {line for line in rest if line is not None} == {
        f"its clock is {ahead.total_seconds():,.0f} s ahead of the clock of this process;"
        " synchronize the clocks of the two machines"
    }
    assert None not in rest


def test_one_that_is_not_renewed_is_of_a_clock_that_was_put_back() -> None:
    said = seen(timedelta(minutes=10), renewed=False)
    still = RENEWED_WITHIN // SECOND
    assert None not in said[:still] and set(said[still:]) == {None}


@pytest.mark.parametrize("ahead", [timedelta(0), LEASE, -LEASE, -timedelta(days=1)])
def test_a_lease_that_is_not_of_the_future_says_nothing(ahead: timedelta) -> None:
    assert set(seen(ahead, renewed=True)) == {None}


def wrong(
    host: ActiveHost | None = None, *, renewed: bool = False, ticked_at: datetime = NOW
) -> list[Finding]:
    engine = Engine(apps=("a",), ticked_at=ticked_at, host=host, renewed=renewed)
    return [each for each in engine_findings(engine, NOW, 5) if each.health is Health.WRONG]


def test_doctor_says_by_how_much_clocks_differ() -> None:
    (ahead,) = wrong(host=lease(NOW + timedelta(minutes=10)), renewed=True)
    assert "its clock is 600 s ahead of the clock of this machine" in ahead.text
    (behind,) = wrong(host=lease(NOW - timedelta(minutes=10)), renewed=True)
    assert "its clock is 600 s behind the clock of this machine" in behind.text


def test_a_tick_of_the_future_is_not_ok() -> None:
    (engine,) = wrong(ticked_at=NOW + timedelta(minutes=10))
    assert "600 s in the future" in engine.text and "synchronize" in engine.remedy
    line = last_tick_line(datetime(2026, 3, 10, 12, 10, tzinfo=UTC), NOW, late=False)
    assert line.endswith(", 600 s in the future: a clock is wrong")
