"""Jobs that hold many events: decisions, launches and changes are as if every event was read again."""

import pytest

from tests.worlds.world import World, at
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.records.tally import KeptTally, Tally
from tidegate.scheduler.tick import held_events

COUNTING = "s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 4}}%s}"
DAYS = [f"2026-03-0{day}" for day in range(1, 9)]


@pytest.fixture(autouse=True)
def counted_at_once(monkeypatch):
    """Jobs with more than one event keep their counts."""
    monkeypatch.setattr(held_events, "COUNTED_FROM", 1)


def kept(world: World, name: str = "s") -> Tally | None:
    """The counts of the only job of a schedule."""
    job = world.only(name).id
    with world.store.reading() as reader:
        found = reader.tallies([job])
    return found[job].tally if found else None


def arrive(world: World, *days: str, minute: int = 0) -> None:
    """One day a minute, and a tick after each."""
    for number, day in enumerate(days, start=minute):
        world.arrive(f"10:{number:02}", "raw", day, rows=10)
        world.tick(f"10:{number:02}")


def test_a_key_counts_once_however_often_it_is_written():
    world = World(COUNTING % "")
    arrive(world, DAYS[0], DAYS[1], DAYS[0], DAYS[1], DAYS[2])
    assert world.outcome("s") == ("PENDING_TRIGGER", "W-TRIGGER")
    counts = kept(world)
    assert counts is not None and counts.leaves[""].amount == 3 and counts.events == 5
    arrive(world, DAYS[3], minute=5)
    job = world.only("s")
    assert (job.state, job.satisfied_at) == (JobState.PENDING_LAUNCH, at("10:05"))
    assert job.launch is not None and job.launch.manifest == {"raw": tuple(DAYS[:4])}
    assert kept(world) is None


def test_sizes_of_a_key_replace_each_other():
    world = World("s: {program: q, status: active, trigger: {size: {dataset: raw, rows: 40}}}")
    arrive(world, DAYS[0], DAYS[1], DAYS[0], DAYS[1], DAYS[2])
    counts = kept(world)
    assert counts is not None and counts.leaves[""].amount == 30
    arrive(world, DAYS[3], minute=5)
    assert world.only("s").satisfied_at == at("10:05")


def test_named_keys_and_runs_and_elapsed_time_are_counted():
    members = "{partitions: {dataset: raw, keys: [2026-03-01, 2026-03-02]}}, {run: {program: r, count: 2}}"
    world = World(
        f"s: {{program: q, status: active, trigger: {{all: [{members},"
        " {elapsed: {for: 4h, since: last_event, dataset: other}}, {cron: '0 11 * * *'}], quiet: 2m}}"
    )
    arrive(world, *DAYS[:4], DAYS[0])
    world.run("10:10", "r", "succeeded", "r1")
    world.tick("10:10")
    counts = kept(world)
    assert counts is not None
    assert {path: count.since for path, count in counts.leaves.items()} == {
        "0": at("10:01"),
        "1": None,
        "2": at("04:00"),
    }
    world.run("10:11", "r", "succeeded", "r2")
    world.tick("10:11")
    world.tick("11:10")
    assert world.only("s").satisfied_at == at("11:02")


def test_each_arrival_starts_the_quiet_time_again_until_it_is_over():
    world = World(
        "s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 2}, quiet: 5m,"
        " quiet_at_most: 7m}}"
    )
    arrive(world, *DAYS[:4])
    counts = kept(world)
    assert counts is not None and counts.last == {"": at("10:03")}
    assert world.only("s").next_check_at == at("10:08")
    arrive(world, DAYS[4], minute=5)
    assert world.only("s").next_check_at == at("10:08")
    world.tick("10:08")
    assert world.only("s").satisfied_at == at("10:08")


def test_an_event_that_arrived_before_a_counted_one_is_counted_in_its_place():
    world = World(COUNTING.replace("count: 4", "count: 3") % "")
    arrive(world, DAYS[0], DAYS[1], minute=10)
    world.arrive("10:05", "raw", DAYS[2])
    world.tick("10:20")
    assert world.only("s").satisfied_at == at("10:11")


def test_a_full_batch_is_full_by_its_counts():
    world = World(COUNTING.replace("count: 4", "count: 2") % ", max_batch: 3, constraints: [{delay: 2h}]")
    arrive(world, *DAYS[:5])
    first, second = world.jobs("s")
    assert (first.closed, second.closed) == (True, False)
    late = World(COUNTING.replace("count: 4", "count: 2") % ", max_batch: 3, constraints: [{delay: 2h}]")
    arrive(late, DAYS[0], DAYS[1], minute=10)
    late.arrive("10:05", "raw", DAYS[2])
    late.tick("10:20")
    assert late.only("s").closed


def test_counts_are_made_again_for_a_changed_trigger():
    world = World(COUNTING % ", on_update: carry")
    arrive(world, *DAYS[:3])
    world.redeploy("10:10", COUNTING.replace("count: 4", "count: 5") % ", on_update: carry")
    arrive(world, DAYS[3], minute=11)
    assert world.outcome("s") == ("PENDING_TRIGGER", "W-TRIGGER")
    arrive(world, DAYS[4], minute=12)
    assert world.only("s").satisfied_at == at("10:12")


def events_kept(world: World, leaf: str = "", name: str = "s") -> list[str]:
    """The partitions of the counted events of the only job of a schedule."""
    with world.store.reading() as reader:
        found = reader.counted_events(world.only(name).id, leaf, at("00:00"), 100)
    return [each.partition or "" for each in found]


def test_what_drops_out_counts_no_longer_and_the_counts_go_on():
    world = World(COUNTING.replace("count: 4}", "count: 4}, collect_within: 1h") % "")
    arrive(world, DAYS[0], DAYS[1], DAYS[0])
    counts = kept(world)
    assert counts is not None and (counts.leaves[""].amount, counts.events) == (2, 3)
    assert events_kept(world) == [DAYS[0], DAYS[1], DAYS[0]]
    assert world.only("s").next_check_at == at("11:00")
    world.tick("11:00")
    counts = kept(world)
    assert counts is not None and (counts.leaves[""].amount, counts.events) == (2, 2)
    world.tick("11:01")
    counts = kept(world)
    assert counts is not None and (counts.leaves[""].amount, counts.events) == (1, 1)
    assert events_kept(world) == [DAYS[0]]
    assert (world.only("s").first_event_at, world.only("s").next_check_at) == (at("10:02"), at("11:02"))
    for number in (1, 2, 3):
        world.arrive(f"11:01:{number}0", "raw", DAYS[number])
        world.tick(f"11:01:{number}0")
    job = world.only("s")
    assert job.satisfied_at == at("11:01:30")
    assert job.launch is not None and job.launch.manifest == {"raw": tuple(DAYS[:4])}


def test_the_last_event_that_drops_out_ends_the_job():
    world = World(COUNTING.replace("count: 4}", "count: 4}, collect_within: 1h") % "")
    arrive(world, DAYS[0], DAYS[1])
    world.tick("11:00")
    world.tick("11:01")
    assert world.outcome("s") == ("DISCARDED", "D-EXPIRED")


def test_members_of_a_sequence_count_in_turn():
    members = "{partitions: {dataset: raw}}, {partitions: {dataset: raw, count: 2}}"
    world = World(f"s: {{program: q, status: active, trigger: {{sequence: [{members}]}}}}")
    arrive(world, DAYS[0], DAYS[0])
    counts = kept(world)
    assert counts is not None
    assert {path: (count.amount, count.since) for path, count in counts.leaves.items()} == {
        "0": (1, at("10:00")),
        "1": (1, None),
    }
    arrive(world, DAYS[1], minute=2)
    assert world.only("s").satisfied_at == at("10:02")


def test_a_member_is_done_later_when_what_it_was_done_by_drops_out():
    members = "{partitions: {dataset: raw}}, {partitions: {dataset: other, count: 2}}"
    world = World(
        f"s: {{program: q, status: active, trigger: {{sequence: [{members}], collect_within: 1h}}}}"
    )
    arrive(world, DAYS[0])
    world.arrive("10:10", "other", DAYS[0])
    world.tick("10:10")
    arrive(world, DAYS[1], minute=20)
    world.tick("11:00")
    counts = kept(world)
    assert counts is not None
    assert (counts.leaves["0"].since, counts.leaves["1"].amount) == (at("10:20"), 0)
    for minute in (5, 6):
        world.arrive(f"11:0{minute}", "other", DAYS[minute])
        world.tick(f"11:0{minute}")
    assert world.only("s").satisfied_at == at("11:06")


def test_events_that_were_dropped_while_the_scheduler_was_away_are_dropped_at_once():
    world = World(COUNTING.replace("count: 4}", "count: 4}, collect_within: 1h") % "")
    arrive(world, *DAYS[:3])
    world.arrive("11:01:30", "raw", DAYS[3])
    world.tick("11:40")
    assert world.outcome("s") == ("PENDING_TRIGGER", "W-TRIGGER")
    assert events_kept(world) == [DAYS[3]]


def test_a_batch_of_a_satisfied_job_that_dropped_events_is_full_by_their_number():
    trigger = COUNTING.replace("count: 4}", "count: 2}, collect_within: 1h")
    world = World(trigger % ", max_batch: 4, constraints: [{delay: 2h}]")
    arrive(world, *DAYS[:5])
    first, second = world.jobs("s")
    assert (first.closed, second.closed) == (True, False)


def test_a_job_that_is_away_from_its_counts_for_a_while_gets_new_ones():
    """It is satisfied, where nothing is counted, and carried to a trigger that counts."""
    waits = ", on_update: carry, constraints: [{delay: 2h}]"
    world = World(COUNTING.replace("count: 4", "count: 2") % waits)
    arrive(world, *DAYS[:4])
    assert kept(world) is None
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-DELAY")
    world.redeploy("10:10", COUNTING.replace("count: 4", "count: 6") % waits)
    arrive(world, *DAYS[4:6], minute=11)
    assert world.only("s").satisfied_at == at("10:12")


def test_counts_of_an_unknown_basis_are_not_used():
    world = World(COUNTING % "")
    arrive(world, *DAYS[:3])
    wrong = KeptTally(job=world.only("s").id, basis="of another version", tally=Tally(events=9))
    with world.store.transaction() as transaction:
        transaction.put_tallies([wrong])
    arrive(world, DAYS[3], minute=3)
    assert world.only("s").satisfied_at == at("10:03")


def test_a_clock_that_goes_back_counts_only_what_has_arrived_by_then():
    world = World(COUNTING.replace("count: 4", "count: 3") % "")
    arrive(world, DAYS[0], DAYS[1])
    world.tick("09:00")
    assert world.outcome("s") == ("PENDING_TRIGGER", "W-TRIGGER")
    assert world.only("s").opened_at == at("09:00")


def test_a_late_event_of_a_job_with_few_events_takes_its_place(monkeypatch):
    monkeypatch.setattr(held_events, "COUNTED_FROM", 100)
    world = World(COUNTING.replace("count: 4", "count: 3") % "")
    arrive(world, DAYS[0], DAYS[1], minute=10)
    world.arrive("10:05", "raw", DAYS[2])
    world.tick("10:20")
    assert world.only("s").satisfied_at == at("10:11")


@pytest.mark.parametrize("counted_from", [1, 100])
def test_what_leaves_moves_the_time_from_which_quiet_counts(counted_from, monkeypatch):
    """With the first two days gone, the leaf holds since 10:07, and what came at 10:09 begins its quiet."""
    monkeypatch.setattr(held_events, "COUNTED_FROM", counted_from)
    leaf = "{partitions: {dataset: raw, count: 2}, quiet: 3m}"
    trigger = f"{{all: [{leaf}, {{run: {{program: r}}}}], collect_within: 6m}}"
    world = World(f"s: {{program: q, status: active, trigger: {trigger}}}")
    for minute, day in zip((2, 3, 4, 7, 9), DAYS, strict=False):
        arrive(world, day, minute=minute)
    assert (kept(world) is None) == (counted_from == 100)
    world.run("10:10", "r", "succeeded", "r1")
    world.tick("10:11")
    assert world.outcome("s") == ("PENDING_TRIGGER", "W-QUIET")
    world.tick("10:12")
    assert world.only("s").satisfied_at == at("10:12")


def test_a_job_with_an_event_that_its_trigger_does_not_hear_keeps_no_counts_and_counts_the_others():
    world = World(COUNTING.replace("count: 4}", "count: 3}, collect_within: 1h") % "")
    arrive(world, DAYS[0])
    world.arrive("10:00", "other", DAYS[0], id="unheard")
    with world.store.transaction() as transaction:
        (event,) = transaction.events(ids=["unheard"])
        unheard = Delivery(event=event, schedule="a/s", leaf="", job=world.only("s").id, at=at("10:00"))
        transaction.add_deliveries([unheard])
    arrive(world, DAYS[1], minute=1)
    assert world.outcome("s") == ("PENDING_TRIGGER", "W-TRIGGER")
    assert kept(world) is None
    arrive(world, DAYS[2], minute=2)
    assert world.only("s").satisfied_at == at("10:02")


WEEK = [f"2026-03-0{day}" for day in range(1, 8)]
COMPLETE = "s: {program: q, status: active, trigger: {partitions: {dataset: raw, complete: week}%s}}"


def test_a_complete_week_is_counted_by_its_days():
    world = World(COMPLETE % "")
    arrive(world, *WEEK[:6], WEEK[0])
    counts = kept(world)
    assert counts is not None and counts.leaves[""].amount == 0
    assert world.outcome("s") == ("PENDING_TRIGGER", "W-TRIGGER")
    arrive(world, WEEK[6], minute=7)
    assert world.only("s").satisfied_at == at("10:07")


def test_a_day_that_leaves_makes_its_week_incomplete():
    world = World(COMPLETE % ", collect_within: 3m")
    arrive(world, *WEEK[:6])
    world.arrive("10:06", "raw", WEEK[6])
    world.tick("10:06")
    assert kept(world) is not None
    assert world.outcome("s") == ("PENDING_TRIGGER", "W-TRIGGER")
    world.arrive("10:07", "raw", *WEEK[:4])
    world.tick("10:07")
    assert world.only("s").satisfied_at == at("10:07")
