"""`why --at` and operations on tables: read from the journal later, their jobs and slots are as they were."""

from datetime import datetime
from typing import Any

import msgspec

from tests.doubles.reference.store import ReferenceStore
from tests.worlds.by import CLI
from tests.worlds.tables import TableWorld
from tests.worlds.witness import BOOKS
from tests.worlds.world import at
from tidegate.scheduler.commands.by_hand.manual import cancel
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.launch.outbox import offer_launches, reject
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.run import ALL_RUNS, group_resource
from tidegate.scheduler.tick.instant import TickReport

TABLES = ("w.a.x", "w.a.y", "w.a.z")
RESOURCES = (ALL_RUNS, group_resource("spark"), *(f"table:{name}" for name in TABLES))
POOL = "auto_pools: {spark: 2}"
POLICY = """
p:
  tables: 'w.a.*'
  enabled: true
  operations:
    rewrite_data_files: {interval: 1h, timeout: 30m}
    expire_snapshots: {interval: 1h, timeout: 30m}
"""


class Observed(TableWorld):
    """A world, and what was seen of it at each instant; a test does everything at that of the last tick."""

    def __init__(self) -> None:
        self.seen: dict[datetime, Any] = {}
        super().__init__(POLICY, *TABLES, maintenance=POOL)
        self.now = at("00:00")

    def tick(self, clock: str) -> TickReport:
        """The clock goes to an instant, and everything until then happens."""
        self.look()
        self.now = at(clock)
        return super().tick(clock)

    def look(self) -> None:
        with self.store.reading() as reader:
            self.seen[self.now] = shown(reader.jobs(), reader.slots(RESOURCES))


def shown(jobs: tuple[Job, ...], slots: dict[str, int]) -> Any:
    found: Any = msgspec.to_builtins(jobs)
    for job in found:
        for name in BOOKS:
            del job[name]
    return found, slots


def assert_recalled(observed: Observed) -> None:
    observed.look()
    assert len(observed.seen) > 5
    for instant, seen in observed.seen.items():
        with observed.store.reading() as reader:
            past = store_at(reader, instant)
        with past.reading() as reader:
            assert shown(reader.jobs(), reader.slots(RESOURCES)) == seen, instant
            for job in reader.jobs():
                (explained,) = explain(reader, job.id, instant)
                assert explained.work == job.maintenance


def test_every_way_in_which_an_operation_ends() -> None:
    observed = Observed()
    observed.tick("00:00")
    observed.tick("00:01")
    first, second = observed.launch("00:01").values()
    observed.observe("00:01", first, "started")
    observed.tick("00:02")
    assert observed.end("00:02", first, detail="so it was")
    observed.tick("00:03")
    observed.observe("00:03", first, "succeeded")
    assert observed.end("00:03", second, "conflict", detail="so it was")
    observed.tick("00:04")
    third, fourth = observed.launch("00:04").values()
    observed.observe("00:04", third, "failed")
    observed.tick("00:05")
    observed.observe("00:05", fourth, "succeeded")
    observed.tick("00:06")
    fifth, sixth = observed.launch("00:06").values()
    assert observed.end("00:06", fifth, "stopped", detail="so it was")
    observed.tick("00:07")
    observed.tick("00:40")
    ended = {job.id: (str(job.state), str(job.reason)) for job in observed.jobs()}
    assert [ended[job] for job in (first, second, third, fourth, fifth, sixth)] == [
        ("SUCCEEDED", "None"),
        ("FAILED", "F-CONFLICT"),
        ("FAILED", "F-RUN"),
        ("FAILED", "F-RUN"),
        ("FAILED", "F-YIELDED"),
        ("FAILED", "F-TIMEOUT"),
    ]
    assert_recalled(observed)


def test_by_hand_rejected_discarded_and_cancelled() -> None:
    observed = Observed()
    observed.tick("00:00")
    observed.tick("00:01")
    with observed.store.transaction() as transaction:
        first, second = offer_launches(transaction, observed.now, "a")
    with observed.store.transaction() as transaction:
        reject(transaction, first.job, 1, "not yet", observed.now)
        reject(transaction, second.job, 1, "never", observed.now, final=True)
    observed.tick("00:02")
    (by_hand,) = observed.by_hand("00:02", "w.a.z")
    observed.tick("00:03")
    assert by_hand.waiting
    with observed.store.transaction() as transaction:
        cancel(transaction, by_hand.id, observed.now, by=CLI)
    observed.tick("00:04")
    observed.deploy("00:04", POLICY.replace("enabled: true", "enabled: false"), maintenance=POOL)
    observed.tick("00:05")
    observed.tick("00:06")
    assert {"F-LAUNCH", "D-DELETED", "D-CANCELLED"} <= {str(job.reason) for job in observed.jobs()}
    assert_recalled(observed)


def test_operations_before_the_journal_begins_are_left_out() -> None:
    observed = Observed()
    observed.tick("00:00")
    observed.tick("00:01")
    observed.launch("00:01")
    with observed.store.reading() as reader:
        later = [entry for entry in reader.journal() if entry.kind != "job-opened"]
    begins = ReferenceStore()
    with begins.transaction() as transaction:
        transaction.add_journal(later)
    with begins.reading() as reader:
        past = store_at(reader, observed.now)
    with past.reading() as reader:
        assert reader.jobs() == ()
        assert reader.slots((ALL_RUNS,)) == {ALL_RUNS: 0}
