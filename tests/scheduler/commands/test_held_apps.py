"""Apps on hold: who holds them and since when, whatever is held twice, released, renamed or not known."""

import pytest

from tests.doubles.dump import dump
from tests.scheduler.commands.renaming import app, put
from tests.worlds.world import World, at
from tidegate.scheduler.commands.by_hand.held_apps import hold_app, release_app
from tidegate.scheduler.model.journal import By, EntryKind
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.held_apps import HELD, Hold, held_apps


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def held(store: Store) -> dict[str, Hold]:
    with store.reading() as reader:
        return held_apps(reader)


def hold(store: Store, name: str, clock: str = "10:00", by: str = "cli") -> bool:
    with store.transaction() as transaction:
        return hold_app(transaction, name, at(clock), By(actor=by))


def release(store: Store, name: str) -> bool:
    with store.transaction() as transaction:
        return release_app(transaction, name, at("13:00"), By(actor="cli", reason="all is well"))


def test_a_hold_says_since_when_and_who(store) -> None:
    assert held(store) == {}
    assert hold(store, "b", "10:00")
    assert hold(store, "a", "11:00", by="ui")
    assert held(store) == {"a": Hold(at=at("11:00"), by="ui"), "b": Hold(at=at("10:00"), by="cli")}


def test_an_app_that_is_held_twice_keeps_its_first_hold_and_is_released_once(store) -> None:
    assert hold(store, "a", "10:00", by="ui")
    assert not hold(store, "a", "11:00")
    assert held(store) == {"a": Hold(at=at("10:00"), by="ui")}
    assert release(store, "a")
    assert held(store) == {}
    assert not release(store, "a")
    assert hold(store, "a", "12:00")
    assert held(store) == {"a": Hold(at=at("12:00"), by="cli")}


def test_the_journal_has_each_hold_and_release_once(store) -> None:
    hold(store, "a", "10:00", by="ui")
    hold(store, "a", "11:00")
    release(store, "a")
    release(store, "a")
    with store.reading() as reader:
        noted = [(entry.at, entry.data) for entry in reader.journal() if entry.kind is EntryKind.HELD]
    assert noted == [
        (at("10:00"), {"app": "a", "action": "hold", "by": "ui"}),
        (at("13:00"), {"app": "a", "action": "release", "by": "cli", "why": "all is well"}),
    ]


def test_a_release_leaves_other_apps_on_hold(store) -> None:
    hold(store, "a")
    hold(store, "b")
    assert release(store, "a")
    assert held(store).keys() == {"b"}


def test_the_release_of_an_app_that_is_not_on_hold_changes_nothing(store) -> None:
    hold(store, "a")
    before = dump(store)
    assert not release(store, "unknown")
    assert dump(store) == before


def test_the_cursor_is_sorted_so_that_equal_holds_are_stored_equal() -> None:
    stores = [MemoryStore(), MemoryStore()]
    for store, names in zip(stores, ("ab", "ba"), strict=True):
        for name in names:
            hold(store, name)
    assert dump(stores[0])["cursors"] == dump(stores[1])["cursors"]
    with stores[1].reading() as reader:
        assert list(reader.cursor(HELD)) == ["a", "b"]


def test_a_renamed_app_stays_on_hold_under_its_new_name(store) -> None:
    put(store, "08:00", app())
    hold(store, "a", "09:00", by="ui")
    hold(store, "other", "09:30")
    put(store, "10:00", app(app="b", app_from="a"))
    assert held(store) == {
        "b": Hold(at=at("09:00"), by="ui"),
        "other": Hold(at=at("09:30"), by="cli"),
    }
    assert not release(store, "a")
    assert release(store, "b")


def test_the_rename_of_an_app_that_is_not_on_hold_holds_nothing(store) -> None:
    put(store, "08:00", app())
    hold(store, "other", "09:00")
    put(store, "10:00", app(app="b", app_from="a"))
    assert held(store).keys() == {"other"}


def test_an_app_that_is_removed_and_comes_back_is_still_on_hold(store) -> None:
    put(store, "08:00", app())
    hold(store, "a", "09:00")
    put(store, "10:00")
    assert held(store).keys() == {"a"}
    put(store, "11:00", app())
    assert held(store).keys() == {"a"}


def test_the_hold_of_a_renamed_app_replaces_one_that_its_new_name_was_left_with(store) -> None:
    put(store, "08:00", app())
    hold(store, "b", "08:30")
    hold(store, "a", "09:00", by="ui")
    put(store, "10:00", app(app="b", app_from="a"))
    assert held(store) == {"b": Hold(at=at("09:00"), by="ui")}


def test_jobs_of_an_app_on_hold_are_decided_and_none_is_discarded() -> None:
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}, timeout: 1h}")
    hold(world.store, "a", "09:00")
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    world.tick("12:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)
    assert world.ledger("s").discarded == {}
