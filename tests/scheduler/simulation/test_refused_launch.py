"""What Dagster would refuse is refused in a simulation, with the same words and the same end."""

from tests.scheduler.simulation.app_under_test import GIVEN, played

EARLY = """
start: 2026-03-10T12:00:00-04:00
given:
  - {at: +1m, partitions: {dataset: raw, keys: [KEY]}}
until: +1h
expect: [{at: +1m, launch: by_day}]
"""


def test_a_day_that_has_not_begun_is_tried_again_and_given_up() -> None:
    performance = played(EARLY.replace("KEY", "2026-03-12"))

    assert not performance.ok
    kinds = [(moment.kind, moment.reason) for moment in performance.moments]
    assert ("launch-failed", None) in kinds
    assert kinds[-1] == ("discarded", "F-LAUNCH")
    assert performance.moments[-1].text == "a/p has no partition 2026-03-12 yet: its period has not begun"


def test_a_day_that_begins_meanwhile_is_launched() -> None:
    performance = played(EARLY.replace("T12:00", "T23:55").replace("KEY", "2026-03-11"))

    kinds = [moment.kind for moment in performance.moments if moment.schedule == "by_day"]
    assert kinds.index("launch-failed") < kinds.index("launched")


def test_the_running_day_is_launched() -> None:
    performance = played(EARLY.replace("KEY", "2026-03-10"))

    assert "launch-failed" not in [moment.kind for moment in performance.moments]


def test_a_replay_of_what_has_not_arrived_is_refused() -> None:
    performance = played(f"{GIVEN}\n  - {{at: +0s, replay: raw}}\nexpect: []")

    (refused,) = [moment for moment in performance.moments if moment.kind == "refused"]
    assert (refused.reason, refused.text) == ("N301", "a/raw has no event")
