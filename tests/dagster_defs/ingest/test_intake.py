"""Intake: every report becomes one event, once, in each of Dagster's event logs."""

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from dagster import AssetKey, AssetMaterialization, DagsterInstance

from tests.dagster_defs.ingest.log_rows import TABLE, hide, ids_of, show, storage_of
from tests.dagster_defs.instance import report
from tests.dagster_defs.sample import NOW, deploy, sample_app, sample_store
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.plan_state import LoadedApp, Plan
from tidegate.dagster_defs.ingest import intake
from tidegate.dagster_defs.ingest.event_log import EventLog
from tidegate.dagster_defs.ingest.intake import Intake, ingest
from tidegate.dagster_defs.ingest.position import HOLE_SECONDS
from tidegate.dagster_defs.ingest.reconcile import reconcile
from tidegate.scheduler.intake.report import refused_reports
from tidegate.scheduler.model.event import Event

pytestmark = pytest.mark.dagster


@pytest.fixture
def plan() -> AssetPlan:
    return AssetPlan(Plan(apps=(LoadedApp(app=sample_app(), revision=1),)))


class Reader:
    """Takes in again and again, at its own time."""

    def __init__(self, instance: DagsterInstance, plan: AssetPlan) -> None:
        self.instance, self.plan = instance, plan
        self.store = sample_store()
        self.now = NOW + timedelta(days=10_000)
        self.said: list[str] = []

    def read(self, after_seconds: float = 0) -> Intake:
        self.now += timedelta(seconds=after_seconds)
        return ingest(self.instance, self.store, self.plan, self.now, self.said.append)

    @property
    def events(self) -> list[Event]:
        with self.store.reading() as reader:
            found = reader.events(key_prefix="partition:flights/")
        return sorted(found, key=lambda event: (event.time, event.id))

    @property
    def partitions(self) -> list[str | None]:
        return [event.partition for event in self.events]


@pytest.fixture
def reader(disk_instance: DagsterInstance, plan: AssetPlan) -> Reader:
    return Reader(disk_instance, plan)


def days(*numbers: int) -> list[str]:
    return [f"2023-03-{number:02}" for number in numbers]


def land(instance: DagsterInstance, *numbers: int) -> None:
    for day in days(*numbers):
        report(instance, "clean", day, rows=int(day[-2:]))


def test_a_report_becomes_an_event_with_its_facts(reader: Reader) -> None:
    report(reader.instance, "raw", "2023-03-09|JFK", rows=312, bytes=4096)

    reader.read()

    (event,) = reader.events
    assert (event.key, event.partition) == ("partition:flights/raw", "2023-03-09|JFK")
    assert (event.rows, event.bytes, event.run_id) == (312, 4096, None)
    assert event.arrived == event.time <= reader.now


def test_what_was_read_is_not_read_again(reader: Reader) -> None:
    land(reader.instance, 1, 2)
    assert reader.read().events == 2

    assert reader.read() == Intake()

    land(reader.instance, 3)
    assert reader.read().events == 1
    assert reader.partitions == days(1, 2, 3)


def test_the_same_partition_reported_twice_is_two_events(reader: Reader) -> None:
    land(reader.instance, 1, 1)

    reader.read()

    assert reader.partitions == days(1, 1)


def test_a_row_committed_out_of_order_is_found_when_it_appears(reader: Reader) -> None:
    land(reader.instance, 1, 2, 3, 4)
    late = hide(reader.instance, ids_of(reader.instance)[1:3])
    reader.read()
    assert reader.partitions == days(1, 4)

    show(reader.instance, late[:1])
    reader.read(after_seconds=5)
    assert reader.partitions == days(1, 2, 4)

    land(reader.instance, 5)
    show(reader.instance, late[1:])
    reader.read(after_seconds=HOLE_SECONDS - 10)
    assert reader.partitions == days(1, 2, 3, 4, 5)


def test_a_hole_that_is_never_filled_is_forgotten(reader: Reader) -> None:
    land(reader.instance, 1, 2, 3)
    hide(reader.instance, ids_of(reader.instance)[1:2])
    reader.read()

    reader.read(after_seconds=HOLE_SECONDS + 1)

    assert reader.read(after_seconds=5) == Intake(), "nothing is looked up any more"


def test_many_rows_are_read_in_pages(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EventLog.after, "__defaults__", (3,))
    monkeypatch.setattr(intake, "PAGE_ROWS", 3)
    land(reader.instance, *range(1, 8))

    assert reader.read().events == 7
    assert reader.partitions == days(*range(1, 8))


def test_a_wipe_loses_and_doubles_nothing(reader: Reader) -> None:
    """SQLite gives the ids of wiped rows to new ones; a reader of ids alone would miss them."""
    land(reader.instance, 1, 2)
    report(reader.instance, "rates")
    reader.read()
    last = ids_of(reader.instance)[-1]

    reader.instance.wipe_assets([AssetKey(["flights", "rates"])])
    land(reader.instance, 3, 4)
    reader.read()

    assert [p for p in reader.partitions if p] == days(1, 2, 3, 4)
    if reader.instance.event_log_storage.is_run_sharded:
        assert last in ids_of(reader.instance), "the id of the wiped row was given again"
        assert "deleted or replaced" in reader.said[0]


def test_a_log_that_was_replaced_by_an_empty_one_is_read_from_its_beginning(reader: Reader) -> None:
    """A DAGSTER_HOME that was thrown away, or whose log was: ids begin at 1 again, far below the position."""
    land(reader.instance, 1, 2, 3)
    reader.read()

    with storage_of(reader.instance).index_connection() as connection:
        connection.execute(sa.delete(TABLE))
    land(reader.instance, 4)
    with storage_of(reader.instance).index_connection() as connection:
        connection.execute(sa.update(TABLE).values(id=1))
    reader.read()
    land(reader.instance, 5)
    assert reconcile(reader.instance, reader.store, reader.plan, reader.now, reader.said.append)
    reader.read()

    assert reader.partitions == days(1, 2, 3, 4, 5)
    assert "deleted or replaced" in reader.said[0]


def test_a_wipe_of_everything_begins_anew(reader: Reader) -> None:
    land(reader.instance, 1, 2)
    reader.read()

    reader.instance.wipe_assets([AssetKey(["flights", "clean"])])
    reader.read()
    land(reader.instance, 3)
    reader.read()

    assert reader.partitions == days(1, 2, 3)


def test_what_happened_before_the_first_deployment_is_history(
    disk_instance: DagsterInstance, plan: AssetPlan
) -> None:
    land(disk_instance, 1)
    reader = Reader(disk_instance, plan)
    reader.store = ReferenceStore()
    deploy(reader.store, sample_app(), at=datetime.now(UTC))
    land(disk_instance, 2)

    reader.read()

    assert reader.partitions == days(2)


@pytest.mark.parametrize(
    ("dataset", "partition", "says"),
    [
        ("clean", None, "but the report has none"),
        ("clean", "2022-12-31", "before the first day"),
        ("clean", "tomorrow", "not the key of a day"),
        ("raw", "2023-03-09|ORD", "not a key of"),
        ("rates", "2023-03-09", "has no partitions"),
    ],
)
def test_a_report_that_cannot_be_is_told_and_ignored(
    instance: DagsterInstance, plan: AssetPlan, dataset: str, partition: str | None, says: str
) -> None:
    reader = Reader(instance, plan)
    report(instance, dataset, partition)
    report(instance, "clean", "2023-03-09")

    reader.read()

    assert reader.partitions == ["2023-03-09"]
    assert says in reader.said[0]


def test_assets_of_others_are_passed_over(instance: DagsterInstance, plan: AssetPlan) -> None:
    reader = Reader(instance, plan)
    for path in (["alone"], ["others", "raw"], ["flights", "raw", "deeper"]):
        instance.report_runless_asset_event(AssetMaterialization(AssetKey(path), partition="2023-03-09"))

    assert reader.read().events == 0
    assert not reader.said
    with reader.store.reading() as store:
        assert refused_reports(store) == ()


def test_refused_reports_are_kept_with_the_reason_however_often_they_are_read(
    instance: DagsterInstance, plan: AssetPlan
) -> None:
    reader = Reader(instance, plan)
    report(instance, "rwa", "2023-03-09")  # an asset of others: nothing says that it is meant for us
    report(instance, "clean")
    report(instance, "rates", "2023-03-09")
    reader.read()
    with reader.store.transaction() as transaction:
        transaction.set_cursor(f"dagster-events:{instance.run_storage.get_run_storage_id()}", None)
    reader.read()

    with reader.store.reading() as store:
        found = {each.key: (each.partition, each.reason) for each in refused_reports(store)}
        assert len(refused_reports(store)) == 2
    assert found == {
        "partition:flights/clean": ("", "flights/clean has partitions, but the report has none"),
        "partition:flights/rates": (
            "2023-03-09",
            "flights/rates has no partitions, but the report has partition 2023-03-09",
        ),
    }


def test_two_readers_at_once_put_each_event_once(instance: DagsterInstance, plan: AssetPlan) -> None:
    reader, other = Reader(instance, plan), Reader(instance, plan)
    other.store = reader.store
    land(instance, 1, 2)

    reader.read()
    with reader.store.transaction() as transaction:
        transaction.set_cursor(f"dagster-events:{instance.run_storage.get_run_storage_id()}", None)
    other.read()

    assert reader.partitions == days(1, 2)


def test_a_report_under_a_former_name_counts_for_the_renamed_dataset(
    instance: DagsterInstance, plan: AssetPlan
) -> None:
    reader = Reader(instance, plan)
    with reader.store.transaction() as transaction:
        transaction.set_cursor("renamed", {"former": {"flights/tidy": "flights/clean"}})
    report(instance, "tidy", "2023-03-09")
    reader.read()

    assert [(event.key, event.partition) for event in reader.events] == [
        ("partition:flights/clean", "2023-03-09")
    ]
    assert not reader.said
