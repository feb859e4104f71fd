"""`size`: when enough has gathered, in bytes or rows, and what is said of it."""

import pytest

from tests.scheduler.triggers.sentences import came, verdict
from tests.worlds.world import at

MB = 10**6
BYTES = "{size: {dataset: raw, bytes: 100MB}}"

ROWS = [
    ("less is not enough", BYTES, [came("10:00", "", "k1", 99 * MB)], None),
    ("exactly as much is", BYTES, [came("10:00", "", "k1", 100 * MB)], "10:00"),
    (
        "the arrival that reached it is the moment",
        BYTES,
        [came(f"10:0{n}", "", f"k{n}", 40 * MB) for n in range(5)],
        "10:02",
    ),
    (
        "a partition that comes twice counts once, with its newest size",
        BYTES,
        [
            came("10:00", "", "k1", 60 * MB),
            came("10:01", "", "k1", 70 * MB),
            came("10:02", "", "k2", 29 * MB),
        ],
        None,
    ),
    (
        "a partition that grows may reach it",
        BYTES,
        [came("10:00", "", "k1", 60 * MB), came("10:01", "", "k1", 100 * MB)],
        "10:01",
    ),
    (
        "once reached it stays, though a partition shrinks",
        BYTES,
        [came("10:00", "", "k1", 100 * MB), came("10:01", "", "k1", 1 * MB)],
        "10:00",
    ),
    (
        "what comes at one instant counts together: only the newest of a key",
        BYTES,
        [came("10:00", "", "k1", 100 * MB), came("10:00", "", "k1", 1 * MB)],
        None,
    ),
    (
        "distinct: false adds up every write",
        "{size: {dataset: raw, bytes: 100MB, distinct: false}}",
        [came("10:00", "", "k1", 60 * MB), came("10:01", "", "k1", 60 * MB)],
        "10:01",
    ),
    (
        "every update of a dataset without partitions adds up",
        "{size: {dataset: plain, bytes: 100MB}}",
        [came("10:00", "", "", 60 * MB), came("10:01", "", "", 60 * MB)],
        "10:01",
    ),
    (
        "an unknown size counts nothing",
        BYTES,
        [came("10:00", "", "k1"), came("10:01", "", "k2", 100 * MB)],
        "10:01",
    ),
    (
        "rows",
        "{size: {dataset: raw, rows: 1000}}",
        [came("10:00", "", "k1", 999), came("10:01", "", "k2", 1)],
        "10:01",
    ),
]


@pytest.mark.parametrize(("sentence", "trigger", "arrivals", "since"), ROWS, ids=[row[0] for row in ROWS])
def test_size(sentence, trigger, arrivals, since):
    assert verdict(trigger, arrivals, "23:00").since == (None if since is None else at(since))


@pytest.mark.parametrize(
    ("trigger", "arrivals", "summary"),
    [
        (BYTES, [], "0 bytes of 100 MB of raw"),
        (BYTES, [came("10:00", "", "k1", 1_250)], "1.2 KB of 100 MB of raw"),
        (
            "{size: {dataset: raw, bytes: 2TB}}",
            [came("10:00", "", "k1", 10**12), came("10:01", "", "k2"), came("10:02", "", "k3")],
            "1 TB of 2 TB of raw; 2 of unknown size",
        ),
        (
            "{size: {dataset: raw, rows: 20000}}",
            [came("10:00", "", "k1", 12_345)],
            "12,345 rows of 20,000 rows of raw",
        ),
        (
            "{size: {dataset: plain, rows: 9}}",
            [came("10:00", "", ""), came("10:01", "", "", 4)],
            "4 rows of 9 rows of plain; 1 of unknown size",
        ),
    ],
)
def test_what_is_said(trigger, arrivals, summary):
    assert verdict(trigger, arrivals, "23:00").summary == summary
