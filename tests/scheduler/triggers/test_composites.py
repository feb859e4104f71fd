"""`at_least`, `sequence`, `all`, `any` and `elapsed`: since when they hold, and what is said of them."""

from datetime import UTC, datetime

import pytest

from tests.scheduler.triggers.sentences import came, collection, trigger_of, verdict
from tests.worlds.world import at
from tidegate.domain.model import PartitionsTrigger
from tidegate.scheduler.decision.triggers import evaluate

RAW, OTHER, RUN = "{partitions: {dataset: raw}}", "{partitions: {dataset: other}}", "{run: {program: r}}"
TWO_OF_THREE = f"{{at_least: {{n: 2, of: [{RAW}, {OTHER}, {RUN}]}}}}"
STEPS = f"{{sequence: [{RAW}, {{partitions: {{dataset: other, count: 2}}}}, {RUN}]}}"

ROWS = [
    ("at_least: too few", TWO_OF_THREE, [came("10:00", "0", "k")], None),
    ("at_least: any of them", TWO_OF_THREE, [came("10:00", "2"), came("11:00", "0", "k")], "11:00"),
    (
        "at_least: since there were enough of them",
        TWO_OF_THREE,
        [came("10:00", "2"), came("11:00", "0", "k"), came("12:00", "1", "k")],
        "11:00",
    ),
    (
        "sequence: one after the other",
        f"{{sequence: [{RAW}, {RUN}]}}",
        [came("10:00", "0", "k"), came("11:00", "1")],
        "11:00",
    ),
    (
        "sequence: a first member that waits is done once it has waited",
        f"{{sequence: [{{partitions: {{dataset: raw, count: 2}}, wait_at_most: 1h}}, {RUN}]}}",
        [came("10:00", "0", "k"), came("10:30", "1"), came("12:00", "1")],
        "12:00",
    ),
    (
        "sequence: the other way round is none",
        f"{{sequence: [{RAW}, {RUN}]}}",
        [came("10:00", "1"), came("11:00", "0", "k")],
        None,
    ),
    (
        "sequence: at the same instant is not after it",
        f"{{sequence: [{RAW}, {RUN}]}}",
        [came("10:00", "0", "k"), came("10:00", "1")],
        None,
    ),
    (
        "sequence: what came too early may come again",
        f"{{sequence: [{RAW}, {RUN}]}}",
        [came("10:00", "1"), came("11:00", "0", "k"), came("12:00", "1"), came("13:00", "1")],
        "12:00",
    ),
    (
        "sequence: a count starts when its turn comes",
        STEPS,
        [
            came("09:00", "1", "k1"),
            came("10:00", "0", "k"),
            came("10:01", "1", "k2"),
            came("10:02", "2"),
            came("10:03", "1", "k3"),
            came("10:04", "2"),
        ],
        "10:04",
    ),
    (
        "sequence: of composites",
        f"{{sequence: [{{all: [{RAW}, {OTHER}]}}, {{any: [{RUN}, {RAW}]}}]}}",
        [
            came("10:00", "0.0", "k"),
            came("10:30", "1.1", "k"),
            came("11:00", "0.1", "k"),
            came("12:00", "1.0"),
        ],
        "12:00",
    ),
    (
        "sequence: an event delivered late counts where it belongs",
        f"{{sequence: [{RAW}, {RUN}]}}",
        [came("11:00", "1"), came("10:00", "0", "k")],
        "11:00",
    ),
    (
        "sequence: a member's wait runs from the job's first event",
        f"{{sequence: [{RAW}, {{run: {{program: r}}, wait_at_most: 1h}}]}}",
        [came("10:00", "0", "k")],
        "11:00",
    ),
    (
        "sequence: a turn that comes after the wait goes on at once",
        "{sequence: [{partitions: {dataset: raw, count: 2}}, {run: {program: r}, wait_at_most: 1h}]}",
        [came("10:00", "0", "k"), came("15:00", "0", "l")],
        "15:00",
    ),
    ("elapsed: holds when its clock has fired", "{elapsed: {for: 4h}}", [came("10:00")], "10:00"),
    ("elapsed: not before", "{elapsed: {for: 4h}}", [], None),
    (
        "elapsed or enough: whichever is first",
        "{any: [{elapsed: {for: 4h}}, {size: {dataset: raw, bytes: 100GB}}]}",
        [came("10:00", "1", "k", 10**11), came("11:00", "0")],
        "10:00",
    ),
    (
        "members that wait alone satisfy no composite of which nothing has come",
        "{all: [{all: [{partitions: {dataset: raw}, wait_at_most: 1h},"
        " {partitions: {dataset: other}, wait_at_most: 1h}]}, {run: {program: r}}]}",
        [came("10:00", "1")],
        None,
    ),
    (
        "a composite's wait that is over before anything came holds from what comes",
        f"{{all: [{{all: [{RAW}, {OTHER}], wait_at_most: 1h}}, {RUN}]}}",
        [came("10:00", "1"), came("15:00", "0.0", "k")],
        "15:00",
    ),
]


@pytest.mark.parametrize(("sentence", "trigger", "arrivals", "since"), ROWS, ids=[row[0] for row in ROWS])
def test_since_when(sentence, trigger, arrivals, since):
    expected = None if since is None else at(since)
    assert verdict(trigger, arrivals, "20:00").since == expected
    assert verdict(trigger, arrivals, "1d 20:00").since == expected


def test_what_has_not_arrived_yet_does_not_count_and_is_looked_for():
    found = verdict(RUN, [came("10:05")], "10:00")
    assert (found.met, found.next_check, found.summary) == (False, at("10:05"), "0 of 1 runs of r succeeded")


@pytest.mark.parametrize(
    ("trigger", "arrivals", "summaries"),
    [
        (
            TWO_OF_THREE,
            [came("10:00", "0", "k")],
            [
                "1 of 3 members hold, 2 are enough",
                "1 of 1 new partitions of raw",
                "0 of 1 new partitions of other",
                "0 of 1 runs of r succeeded",
            ],
        ),
        (
            f"{{any: [{RAW}, {RUN}]}}",
            [],
            [
                "0 of 2 members hold, one is enough",
                "0 of 1 new partitions of raw",
                "0 of 1 runs of r succeeded",
            ],
        ),
        (
            STEPS,
            [came("10:00", "0", "k"), came("10:01", "1", "k"), came("10:02", "2")],
            [
                "1 of 3 members held one after the other",
                "1 of 1 new partitions of raw",
                "1 of 2 new partitions of other",
                "0 of 1 runs of r succeeded; its turn comes after the member before it",
            ],
        ),
        ("{elapsed: {for: 4h}}", [], ["4h since the last run of q have not passed"]),
        (
            "{elapsed: {for: 4h}}",
            [came("10:00")],
            ["4h since the last run of q had passed at 2026-03-10T10:00:00+00:00"],
        ),
        (
            "{elapsed: {for: 90m, since: last_event, dataset: raw}}",
            [],
            ["90m since the last event of raw have not passed"],
        ),
    ],
)
def test_what_is_said(trigger, arrivals, summaries):
    found = verdict(trigger, arrivals, "20:00")
    assert [found.summary, *(part.summary for part in found.parts)] == summaries


def test_a_cron_names_its_next_fire_as_far_as_the_calendar_goes():
    cron = '{cron: "0 6 * * *"}'
    assert verdict(cron, [], "20:00").summary.endswith("at 2026-03-11T06:00:00+00:00")
    assert verdict(cron, [came("06:00")], "20:00").since == at("06:00")
    last_day = datetime(9999, 12, 31, 12, tzinfo=UTC)
    summary = evaluate(trigger_of(cron), collection([]), last_day).summary
    assert summary.endswith("is beyond the search horizon")


def test_a_period_of_which_nothing_has_come_and_one_that_is_half_there():
    complete = "{partitions: {dataset: chunks, complete: day}}"
    assert verdict(complete, [], "20:00").summary == "no partition of chunks has arrived"
    half = verdict(complete, [came("10:00", "", "2026-03-09|JFK")], "20:00").summary
    assert half.startswith("1 of 3 parts of chunks of day 2026-03-09; missing 2026-03-09|EWR")


def test_a_complete_period_of_a_dataset_without_partitions_is_a_bug():
    impossible = PartitionsTrigger(dataset="plain", complete="day")
    with pytest.raises(ValueError, match="complete needs a dataset with partitions, plain has none"):
        evaluate(impossible, collection([came("10:00", "", "a")]), at("20:00"))


KEYS = "{partitions: {dataset: raw, keys: [2026-03-07, 2026-03-08, 2026-03-09]}}"
TWICE = [came("10:00", "", "k1", 7), came("10:01", "", "k1", 8)]


@pytest.mark.parametrize(
    ("trigger", "arrivals", "count"),
    [
        ("{partitions: {dataset: raw, count: 3}}", TWICE, (1, 3, "partitions")),
        ("{partitions: {dataset: raw, count: 3, distinct: false}}", TWICE, (2, 3, "writes")),
        ("{partitions: {dataset: raw}}", [*TWICE, came("10:02", "", "k2")], (2, 1, "partitions")),
        (KEYS, [came("10:00", "", "2026-03-09"), came("10:01", "", "other")], (1, 3, "partitions")),
        ("{partitions: {dataset: chunks, complete: day}}", [], (None, None, None)),
        (
            "{partitions: {dataset: chunks, complete: day}}",
            [came("10:00", "", "2026-03-09|JFK")],
            (1, 3, "parts"),
        ),
        ("{size: {dataset: raw, rows: 20}}", TWICE, (8, 20, "rows")),
        ("{size: {dataset: raw, bytes: 1KB, distinct: false}}", TWICE, (15, 1000, "bytes")),
        ("{run: {program: r, count: 2}}", [came("10:00")], (1, 2, "runs")),
        ("{all: [{run: {program: r}}, {cron: '0 4 * * *'}]}", [came("10:00", "0")], (1, 2, "members")),
        ("{any: [{run: {program: r}}, {cron: '0 4 * * *'}]}", [], (0, 1, "members")),
        (
            "{at_least: {n: 2, of: [{run: {program: r}}, {cron: '0 4 * * *'}, {cron: '0 5 * * *'}]},"
            " wait_at_most: 9d}",
            [],
            (0, 2, "members"),
        ),
        (
            "{sequence: [{run: {program: r}}, {cron: '0 4 * * *'}], wait_at_most: 9d}",
            [came("10:00", "0")],
            (1, 2, "members"),
        ),
        ("{cron: '0 4 * * *'}", [], (None, None, None)),
        ("{elapsed: {since: last_run, for: 1h}}", [], (None, None, None)),
    ],
)
def test_a_condition_that_counts_has_its_numbers(trigger, arrivals, count):
    found = verdict(trigger, arrivals, "23:00")
    assert (found.have, found.need, found.unit) == count
