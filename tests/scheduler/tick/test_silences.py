"""Data without partitions that is expected: a deadline without an update before it, or a silence, is late."""

import pytest

from tests.scheduler.tick.expecting import Expecting, late_now


def test_a_dataset_without_partitions_is_late_without_an_update_since_the_deadline_before() -> None:
    world = Expecting("{deadline: '08:00'}")
    world.arrive("07:00", "raw")
    for clock in ("08:00", "1d 07:59", "1d 08:00"):
        world.tick(clock)
    assert [when for when, _ in world.late()] == ["03-11 08:00"]
    world.arrive("1d 09:00", "raw")
    world.tick("1d 09:00")
    assert late_now(world) == ()
    world.tick("2d 08:00")
    assert len(world.late()) == 1, "the update at nine counts for the next morning"


def test_a_silence_is_late_once_and_ends_with_the_next_update() -> None:
    world = Expecting("{deadline: 2h}")
    for clock in ("01:00", "02:00", "04:00", "08:00"):
        world.tick(clock)
    assert [when for when, _ in world.late()] == ["03-10 02:00"]
    world.arrive("09:00", "raw")
    world.tick("09:00")
    assert len(world.entries("landed")) == 1
    world.tick("11:00")
    assert [when for when, _ in world.late()] == ["03-10 02:00", "03-10 11:00"]


def test_an_update_that_is_read_late_ends_no_silence_after_a_newer_one() -> None:
    world = Expecting("{deadline: 2h}")
    world.arrive("01:00", "raw")
    world.tick("01:00")
    world.tick("03:00")
    assert [when for when, _ in world.late()] == ["03-10 03:00"]
    world.land("00:30", "00:30", "")
    world.tick("03:30")
    assert world.entries("landed") == []
    world.arrive("04:00", "raw")
    world.tick("04:00")
    assert len(world.entries("landed")) == 1


def test_a_silence_is_late_once_also_by_another_deadline() -> None:
    world = Expecting("{deadline: 2h}")
    world.tick("02:00")
    world.change("02:30", "{deadline: 3h}")
    world.tick("03:00")
    assert [when for when, _ in world.late()] == ["03-10 02:00"]
    world.change("03:30", "{deadline: 1h}")
    world.arrive("03:40", "raw")
    world.tick("03:40")
    assert (len(world.late()), len(world.entries("landed"))) == (1, 1)


def test_a_silence_that_ended_before_it_was_judged_was_late() -> None:
    world = Expecting("{deadline: 2h}")
    world.return_at("00:30")
    world.return_at("02:10")
    world.arrive("02:10:30", "raw")
    world.return_at("02:10:40")
    assert (len(world.late()), len(world.entries("landed"))) == (1, 1)
    assert late_now(world) == ()


@pytest.mark.parametrize("pace", [1, 13])
def test_a_silence_that_is_shorter_than_a_tick_is_late_at_its_instant(pace: int) -> None:
    world = Expecting("{deadline: 5m}")
    world.return_at("00:00")
    world.arrive("00:03", "raw")
    for minute in range(1, 27):
        if minute % pace == 0:
            world.return_at(f"00:{minute:02}")
    assert world.late() == [("03-10 00:08", "2026-03-10T00:03:00Z")]


def test_the_silences_before_a_deployment_are_not_late() -> None:
    world = Expecting("{}")
    for clock in ("01:00", "09:00", "10:30"):
        world.arrive(clock, "raw")
        world.tick(clock)
    world.change("11:00", "{deadline: 2h}")
    world.tick("12:30")
    assert world.late() == [("03-10 12:30", "2026-03-10T10:30:00Z")]
