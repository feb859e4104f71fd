"""Texts that calls change, apps on hold, and reverts by hand: what is remembered, and what ends it."""

import msgspec
import pytest

from tests.worlds.by import CLI
from tests.worlds.overriding import FIRST, NEW, OPS, SLOW, Hands, S
from tests.worlds.world import DATASETS, app_of, at
from tidegate.domain.time.expiry import Until
from tidegate.scheduler.commands.by_hand.held_apps import hold_app, release_app
from tidegate.scheduler.commands.by_hand.manual import resume
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.refused import Refused, UnknownName
from tidegate.scheduler.tick.held_apps import held_apps

# --- the text ----------------------------------------------------------------------------


def test_a_changed_text_reverts_to_what_was_deployed_first():
    world = Hands(S)
    world.put("10:00", FIRST, until="12:00")
    world.put("10:30", SLOW, until="13:00", by=OPS)
    (found,) = world.overrides()
    assert (found.kind, found.owner, found.expires_at) == ("specification", "cli:ada", at("13:00"))
    assert found.spec == app_of(S).schedules["s"]
    world.tick("12:59")
    assert world.state().overridden
    world.tick("13:00")
    state = world.state()
    assert (state.spec, state.overridden) == (app_of(S).schedules["s"], False)
    assert world.overrides() == ()
    assert world.said() == [("began", ""), ("changed", ""), ("ended", "expired")]


def test_the_revert_of_a_text_obeys_on_update():
    carry = (
        "s: {program: q, status: active, on_update: carry, trigger: {partitions: {dataset: raw, count: 3}}}"
    )
    world = Hands(carry)
    world.put("10:00", carry.replace("count: 3", "count: 4"), until="11:00")
    world.arrive("10:10", "raw", "2026-03-01", "2026-03-02", "2026-03-03")
    world.tick("10:10")
    assert world.outcome("s") == ("PENDING_TRIGGER", "W-TRIGGER")
    world.tick("11:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)
    assert world.ledger("s").pending == 3


def test_a_text_that_is_as_it_was_deployed_is_no_override():
    world = Hands(S)
    world.put("10:00", FIRST)
    world.put("11:00", S)
    assert world.overrides() == ()
    assert world.said() == [("began", ""), ("ended", "undone")]
    assert not world.state().overridden


def test_a_created_schedule_is_deleted_when_it_expires():
    world = Hands(S)
    world.put("10:00", NEW, until="11:00")
    world.put("10:10", NEW.replace("raw", "other"), until="11:00")
    assert world.kinds() == ["created"]
    world.tick("11:00")
    assert not world.exists("n")
    assert world.overrides() == ()
    assert world.exists("s")


def test_a_deleted_schedule_comes_back_with_its_status():
    world = Hands(S)
    world.put("10:00", FIRST)
    world.suspended("10:30")
    world.delete("11:00")
    (found,) = world.overrides()
    assert (found.kind, found.status, found.spec) == ("deleted", "suspended", app_of(S).schedules["s"])
    world.revert("12:00")
    state = world.state()
    assert (state.status, state.spec.trigger) == ("suspended", app_of(S).schedules["s"].trigger)
    assert world.overrides() == ()


def test_a_schedule_that_is_created_again_after_its_deletion_is_a_changed_one():
    world = Hands(S)
    world.delete("10:00")
    world.put("11:00", FIRST)
    (found,) = world.overrides()
    assert (found.kind, found.spec) == ("specification", app_of(S).schedules["s"])


def test_a_created_schedule_that_is_deleted_leaves_nothing():
    world = Hands(S)
    world.put("10:00", NEW)
    world.delete("11:00", "n")
    assert world.overrides() == ()


def test_another_expiry_of_the_same_text_needs_an_override():
    world = Hands(S)
    with pytest.raises(Refused, match="nothing to revert to"):
        world.put("10:00", S, until="11:00")
    world.put("10:00", FIRST)
    world.put("10:30", FIRST, until="11:00", by=OPS)
    assert [each.expires_at for each in world.overrides()] == [at("11:00")]


# --- deployments -------------------------------------------------------------------------


def test_a_deployment_ends_overrides_of_texts():
    world = Hands(S)
    world.put("10:00", FIRST)
    world.put("10:10", NEW)
    world.redeploy("11:00", S)
    assert world.overrides() == ()
    assert {cause for _, cause in world.said()[2:]} == {"deployed"}
    assert not world.exists("n")


def test_a_deployment_that_updates_no_schedules_leaves_them():
    world = Hands(S)
    world.put("10:00", FIRST)
    world.put("10:10", NEW)
    world.redeploy("11:00", SLOW, update=False)
    assert world.kinds() == ["created", "specification"]


def test_such_a_deployment_leaves_a_deleted_schedule_with_its_way_back():
    world = Hands(S)
    world.delete("10:00")
    world.redeploy("11:00", SLOW, update=False)
    assert world.kinds() == ["deleted"]
    world.revert("12:00")
    assert world.exists("s")


def test_the_overrides_of_an_app_that_is_removed_end_with_it():
    world = Hands(S)
    world.delete("10:00")
    with world.store.transaction() as transaction:
        deploy(transaction, {}, at("11:00"), update_schedules=False, by=CLI)
    assert world.overrides() == ()


def test_the_override_of_a_status_ends_with_its_schedule_whatever_its_expiry():
    world = Hands(S)
    world.put("10:00", NEW, until="11:00")
    with world.store.transaction() as transaction:
        resume(transaction, "a/n", at("10:10"), OPS, Until(at=at("12:00")))
    world.tick("11:00")
    ended = {each.data["override"]: each.data["cause"] for each in world.entries() if "cause" in each.data}
    assert ended == {"created": "expired", "status": "deleted"}


def test_what_the_yaml_says_too_is_no_override_any_more():
    world = Hands(S)
    world.put("10:00", FIRST)
    world.redeploy("11:00", FIRST)
    assert world.overrides() == ()
    assert not world.state().overridden


def test_a_text_whose_program_is_gone_does_not_revert_and_stops_nothing():
    world = Hands("s: {program: r, status: active, trigger: {partitions: {dataset: raw}}}")
    world.put("10:00", FIRST, until="12:00")
    head = app_of(FIRST)
    programs = {name: each for name, each in head.programs.items() if name != "r"}
    with world.store.transaction() as transaction:
        deploy(
            transaction,
            {"a": msgspec.structs.replace(head, programs=programs, schedules={})},
            at("11:00"),
            update_schedules=False,
            by=CLI,
        )
    world.suspended("11:30", until="12:00")
    world.tick("12:00")
    (found,) = world.overrides()
    assert found.expires_at is None
    assert 'the program "r" of a/s is not deployed' in found.reason
    assert world.state().status == "active"


# --- by hand, and apps -------------------------------------------------------------------


def test_a_person_reverts_both_or_one_of_them():
    world = Hands(S)
    world.put("10:00", FIRST)
    world.suspended("10:10")
    world.revert("11:00", only="status")
    assert world.kinds() == ["specification"]
    world.suspended("11:10")
    world.revert("11:20")
    assert world.overrides() == ()
    assert world.state().status == "active"
    with pytest.raises(UnknownName, match="no such override"):
        world.revert("11:30")


def test_a_text_that_nobody_knows_any_more_is_not_reverted():
    world = Hands(S)
    world.put("10:00", FIRST)
    (found,) = world.overrides()
    with world.store.transaction() as transaction:
        transaction.put_records(OVERRIDES, [msgspec.structs.replace(found, spec=None)])
    with pytest.raises(Refused, match="what a/s was deployed as is not known"):
        world.revert("11:00")
    assert world.state().overridden


def test_an_app_on_hold_is_released_when_that_expires():
    world = Hands(S)
    with world.store.transaction() as transaction:
        assert hold_app(transaction, "a", at("10:00"), OPS, Until(at=at("11:00")))
        assert not hold_app(transaction, "a", at("10:10"), OPS)
        assert hold_app(transaction, "a", at("10:20"), OPS, Until(at=at("12:00")))
    world.redeploy("11:30", FIRST)
    world.tick("11:59")
    with world.store.reading() as reader:
        assert "a" in held_apps(reader)
    world.tick("12:00")
    with world.store.reading() as reader:
        assert held_apps(reader) == {}
    assert world.overrides() == ()


def test_an_app_that_is_released_by_hand_has_no_override():
    world = Hands(S)
    with world.store.transaction() as transaction:
        hold_app(transaction, "a", at("10:00"), OPS, Until(at=at("11:00")))
        assert release_app(transaction, "a", at("10:30"), by=CLI)
    assert world.overrides() == ()


def test_what_it_reverts_to_moves_with_a_rename():
    world = Hands(S)
    world.put("10:00", SLOW, until="12:00")
    head = DATASETS.replace("  raw: {", "  fresh: {renamed_from: raw, ")
    wanted = app_of(S.replace("raw", "fresh"), head)
    with world.store.transaction() as transaction:
        deploy(transaction, {"a": wanted}, at("11:00"), update_schedules=False, by=CLI)
    assert world.kinds() == ["specification"]
    world.tick("12:00")
    assert world.state().spec.trigger == wanted.schedules["s"].trigger
    assert world.overrides() == ()
