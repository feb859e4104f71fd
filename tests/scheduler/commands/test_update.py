"""Changing a schedule: `reset` starts from nothing, `carry` keeps the events (rules 11 and 24)."""

import pytest

from tests.worlds.by import CLI
from tests.worlds.changing import (
    COLLECTING,
    DROPPED,
    READY,
    SUSPENDED,
    A,
    B,
    C,
    D,
    all_of,
    collected,
    mode,
    raw,
    s,
)
from tests.worlds.world import World, app_of, at
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.launch.outbox import OFFERS_MAX

# --- what becomes of what has been collected ---

CHANGES = [
    # sentence, before, after, jobs at once, and the ledger's pending and discarded events
    ("fewer needed: it is satisfied at once", raw(4), raw(2), [READY], 2, {}),
    ("more needed: it goes on collecting", raw(3), raw(4), [COLLECTING], 2, {}),
    ("other arguments", raw(4), raw(4, ", args: {x: 1}"), [COLLECTING], 2, {}),
    (
        "another dataset: nothing is left",
        raw(4),
        "trigger: {partitions: {dataset: other}}",
        [DROPPED],
        0,
        {"D-UPDATED": 2},
    ),
    (
        "a member more: the leaf moves, its events with it",
        raw(2, ", constraints: [{delay: 5h}]"),
        "trigger: {all: [{partitions: {dataset: other}}, {partitions: {dataset: raw, count: 2}}]}",
        [COLLECTING],
        2,
        {},
    ),
    (
        "a member for the same dataset gets the events too",
        raw(4),
        "trigger: {all: [{partitions: {dataset: raw, count: 2}}, {partitions: {dataset: raw, keys: ["
        + A
        + "]}}]}",
        [READY],
        2,
        {},
    ),
    (
        "by size, where it was by count",
        raw(4),
        "trigger: {size: {dataset: raw, rows: 100}}",
        [COLLECTING],
        2,
        {},
    ),
    ("for each key, where it was not: nothing can be carried", raw(4), None, [DROPPED], 0, {"D-UPDATED": 2}),
]


@pytest.mark.parametrize(
    ("sentence", "before", "after", "jobs", "pending", "discarded"), CHANGES, ids=[row[0] for row in CHANGES]
)
def test_carry(sentence, before, after, jobs, pending, discarded):
    world = collected(A, B, schedule=s(before))
    world.redeploy("11:00", s(after or raw(4, ", for_each: partition")))
    world.tick("11:00")
    assert all_of(world) == jobs
    assert (world.ledger("s").pending, world.ledger("s").discarded) == (pending, discarded)


@pytest.mark.parametrize(("sentence", "before", "after", "_1", "_2", "_3"), CHANGES)
def test_reset_discards_whatever_the_change(sentence, before, after, _1, _2, _3):
    world = collected(A, B, schedule=s(before, "reset"))
    world.redeploy("11:00", s(after or raw(4, ", for_each: partition"), "reset"))
    world.tick("11:00")
    assert all_of(world) == [DROPPED]
    assert world.ledger("s").discarded == {"D-UPDATED": 2}


def test_the_new_text_says_whether_to_carry():
    for before, after, outcome in (("reset", "carry", READY), ("carry", "reset", DROPPED)):
        world = collected(A, B, schedule=s(raw(4), before))
        world.redeploy("11:00", s(raw(2), after))
        world.tick("11:00")
        assert all_of(world) == [outcome]


def test_carried_events_keep_their_times():
    world = collected(A, B, schedule=s(raw(4)))
    world.redeploy("12:00", s(raw(2, ", constraints: [{delay: 3h}]")))
    world.tick("12:00")
    job = world.only("s")
    assert (job.satisfied_at, job.first_event_at, job.next_check_at) == (
        at("10:00"),
        at("10:00"),
        at("13:00"),
    )


def test_later_events_join_the_carried_job_and_launch_it_with_the_new_arguments():
    world = collected(A, B, schedule=s(raw(5)))
    world.redeploy("11:00", s(raw(4, ", args: {x: 1}")))
    world.arrive("12:00", "raw", C, D)
    world.tick("12:00")
    assert all_of(world) == [READY]
    assert world.only("s").launch.manifest == {"raw": (A, B, C, D)}
    assert world.only("s").launch.args == {"x": 1}


def test_an_event_at_the_very_instant_of_the_deploy_joins_the_carried_job():
    world = collected(A, schedule=s(raw(5)))
    world.arrive("11:00", "raw", B)
    world.redeploy("11:00", s(raw(2)))
    world.tick("11:00")
    assert all_of(world) == [READY]


def test_a_job_for_each_key_is_carried_by_itself():
    world = collected(A, B, schedule=s(raw(2, ", for_each: partition")))
    world.redeploy("11:00", s(raw(1, ", for_each: partition")))
    world.tick("11:00")
    assert {job.key: str(job.state) for job in world.jobs("s")} == {A: "PENDING_LAUNCH", B: "PENDING_LAUNCH"}


def test_a_dataset_that_is_cut_anew_leaves_nothing_to_carry():
    world = collected(A, schedule=s(raw(2)))
    head = "app: a\ndatasets: {raw: {partitions: {cycle: week, start: 2013-01-01}}}\n"
    app = app_of(s(raw(2)), head + "programs: {q: {run: programs.q}}\nschedules:\n")
    with world.store.transaction() as transaction:
        deploy(transaction, {"a": app}, at("11:00"), by=CLI)
    assert all_of(world) == [DROPPED]


def recut(world: World, dataset: str) -> None:
    """Deploy the schedule with other partitions of `chunks` at eleven."""
    spec = s("trigger: {partitions: {dataset: chunks, count: 3}}")
    head = (
        f"app: a\ndatasets: {{chunks: {{partitions: {{{dataset}}}}}}}\nprograms: {{q: {{run: programs.q}}}}\n"
    )
    with world.store.transaction() as transaction:
        deploy(transaction, {"a": app_of(spec, head + "schedules:\n")}, at("11:00"), by=CLI)


@pytest.mark.parametrize(
    ("sentence", "dataset", "pending", "discarded"),
    [
        ("a further key", "day: {cycle: day, start: 2013-01-01}, origin: [EWR, JFK, LGA, PHL]", 2, {}),
        ("an earlier start", "day: {cycle: day, start: 2012-01-01}, origin: [EWR, JFK, LGA]", 2, {}),
        ("one key less", "day: {cycle: day, start: 2013-01-01}, origin: [EWR, LGA]", 1, {"D-KEY": 1}),
        (
            "another zone",
            "day: {cycle: day, start: 2013-01-01, timezone: Asia/Tokyo}, origin: [EWR, JFK, LGA]",
            0,
            {"D-UPDATED": 2},
        ),
    ],
)
def test_carry_keeps_the_keys_that_stay_valid(sentence, dataset, pending, discarded):
    world = World(s("trigger: {partitions: {dataset: chunks, count: 3}}"))
    world.arrive("10:00", "chunks", f"{A}|EWR", f"{A}|JFK")
    world.tick("10:00")
    recut(world, dataset)
    row = world.ledger("s")
    assert (row.pending, row.discarded) == (pending, discarded), sentence


def test_a_job_keeps_what_a_person_has_asked_of_it():
    window = ', constraints: [{window: {from: "20:00", to: "21:00"}}]'
    world = World(s(raw(2, window)))
    world.trigger("10:00", "s")
    world.tick("10:00")
    world.redeploy("11:00", s(raw(3, window)))
    world.tick("20:00")
    assert all_of(world) == [READY]


def test_the_priority_follows_the_new_text():
    world = collected(A, schedule=s(raw(2)))
    world.redeploy("11:00", s(raw(2, ", priority: high")))
    assert world.only("s").priority == "high"


def test_a_full_batch_stays_full_where_the_new_text_still_calls_it_so():
    world = collected(A, schedule=s(raw(1, ", batching: each, constraints: [{delay: 5h}]")))
    assert world.only("s").closed
    world.redeploy("11:00", s(raw(1, ", batching: each, constraints: [{delay: 6h}]")))
    assert world.only("s").closed
    world.redeploy("11:30", s(raw(2, ", batching: each, constraints: [{delay: 6h}]")))
    assert not world.only("s").closed
    world.arrive("12:00", "raw", B)
    world.tick("12:00")
    assert [job.closed for job in world.jobs("s")] == [True]


def test_full_batches_that_are_not_full_any_more_are_filled_again_one_after_the_other():
    delayed = ", batching: each, constraints: [{delay: 5h}]"
    world = World(s(raw(1, delayed)))
    for minute, key in enumerate((A, B)):
        world.arrive(f"10:0{minute}", "raw", key)
        world.tick(f"10:0{minute}")
    assert [job.closed for job in world.jobs("s")] == [True, True]
    world.redeploy("11:00", s(raw(2, delayed)))
    for minute, key in enumerate((C, D)):
        world.arrive(f"12:0{minute}", "raw", key)
        world.tick(f"12:0{minute}")
    assert [(job.closed, job.satisfied_at) for job in world.jobs("s")] == [
        (True, at("12:00")),
        (True, at("12:01")),
    ]
    assert len(world.jobs("s")) == 2


def test_a_requeued_job_takes_no_further_events_after_an_update_either():
    world = collected(A, schedule=s(raw(1)))
    for offer in range(OFFERS_MAX + 1):
        world.offer_launches(f"{11 + offer}:00")
    world.requeue("19:00", world.only("s").id)
    world.redeploy("19:01", s(raw(3)))
    world.arrive("19:02", "raw", B)
    world.tick("19:02")
    assert all_of(world) == [READY, COLLECTING]


# --- launches, fires and clocks ---


@pytest.mark.parametrize(("update", "outcome"), [("carry", READY), ("reset", DROPPED)])
def test_a_decided_launch(update, outcome):
    world = collected(A, schedule=s(raw(1, ", args: {x: 1}"), update))
    world.redeploy("11:00", s(raw(1, ", args: {x: 2}"), update))
    world.tick("11:00")
    assert all_of(world) == [outcome]
    assert world.only("s").launch.args == {"x": 1}


def test_a_decided_launch_that_is_discarded_gives_its_place_in_the_rate_back():
    rate = ", constraints: [{rate: {max: 1, per: 1d}}]"
    world = collected(A, schedule=s(raw(1, rate), "reset"))
    world.redeploy("11:00", s(raw(1, rate + ", args: {x: 2}"), "reset"))
    world.arrive("12:00", "raw", B)
    world.tick("12:00")
    assert all_of(world) == [DROPPED, READY]


WAITING_FIRE = ', constraints: [{window: {from: "20:00", to: "21:00"}}]'


def test_a_fire_that_waits_is_carried_and_the_next_ones_follow_the_new_cron():
    world = World(s(f'trigger: {{cron: "0 10 * * *"}}{WAITING_FIRE}'))
    world.tick("10:00")
    world.redeploy("11:00", s(f'trigger: {{cron: "0 9,12 * * *"}}{WAITING_FIRE}'))
    world.tick("13:00")
    assert len(world.jobs("s")) == 1
    assert world.ledger("s").pending == 2
    world.tick("20:00")
    assert world.only("s").launch.scheduled_time == at("12:00")


def test_a_fire_of_the_new_cron_at_the_instant_of_the_deploy_counts():
    world = World(s('trigger: {cron: "0 10 * * *"}'))
    world.redeploy("09:00", s('trigger: {cron: "0 9 * * *"}'))
    world.tick("09:00")
    assert all_of(world) == [READY]


def test_fires_missed_before_the_deploy_are_made_up_for_after_it():
    world = World(s('trigger: {cron: "0 * * * *"}'), start="00:00:01")
    world.tick("05:00")
    world.redeploy("09:30", s('trigger: {cron: "0 * * * *"}, args: {x: 1}'))
    world.tick("09:30")
    assert world.last("s").launch.scheduled_time == at("09:00")
    assert world.ledger("s").discarded == {"D-EXPIRED": 4 + 3}


def test_a_clock_goes_on_where_it_stands_unless_it_is_changed():
    def clock(hours: int, rest: str = "") -> str:
        return s(f"trigger: {{elapsed: {{for: {hours}h}}}}{rest}")

    world = World(clock(4))
    world.redeploy("01:00", clock(4, ", args: {x: 1}"))
    world.tick("03:59")
    assert world.jobs("s") == ()
    world.tick("04:00")
    assert all_of(world) == [READY]
    (job,) = world.launch_all("04:00")
    world.end("04:30", job)
    world.redeploy("05:00", clock(6))
    world.tick("10:29")
    assert len(world.jobs("s")) == 1
    world.tick("10:30")
    assert len(world.jobs("s")) == 2


# --- a suspended schedule obeys its new mode ---


MODES = [
    # while suspended: the mode before and after, what becomes of a job with all it needs, and of a new event
    ("hold", "hold", ("PENDING_CONSTRAINT", "W-HELD"), 3),
    ("hold", "backlog", ("PENDING_CONSTRAINT", "W-HELD"), 3),
    ("hold", "discard", SUSPENDED, 0),
    ("hold", "drain", READY, 2),
    ("drain", "hold", ("PENDING_CONSTRAINT", "W-HELD"), 3),
    ("drain", "discard", SUSPENDED, 0),
    ("backlog", "drain", READY, 2),
]


@pytest.mark.parametrize(("before", "after", "outcome", "pending"), MODES)
def test_a_new_mode_takes_effect_on_what_waits(before, after, outcome, pending):
    world = collected(A, B, schedule=mode(before))
    world.suspend("11:00", "s")
    world.redeploy("12:00", mode(after, 2))
    world.arrive("12:00", "raw", C)
    world.tick("12:00")
    assert all_of(world) == [outcome]
    assert world.ledger("s").pending == pending


def test_from_discard_to_backlog_it_takes_what_comes_from_now_on():
    world = World(mode("discard", 1))
    world.suspend("09:00", "s")
    world.arrive("10:00", "raw", A)
    world.redeploy("11:00", mode("backlog", 1))
    world.arrive("12:00", "raw", B)
    world.tick("12:00")
    assert world.ledger("s").discarded == {"D-SUSPENDED": 1}
    world.resume("13:00", "s")
    world.tick("13:00")
    assert world.only("s").launch.manifest == {"raw": (B,)}
