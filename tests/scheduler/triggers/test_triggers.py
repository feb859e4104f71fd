"""When a trigger holds, and since when: one row for each sentence, through the engine.

A row gives the schedule's trigger and what arrived when, and says at which instant the trigger was
satisfied, None for one that is not. The tick looks once, at 23:00, so that nothing but arrival
times decides.
"""

import pytest

from tests.worlds.arrivals import A, B, C, p, r, satisfied
from tests.worlds.world import World, at

POOLED = [
    ("one partition is enough by default", "{partitions: {dataset: raw}}", [p("10:00", "raw", A)], "10:00"),
    ("another dataset's does not count", "{partitions: {dataset: raw}}", [p("10:00", "other", A)], "no job"),
    (
        "two of two, since the second",
        "{partitions: {dataset: raw, count: 2}}",
        [p("10:00", "raw", A), p("11:00", "raw", B)],
        "11:00",
    ),
    ("one of two", "{partitions: {dataset: raw, count: 2}}", [p("10:00", "raw", A)], None),
    (
        "a key counts once",
        "{partitions: {dataset: raw, count: 2}}",
        [p("10:00", "raw", A), p("11:00", "raw", A)],
        None,
    ),
    (
        "distinct: false counts writes",
        "{partitions: {dataset: raw, count: 2, distinct: false}}",
        [p("10:00", "raw", A), p("11:00", "raw", A)],
        "11:00",
    ),
    (
        "surplus does not move the moment",
        "{partitions: {dataset: raw, count: 2}}",
        [p("10:00", "raw", A), p("11:00", "raw", B), p("12:00", "raw", C)],
        "11:00",
    ),
    (
        "a rewrite does not move the moment of its key",
        "{partitions: {dataset: raw, count: 2}}",
        [p("10:00", "raw", A), p("10:30", "raw", A), p("11:00", "raw", B)],
        "11:00",
    ),
    ("a dataset without partitions", "{partitions: {dataset: plain}}", [p("10:00", "plain", "")], "10:00"),
    (
        "all the named keys",
        f"{{partitions: {{dataset: raw, keys: [{A}, {B}]}}}}",
        [p("10:00", "raw", B), p("11:00", "raw", C), p("12:00", "raw", A)],
        "12:00",
    ),
    (
        "one of the named keys is missing",
        f"{{partitions: {{dataset: raw, keys: [{A}, {B}]}}}}",
        [p("10:00", "raw", B), p("11:00", "raw", C)],
        None,
    ),
    (
        "a complete day of chunks",
        "{partitions: {dataset: chunks, complete: day}}",
        [
            p("10:00", "chunks", f"{A}|JFK"),
            p("10:05", "chunks", f"{A}|EWR"),
            p("10:10", "chunks", f"{A}|LGA"),
        ],
        "10:10",
    ),
    (
        "chunks of two days complete none",
        "{partitions: {dataset: chunks, complete: day}}",
        [
            p("10:00", "chunks", f"{A}|JFK"),
            p("10:05", "chunks", f"{B}|EWR"),
            p("10:10", "chunks", f"{A}|LGA"),
        ],
        None,
    ),
    (
        "the day complete first sets the moment",
        "{partitions: {dataset: chunks, complete: day}}",
        [
            p("10:00", "chunks", f"{A}|JFK"),
            p("10:01", "chunks", f"{A}|EWR"),
            *(p(f"10:0{2 + n}", "chunks", f"{B}|{o}") for n, o in enumerate(("EWR", "JFK", "LGA"))),
            p("10:10", "chunks", f"{A}|LGA"),
        ],
        "10:04",
    ),
    (
        "a week of days",
        "{partitions: {dataset: raw, complete: week}}",
        [p(f"10:0{n}", "raw", f"2026-03-0{n}") for n in range(1, 8)],
        "10:07",
    ),
    ("a run that succeeded", "{run: {program: r}}", [r("10:00", "r", "succeeded")], "10:00"),
    (
        "a failed run does not count as a success",
        "{run: {program: r}}",
        [r("10:00", "r", "failed")],
        "no job",
    ),
    ("a failed run", "{run: {program: r, status: failed}}", [r("10:00", "r", "failed")], "10:00"),
    ("a started run", "{run: {program: r, status: started}}", [r("10:00", "r", "started")], "10:00"),
    (
        "any end is a completion: failed",
        "{run: {program: r, status: completed}}",
        [r("10:00", "r", "failed")],
        "10:00",
    ),
    (
        "any end is a completion: cancelled",
        "{run: {program: r, status: completed}}",
        [r("10:00", "r", "cancelled")],
        "10:00",
    ),
    (
        "a cancelled run has not failed",
        "{run: {program: r, status: failed}}",
        [r("10:00", "r", "cancelled")],
        "no job",
    ),
    ("a cancelled run has not succeeded", "{run: {program: r}}", [r("10:00", "r", "cancelled")], "no job"),
    (
        "three runs, since the third",
        "{run: {program: r, count: 3}}",
        [r("10:00", "r", "succeeded"), r("10:01", "r", "succeeded"), r("10:02", "r", "succeeded")],
        "10:02",
    ),
    (
        "all: since the last member",
        "{all: [{partitions: {dataset: raw}}, {partitions: {dataset: other}}]}",
        [p("10:00", "other", A), p("11:00", "raw", A)],
        "11:00",
    ),
    (
        "all: one member is missing",
        "{all: [{partitions: {dataset: raw}}, {partitions: {dataset: other}}]}",
        [p("10:00", "other", A), p("11:00", "other", B)],
        None,
    ),
    (
        "any: since the first member",
        "{any: [{partitions: {dataset: raw}}, {partitions: {dataset: other}}]}",
        [p("10:00", "other", A), p("11:00", "raw", A)],
        "10:00",
    ),
    (
        "any: a member half there",
        "{any: [{partitions: {dataset: raw, count: 2}}, {run: {program: r}}]}",
        [p("10:00", "raw", A)],
        None,
    ),
    (
        "any in all",
        "{all: [{any: [{partitions: {dataset: raw}}, {partitions: {dataset: other}}]}, {run: {program: r}}]}",
        [p("10:00", "other", A), r("12:00", "r", "succeeded")],
        "12:00",
    ),
    (
        "all in any",
        "{any: [{all: [{partitions: {dataset: raw}}, {partitions: {dataset: other}}]},"
        " {run: {program: r, count: 2}}]}",
        [p("10:00", "raw", A), p("11:00", "other", A)],
        "11:00",
    ),
    (
        "one event serves two members",
        "{all: [{partitions: {dataset: raw}}, {partitions: {dataset: raw, count: 2}}]}",
        [p("10:00", "raw", A), p("11:00", "raw", B)],
        "11:00",
    ),
    ("a cron", '{cron: "0 6 * * *"}', [], "06:00"),
    ("a cron at the first of two fires", '{cron: "0 6,9 * * *", catch_up: latest}', [], "09:00"),
    (
        "cron or data, the data first",
        '{any: [{cron: "0 12 * * *"}, {partitions: {dataset: raw}}]}',
        [p("10:00", "raw", A)],
        "10:00",
    ),
    (
        "cron and data, the cron last",
        '{all: [{cron: "0 12 * * *"}, {partitions: {dataset: raw}}]}',
        [p("10:00", "raw", A)],
        "12:00",
    ),
]


@pytest.mark.parametrize(
    ("sentence", "trigger", "arrivals", "expected"), POOLED, ids=[row[0] for row in POOLED]
)
def test_pooled_trigger(sentence, trigger, arrivals, expected):
    found = satisfied(trigger, arrivals)
    if expected == "no job":
        assert found == {}
    else:
        assert found == {"": None if expected is None else at(expected)}


def test_a_satisfied_trigger_stays_satisfied_when_more_comes():
    world = World(
        "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}, constraints: [{delay: 1h}]}"
    )
    world.arrive("10:00", "raw", A)
    world.tick("10:00")
    world.arrive("10:30", "raw", B)
    world.tick("10:30")
    job = world.only("s")
    assert (job.satisfied_at, job.next_check_at) == (at("10:00"), at("11:00"))
