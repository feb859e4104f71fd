"""Datasets that name an asset of another location: its materialisations, by whomever, are their events."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from dagster import (
    AssetExecutionContext,
    AssetKey,
    AssetMaterialization,
    AssetOut,
    AssetRecordsFilter,
    DagsterInstance,
    DailyPartitionsDefinition,
    Definitions,
    MaterializeResult,
    StaticPartitionsDefinition,
    asset,
    materialize,
    multi_asset,
)

from tests.dagster_defs.sample import DAILY, deploy, location_of
from tests.doubles.reference.store import ReferenceStore
from tests.worlds.samples import event, job, run
from tidegate.dagster_defs.definitions.definitions import build_definitions
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.plan_state import LoadedApp, Plan
from tidegate.dagster_defs.ingest.intake import ingest
from tidegate.dagster_defs.ingest.owed_reports import send_owed_reports
from tidegate.domain.model import App, Dataset, PartitionScheme, Program, StaticDimension
from tidegate.domain.published import PartitionFact
from tidegate.scheduler.decision.asset_checks import Materialised
from tidegate.scheduler.intake.asset_checks import fold_checks
from tidegate.scheduler.intake.observe import RunObservation, heard_of_runs
from tidegate.scheduler.intake.published import PublishedEvents
from tidegate.scheduler.intake.report import RefusedReport, refused_reports
from tidegate.scheduler.intake.report_partitions import Landed, report_partitions
from tidegate.scheduler.model.event import NO_SCHEDULE, Event
from tidegate.scheduler.model.instance import Instance, InstanceKind
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.records.withheld import WITHHELD_EVENTS
from tidegate.scheduler.model.run import RunStatus

pytestmark = pytest.mark.dagster

EU_US = PartitionScheme(static=StaticDimension(name="region", keys=("eu", "us")))

DATASETS = (
    Dataset(name="flat", asset=("flat",)),
    Dataset(name="orders", asset=("raw", "orders"), partitions=DAILY, path="landing/orders"),
    Dataset(name="demand", asset=("acme", "core", "demand"), partitions=DAILY),
    Dataset(name="odd", asset=("acme", "a/b"), partitions=EU_US),
    Dataset(name="sums", partitions=DAILY),
)
CORE = App(
    name="core",
    datasets={dataset.name: dataset for dataset in DATASETS},
    programs={"sum": Program(name="sum", run="sample.sum", reads=("orders",), writes=("sums",))},
)


@asset(key="flat")
def flat() -> MaterializeResult[None]:
    return MaterializeResult(metadata={"dagster/row_count": 7})


@asset(key=["raw", "orders"], partitions_def=DailyPartitionsDefinition("2023-01-01"))
def orders() -> MaterializeResult[None]:
    return MaterializeResult(metadata={"dagster/row_count": 900, "dagster/partition_row_count": 9})


@asset(key=["acme", "core", "demand"], partitions_def=DailyPartitionsDefinition("2023-01-01"))
def demand(context: AssetExecutionContext) -> None:
    context.add_output_metadata({"rows": 3, "size_bytes": 30})


@multi_asset(
    outs={"odd": AssetOut(key=["acme", "a/b"])}, partitions_def=StaticPartitionsDefinition(["eu", "us"])
)
def odd() -> int:
    return 1


@asset(key=["core", "sum"])
def of_nobody() -> None: ...


MARCH = datetime(2023, 3, 9, tzinfo=UTC)

QUIET = Instance(
    key="2023-03-09",
    scheduled=MARCH,
    start=MARCH,
    business=MARCH,
    business_date="2023-03-09",
    kind=InstanceKind.BACKFILL,
    keyed=True,
    number=1,
    quiet=True,
)
"""A key of a backfill with `quiet_downstream`."""


class House:
    """A store with the app `core`, and a Dagster in which others materialise."""

    def __init__(self, instance: DagsterInstance) -> None:
        self.instance, self.store = instance, ReferenceStore()
        self.now = datetime.now(UTC) + timedelta(minutes=1)
        self.said: list[str] = []
        deploy(self.store, CORE)

    def read(self) -> list[tuple[str, str | None, int | None, int | None]]:
        """Take in; return key, partition, rows and bytes of all events."""
        plan = AssetPlan(Plan(apps=(LoadedApp(app=CORE, revision=1),)))
        ingest(self.instance, self.store, plan, self.now, self.said.append)
        return sorted((each.key, each.partition, each.rows, each.bytes) for each in self.events())

    def events(self) -> tuple[Event, ...]:
        with self.store.reading() as reader:
            return reader.events()

    def refused(self) -> tuple[RefusedReport, ...]:
        with self.store.reading() as reader:
            return refused_reports(reader)


@pytest.fixture
def house(disk_instance: DagsterInstance) -> House:
    return House(disk_instance)


def test_materialisations_of_assets_of_any_number_of_parts_are_events_with_their_sizes(house: House) -> None:
    for each, partition in ((flat, None), (orders, "2023-03-09"), (demand, "2023-03-09"), (odd, "eu")):
        assert materialize([each], instance=house.instance, partition_key=partition).success
    house.instance.report_runless_asset_event(
        AssetMaterialization(["acme", "core", "demand"], partition="2023-03-10", metadata={"bytes": 5})
    )

    assert house.read() == [
        ("partition:core/demand", "2023-03-09", 3, 30),
        ("partition:core/demand", "2023-03-10", None, 5),
        ("partition:core/flat", "", 7, None),
        ("partition:core/odd", "eu", None, None),
        ("partition:core/orders", "2023-03-09", 9, None),
    ]
    by_run = {each.partition: each.run_id for each in house.events() if each.key == "partition:core/demand"}
    assert by_run["2023-03-09"], "the run that made it"
    assert by_run["2023-03-10"] is None
    assert house.refused() == ()


@pytest.mark.parametrize("quiet", [True, False])
def test_what_the_run_of_a_quiet_backfill_materialises_is_heard_by_no_schedule(
    house: House, quiet: bool
) -> None:
    made = materialize([demand], instance=house.instance, partition_key="2023-03-09")
    instance = msgspec.structs.replace(QUIET, quiet=quiet)
    with house.store.transaction() as transaction:
        transaction.put_jobs([job("j", state=JobState.LAUNCHED, instance=instance)])
        transaction.put_runs([run(made.run_id, program="core/job", job="j", attempt=1)])

    house.read()

    (heard,) = house.events()
    assert heard.only_for == (NO_SCHEDULE if quiet else None)

    # The same with checks that have nothing against it.
    fact = Materialised(
        dataset="core/demand", event=msgspec.structs.replace(heard, only_for=None), at=house.now, ended=True
    )
    with house.store.transaction() as transaction:
        fold_checks(transaction, [fact], house.now)
        (record,) = transaction.records(WITHHELD_EVENTS)
    assert record.withheld_since is None
    assert len(house.events()) == (1 if quiet else 2)


def test_a_run_that_is_first_seen_with_what_it_has_materialised_is_known_by_its_job(house: House) -> None:
    later = event("e", run_id="r")
    seen = RunObservation(
        run_id="r", program="core/job", job="j", attempt=1, status=RunStatus.STARTED, at=house.now
    )
    with house.store.transaction() as transaction:
        transaction.put_jobs([job("j", state=JobState.LAUNCHED, instance=QUIET)])
        assert heard_of_runs(transaction, [later]) == [later]
        (heard,) = heard_of_runs(transaction, [later], [seen])
    assert heard.only_for == NO_SCHEDULE


def test_materialisations_of_other_keys_are_neither_events_nor_refused(house: House) -> None:
    assert materialize([of_nobody], instance=house.instance).success
    for key in (["core", "demand"], ["acme", "core", "other"], ["acme", "a", "b"], ["orders"]):
        house.instance.report_runless_asset_event(AssetMaterialization(key, partition="2023-03-09"))

    assert house.read() == []
    assert (house.refused(), house.said) == ((), [])


def test_a_partition_that_the_dataset_cannot_have_is_refused_under_its_name(house: House) -> None:
    house.instance.report_runless_asset_event(AssetMaterialization("flat", partition="2023-03-09"))
    house.instance.report_runless_asset_event(AssetMaterialization(["acme", "core", "demand"]))

    assert house.read() == []
    assert {(each.key, each.reason) for each in house.refused()} == {
        ("partition:core/flat", "core/flat has no partitions, but the report has partition 2023-03-09"),
        ("partition:core/demand", "core/demand has partitions, but the report has none"),
    }


def test_our_location_defines_no_asset_of_others_and_merges_with_theirs(house: House, tmp_path: Path) -> None:
    ours = build_definitions(location_of(house.store, tmp_path))
    theirs = Definitions(assets=[flat, orders, demand, odd])

    own = ours.get_repository_def().assets_defs_by_key
    both = Definitions.merge(ours, theirs).get_repository_def()

    assert {AssetKey(["raw", "orders"]), AssetKey("flat")}.isdisjoint(own)
    assert both.asset_graph.get(AssetKey(["core", "sums"])).parent_keys == {AssetKey(["raw", "orders"])}
    assert both.asset_graph.get(AssetKey(["raw", "orders"])).is_executable


def test_a_report_of_ours_is_written_under_the_key_and_counts_once(house: House) -> None:
    with house.store.transaction() as transaction:
        landed = [Landed(key="2023-03-09", rows=4, bytes=40)]
        report_partitions(transaction, "", "core", "demand", landed, house.now, By(actor="rest"), "r1")

    assert send_owed_reports(house.instance, house.store, "") == 1
    found = house.instance.fetch_materializations(
        AssetRecordsFilter(asset_key=AssetKey(["acme", "core", "demand"])), limit=9
    )
    assert [each.partition_key for each in found.records] == ["2023-03-09"]
    assert house.read() == [("partition:core/demand", "2023-03-09", 4, 40)]


@pytest.mark.parametrize(
    ("published", "key"),
    [
        (PartitionFact("assets/flat", "", 7, 70, "flat"), ["flat"]),
        (PartitionFact("raw/orders", "2023-03-09", 7, 70), ["raw", "orders"]),
        (
            PartitionFact("acme/core__demand", "2023-03-09", 7, 70, "acme/core/demand"),
            ["acme", "core", "demand"],
        ),
        (PartitionFact("acme/a/b", "eu", 7, 70, "acme/a\\/b"), ["acme", "a/b"]),
    ],
)
def test_a_publish_of_the_io_manager_is_one_event_of_the_dataset(
    instance: DagsterInstance, published: PartitionFact, key: list[str]
) -> None:
    house = House(instance)
    events = PublishedEvents(lambda: house.store, lambda: house.now, "run-1")
    events.report("c1", [published])
    assert events.reported("c1", [published])
    known = house.events()
    instance.report_runless_asset_event(
        AssetMaterialization(
            key, partition=published.key or None, metadata={"rows": 7, "tidegate/commit": "c1"}
        )
    )

    house.read()

    name = next(each.name for each in DATASETS if list(each.asset) == key)
    assert [each.key for each in known] == [f"partition:core/{name}"]
    assert house.events() == known


def test_a_publish_of_our_own_program_stays_the_event_of_its_dataset(instance: DagsterInstance) -> None:
    house = House(instance)
    PublishedEvents(lambda: house.store, lambda: house.now).report(
        "c1", [PartitionFact("core/sums", "2023-03-09", 1, 1)]
    )
    assert [each.key for each in house.events()] == ["partition:core/sums"]


def test_a_rename_of_the_dataset_keeps_its_asset(house: House) -> None:
    renamed = msgspec.structs.replace(DATASETS[2], name="demand_of_acme", renamed_from=("demand",))
    app = msgspec.structs.replace(CORE, datasets={"demand_of_acme": renamed}, programs={})
    deploy(house.store, app, revision=2)
    materialize([demand], instance=house.instance, partition_key="2023-03-09")

    ingest(
        house.instance,
        house.store,
        AssetPlan(Plan(apps=(LoadedApp(app=app, revision=2),))),
        house.now,
        house.said.append,
    )

    assert [each.key for each in house.events()] == ["partition:core/demand_of_acme"]
