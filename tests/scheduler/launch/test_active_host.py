"""The lease of the active host: one at a time, whatever the clocks do."""

from datetime import UTC, datetime, timedelta

import pytest

from tidegate.scheduler.launch.active_host import LEASE, active_host, host_of, release, take
from tidegate.scheduler.store.memory.store import MemoryStore

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def store() -> MemoryStore:
    made = MemoryStore()
    with made.transaction() as transaction:
        assert take(transaction, "shop", "one", NOON) is not None
    return made


def asks(
    store: MemoryStore, process: str, after: timedelta, *, project: str = "shop", gone: str | None = None
) -> bool:
    with store.transaction() as transaction:
        return take(transaction, project, process, NOON + after, gone=gone) is not None


def active(store: MemoryStore, after: timedelta) -> str | None:
    with store.reading() as reader:
        found = active_host(reader, "shop", NOON + after)
    return None if found is None else found.process


def test_while_a_lease_holds_no_other_host_gets_it(store: MemoryStore) -> None:
    assert not asks(store, "two", LEASE - SECOND)
    assert active(store, LEASE - SECOND) == "one"
    assert asks(store, "two", LEASE)
    assert active(store, LEASE) == "two"
    # The first one was only asleep.
    assert not asks(store, "one", LEASE + SECOND)


def test_a_renewed_lease_counts_from_the_renewal_and_keeps_its_beginning(store: MemoryStore) -> None:
    assert asks(store, "one", 3 * SECOND)
    assert not asks(store, "two", LEASE + SECOND)
    with store.reading() as reader:
        found = host_of(reader, "shop")
    assert found is not None and (found.since, found.looped_at) == (NOON, NOON + 3 * SECOND)


def test_a_lease_that_ended_begins_again(store: MemoryStore) -> None:
    assert asks(store, "one", 2 * LEASE)
    with store.reading() as reader:
        found = host_of(reader, "shop")
    assert found is not None and found.since == NOON + 2 * LEASE


def test_the_lease_of_a_process_that_is_gone_is_free_at_once(store: MemoryStore) -> None:
    assert asks(store, "two", SECOND, gone="one")
    assert active(store, SECOND) == "two"


@pytest.mark.parametrize("jump", [-timedelta(hours=1), -LEASE - SECOND, timedelta(hours=1)])
def test_a_clock_that_jumps_does_not_keep_the_lease_from_the_others(
    store: MemoryStore, jump: timedelta
) -> None:
    assert active(store, jump) is None
    assert asks(store, "two", jump)
    assert active(store, jump) == "two"


def test_a_host_that_stops_releases_its_own_lease_only(store: MemoryStore) -> None:
    with store.transaction() as transaction:
        release(transaction, "shop", "two")
    assert active(store, SECOND) == "one"
    with store.transaction() as transaction:
        release(transaction, "shop", "one")
        release(transaction, "other", "one")
    assert active(store, SECOND) is None
    assert asks(store, "two", SECOND)


def test_projects_of_one_store_have_hosts_of_their_own(store: MemoryStore) -> None:
    assert asks(store, "two", SECOND, project="fx")
    assert active(store, SECOND) == "one"
