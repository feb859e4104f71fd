"""An expiry in every store: two schedulers revert once, and a crash leaves all of a revert or nothing."""

import pytest

from tests.worlds.overriding import FIRST, Hands, S
from tests.worlds.world import at
from tidegate.scheduler.commands import reverts
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.store.protocol import Store

pytestmark = [pytest.mark.store]


def overridden(store: Store) -> Hands:
    world = Hands(S, store=store)
    world.put("10:00", FIRST, until="11:00")
    world.suspended("10:10", until="11:00")
    return world


def test_a_second_scheduler_finds_it_reverted(store: Store) -> None:
    world = overridden(store)
    world.tick("11:00")
    before = world.journal()
    world.tick("11:00")
    world.tick("11:00:01")
    assert world.journal() == before
    ended = [each for each in before if each.kind is EntryKind.OVERRIDE and each.data["action"] == "ended"]
    assert len(ended) == 2
    assert (world.state().status, world.state().overridden) == ("active", False)


def test_a_crash_amid_a_revert_leaves_it_for_the_next_tick(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = overridden(store)
    world.tick("10:30")
    before, overrides = world.journal(), world.overrides()

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(reverts, "restore_statuses", dies)
        world.tick("11:00")
    assert (world.journal(), world.overrides()) == (before, overrides)
    assert (world.state().status, world.state().overridden) == ("suspended", True)
    world.tick("11:05")
    assert world.overrides() == ()
    assert {each.at for each in world.journal() if each.data.get("cause") == "expired"} == {at("11:00")}
