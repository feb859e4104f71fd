"""Gauges: what is reported, who waits for it, and what is refused."""

import math

import pytest

from tests.doubles.dump import dump
from tests.worlds.by import CLI
from tests.worlds.world import World, at
from tidegate.scheduler.commands.gauge import gauge_limits, report_gauges
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.model.run import GAUGES

KEY = "2026-03-09"
S = (
    "s: {program: q, status: active, trigger: {partitions: {dataset: raw}},"
    " constraints: [{concurrency: {max: 5}}, {load: {gauge: cpu, max: 80}}]}"
)

VALUES = [
    ("never reported: nothing is held back", None, "PENDING_LAUNCH"),
    ("below", 79.9, "PENDING_LAUNCH"),
    ("the limit itself", 80, "PENDING_LAUNCH"),
    ("above", 80.1, "PENDING_CONSTRAINT"),
    ("far below", -1e300, "PENDING_LAUNCH"),
]


@pytest.mark.parametrize(("sentence", "value", "state"), VALUES, ids=[row[0] for row in VALUES])
def test_a_job_and_a_gauge(sentence, value, state):
    world = World(S)
    if value is not None:
        world.report("09:59", cpu=value)
    world.arrive("10:00", "raw", KEY)
    world.tick("10:00")
    assert world.outcome("s")[0] == state


def test_a_report_wakes_the_jobs_that_wait_for_its_gauge_and_no_others():
    world = World(S)
    world.report("09:00", cpu=95)
    world.arrive("10:00", "raw", KEY)
    world.tick("10:00")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-LOAD")
    world.report("11:00", disk=1)
    assert world.tick("11:00").decided == 0
    world.report("12:00", cpu=50)
    world.tick("12:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_job_that_could_run_before_the_report_runs():
    world = World(S)
    world.tick("09:55")
    world.arrive("09:59", "raw", KEY)
    world.report("10:00", cpu=95)
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_several_are_reported_together_and_journaled():
    world = World(S)
    world.report("09:00", cpu=95, disk=3)
    with world.store.reading() as reader:
        assert [(gauge.name, gauge.value, gauge.reported_at) for gauge in reader.records(GAUGES)] == [
            ("cpu", 95.0, at("09:00")),
            ("disk", 3.0, at("09:00")),
        ]
    entries = [entry.data for entry in world.journal() if entry.kind is EntryKind.GAUGE]
    assert entries == [
        {"name": "cpu", "value": 95.0, "by": "cli"},
        {"name": "disk", "value": 3.0, "by": "cli"},
    ]


def test_the_last_report_counts():
    world = World(S)
    world.report("09:00", cpu=95)
    world.report("09:30", cpu=20)
    with world.store.reading() as reader:
        assert [gauge.value for gauge in reader.records(GAUGES)] == [20.0]


def test_a_report_that_is_older_than_the_last_one_changes_nothing():
    world = World(S)
    world.report("09:00", cpu=95)
    before = dump(world.store)
    world.report("08:59", cpu=20)
    assert dump(world.store) == before
    with world.store.transaction() as transaction:
        gauges = report_gauges(transaction, {"disk": 1, "cpu": 20}, at("08:59"), by=CLI)
    assert [(gauge.name, gauge.value) for gauge in gauges] == [("cpu", 95.0), ("disk", 1.0)]


def test_who_waits_for_which_gauge():
    world = World(S)
    with world.store.reading() as reader:
        assert gauge_limits(reader) == {"cpu": {"a/s": 80.0}}


REFUSED = [
    ("not a number", {"cpu": math.nan}, "cpu must be a finite number, got nan"),
    ("infinite", {"cpu": math.inf}, "cpu must be a finite number, got inf"),
    ("minus infinite", {"cpu": -math.inf}, "cpu must be a finite number, got -inf"),
    ("one of several", {"disk": 1.0, "cpu": math.nan}, "cpu must be a finite number, got nan"),
    ("no name", {"": 1.0}, "'' is not a valid name"),
    ("capitals", {"CPU": 1.0}, "'CPU' is not a valid name"),
    ("a line end", {"cpu\n": 1.0}, r"'cpu\\n' is not a valid name"),
    ("too long", {"c" * 64: 1.0}, "is not a valid name"),
]


@pytest.mark.parametrize(("sentence", "values", "message"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused_and_nothing_is_kept(sentence, values, message):
    world = World(S)
    before = dump(world.store)
    with pytest.raises(Refused, match=message) as refusal, world.store.transaction() as transaction:
        report_gauges(transaction, values, at("09:00"), by=CLI)
    assert refusal.value.hint
    assert dump(world.store) == before
