"""What Dagster would refuse is refused in a simulation, with the same words and the same end."""

from tests.scheduler.simulation.app_under_test import GIVEN, played

EARLY = """
start: 2026-03-10T12:00:00-04:00
given:
  - {at: +1m, partitions: {dataset: raw, keys: [KEY]}}
until: +1h
expect: [{at: +1m, launch: by_day}]
"""


def test_a_day_that_has_not_begun_is_dropped() -> None:
    performance = played(EARLY.replace("KEY", "2026-03-12"))

    assert not performance.ok
    assert [
        (moment.kind, moment.reason) for moment in performance.moments if moment.schedule == "by_day"
    ] == [("dropped", "D-KEY")]


def test_the_running_day_is_launched() -> None:
    performance = played(EARLY.replace("KEY", "2026-03-10"))

    assert "launch-failed" not in [moment.kind for moment in performance.moments]


def test_a_replay_of_what_has_not_arrived_is_refused() -> None:
    performance = played(f"{GIVEN}\n  - {{at: +0s, replay: raw}}\nexpect: []")

    (refused,) = [moment for moment in performance.moments if moment.kind == "refused"]
    assert (refused.reason, refused.text) == ("N301", "a/raw has no event")
