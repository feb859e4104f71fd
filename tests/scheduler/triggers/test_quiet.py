"""`quiet` and `quiet_at_most`: the trigger holds when nothing new has come for a while."""

import pytest

from tests.scheduler.triggers.sentences import came, verdict
from tests.worlds.world import at
from tidegate.scheduler.model.reason import Reason

Q = "{partitions: {dataset: raw, count: 2}, quiet: 10m}"
AT_MOST = "{partitions: {dataset: raw}, quiet: 10m, quiet_at_most: 25m}"
ALL = "{all: [{partitions: {dataset: raw}}, {run: {program: r}, quiet: 10m}]}"

ROWS = [
    ("nothing is quiet before it holds", Q, [came("10:00", "", "a")], None),
    ("it counts from the moment it holds", Q, [came("10:00", "", "a"), came("10:30", "", "b")], "10:40"),
    (
        "what comes starts it again",
        Q,
        [came("10:00", "", "a"), came("10:05", "", "b"), came("10:14", "", "c")],
        "10:24",
    ),
    (
        "a rewrite is something new as well",
        Q,
        [came("10:00", "", "a"), came("10:05", "", "b"), came("10:14", "", "b")],
        "10:24",
    ),
    (
        "what comes at the very end comes too late",
        Q,
        [came("10:00", "", "a"), came("10:05", "", "b"), came("10:15", "", "c")],
        "10:15",
    ),
    (
        "and what comes later does not count either",
        Q,
        [came("10:00", "", "a"), came("10:05", "", "b"), came("10:18", "", "c"), came("10:20", "", "d")],
        "10:15",
    ),
    (
        "at most so long",
        AT_MOST,
        [came(f"10:{minute:02}", "", "a") for minute in range(0, 60, 5)],
        "10:25",
    ),
    ("sooner if it is quiet sooner", AT_MOST, [came("10:00", "", "a"), came("10:05", "", "a")], "10:15"),
    (
        "a member's quiet looks at what is below that member only",
        ALL,
        [came("10:00", "1"), came("10:05", "0", "a")],
        "10:10",
    ),
    (
        "a composite's looks at all members",
        "{all: [{partitions: {dataset: raw}}, {run: {program: r}}], quiet: 10m}",
        [came("10:00", "1"), came("10:05", "0", "a"), came("10:12", "1")],
        "10:22",
    ),
    (
        "a wait that is over does not ask for quiet",
        "{partitions: {dataset: raw, count: 2}, quiet: 10m, wait_at_most: 8m}",
        [came("10:00", "", "a"), came("10:05", "", "b")],
        "10:08",
    ),
]


@pytest.mark.parametrize(("sentence", "trigger", "arrivals", "since"), ROWS, ids=[row[0] for row in ROWS])
def test_quiet(sentence, trigger, arrivals, since):
    assert verdict(trigger, arrivals, "20:00").since == (None if since is None else at(since))


def test_a_trigger_that_only_waits_for_quiet_says_until_when():
    found = verdict(Q, [came("10:00", "", "a"), came("10:05", "", "b")], "10:07")
    assert (found.met, found.reason, found.next_check) == (False, Reason.W_QUIET, at("10:15"))
    assert found.summary == (
        "2 of 2 new partitions of raw; waits for 10m without new events, until 2026-03-10T10:15:00+00:00"
    )


def test_a_trigger_that_lacks_something_does_not_say_quiet():
    found = verdict(Q, [came("10:00", "", "a")], "10:07")
    assert (found.reason, found.next_check) == (None, None)


def test_it_says_how_long_it_was_quiet():
    found = verdict(Q, [came("10:00", "", "a"), came("10:05", "", "b")], "12:00")
    assert found.summary == "2 of 2 new partitions of raw; was quiet for 10m"


QUIET_RUN = "{run: {program: r}, quiet: 10m}"
RAW = "{partitions: {dataset: raw}}"

REASONS = [
    ("all: only quiet is missing", f"{{all: [{RAW}, {QUIET_RUN}]}}", "01", Reason.W_QUIET),
    ("all: another member is missing", f"{{all: [{RAW}, {QUIET_RUN}]}}", "1", None),
    ("any: the quiet one is enough", f"{{any: [{RAW}, {QUIET_RUN}]}}", "1", Reason.W_QUIET),
    (
        "at_least: quiet and met are enough",
        f"{{at_least: {{n: 2, of: [{RAW}, {QUIET_RUN}, {RAW}]}}}}",
        "01",
        Reason.W_QUIET,
    ),
    ("at_least: they are not", f"{{at_least: {{n: 3, of: [{RAW}, {QUIET_RUN}, {RAW}]}}}}", "01", None),
    ("sequence: the last member", f"{{sequence: [{RAW}, {QUIET_RUN}]}}", "01", Reason.W_QUIET),
    ("sequence: another follows", f"{{sequence: [{RAW}, {QUIET_RUN}, {RAW}]}}", "01", None),
]


@pytest.mark.parametrize(("sentence", "trigger", "paths", "reason"), REASONS, ids=[row[0] for row in REASONS])
def test_whose_reason_is_quiet(sentence, trigger, paths, reason):
    arrivals = [came(f"10:0{number}", path, "a") for number, path in enumerate(paths)]
    found = verdict(trigger, arrivals, "10:05")
    assert (found.met, found.reason) == (False, reason)
