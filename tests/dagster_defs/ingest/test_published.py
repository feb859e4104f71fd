"""A publish that the engine knows, and that is in Dagster's log too, is one event."""

from datetime import UTC, datetime, timedelta

import pytest
from dagster import DagsterInstance

from tests.dagster_defs.instance import report
from tests.dagster_defs.sample import sample_app, sample_store
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.plan_state import LoadedApp, Plan
from tidegate.dagster_defs.ingest.intake import ingest
from tidegate.dagster_defs.run.commit_events import CommitEvents
from tidegate.domain.published import PartitionFact
from tidegate.scheduler.intake.published import PublishedEvents
from tidegate.scheduler.tick.tick import tick

pytestmark = pytest.mark.dagster

PARTS = (
    PartitionFact("flights/raw", "2023-03-09|EWR", 10, 100),
    PartitionFact("flights/raw", "2023-03-09|JFK", 20, 200),
    PartitionFact("flights/raw", "2023-03-09|LGA", 30, 300),
    PartitionFact("flights/report", "", 1, 10),
)


@pytest.fixture
def store() -> ReferenceStore:
    return sample_store()


class Engine:
    """A store that hears of a publish from its step and from Dagster's log."""

    def __init__(self, instance: DagsterInstance, store: ReferenceStore) -> None:
        self.instance, self.store = instance, store
        self.now = datetime.now(UTC) + timedelta(minutes=1)
        self.plan = AssetPlan(Plan(apps=(LoadedApp(app=sample_app(), revision=1),)))
        self.said: list[str] = []

    def reported(self, commit: str = "c1") -> None:
        """Report from the step of the publish."""
        PublishedEvents(lambda: self.store, lambda: self.now, "run-1").report(commit, PARTS)

    def heard(self, commit: str = "c1") -> None:
        """Report from Dagster's log."""
        for dataset, key, rows, size, _ in PARTS:
            facts = {"rows": rows, "bytes": size, "tidegate/commit": commit}
            report(self.instance, dataset.partition("/")[2], key or None, **facts)
        ingest(self.instance, self.store, self.plan, self.now, self.said.append)

    def works(self) -> None:
        self.now += timedelta(minutes=1)
        tick(self.store, self.now)


@pytest.fixture
def engine(instance: DagsterInstance, store: ReferenceStore) -> Engine:
    return Engine(instance, store)


@pytest.mark.parametrize(
    "order", ["reported heard", "heard reported", "reported heard reported heard", "reported"]
)
def test_it_counts_once_in_whichever_order(engine: Engine, store: ReferenceStore, order: str) -> None:
    for how in order.split():
        engine.reported() if how == "reported" else engine.heard()
        engine.works()

    with store.reading() as reader:
        events = reader.events(key_prefix="partition:")
        jobs = reader.jobs(schedules=["flights/clean_as_it_comes"])
        ledger = {row.schedule: row for row in reader.ledger()}
    facts = {(event.key, event.partition, event.rows, event.bytes) for event in events}
    assert facts == {(f"partition:{dataset}", key, rows, size) for dataset, key, rows, size, _ in PARTS}
    assert len(events) == len(PARTS)
    assert [job.key for job in jobs] == ["2023-03-09"]
    row = ledger["flights/clean_as_it_comes"]
    assert row.consumed + row.pending + sum(row.discarded.values()) == 3
    assert engine.said == []


def test_another_commit_of_the_same_partitions_is_new_data(engine: Engine, store: ReferenceStore) -> None:
    engine.reported("c1")
    engine.heard("c2")

    with store.reading() as reader:
        assert len(reader.events(key_prefix="partition:")) == 2 * len(PARTS)


def test_a_report_that_names_no_commit_is_an_event_of_its_own(engine: Engine, store: ReferenceStore) -> None:
    engine.reported()
    report(engine.instance, "report", rows=1, bytes=10)
    ingest(engine.instance, store, engine.plan, engine.now, engine.said.append)

    with store.reading() as reader:
        assert len(reader.events(key_prefix="partition:flights/report")) == 2


def test_what_is_finished_for_a_dead_run_is_shown_in_dagster_and_counts_once(
    engine: Engine, store: ReferenceStore, instance: DagsterInstance
) -> None:
    events = CommitEvents(lambda: store, lambda: engine.now, instance, own="mine", run_id="run-2")
    assert not events.reported("c1", PARTS)

    events.report("c1", PARTS)
    events.report("mine", PARTS[3:])

    assert events.reported("c1", PARTS)
    ingest(instance, store, engine.plan, engine.now, engine.said.append)
    with store.reading() as reader:
        found = reader.events(key_prefix="partition:")
    assert sorted((event.partition or "", event.run_id or "") for event in found) == [
        ("", ""),
        ("", "run-2"),
        ("2023-03-09|EWR", ""),
        ("2023-03-09|JFK", ""),
        ("2023-03-09|LGA", ""),
    ]


def test_that_dagster_cannot_be_reached_stops_no_publish(
    engine: Engine, store: ReferenceStore, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(_: object) -> None:
        raise ConnectionError("no server")

    monkeypatch.setattr(instance, "report_runless_asset_event", unreachable)

    CommitEvents(lambda: store, lambda: engine.now, instance).report("c1", PARTS)

    assert PublishedEvents(lambda: store, lambda: engine.now).reported("c1", PARTS)
