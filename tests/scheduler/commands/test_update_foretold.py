"""What `plan` foretells of a changed schedule's jobs, and what the journal keeps of the change."""

import msgspec

from tests.doubles.dump import dump
from tests.worlds.changing import READY, A, B, C, all_of, collected, mode, raw, s
from tests.worlds.world import World, app_of, at
from tidegate.compiler.plan.consequence import Consequence
from tidegate.compiler.render.diff_text import diff_text
from tidegate.domain.model import Schedule
from tidegate.scheduler.commands.deployment.live import difference
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.store.memory.store import MemoryStore


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
        dumps.append(dump(world.store))
    assert dumps[0] == dumps[1]


def test_a_sensor_of_its_own_discards_nothing_and_plan_shows_it_as_harmless():
    world = collected(A, B, schedule=s(raw(3), "reset"))
    own = s(raw(3, ", sensor: own"), "reset")
    with world.store.reading() as reader:
        found = difference(reader, {"a": app_of(own)})
    (change,) = found.schedules()
    assert (change.action, [field.path for field in change.fields]) == ("amend", ["sensor"])
    assert foretold(world, own) == []
    only = "description, owner, alerts, retries or sensor only: nothing is reset"
    assert f"~ schedule s ({only})" in diff_text(found)
    world.redeploy("11:00", own)
    world.arrive("11:01", "raw", C)
    world.tick("11:01")
    assert all_of(world) == [READY]
    assert world.ledger("s").discarded == {}
