"""`for_each`: every key has a job of its own, finer keys meet in the coarser period (rule 24)."""

import pytest

from tests.worlds.arrivals import A, B, C, p
from tests.worlds.world import World, at

TWO = "[{partitions: {dataset: raw}}, {partitions: {dataset: other}}]"

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
        f"s: {{program: q, {for_each} status: active, trigger: {trigger},"
        " constraints: [{delay: 200d}], timeout: 300d}"
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
    from tests.worlds.world import app_of
    from tidegate.domain.model import PartitionsTrigger
    from tidegate.domain.partition_key import expected_keys

    app = app_of("s: {program: q, for_each: day, trigger: {partitions: {dataset: h, complete: day}}}", zoned)
    scheme = app.datasets["h"].partitions
    assert scheme is not None
    assert isinstance(app.schedules["s"].trigger, PartitionsTrigger)
    assert [len(expected_keys(scheme, "day", day)) for day in ("2026-03-08", "2026-03-09", "2026-11-01")] == [
        23,
        24,
        25,
    ]
