"""Who is finishing an unfinished commit sequence, and how often that has failed."""

from datetime import UTC, datetime, timedelta

import pytest

from tidegate.domain.commits import RecoveryState

NOON = datetime(2026, 3, 8, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
OWNED = RecoveryState(owner="first", until=NOON + MINUTE)


@pytest.mark.parametrize(
    ("state", "now", "owner"),
    [
        pytest.param(RecoveryState(), NOON, "second", id="no process has it"),
        pytest.param(OWNED, NOON, "first", id="another owner's lease holds"),
        pytest.param(OWNED, NOON + MINUTE, "second", id="the lease is over"),
        pytest.param(RecoveryState(owner="first"), NOON, "second", id="an owner without a lease"),
    ],
)
def test_it_is_taken_unless_another_owners_lease_holds(
    state: RecoveryState, now: datetime, owner: str
) -> None:
    assert state.taken("second", now, now + MINUTE).owner == owner


def test_its_owner_prolongs_the_lease() -> None:
    assert OWNED.taken("first", NOON, NOON + 5 * MINUTE).until == NOON + 5 * MINUTE


def test_a_failure_is_counted_and_frees_it() -> None:
    once = OWNED.failed("no space left", NOON)
    twice = once.taken("second", NOON, NOON + MINUTE).failed("no space left", NOON + MINUTE)

    assert once == RecoveryState(failures=1, error="no space left", failed_at=NOON)
    assert twice.failures == 2
    assert twice.released() == twice


def test_a_released_one_keeps_its_failures() -> None:
    state = OWNED.failed("no space left", NOON).taken("second", NOON, NOON + MINUTE)

    assert state.released() == OWNED.failed("no space left", NOON)
