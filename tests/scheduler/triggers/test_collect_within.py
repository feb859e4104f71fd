"""`collect_within`: what came longer ago counts no more, and is dropped where nothing rests on it."""

import pytest

from tests.scheduler.triggers.sentences import came, dropped_at, verdict
from tests.worlds.world import at
from tidegate.scheduler.model.reason import Reason

QUIET = "{partitions: {dataset: raw}, quiet: 10m, collect_within: 1h}"
THREE = "{partitions: {dataset: raw, count: 3}, collect_within: 1h}"
MEMBER = "{all: [{partitions: {dataset: raw, count: 2}, collect_within: 30m}, {run: {program: r}}]}"

ROWS = [
    ("enough within the stretch", THREE, [came(f"10:{n}0", "", f"k{n}") for n in range(3)], "10:20"),
    (
        "one of them is too old",
        THREE,
        [came("10:00", "", "a"), came("10:30", "", "b"), came("11:01", "", "c")],
        None,
    ),
    (
        "exactly as old as the stretch still counts",
        THREE,
        [came("10:00", "", "a"), came("10:30", "", "b"), came("11:00", "", "c")],
        "11:00",
    ),
    (
        "it slides, member by member",
        THREE,
        [came("10:00", "", "a"), came("10:50", "", "b"), came("11:30", "", "c"), came("11:40", "", "d")],
        "11:40",
    ),
    (
        "a key that comes again is young again",
        THREE,
        [came("10:00", "", "a"), came("10:30", "", "b"), came("11:10", "", "a"), came("11:20", "", "c")],
        "11:20",
    ),
    (
        "once satisfied it stays so",
        THREE,
        [came("10:00", "", "a"), came("10:10", "", "b"), came("10:20", "", "c")],
        "10:20",
    ),
    (
        "a member that holds ceases to",
        MEMBER,
        [came("10:00", "0", "a"), came("10:10", "0", "b"), came("10:31", "1")],
        None,
    ),
    (
        "a member that holds still",
        MEMBER,
        [came("10:00", "0", "a"), came("10:10", "0", "b"), came("10:30", "1")],
        "10:30",
    ),
    (
        "a member that comes to hold again",
        MEMBER,
        [
            came("10:00", "0", "a"),
            came("10:10", "0", "b"),
            came("10:50", "1"),
            came("12:00", "0", "c"),
            came("12:10", "0", "d"),
        ],
        "12:10",
    ),
    (
        "what waits for quiet is too old to be waited for",
        f"{{all: [{QUIET}, {{run: {{program: r}}}}], wait_at_most: 3h}}",
        [came("10:00", "0", "a")],
        None,
    ),
    (
        "what waits for quiet is young enough to be waited for",
        f"{{all: [{QUIET}, {{run: {{program: r}}}}], wait_at_most: 30m}}",
        [came("10:00", "0", "a")],
        "10:30",
    ),
    (
        "all of a composite's events are within it",
        "{all: [{partitions: {dataset: raw}}, {run: {program: r}}], collect_within: 1h}",
        [came("10:00", "0", "a"), came("11:10", "1"), came("12:00", "0", "a")],
        "12:00",
    ),
    (
        "a stretch within a stretch",
        "{all: [{partitions: {dataset: raw, count: 2}, collect_within: 30m}, {run: {program: r}}],"
        " collect_within: 1h}",
        [
            came("10:00", "1"),
            came("10:20", "0", "a"),
            came("11:05", "0", "b"),
            came("11:10", "1"),
            came("11:30", "0", "c"),
        ],
        "11:30",
    ),
    (
        "a step of a sequence is done for good",
        "{sequence: [{partitions: {dataset: raw, count: 2}, collect_within: 30m}, {run: {program: r}}]}",
        [came("10:00", "0", "a"), came("10:10", "0", "b"), came("14:00", "1")],
        "14:00",
    ),
    (
        "unless the whole sequence is to be within a stretch",
        "{sequence: [{partitions: {dataset: raw}}, {run: {program: r}}], collect_within: 1h}",
        [came("10:00", "0", "a"), came("14:00", "1")],
        None,
    ),
    (
        "what is to be quiet must be so within the stretch",
        "{partitions: {dataset: raw, count: 2}, collect_within: 30m, quiet: 25m}",
        [came("10:00", "", "a"), came("10:10", "", "b")],
        None,
    ),
    (
        "a wait runs from the first event that was not dropped",
        "{partitions: {dataset: raw, count: 3}, collect_within: 1h, wait_at_most: 45m}",
        [came("10:00", "", "a")],
        "10:45",
    ),
    (
        "a wait that is longer than the stretch is never over",
        "{partitions: {dataset: raw, count: 3}, collect_within: 1h, wait_at_most: 61m}",
        [came("10:00", "", "a"), came("10:30", "", "b")],
        None,
    ),
    (
        "a wait within a stretch may run from what came elsewhere, longer ago",
        "{all: [{all: [{partitions: {dataset: raw, count: 2}}, {run: {program: r}, wait_at_most: 2h}],"
        " collect_within: 1h}, {run: {program: r}}]}",
        [came("10:00", "1"), came("11:50", "0.0", "a"), came("11:55", "0.0", "b")],
        "12:00",
    ),
    (
        "a wait is not over by what a stretch has dropped, nor is what it dropped something that came",
        "{any: [{any: [{partitions: {dataset: raw, count: 2}, collect_within: 1m}], wait_at_most: 3m},"
        " {run: {program: r, count: 2}}]}",
        [came("10:00", "1"), came("10:01", "0.0", "a")],
        None,
    ),
    (
        "a composite's wait needs something that counts still",
        "{all: [{all: [{partitions: {dataset: raw}}, {partitions: {dataset: other}}], collect_within: 30m,"
        " wait_at_most: 1h}, {run: {program: r}}]}",
        [came("10:00", "1"), came("10:10", "0.0", "a"), came("11:30", "0.1", "a")],
        "11:30",
    ),
]


@pytest.mark.parametrize(("sentence", "trigger", "arrivals", "since"), ROWS, ids=[row[0] for row in ROWS])
def test_collect_within(sentence, trigger, arrivals, since):
    expected = None if since is None else at(since)
    assert verdict(trigger, arrivals, "20:00").since == expected
    assert verdict(trigger, arrivals, "1d 20:00").since == expected


SEQUENCE = "{sequence: [{partitions: {dataset: raw, count: 2}, collect_within: 30m}, {run: {program: r}}]}"
QUIET = "{all: [{partitions: {dataset: raw}, collect_within: 30m}, {run: {program: r}}], quiet: 2h}"
OUTER = (
    "{sequence: [{partitions: {dataset: raw}, collect_within: 30m}, {run: {program: r}}], collect_within: 2h}"
)

WAITING = (
    "{all: [{any: [{partitions: {dataset: other}, wait_at_most: 20m}, {run: {program: r, count: 2}}],"
    " quiet: 2h}, {partitions: {dataset: raw}, collect_within: 30m}]}"
)

DROPS = [
    (
        "nothing without a stretch",
        "{partitions: {dataset: raw, count: 3}}",
        [came("10:00", "", "a")],
        "20:00",
        [],
    ),
    ("nothing that is younger", THREE, [came("10:00", "", "a")], "10:59", []),
    ("what is exactly as old has not helped", THREE, [came("10:00", "", "a")], "11:00", ["10:00"]),
    (
        "one by one",
        THREE,
        [came("10:00", "", "a"), came("10:30", "", "b")],
        "11:10",
        ["10:00"],
    ),
    (
        "in order of arrival over all members",
        "{all: [{run: {program: r}}, {partitions: {dataset: raw, count: 2}}], collect_within: 1h}",
        [came("10:10", "0"), came("10:00", "1", "a"), came("10:20", "1", "a")],
        "12:00",
        ["10:00", "10:10", "10:20"],
    ),
    (
        "only below the member that says so",
        MEMBER,
        [came("10:00", "0", "a"), came("10:00", "1")],
        "12:00",
        ["10:00"],
    ),
    ("a step that is not done rests on nothing", SEQUENCE, [came("10:00", "0", "a")], "12:00", ["10:00"]),
    (
        "a step that is done rests on what came",
        SEQUENCE,
        [came("10:00", "0", "a"), came("10:10", "0", "b")],
        "12:00",
        [],
    ),
    (
        "what only has to be quiet rests on what came",
        QUIET,
        [came("10:00", "0", "a"), came("10:10", "1")],
        "11:00",
        [],
    ),
    ("what lacks a member rests on nothing", QUIET, [came("10:00", "0", "a")], "11:00", ["10:00"]),
    ("a done step within an outer stretch", OUTER, [came("10:00", "0", "a")], "11:59", []),
    (
        "a wait in what rests needs what it runs from, wherever that came",
        WAITING,
        [came("10:00", "1", "a"), came("10:01", "0.1")],
        "10:40",
        [],
    ),
    (
        "but only as long as a stretch above both lets it be",
        f"{{any: [{WAITING}], collect_within: 35m}}",
        [came("10:00", "0.1", "a"), came("10:01", "0.0.1")],
        "10:40",
        ["10:00", "10:01"],
    ),
    ("which ends", OUTER, [came("10:00", "0", "a")], "12:00", ["10:00"]),
]


@pytest.mark.parametrize(
    ("sentence", "trigger", "arrivals", "look", "gone"), DROPS, ids=[row[0] for row in DROPS]
)
def test_what_is_dropped(sentence, trigger, arrivals, look, gone):
    assert dropped_at(trigger, arrivals, look) == gone


def test_it_says_what_counts_and_when_the_oldest_drops_out():
    found = verdict(THREE, [came("10:00", "", "a"), came("10:30", "", "b")], "10:40")
    assert found.summary == (
        "2 of 3 new partitions of raw; only the last 1h count,"
        " the oldest event drops out at 2026-03-10T11:00:00+00:00"
    )
    assert (found.next_check, found.holds_at) == (at("11:00"), None)


def test_a_member_that_has_slid_away_says_so_until_all_hold():
    arrivals = [came("10:00", "0", "a"), came("10:10", "0", "b")]
    assert [part.met for part in verdict(MEMBER, arrivals, "10:30").parts] == [True, False]
    assert [part.met for part in verdict(MEMBER, arrivals, "10:31").parts] == [False, False]


def test_when_it_was_satisfied_long_ago_the_members_are_shown_as_they_were():
    arrivals = [came("10:00", "0", "a"), came("10:10", "0", "b"), came("10:20", "1")]
    found = verdict(MEMBER, arrivals, "20:00")
    assert (found.met, found.since) == (True, at("10:20"))
    assert [part.met for part in found.parts] == [True, True]


def test_the_end_of_a_quiet_may_be_the_reason_within_a_stretch():
    trigger = "{partitions: {dataset: raw, count: 2}, collect_within: 1h, quiet: 25m}"
    found = verdict(trigger, [came("10:00", "", "a"), came("10:10", "", "b")], "10:20")
    assert (found.reason, found.next_check, found.holds_at) == (Reason.W_QUIET, at("10:35"), at("10:35"))
