"""Every store finds the newest event of each partition, and what has taken it."""

from tests.worlds.samples import at, delivery, event, job
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.answers import Landing, PartitionState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import Store


def landed(id: str, minutes: float, partition: str | None, **fields: object) -> Event:
    return event(id, minutes, partition=partition, **fields)


def states(reader: EngineReader, *keys: str) -> dict[str, PartitionState]:
    return {each.key: each for each in reader.partition_states("a/d", keys)}


def test_the_newest_event_of_each_partition_is_found(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.add_events(
            [
                landed("e1", 1, "k", rows=1),
                landed("e2", 3, "k", rows=2, bytes=20),
                landed("e3", 2, "k"),
                landed("e4", 2, "m", run_id="r"),
                landed("e5", 2, "n"),
                landed("e6", 9, "k", key="partition:a/dd"),
                landed("e7", 4, None),
            ]
        )
    with store.reading() as reader:
        assert reader.partition_states("a/d", ["m", "k", "none", ""]) == (
            PartitionState(key="", event="e7", at=at(4)),
            PartitionState(key="k", event="e2", at=at(3), rows=2, bytes=20),
            PartitionState(key="m", event="e4", at=at(2), published=True),
        )
        assert reader.partition_states("a/none", ["k"]) == ()


def test_what_landed_last_of_each_dataset_is_found(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.add_events([landed("e1", 1, "k"), landed("e2", 3, "a"), landed("e3", 3, "b")])
        transaction.add_events([landed("w", 2, None, key="partition:a/whole")])
        transaction.add_events([landed("o", 9, "k", key="partition:a/other")])
    with store.reading() as reader:
        assert reader.landings(["a/whole", "a/d", "a/none"]) == (
            Landing(dataset="a/d", partition="b", at=at(3)),
            Landing(dataset="a/whole", partition="", at=at(2)),
        )
        assert reader.landings([]) == ()


def test_of_events_of_one_instant_the_last_id_is_the_newest(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.add_events([landed("e2", 1, "k"), landed("e1", 1, "k")])
    with store.reading() as reader:
        assert states(reader, "k")["k"].event == "e2"


def test_the_jobs_that_took_the_newest_event_decide_what_became_of_a_partition(store: Store) -> None:
    ended = {
        "good": JobState.SUCCEEDED,
        "bad": JobState.FAILED,
        "open": JobState.LAUNCHED,
        "gone": JobState.SUCCEEDED,
        "left": JobState.SUCCEEDED,
        "discarded": JobState.DISCARDED,
    }
    events = {name: landed(f"e-{name}", 2, name) for name in ended}
    older = landed("older", 1, "open")
    with store.transaction() as transaction:
        transaction.add_events([*events.values(), older])
        transaction.put_jobs([job(name, state=state) for name, state in ended.items()])
        transaction.add_deliveries([delivery(events[name], job=name) for name in ended if name != "left"])
        transaction.add_deliveries(
            [
                delivery(older, job="bad"),
                delivery(events["left"], job="left", reason=Reason.D_EXPIRED),
                delivery(events["left"], job=None, reason=Reason.D_SUSPENDED),
                delivery(events["bad"], job="good"),
            ]
        )
        transaction.drop_jobs(["gone", "discarded"])
    with store.reading() as reader:
        found = states(reader, *ended)
    assert {name for name, each in found.items() if each.consumed} == {"good", "bad", "gone"}
    assert {name for name, each in found.items() if each.failed} == {"bad"}


def test_the_first_and_the_last_key_with_a_prefix_are_found(store: Store) -> None:
    keys = ["2026-03-09", "2026-03-01", "2026-03-30", "JFK|2026-01-01", "JFK|2026-02-01", "LGA|2026-02-02"]
    with store.transaction() as transaction:
        transaction.add_events([landed(f"e{n}", n, key) for n, key in enumerate(keys)])
    with store.reading() as reader:
        assert reader.partition_ends("a/d", [""]) == (("2026-03-01", "LGA|2026-02-02"),)
        assert reader.partition_ends("a/d", ["JFK|", "LGA|", "EWR|"]) == (
            ("JFK|2026-01-01", "JFK|2026-02-01"),
            ("LGA|2026-02-02", "LGA|2026-02-02"),
        )
        assert reader.partition_ends("a/d", []) == ()


def test_reports_of_a_partition_are_counted_up_to_a_limit(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.add_events([landed(f"e{n}", n, "k") for n in range(5)])
        transaction.add_events([landed("m", 1, "m"), landed("w1", 1, None), landed("w2", 1, None)])
    with store.reading() as reader:
        counted = reader.partition_reports("a/d", ["k", "m", "none", ""], 3)
    assert counted == {"k": 3, "m": 1, "none": 0, "": 2}
