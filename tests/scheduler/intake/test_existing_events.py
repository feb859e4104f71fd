"""Events that exist: a schedule collects what arrived before it, or what it has lost."""

import pytest

from tests.worlds.by import CLI
from tests.worlds.changing import A, B, C, collected, raw, s
from tests.worlds.world import World, at
from tidegate.scheduler.commands.existing_events import MAX_EVENTS, EventsToReplay, Replayed, replay_events
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.refused import Refused

RAW = "partition:a/raw"
EXISTING = ", collect_existing: true"


def replay(world: World, clock: str, *keys: str, again: bool = False, key: str = RAW) -> list[Replayed]:
    with world.store.transaction() as transaction:
        return list(
            replay_events(
                transaction, EventsToReplay(key=key, partitions=tuple(keys), again=again), at(clock), by=CLI
            )
        )


def states(world: World) -> list[str]:
    return [str(job.state) for job in world.jobs("s")]


def keys_of(world: World) -> list[str]:
    """The keys that the waiting jobs have collected."""
    waiting = [job.id for job in world.jobs("s") if job.waiting]
    with world.store.reading() as reader:
        found = reader.deliveries(waiting)
    return sorted(each.event.partition or "" for job in waiting for each in found[job])


def test_a_reset_schedule_that_asks_for_it_collects_what_it_had():
    world = collected(A, B, schedule=s(raw(3), "reset"))
    world.redeploy("11:00", s(raw(4, EXISTING), "reset"))
    world.tick("11:00")
    assert states(world) == ["DISCARDED", "PENDING_TRIGGER"]
    assert keys_of(world) == [A, B]


def test_a_new_schedule_collects_what_arrived_before_it_only_if_it_asks():
    for existing, found in ((EXISTING, [A, B]), ("", [])):
        world = collected(A, B, schedule="other: {program: r, trigger: {partitions: {dataset: raw}}}")
        world.redeploy("11:00", s(raw(4, existing)))
        world.tick("11:00")
        assert keys_of(world) == found


def test_it_collects_at_its_first_resume_and_not_at_the_next():
    spec = f"s: {{program: q, {raw(4, EXISTING)}}}"
    world = collected(A, B, schedule=spec)
    assert keys_of(world) == []
    world.resume("11:00", "s")
    world.tick("11:00")
    assert keys_of(world) == [A, B]
    world.suspend("12:00", "s")
    world.resume("13:00", "s")
    world.tick("13:00")
    assert keys_of(world) == []


def test_it_never_collects_what_a_run_has_consumed():
    world = collected(A, B, schedule=s(raw(2), "reset"))
    world.launch_all("10:00")
    world.arrive("10:30", "raw", C)
    world.tick("10:30")
    world.redeploy("11:00", s(raw(3, EXISTING), "reset"))
    world.tick("11:00")
    assert keys_of(world) == [C]


def test_a_member_of_a_trigger_may_ask_for_its_dataset_alone():
    members = "{partitions: {dataset: raw}, collect_existing: true}, {partitions: {dataset: other}}"
    world = World("o: {program: r, trigger: {cron: '@daily'}}")
    world.arrive("10:00", "raw", A)
    world.arrive("10:00", "other", B)
    world.tick("10:00")
    world.redeploy("11:00", f"s: {{program: q, status: active, trigger: {{all: [{members}]}}}}")
    world.tick("11:00")
    assert keys_of(world) == [A]


def test_an_event_of_the_very_instant_of_the_deploy_is_collected_once():
    world = World("o: {program: r, trigger: {cron: '@daily'}}")
    world.arrive("11:00", "raw", A)
    world.redeploy("11:00", s(raw(4, EXISTING)))
    world.tick("11:00")
    assert keys_of(world) == [A]


def test_what_arrived_while_the_scheduler_was_down_exists_too():
    world = World("o: {program: r, trigger: {cron: '@daily'}}")
    world.tick("00:00")
    world.arrive("10:00", "raw", A)
    world.redeploy("11:00", s(raw(4, EXISTING)))
    world.tick("11:00")
    assert keys_of(world) == [A]


def test_collected_events_arrive_now_so_that_no_timeout_has_passed():
    world = collected(A, schedule=s(raw(3), "reset"))
    window = ", constraints: [{delay: 1h}], timeout: 2h"
    world.redeploy("4d 11:00", s(raw(1, window + EXISTING), "reset"))
    world.tick("4d 11:00")
    world.tick("4d 12:00")
    assert states(world) == ["DISCARDED", "PENDING_LAUNCH"]


def test_the_newest_event_of_a_partition_counts_unless_each_write_does():
    for distinct, found in (("", [A]), (", distinct: false", [A, A])):
        world = World("o: {program: r, trigger: {cron: '@daily'}}")
        world.arrive("09:00", "raw", A)
        world.arrive("10:00", "raw", A)
        world.tick("10:00")
        trigger = f"trigger: {{partitions: {{dataset: raw, count: 3{distinct}}}}}"
        world.redeploy("11:00", s(trigger + EXISTING))
        world.tick("11:00")
        assert keys_of(world) == found


def test_updates_of_a_dataset_without_partitions_add_up_for_a_size():
    for trigger, found in (
        ("size: {dataset: plain, rows: 9}", ["", ""]),
        ("partitions: {dataset: plain}", [""]),
    ):
        world = World("o: {program: r, trigger: {cron: '@daily'}}")
        for clock in ("09:00", "10:00"):
            world.arrive(clock, "plain", rows=4)
        world.tick("10:00")
        window = "constraints: [{delay: 1h}]"
        world.redeploy("11:00", s(f"trigger: {{{trigger}}}, {window}{EXISTING}"))
        world.tick("11:00")
        assert keys_of(world) == found


# --- tidegate events replay -------------------------------------------------------------


def test_a_replay_feeds_what_an_edit_has_discarded_and_a_second_one_nothing():
    world = collected(A, B, schedule=s(raw(3), "reset"))
    world.redeploy("11:00", s(raw(4), "reset"))
    assert replay(world, "12:00") == [Replayed(schedule="a/s", events=2)]
    assert replay(world, "12:01") == [Replayed(schedule="a/s", known=2)]
    world.tick("12:02")
    assert keys_of(world) == [A, B]
    assert replay(world, "12:03") == [Replayed(schedule="a/s", known=2)]
    entries = [entry for entry in world.journal() if entry.kind is EntryKind.REPLAY]
    assert [(entry.schedule, entry.data["events"]) for entry in entries] == [("a/s", 2)]


def test_a_replay_may_name_keys():
    world = collected(A, B, schedule=s(raw(3), "reset"))
    world.redeploy("11:00", s(raw(4), "reset"))
    assert replay(world, "12:00", B) == [Replayed(schedule="a/s", events=1)]
    world.tick("12:00")
    assert keys_of(world) == [B]


def test_consumed_events_are_fed_only_again_and_waiting_ones_never():
    world = collected(A, schedule=s(raw(1), "reset"))
    world.launch_all("10:00")
    world.arrive("10:30", "other", A)
    assert replay(world, "11:00") == [Replayed(schedule="a/s", known=1)]
    assert replay(world, "12:00", again=True) == [Replayed(schedule="a/s", events=1)]
    assert replay(world, "12:00:01", again=True) == [Replayed(schedule="a/s", known=1)]


def test_a_suspended_schedule_collects_nothing():
    world = collected(A, schedule=s(raw(3)))
    world.suspend("11:00", "s")
    assert replay(world, "12:00") == [Replayed(schedule="a/s", suspended=True)]


def test_only_the_schedules_that_lack_an_event_receive_it():
    other = "other: {program: r, status: active, trigger: {partitions: {dataset: raw, count: 9}}}"
    world = collected(A, schedule=s(raw(3), "reset") + f"\n{other}")
    world.redeploy("11:00", s(raw(4), "reset") + f"\n{other}")
    assert replay(world, "12:00") == [
        Replayed(schedule="a/other", known=1),
        Replayed(schedule="a/s", events=1),
    ]
    world.tick("12:00")
    with world.store.reading() as reader:
        ledger = {row.schedule: (row.pending, row.discarded) for row in reader.ledger()}
    assert ledger == {"a/other": (1, {}), "a/s": (1, {"D-UPDATED": 1})}


def test_a_timer_does_not_start_again():
    silence = (
        "s: {program: q, status: active, trigger: {elapsed: {for: 3h, since: last_event, dataset: raw}}}"
    )
    counts = "c: {program: r, status: active, trigger: {partitions: {dataset: raw, count: 9}}}"
    world = World(f"{silence}\n{counts}")
    world.arrive("10:00", "raw", A)
    world.tick("10:00")
    world.redeploy("11:00", f"{silence}\n{counts.replace('9', '8')}")
    assert replay(world, "12:00") == [Replayed(schedule="a/c", events=1)]
    world.tick("12:00")
    world.tick("13:00")
    assert states(world) == ["PENDING_LAUNCH"]


@pytest.mark.parametrize(
    ("key", "keys", "message"),
    [
        ("partition:a/other", (), "no schedule counts the partitions of a/other"),
        (RAW, (C,), f"a/raw has no event of partition {C}"),
        (RAW, (), "a/raw has no event"),
    ],
)
def test_what_cannot_be_replayed_is_refused(key, keys, message):
    world = collected(A, schedule=s(raw(3))) if keys else World(s(raw(3)))
    with pytest.raises(Refused, match=message):
        replay(world, "12:00", *keys, key=key)


def test_too_many_events_are_refused(monkeypatch):
    monkeypatch.setattr("tidegate.scheduler.commands.existing_events.MAX_EVENTS", 1)
    world = collected(A, B, schedule=s(raw(3)))
    with pytest.raises(Refused, match="more than 1 events"):
        replay(world, "12:00")
    assert MAX_EVENTS > 1
