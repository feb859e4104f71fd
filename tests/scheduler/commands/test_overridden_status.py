"""Suspended and resumed by hand: what is remembered, what ends it, and how it reverts by itself."""

import msgspec
import pytest

from tests.worlds.overriding import FIRST, REST, Hands, S
from tests.worlds.world import at
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.refused import Refused


def test_a_suspension_is_an_override_until_it_is_resumed():
    world = Hands(S)
    assert world.suspended("10:00")
    (found,) = world.overrides()
    assert (found.kind, found.owner, found.reason, found.since) == (
        "status",
        "cli:ada",
        "late feed",
        at("10:00"),
    )
    assert (found.status, found.expires_at) == ("active", None)
    assert world.resumed("11:00")
    assert world.overrides() == ()
    assert world.said() == [("began", ""), ("ended", "undone")]


def test_a_schedule_that_becomes_active_for_good_is_no_override():
    world = Hands(S.replace("active", "suspended"))
    assert world.resumed("10:00")
    assert world.overrides() == ()


def test_a_schedule_that_is_active_for_good_may_stay_so_but_not_until_later():
    world = Hands(S)
    assert not world.resumed("10:00", until="never")
    with pytest.raises(Refused, match="active for good"):
        world.resumed("10:00", until="12:00")
    assert world.overrides() == ()
    assert world.said() == []


def test_a_resume_that_expires_is_one_and_reverts():
    world = Hands(S.replace("active", "suspended"))
    assert world.resumed("10:00", until="12:00")
    world.tick("12:00")
    state = world.state()
    assert (state.status, state.changed_by, state.suspended_at) == ("suspended", "expiry", at("12:00"))
    assert world.overrides() == ()


@pytest.mark.parametrize("minutes", [1, 7, 13])
def test_a_suspension_expires_at_its_instant_at_any_pace_of_ticks(minutes: int):
    world = Hands(FIRST)
    world.suspended("10:00", until="10:20")
    world.arrive("10:19:59", "raw", "2026-03-01")
    world.arrive("10:20", "raw", "2026-03-02")
    for minute in range(0, 60, minutes):
        world.tick(f"10:{minute:02}")
    (job,) = world.jobs("s")
    assert (job.opened_at, job.satisfied_at, str(job.state)) == (at("10:20"), at("10:20"), "PENDING_LAUNCH")
    assert world.ledger("s").discarded == {"D-SUSPENDED": 1}
    assert [(each.at, each.data["action"]) for each in world.entries()] == [
        (at("10:00"), "began"),
        (at("10:20"), "ended"),
    ]
    ended = world.entries()[-1].data
    assert (ended["cause"], ended["by"], ended["owner"], ended["reason"]) == (
        "expired",
        "expiry",
        "cli:ada",
        "late feed",
    )


def test_it_expires_at_its_instant_while_the_scheduler_is_away():
    world = Hands(FIRST)
    world.tick("10:00")
    world.suspended("10:00", until="13:00")
    world.arrive("12:00", "raw", "2026-03-01")
    world.arrive("13:30", "raw", "2026-03-02")
    world.tick("15:00")
    assert [(each.at, each.data["action"]) for each in world.entries()][-1] == (at("13:00"), "ended")
    assert world.ledger("s").discarded == {"D-SUSPENDED": 1}
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_command_and_an_observation_find_it_reverted():
    world = Hands(FIRST)
    world.tick("10:00")
    world.suspended("10:00", until="10:05")
    world.run("10:06", "q", "started", "hand")
    state = world.state()
    assert state.status == "active"
    assert world.entries()[-1].at == at("10:05")


def test_held_jobs_are_released_when_it_expires():
    world = Hands(FIRST.replace("status: active", "status: active, on_suspend: backlog"))
    world.suspended("10:00", until="10:10")
    world.arrive("10:05", "raw", "2026-03-01")
    world.tick("10:05")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-HELD")
    world.tick("10:10")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_second_suspension_gives_it_another_expiry_and_keeps_what_it_reverts_to():
    world = Hands(S)
    world.suspended("10:00", until="12:00")
    revision = world.state().revision
    assert not world.suspended("10:30")
    assert world.suspended("11:00", until="never", by=REST)
    (found,) = world.overrides()
    assert (found.owner, found.since, found.expires_at, found.status) == (
        "rest:ops",
        at("11:00"),
        None,
        "active",
    )
    assert world.state().revision == revision + 1
    world.tick("12:00")
    assert world.state().status == "suspended"


def test_an_expiry_without_anything_to_revert_to_is_refused():
    world = Hands(S.replace("active", "suspended"))
    with pytest.raises(Refused, match="suspended for good"):
        world.suspended("10:00", until="12:00")
    world.resumed("10:00", until="12:00")
    with pytest.raises(Refused, match="was suspended before"):
        world.suspended("11:00", until="13:00")
    assert world.suspended("11:00")
    assert world.overrides() == ()


def test_a_suspension_stays_through_deployments_and_still_expires():
    world = Hands(S)
    world.suspended("10:00", until="12:00")
    world.redeploy("11:00", FIRST)
    assert world.kinds() == ["status"]
    world.tick("12:00")
    assert world.state().status == "active"


def test_an_override_of_what_is_not_deployed_or_is_as_it_was_ends_and_stops_nothing():
    world = Hands(S)
    world.suspended("10:00", until="11:00")
    (found,) = world.overrides()
    with world.store.transaction() as transaction:
        transaction.put_records(OVERRIDES, [msgspec.structs.replace(found, ref="a/gone")])
        transaction.put_schedules([msgspec.structs.replace(world.state(), status="active")])
    world.tick("11:00")
    (stays,) = world.overrides()
    assert (stays.ref, stays.expires_at) == ("a/gone", None)
    assert "no schedule a/gone is deployed" in stays.reason
