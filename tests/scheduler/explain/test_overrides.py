"""What `why` says of changes by hand, now and at a past instant, also after a snapshot."""

import pytest

from tests.worlds.by import CLI
from tests.worlds.overriding import FIRST, NEW, REST, Hands, S
from tests.worlds.world import DATASETS, app_of, at
from tidegate.scheduler.commands.by_hand.held_apps import hold_app
from tidegate.scheduler.commands.by_hand.manual import suspend
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.explain.overrides import find_overrides, overridden_as, reverted_to
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.refused import AmbiguousName, UnknownName
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


def test_overrides_are_found_by_the_name_of_their_schedule_and_of_their_app():
    world = Hands(S)
    with world.store.transaction() as transaction:
        other = app_of(S, DATASETS.replace("app: a", "app: b"))
        deploy(transaction, {"a": world.app, "b": other}, at("10:00"), by=CLI)
        suspend(transaction, "a/s", at("10:01"), by=CLI)
        with pytest.raises(UnknownName) as unknown:
            find_overrides(transaction, "t")
        with pytest.raises(UnknownName) as of_b:
            find_overrides(transaction, "b/s")
        assert [each.ref for each in find_overrides(transaction, "s")] == ["a/s"]
        suspend(transaction, "b/s", at("10:02"), by=CLI)
        with pytest.raises(AmbiguousName) as ambiguous:
            find_overrides(transaction, "s")
        assert [each.ref for each in find_overrides(transaction, "b/s")] == ["b/s"]
        hold_app(transaction, "b", at("10:03"), CLI)
        assert [each.kind for each in find_overrides(transaction, "b")] == ["held"]
    assert unknown.value.message == 'nothing of "t" was changed by hand'
    assert of_b.value.message == 'nothing of "b/s" was changed by hand'
    assert "a/s" in (of_b.value.hint or "")
    assert ambiguous.value.message == 'several apps have overrides of "s"'
    assert ambiguous.value.hint == "write one of a/s, b/s"


def test_an_override_says_what_it_is_and_what_it_reverts_to():
    world = Hands(S)
    said: list[tuple[str, str]] = []

    def say() -> None:
        said.extend((overridden_as(each), reverted_to(each)) for each in world.overrides())

    world.put("10:00", FIRST)
    say()
    world.delete("10:01")
    say()
    world.revert("10:02")
    world.put("10:03", NEW)
    say()
    world.delete("10:04", "n")
    world.suspended("10:05")
    say()
    assert said == [
        ("changed", "is as it was deployed"),
        ("deleted", "is created again, active"),
        ("created", "is deleted"),
        ("suspended", "is active again"),
    ]
