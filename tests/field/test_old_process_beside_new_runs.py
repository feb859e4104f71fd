"""I installed the new version, and the old host went on for days beside runs of the new one; nothing said so.

Each process at work notes its version in the store, where `status` and `doctor` read it.
"""

from datetime import UTC, datetime, timedelta

from tidegate.scheduler.launch.versions import note_version, versions_at_work
from tidegate.scheduler.store.memory.store import MemoryStore

NOW = datetime(2026, 3, 10, tzinfo=UTC)


def test_the_store_knows_the_version_of_each_part_that_is_at_work() -> None:
    store = MemoryStore()
    note_version(store, "shop", "host", "0.1.0", "here:1", NOW)
    note_version(store, "shop", "server", "0.2.0", "here:2", NOW)
    with store.reading() as reader:
        found = versions_at_work(reader, "shop")
        assert {part: each.version for part, each in found.items()} == {"host": "0.1.0", "server": "0.2.0"}
        assert versions_at_work(reader, "bank") == {}, "each project has its own processes"


def test_a_part_that_is_started_again_has_its_new_version() -> None:
    store, later = MemoryStore(), NOW + timedelta(hours=1)
    note_version(store, "shop", "host", "0.1.0", "here:1", NOW)
    note_version(store, "shop", "host", "0.2.0", "here:9", later)
    with store.reading() as reader:
        host = versions_at_work(reader, "shop")["host"]
    assert (host.version, host.process, host.since) == ("0.2.0", "here:9", later)
