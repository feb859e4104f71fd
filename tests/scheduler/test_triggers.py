"""When a trigger holds, and since when: one row for each sentence, through the engine.

A row gives the schedule's trigger and what arrived when, and says at which instant the trigger was
satisfied, None for one that is not. The tick looks once, at 23:00, so that nothing but arrival
times decides.
"""

import pytest

from tests.scheduler.world import World, at

P = "p"
"""What arrives: (clock, "p", dataset, key) is a partition, (clock, "r", program, status) a run."""


def satisfied(trigger: str, arrivals: list[tuple[str, ...]], for_each: str = "", look: str = "23:00"):
    """When the trigger was satisfied, for each key of the schedule."""
    world = World(
        f"s: {{program: q, {for_each} status: active, timeout: 300d, trigger: {trigger},"
        " constraints: [{delay: 200d}]}"
    )
    for number, (clock, kind, name, what) in enumerate(arrivals):
        if kind == P:
            world.arrive(clock, name, what)
        else:
            world.run(clock, name, what, f"run-{number}")
    world.tick(look)
    return {job.key: job.satisfied_at for job in world.jobs("s")}


def p(clock: str, dataset: str, key: str) -> tuple[str, ...]:
    return (clock, P, dataset, key)


def r(clock: str, program: str, status: str) -> tuple[str, ...]:
    return (clock, "r", program, status)


A, B, C = "2026-03-07", "2026-03-08", "2026-03-09"

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
    ("a failed run is no success", "{run: {program: r}}", [r("10:00", "r", "failed")], "no job"),
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


TWO = "[{partitions: {dataset: raw}}, {partitions: {dataset: other}}]"

WAITS = [
    ("a wait that is not over", f"{{all: {TWO}, wait_at_most: 3h}}", [p("10:00", "raw", A)], "12:59", None),
    (
        "a wait holds at its very end",
        f"{{all: {TWO}, wait_at_most: 3h}}",
        [p("10:00", "raw", A)],
        "13:00",
        "13:00",
    ),
    (
        "it counts from its end, not from the look",
        f"{{all: {TWO}, wait_at_most: 3h}}",
        [p("10:00", "raw", A)],
        "20:00",
        "13:00",
    ),
    (
        "later events do not move it",
        f"{{all: {TWO}, wait_at_most: 3h}}",
        [p("10:00", "raw", A), p("12:00", "raw", B)],
        "20:00",
        "13:00",
    ),
    (
        "what holds sooner holds sooner",
        f"{{all: {TWO}, wait_at_most: 3h}}",
        [p("10:00", "raw", A), p("11:00", "other", B)],
        "20:00",
        "11:00",
    ),
    (
        "what holds later has held by waiting",
        f"{{all: {TWO}, wait_at_most: 3h}}",
        [p("10:00", "raw", A), p("15:00", "other", B)],
        "20:00",
        "13:00",
    ),
    (
        "a wait at a member lets the others decide",
        "{all: [{partitions: {dataset: raw}, wait_at_most: 1h}, {partitions: {dataset: other}}]}",
        [p("10:00", "other", A)],
        "20:00",
        "11:00",
    ),
    (
        "a wait at one member does not excuse the other",
        "{all: [{partitions: {dataset: raw}, wait_at_most: 1h}, {partitions: {dataset: other}}]}",
        [p("10:00", "raw", A)],
        "20:00",
        None,
    ),
    (
        "a member's wait that ends before the other comes",
        "{all: [{partitions: {dataset: raw}, wait_at_most: 1h}, {partitions: {dataset: other}}]}",
        [p("10:00", "raw", A), p("15:00", "other", A)],
        "20:00",
        "15:00",
    ),
    (
        "a wait at a half-collected count",
        "{partitions: {dataset: raw, count: 3}, wait_at_most: 2h}",
        [p("10:00", "raw", A)],
        "20:00",
        "12:00",
    ),
    (
        "a composite of which nothing has come never fires by waiting",
        f"{{all: [{{all: {TWO}, wait_at_most: 1h}}, {{run: {{program: r}}}}]}}",
        [r("10:00", "r", "succeeded")],
        "20:00",
        None,
    ),
    (
        "a composite of which something has come does",
        f"{{all: [{{all: {TWO}, wait_at_most: 1h}}, {{run: {{program: r}}}}]}}",
        [r("10:00", "r", "succeeded"), p("10:30", "raw", A)],
        "20:00",
        "11:00",
    ),
    (
        "any: a member's wait is enough",
        "{any: [{partitions: {dataset: raw, count: 5}, wait_at_most: 1h}, {partitions: {dataset: other}}]}",
        [p("10:00", "raw", A)],
        "20:00",
        "11:00",
    ),
]


@pytest.mark.parametrize(
    ("sentence", "trigger", "arrivals", "look", "expected"), WAITS, ids=[w[0] for w in WAITS]
)
def test_wait_at_most(sentence, trigger, arrivals, look, expected):
    assert satisfied(trigger, arrivals, look=look) == {"": None if expected is None else at(expected)}


def test_the_end_of_a_wait_is_the_next_check():
    world = World(f"s: {{program: q, status: active, trigger: {{all: {TWO}, wait_at_most: 3h}}}}")
    world.arrive("10:00", "raw", A)
    world.tick("10:00")
    assert world.only("s").next_check_at == at("13:00")
    world.arrive("11:00", "raw", B)
    world.tick("11:00")
    assert world.only("s").next_check_at == at("13:00")


PER_KEY = [
    (
        "each key has its own job",
        "for_each: partition,",
        "{partitions: {dataset: raw}}",
        [p("10:00", "raw", A), p("11:00", "raw", B)],
        {A: "10:00", B: "11:00"},
    ),
    (
        "members meet in the job of their key",
        "for_each: partition,",
        f"{{all: {TWO}}}",
        [p("10:00", "raw", A), p("11:00", "other", B), p("12:00", "raw", B)],
        {A: None, B: "12:00"},
    ),
    (
        "chunks of a day belong to the day",
        "for_each: day,",
        "{partitions: {dataset: chunks, complete: day}}",
        [
            p("10:00", "chunks", f"{A}|JFK"),
            p("10:05", "chunks", f"{B}|EWR"),
            p("10:10", "chunks", f"{A}|EWR"),
            p("10:15", "chunks", f"{A}|LGA"),
        ],
        {A: "10:15", B: None},
    ),
    (
        "hours map to their day",
        "for_each: day,",
        "{all: [{partitions: {dataset: hourly, count: 2}}, {partitions: {dataset: raw}}]}",
        [
            p("10:00", "hourly", f"{A}-05:00"),
            p("10:01", "raw", A),
            p("10:02", "hourly", f"{A}-06:00"),
            p("10:03", "hourly", f"{B}-06:00"),
        ],
        {A: "10:02", B: None},
    ),
    (
        "days map to their month",
        "for_each: month,",
        "{partitions: {dataset: raw, count: 2}}",
        [p("10:00", "raw", "2026-02-28"), p("10:01", "raw", "2026-03-01"), p("10:02", "raw", "2026-03-02")],
        {"2026-02-01": None, "2026-03-01": "10:02"},
    ),
    (
        "a cron inside all counts for each waiting key",
        "for_each: partition,",
        '{all: [{partitions: {dataset: raw}}, {cron: "0 12 * * *"}]}',
        [p("10:00", "raw", A), p("11:00", "raw", B), p("13:00", "raw", C)],
        {A: "12:00", B: "12:00", C: None},
    ),
]


@pytest.mark.parametrize(
    ("sentence", "for_each", "trigger", "arrivals", "expected"), PER_KEY, ids=[row[0] for row in PER_KEY]
)
def test_trigger_for_each_key(sentence, for_each, trigger, arrivals, expected):
    world = World(
        f"s: {{program: q, {for_each} status: active, trigger: {trigger}, constraints: [{{delay: 200d}}]}}"
    )
    for clock, _, name, key in arrivals:
        world.arrive(clock, name, key)
        world.tick(clock)
    world.tick("23:00")
    assert {job.key: job.satisfied_at for job in world.jobs("s")} == {
        key: None if clock is None else at(clock) for key, clock in expected.items()
    }


def test_a_cron_that_fires_when_no_key_waits_is_discarded_with_its_reason():
    world = World(
        "s: {program: q, for_each: partition, status: active,"
        ' trigger: {all: [{partitions: {dataset: raw}}, {cron: "0 12 * * *"}]}}'
    )
    world.tick("12:00")
    assert world.jobs("s") == ()
    assert world.ledger("s").discarded == {"D-NO-KEY": 1}


def test_complete_days_of_hours_know_changes_of_the_clocks():
    zoned = """
app: a
timezone: America/New_York
datasets: {h: {partitions: {cycle: hour, start: 2013-01-01-00:00}}}
programs: {q: {run: programs.q}}
schedules:
"""
    from compiler.model import PartitionsTrigger
    from compiler.partition_key import expected_keys
    from tests.scheduler.world import app_of

    app = app_of("s: {program: q, for_each: day, trigger: {partitions: {dataset: h, complete: day}}}", zoned)
    scheme = app.datasets["h"].partitions
    assert scheme is not None
    assert isinstance(app.schedules["s"].trigger, PartitionsTrigger)
    assert [len(expected_keys(scheme, "day", day)) for day in ("2026-03-08", "2026-03-09", "2026-11-01")] == [
        23,
        24,
        25,
    ]


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
