"""By hand: a job that has collected nothing needs a partition to write, from the clock or from a person."""

import pytest

from tests.worlds.world import World
from tidegate.scheduler.model.refused import Refused

BY_ORIGIN = "s: {program: o, status: active, trigger: {partitions: {dataset: origins, count: 2}}}"
BY_DAY = "s: {program: p, status: active, trigger: {partitions: {dataset: raw, count: 2}}}"


def test_without_anything_collected_it_is_refused_and_the_remedy_works():
    world = World(BY_ORIGIN)
    with pytest.raises(Refused, match="has collected nothing that says which partition") as refusal:
        world.trigger("10:00", "s")
    assert "--key 'EWR'" in refusal.value.hint
    assert world.jobs("s") == ()

    world.trigger("10:00", "s", key="EWR")
    world.tick("10:00")
    assert world.only("s").launch.partitions == ("EWR",)


def test_what_was_collected_is_written():
    world = World(BY_ORIGIN)
    world.arrive("10:00", "origins", "JFK")
    world.tick("10:00")
    world.trigger("10:01", "s")
    world.tick("10:01")
    assert world.only("s").launch.partitions == ("JFK",)


def test_a_named_partition_is_a_job_of_its_own_and_takes_no_events():
    world = World(BY_ORIGIN.replace("trigger", "constraints: [{delay: 1h}], trigger"))
    world.arrive("10:00", "origins", "JFK")
    named = world.trigger("10:01", "s", key="EWR")
    world.arrive("10:02", "origins", "LGA")
    world.tick("12:00")
    assert world.job(named.id).launch.partitions == ("EWR",)
    (other,) = [job for job in world.jobs("s") if job.id != named.id]
    assert other.launch.partitions == ("JFK", "LGA")


def test_a_named_partition_must_be_one_of_the_outputs():
    with pytest.raises(Refused, match='"SFO" is not a key of "origin"'):
        World(BY_ORIGIN).trigger("10:00", "s", key="SFO")


def test_outputs_cut_by_time_get_the_last_day_that_is_over():
    world = World(BY_DAY)
    world.trigger("10:00", "s")
    world.tick("10:00")
    assert world.only("s").launch.partitions == ("2026-03-09",)
