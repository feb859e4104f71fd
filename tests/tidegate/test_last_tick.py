"""`tidegate dev` watches that the scheduler ticks: one warning, and a word when the ticks come back."""

from datetime import UTC, datetime, timedelta

from tidegate.cli.last_tick import TickWatch

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def test_it_warns_once_and_says_when_ticks_come_again() -> None:
    watch = TickWatch(NOW, every=5)

    assert watch.look(None, NOW + 2 * MINUTE) is None
    said = watch.look(NOW - 60 * MINUTE, NOW + 3 * MINUTE)
    assert said is not None
    assert said.startswith("warning: no tick for 3 minutes: check the Dagster daemon")
    assert watch.look(NOW, NOW + 4 * MINUTE) is None
    assert watch.look(NOW + 5 * MINUTE, NOW + 5 * MINUTE) == "the scheduler ticks again"
    assert watch.look(NOW + 5 * MINUTE, NOW + 6 * MINUTE) is None


def test_rare_ticks_are_waited_for() -> None:
    assert TickWatch(NOW, every=60).look(None, NOW + 13 * MINUTE) is None
