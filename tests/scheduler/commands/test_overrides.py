"""Overrides: what is remembered of a change by hand, what ends it, and how it reverts by itself."""

import pytest

from tests.scheduler.world import World, app_of, at
from tidegate.domain.time.expiry import Until
from tidegate.scheduler.commands.held_apps import held_apps, hold_app, release_app
from tidegate.scheduler.commands.manual import resume, suspend
from tidegate.scheduler.commands.overrides.revert import revert
from tidegate.scheduler.commands.schedules import delete_schedules, put_schedule
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.override import Override
from tidegate.scheduler.model.refused import Refused, UnknownName

OPS = By(actor="cli", user="ada", reason="late feed")
REST = By(actor="rest:ops", reason="more memory")
S = "s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 2}}}"
SLOW = S.replace("active,", "active, timeout: {after: 9h, then: discard},")
FIRST = "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}"
NEW = "n: {program: q, trigger: {partitions: {dataset: raw}}}"


class Hands(World):
    """A world in which people override."""

    def suspended(self, clock: str, until: str | None = None, by: By = OPS) -> bool:
        with self.store.transaction() as transaction:
            return suspend(transaction, "a/s", at(clock), by, _until(until))

    def resumed(self, clock: str, until: str | None = None, by: By = OPS) -> bool:
        with self.store.transaction() as transaction:
            return resume(transaction, "a/s", at(clock), by, _until(until))

    def put(self, clock: str, schedule: str, until: str | None = None, by: By = REST) -> None:
        (spec,) = app_of(schedule).schedules.values()
        with self.store.transaction() as transaction:
            put_schedule(transaction, "a", spec, at(clock), by, _until(until))

    def delete(self, clock: str, name: str = "s") -> None:
        with self.store.transaction() as transaction:
            delete_schedules(transaction, [f"a/{name}"], at(clock), by=REST)

    def revert(self, clock: str, name: str = "s", only: str | None = None) -> None:
        with self.store.transaction() as transaction:
            revert(transaction, f"a/{name}", at(clock), OPS, only)  # pyright: ignore[reportArgumentType]

    def overrides(self) -> tuple[Override, ...]:
        with self.store.reading() as reader:
            return reader.overrides()

    def kinds(self) -> list[str]:
        return [each.kind for each in self.overrides()]

    def state(self, name: str = "s") -> ScheduleState | None:
        with self.store.reading() as reader:
            return next(iter(reader.schedules(refs=[f"a/{name}"])), None)

    def entries(self) -> list[Entry]:
        return [each for each in self.journal() if each.kind is EntryKind.OVERRIDE]

    def said(self) -> list[tuple[str, str]]:
        return [(each.data["action"], each.data.get("cause", "")) for each in self.entries()]


def _until(clock: str | None) -> Until | None:
    return None if clock is None else Until(at=None if clock == "never" else at(clock))


# --- the status --------------------------------------------------------------------------


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


def test_a_resume_that_expires_is_one_and_reverts():
    world = Hands(S.replace("active", "suspended"))
    assert world.resumed("10:00", until="12:00")
    world.tick("12:00")
    state = world.state()
    assert state is not None
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
    assert state is not None
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
    revision = world.state().revision  # pyright: ignore[reportOptionalMemberAccess]
    assert not world.suspended("10:30")
    assert world.suspended("11:00", until="never", by=REST)
    (found,) = world.overrides()
    assert (found.owner, found.since, found.expires_at, found.status) == (
        "rest:ops",
        at("11:00"),
        None,
        "active",
    )
    assert world.state().revision == revision + 1  # pyright: ignore[reportOptionalMemberAccess]
    world.tick("12:00")
    assert world.state().status == "suspended"  # pyright: ignore[reportOptionalMemberAccess]


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
    assert world.state().status == "active"  # pyright: ignore[reportOptionalMemberAccess]


# --- the text ----------------------------------------------------------------------------


def test_a_changed_text_reverts_to_what_was_deployed_first():
    world = Hands(S)
    world.put("10:00", FIRST, until="12:00")
    world.put("10:30", SLOW, until="13:00", by=OPS)
    (found,) = world.overrides()
    assert (found.kind, found.owner, found.expires_at) == ("specification", "cli:ada", at("13:00"))
    assert found.spec == app_of(S).schedules["s"]
    world.tick("12:59")
    assert world.state().overridden  # pyright: ignore[reportOptionalMemberAccess]
    world.tick("13:00")
    state = world.state()
    assert state is not None
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
    assert not world.state().overridden  # pyright: ignore[reportOptionalMemberAccess]


def test_a_created_schedule_is_deleted_when_it_expires():
    world = Hands(S)
    world.put("10:00", NEW, until="11:00")
    world.put("10:10", NEW.replace("raw", "other"), until="11:00")
    assert world.kinds() == ["created"]
    world.tick("11:00")
    assert world.state("n") is None
    assert world.overrides() == ()
    assert world.state() is not None


def test_a_deleted_schedule_comes_back_with_its_status():
    world = Hands(S)
    world.put("10:00", FIRST)
    world.suspended("10:30")
    world.delete("11:00")
    (found,) = world.overrides()
    assert (found.kind, found.status, found.spec) == ("deleted", "suspended", app_of(S).schedules["s"])
    world.revert("12:00")
    state = world.state()
    assert state is not None
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
    assert world.state("n") is None


def test_a_deployment_that_updates_no_schedules_leaves_them():
    world = Hands(S)
    world.put("10:00", FIRST)
    world.put("10:10", NEW)
    world.redeploy("11:00", SLOW, update=False)
    assert world.kinds() == ["created", "specification"]


def test_what_the_yaml_says_too_is_no_override_any_more():
    world = Hands(S)
    world.put("10:00", FIRST)
    world.redeploy("11:00", FIRST)
    assert world.overrides() == ()
    assert not world.state().overridden  # pyright: ignore[reportOptionalMemberAccess]


def test_a_text_whose_program_is_gone_does_not_revert_and_stops_nothing():
    world = Hands("s: {program: r, status: active, trigger: {partitions: {dataset: raw}}}")
    world.put("10:00", FIRST, until="12:00")
    head = app_of(FIRST)
    programs = {name: each for name, each in head.programs.items() if name != "r"}
    import msgspec

    from tidegate.scheduler.commands.deploy import deploy

    with world.store.transaction() as transaction:
        deploy(
            transaction,
            {"a": msgspec.structs.replace(head, programs=programs, schedules={})},
            at("11:00"),
            update_schedules=False,
        )
    world.suspended("11:30", until="12:00")
    world.tick("12:00")
    (found,) = world.overrides()
    assert found.expires_at is None
    assert 'the program "r" of a/s is not deployed' in found.reason
    assert world.state().status == "active"  # pyright: ignore[reportOptionalMemberAccess]


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
    assert world.state().status == "active"  # pyright: ignore[reportOptionalMemberAccess]
    with pytest.raises(UnknownName, match="no such override"):
        world.revert("11:30")


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
        assert release_app(transaction, "a", at("10:30"))
    assert world.overrides() == ()
