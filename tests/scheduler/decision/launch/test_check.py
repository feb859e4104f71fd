"""Launch check: which launches are refused, and which of them for good; one row for each sentence."""

import pytest

from tests.worlds.world import app_of, at
from tidegate.scheduler.decision.launch.check import check_launch

HEAD = """
app: a
datasets:
  raw: {partitions: {cycle: day, start: 2026-03-01}}
  days: {partitions: {cycle: day, start: 2026-03-01, timezone: America/New_York}}
  later: {partitions: {cycle: day, start: 2026-03-05, timezone: America/New_York}}
  chunks: {partitions: {day: {cycle: day, start: 2026-03-01}, origin: [EWR, JFK]}}
  origins: {partitions: {origin: [EWR, JFK]}}
  plain: {}
programs:
  days: {run: m.f, writes: [days, plain]}
  both: {run: m.f, writes: [days, later]}
  chunks: {run: m.f, writes: [chunks]}
  origins: {run: m.f, writes: [origins]}
  plain: {run: m.f, writes: [plain]}
schedules:
"""
APP = app_of('s: {program: plain, trigger: {cron: "@daily"}}', HEAD)

POSSIBLE = [
    ("a day that is over", "days", ("2026-03-09",), "12:00"),
    ("the running day", "days", ("2026-03-10",), "12:00"),
    (
        "the running day from its first instant on, in its zone",
        "days",
        ("2026-03-10",),
        "04:00",
    ),
    ("the first day", "days", ("2026-03-01",), "12:00"),
    ("several", "days", ("2026-03-01", "2026-03-09"), "12:00"),
    ("two dimensions", "chunks", ("2026-03-10|EWR",), "12:00"),
    ("no time at all", "origins", ("JFK",), "12:00"),
    ("outputs without partitions", "plain", (), "12:00"),
]


@pytest.mark.parametrize(("sentence", "program", "keys", "now"), POSSIBLE, ids=[row[0] for row in POSSIBLE])
def test_a_launch_that_is_possible(sentence, program, keys, now):
    assert check_launch(APP, f"a/{program}", keys, at(now)) is None


IMPOSSIBLE = [
    ("no key", "days", (), "set output_partition", True),
    ("keys of what has none", "plain", ("2026-03-09",), "have no partitions, got 2026-03-09", True),
    ("before the start", "days", ("2026-02-28",), "no partition 2026-02-28: ", True),
    ("before the start of one output", "both", ("2026-03-04",), "is before the first day", True),
    ("no key of the scheme", "origins", ("SFO",), "no partition SFO", True),
    ("one of two dimensions", "chunks", ("EWR",), "no partition EWR", True),
    ("a later day", "days", ("2026-03-09", "2026-03-11"), "2026-03-11 yet: its period has not begun", False),
    ("a later day of two dimensions", "chunks", ("2026-03-11|EWR",), "has not begun", False),
    ("an unknown program", "gone", ("2026-03-09",), "reload the code location", False),
    ("many", "origins", tuple("abcdefg"), "no partition a, b, c, d, e and 2 more: ", True),
]


@pytest.mark.parametrize(
    ("sentence", "program", "keys", "says", "final"), IMPOSSIBLE, ids=[row[0] for row in IMPOSSIBLE]
)
def test_a_launch_that_is_not(sentence, program, keys, says, final):
    wrong = check_launch(APP, f"a/{program}", keys, at("12:00"))
    assert wrong is not None
    assert says in wrong.message
    assert wrong.final is final


def test_the_day_that_has_not_begun_in_its_zone_is_later():
    wrong = check_launch(APP, "a/days", ("2026-03-10",), at("03:59"))
    assert wrong is not None
    assert not wrong.final


def test_an_app_that_is_not_known_may_be_loaded_later():
    wrong = check_launch(None, "a/days", ("2026-03-09",), at("12:00"))
    assert wrong is not None
    assert not wrong.final
