"""Jobs triggered and forced by a person (rule 17)."""

import pytest

from tests.worlds.by import CLI
from tests.worlds.partition_at_ten import KEY, SUCCESS, arrived, busy, world_with
from tests.worlds.world import World, at
from tidegate.scheduler.commands.by_hand.force import force
from tidegate.scheduler.model.refused import Refused, UnknownName


def test_trigger_takes_the_waiting_job_with_what_it_has():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 2}}}")
    world.arrive("10:00", "raw", KEY)
    world.tick("10:00")
    world.trigger("10:30", "s")
    world.tick("10:30")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)
    assert world.only("s").launch.manifest == {"raw": (KEY,)}


def test_trigger_without_a_waiting_job_opens_an_empty_one():
    world = world_with("[]")
    world.trigger("10:30", "s")
    world.tick("10:30")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)
    assert world.only("s").launch.manifest == {}


def test_trigger_leaves_the_constraints_in_force_and_they_count_from_now():
    world = world_with('[{delay: 10m}, {window: {from: "00:00", to: "12:00"}}]')
    world.trigger("10:30", "s")
    world.tick("10:30")
    assert (world.outcome("s"), world.only("s").next_check_at) == (
        ("PENDING_CONSTRAINT", "W-DELAY"),
        at("10:40"),
    )


def test_force_overrides_the_constraints():
    world = arrived(
        '[{window: {from: "22:00", to: "23:00"}}, {since_last_run: {for: 1d, otherwise: skip}},'
        " {rate: {max: 1, per: 1d}}]",
        before=SUCCESS,
    )
    world.trigger("10:30", "s", force=True)
    world.tick("10:30")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_force_never_overrides_concurrency():
    world = arrived('[{window: {from: "22:00", to: "23:00"}}, {concurrency: {max: 1}}]', before=[busy()])
    world.trigger("10:30", "s", force=True)
    world.tick("10:30")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
    world.run("11:00", "q", "succeeded", "hand")
    world.tick("11:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_forced_job_without_a_slot_times_out_like_any_other():
    world = world_with("[{concurrency: {max: 1}}]", ", timeout: 2h")
    world.run("09:00", "q", "started", "hand")
    world.trigger("10:00", "s", force=True)
    world.tick("10:00")
    assert world.only("s").next_check_at == at("12:00")
    world.tick("12:00")
    assert world.outcome("s") == ("DISCARDED", "D-TIMEOUT")


def test_force_skips_where_concurrency_says_skip():
    world = world_with("[{concurrency: {max: 1, otherwise: skip}}]")
    world.run("09:00", "q", "started", "hand")
    world.trigger("10:00", "s", force=True)
    world.tick("10:00")
    assert world.outcome("s") == ("DISCARDED", "D-CONCURRENCY")


def test_a_job_by_hand_without_events_times_out_from_when_it_was_triggered():
    world = world_with(
        '[{window: {from: "22:00", to: "23:00"}}]', ", timeout: {after: 1h, from: first_event}"
    )
    world.trigger("10:00", "s")
    world.tick("10:00")
    assert world.only("s").next_check_at == at("11:00")
    world.tick("11:00")
    assert world.outcome("s") == ("DISCARDED", "D-TIMEOUT")


def test_only_a_job_that_exists_and_waits_is_forced():
    world = arrived("[{delay: 10m}]")
    (job,) = world.jobs("s")
    world.cancel("10:05", job.id)
    for id, refused, message in ((job.id, Refused, "does not wait"), ("none", UnknownName, "no job none")):
        with world.store.transaction() as transaction, pytest.raises(refused, match=message):
            force(transaction, id, at("10:10"), by=CLI)
