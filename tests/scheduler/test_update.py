"""Changing a schedule: `reset` starts anew, `carry` keeps the events under the new text (rules 11 and 24)."""

import msgspec
import pytest

from compiler.consequence import Consequence
from compiler.model import Schedule
from scheduler.journal import EntryKind
from scheduler.live import difference
from scheduler.outbox import OFFERS_MAX
from scheduler.store.memory import MemoryStore
from tests.scheduler.world import World, app_of, at

A, B, C, D = "2026-03-06", "2026-03-07", "2026-03-08", "2026-03-09"

DROPPED = ("DISCARDED", "D-UPDATED")
SUSPENDED = ("DISCARDED", "D-SUSPENDED")
COLLECTING = ("PENDING_TRIGGER", "W-TRIGGER")
READY = ("PENDING_LAUNCH", None)


def s(rest: str, update: str = "carry", program: str = "q") -> str:
    return f"s: {{program: {program}, status: active, on_update: {update}, {rest}}}"


def raw(count: int, rest: str = "") -> str:
    return f"trigger: {{partitions: {{dataset: raw, count: {count}}}}}{rest}"


def collected(*keys: str, schedule: str) -> World:
    """Partitions came at ten."""
    world = World(schedule)
    world.arrive("10:00", "raw", *keys)
    world.tick("10:00")
    return world


def all_of(world: World) -> list[tuple[str, str | None]]:
    return [(str(job.state), job.reason and str(job.reason)) for job in world.jobs("s")]


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
        4,
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
    from scheduler.deploy import deploy

    with world.store.transaction() as transaction:
        deploy(transaction, {"a": app}, at("11:00"))
    assert all_of(world) == [DROPPED]


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


def test_a_requeued_job_takes_no_further_events_after_an_update_either():
    world = collected(A, schedule=s(raw(1)))
    for offer in range(OFFERS_MAX + 1):
        world.offers(f"{11 + offer}:00")
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
    world = World(s('trigger: {cron: "0 * * * *"}'), start="00:00")
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
    world.redeploy("05:00", clock(6))
    world.tick("10:59")
    assert all_of(world) == [READY]
    world.tick("11:00")
    assert all_of(world) == [READY, READY]


# --- a suspended schedule obeys its new mode ---


def mode(on_suspend: str, count: int = 3) -> str:
    return s(raw(count, f", on_suspend: {on_suspend}"))


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


# --- what plan says, and what the journal keeps ---


def foretold(world: World, schedules: str) -> list[Consequence]:
    with world.store.reading() as reader:
        (change,) = difference(reader, {"a": app_of(schedules)}).schedules()
    return [each for each in change.consequences if each.kind != "keeps"]


def test_plan_counts_what_is_carried():
    world = collected(A, B, schedule=s(raw(4)))
    assert foretold(world, s(raw(5))) == [Consequence(kind="carries", count=1, events=2)]
    other = s("trigger: {partitions: {dataset: other}}")
    assert foretold(world, other) == [Consequence(kind="discards", count=1, detail="D-UPDATED")]
    assert foretold(world, s(raw(5), "reset")) == [Consequence(kind="discards", count=1, detail="D-UPDATED")]


def test_plan_says_what_a_new_mode_does():
    world = collected(A, B, schedule=mode("hold"))
    world.suspend("11:00", "s")
    carried = Consequence(kind="carries", count=1, events=2)
    assert foretold(world, mode("drain")) == [carried, Consequence(kind="lets_go", count=1)]
    assert foretold(world, mode("discard")) == [Consequence(kind="discards", count=1, detail="D-SUSPENDED")]
    assert foretold(world, mode("hold", 2)) == [carried]


def test_plan_leaves_jobs_by_hand_out_of_what_a_new_mode_does():
    world = collected(A, B, schedule=mode("hold"))
    world.trigger("10:30", "s")
    world.tick("10:30")
    world.arrive("10:40", "raw", C)
    world.tick("10:40")
    world.suspend("11:00", "s")
    assert foretold(world, mode("drain")) == [
        Consequence(kind="carries", count=1, events=1),
        Consequence(kind="lets_go", count=1),
        Consequence(kind="launches", count=1),
    ]
    window = ', constraints: [{window: {from: "20:00", to: "21:00"}}]'
    world = collected(A, B, schedule=s(raw(3, f", on_suspend: hold{window}")))
    world.trigger("11:00", "s")
    world.suspend("11:00", "s")
    by_hand = [Consequence(kind="carries", count=1, events=2)]
    assert foretold(world, s(raw(3, f", on_suspend: discard{window}"))) == by_hand
    world.redeploy("12:00", s(raw(3, f", on_suspend: discard{window}")))
    world.tick("20:00")
    assert all_of(world) == [READY]


def test_plan_says_that_decided_launches_go_on():
    world = collected(A, schedule=s(raw(1)))
    assert foretold(world, s(raw(2))) == [Consequence(kind="launches", count=1)]


def test_the_journal_says_where_a_carried_event_has_gone():
    world = collected(A, B, schedule=s(raw(4)))
    world.redeploy(
        "11:00",
        s("trigger: {any: [{partitions: {dataset: other}}, {partitions: {dataset: raw, count: 3}}]}"),
    )
    entries = [entry for entry in world.journal("s") if entry.at == at("11:00")]
    moved = [entry for entry in entries if entry.kind is EntryKind.EVENT]
    assert [(entry.event, entry.data["leaf"], entry.data["moved_from"]) for entry in moved] == [
        ("e1", "1", ""),
        ("e2", "1", ""),
    ]
    assert moved[0].data["partition"] == A


def test_events_that_nothing_listens_to_any_more_leave_the_job_that_goes_on():
    both = "{partitions: {dataset: raw, count: 3}}, {partitions: {dataset: other}}"
    world = World(s(f"trigger: {{all: [{both}]}}"))
    world.arrive("10:00", "other", A)
    world.arrive("10:01", "raw", B)
    world.tick("10:01")
    world.redeploy("11:00", s("trigger: {all: [{partitions: {dataset: raw, count: 3}}]}"))
    job = world.only("s")
    assert (str(job.state), job.first_event_at) == ("PENDING_TRIGGER", at("10:01"))
    assert (world.ledger("s").pending, world.ledger("s").discarded) == (1, {"D-UPDATED": 1})
    (entry,) = [entry for entry in world.journal("s") if entry.kind is EntryKind.EVENT_DISCARDED]
    assert (entry.job, entry.event, entry.reason) == (job.id, "e1", "D-UPDATED")
    assert (entry.data["leaf"], entry.data["key"]) == ("1", "partition:a/other")


def test_the_journal_holds_every_text_that_was_deployed():
    world = World(s(raw(4)))
    world.redeploy("11:00", s(raw(2)))
    world.redeploy("12:00", "{}")
    specs = [entry.data for entry in world.journal("s") if entry.kind is EntryKind.SPEC]
    assert [data["action"] for data in specs] == ["create", "replace", "delete"]
    assert specs[2]["spec"] is None
    first, second = (msgspec.convert(data["spec"], Schedule) for data in specs[:2])
    assert (first.trigger.count, second.trigger.count) == (4, 2)
    assert [data["carries"] for data in specs[1:2]] == [True]
    apps = [entry.data for entry in world.journal() if entry.kind is EntryKind.SPEC and not entry.schedule]
    assert [(data["app"], data["action"], data["revision"]) for data in apps] == [
        ("a", "create", 1),
        ("a", "change", 2),
        ("a", "change", 3),
    ]


def test_the_same_carry_on_every_try():
    dumps = []
    for _ in range(2):
        world = World(s(raw(4)), store=MemoryStore())
        world.arrive("10:00", "raw", A, B)
        world.tick("10:00")
        world.redeploy("11:00", s(raw(2)))
        world.tick("11:00")
        dumps.append(world.store.dump())
    assert dumps[0] == dumps[1]
