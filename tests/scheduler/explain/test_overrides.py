"""What `why` says of changes by hand, now and at a past instant, also after a snapshot."""

from tests.worlds.overriding import FIRST, REST, Hands, S
from tests.worlds.world import at
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.retention.state import read_state, state_of


def texts(world: Hands, clock: str) -> list[str]:
    with world.store.reading() as reader, store_at(reader, at(clock)).reading() as past:
        (found,) = explain(past, "a/s", at(clock))
    return [each.text for each in found.overrides]


def test_why_names_what_was_changed_by_hand_and_until_when():
    world = Hands(S)
    world.suspended("10:00", until="12:00")
    world.put("10:30", FIRST, by=REST)
    with world.store.reading() as reader:
        (found,) = explain(reader, "a/s", at("11:00"))
    assert [each.text for each in found.overrides] == [
        "changed by rest:ops (more memory)",
        "suspended by cli:ada (late feed), until 2026-03-10 12:00:00Z",
    ]


def test_the_past_has_the_overrides_of_its_instant():
    world = Hands(S)
    world.suspended("10:00", until="12:00")
    world.put("10:30", FIRST, until="11:00", by=REST)
    world.tick("12:30")
    assert texts(world, "09:00") == []
    assert texts(world, "10:15") == ["suspended by cli:ada (late feed), until 2026-03-10 12:00:00Z"]
    assert len(texts(world, "10:45")) == 2
    assert len(texts(world, "11:30")) == 1
    assert texts(world, "12:15") == []


def test_the_past_of_a_deleted_and_a_created_schedule_can_be_explained():
    world = Hands(S)
    world.delete("10:00")
    world.put("11:00", FIRST)
    world.revert("12:00")
    assert texts(world, "09:00") == []
    assert texts(world, "11:30") == ["changed by rest:ops (more memory)"]
    assert texts(world, "12:30") == []


def test_a_snapshot_has_the_overrides():
    world = Hands(S)
    world.suspended("10:00", until="12:00")
    with world.store.reading() as reader:
        state = read_state(state_of(reader, at("10:30")))
    assert [(each.ref, each.owner, each.expires_at) for each in state.overrides] == [
        ("a/s", "cli:ada", at("12:00"))
    ]
