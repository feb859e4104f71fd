"""Events of published partitions: recorded once, by whatever process they are reported and however often."""

from datetime import UTC, datetime, timedelta

import pytest

from tidegate.domain.published import PartitionFact
from tidegate.scheduler.intake.published import PublishedEvents, published_event
from tidegate.scheduler.model.event import EventKind, partition_event_key, publish_event_id
from tidegate.scheduler.store.memory.store import MemoryStore

NOW = datetime(2023, 3, 10, 12, 0, tzinfo=UTC)

TWO = (PartitionFact("a/day", "2023-03-09", 3, 30), PartitionFact("a/total", "", 1, 10))


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def test_a_publish_becomes_one_event_for_each_partition(store: MemoryStore) -> None:
    events = PublishedEvents(lambda: store, lambda: NOW, "run-1")
    assert not events.reported("c1", TWO)

    events.report("c1", TWO)

    assert events.reported("c1", TWO)
    with store.reading() as reader:
        found = {event.key: event for event in reader.events()}
    assert sorted(found) == [partition_event_key("a", "day"), partition_event_key("a", "total")]
    day = found[partition_event_key("a", "day")]
    assert (day.kind, day.partition, day.rows, day.bytes) == (EventKind.PARTITION, "2023-03-09", 3, 30)
    assert (day.time, day.arrived, day.run_id) == (NOW, NOW, "run-1")
    assert found[partition_event_key("a", "total")].partition == ""


def test_telling_again_changes_nothing_and_tells_what_was_missing(store: MemoryStore) -> None:
    PublishedEvents(lambda: store, lambda: NOW, "run-1").report("c1", TWO[:1])
    later = PublishedEvents(lambda: store, lambda: NOW + timedelta(hours=1))
    assert not later.reported("c1", TWO)

    later.report("c1", TWO)

    with store.reading() as reader:
        assert [(event.partition, event.run_id) for event in reader.events()] == [
            ("", None),
            ("2023-03-09", "run-1"),
        ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("c1", "a/x", "k"), ("c2", "a/x", "k")),
        (("c1", "a/x", "k"), ("c1", "a/y", "k")),
        (("c1", "a/x", "k"), ("c1", "a/x", "")),
        (("c", "1a/x", "k"), ("c1", "a/x", "k")),
    ],
    ids=["of another commit", "of another dataset", "of another partition", "cut elsewhere"],
)
def test_what_is_another_publish_is_another_event(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    assert publish_event_id(*one) != publish_event_id(*other)


def test_the_id_depends_on_neither_the_moment_nor_the_run() -> None:
    first = published_event("c1", TWO[0], NOW, "run-1")
    second = published_event("c1", TWO[0], NOW + timedelta(days=1))

    assert first.id == second.id == publish_event_id("c1", "a/day", "2023-03-09")
