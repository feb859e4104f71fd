"""The records of who works on an active run: written, renewed and removed by run."""

from datetime import UTC, datetime, timedelta

from tidegate.scheduler.launch.owners import OWNERS, RunOwner, disown, own, owners
from tidegate.scheduler.store.memory.store import MemoryStore

NOON = datetime(2026, 3, 8, 12, tzinfo=UTC)
FIRST = RunOwner(instance="i", process="host:1:a", until=NOON)
SECOND = RunOwner(instance="i", process="host:2:b", until=NOON + timedelta(minutes=5))


def recorded(store: MemoryStore) -> dict[str, RunOwner]:
    with store.reading() as reader:
        return owners(reader)


def test_a_store_without_active_runs_has_no_owners() -> None:
    assert recorded(MemoryStore()) == {}


def test_an_owner_is_recorded_by_run_and_renewed() -> None:
    store = MemoryStore()
    own(store, "x", FIRST)
    own(store, "y", SECOND)
    assert recorded(store) == {"x": FIRST, "y": SECOND}

    renewed = RunOwner(instance="i", process="host:1:a", until=NOON + timedelta(minutes=9))
    own(store, "x", renewed)
    assert recorded(store) == {"x": renewed, "y": SECOND}


def test_only_the_owners_of_the_given_runs_are_removed() -> None:
    store = MemoryStore()
    own(store, "x", FIRST)
    own(store, "y", SECOND)
    disown(store, ["x", "unknown"])
    assert recorded(store) == {"y": SECOND}


def test_without_runs_nothing_is_written() -> None:
    store = MemoryStore()
    disown(store, [])
    with store.reading() as reader:
        assert reader.cursor(OWNERS) is None
