"""What a measuring run measures, and what it reports of it."""

import threading
from collections.abc import Collection
from datetime import datetime

import pytest
from dagster import DagsterInstance

from tests.dagster_defs.maintenance.measuring.world import WHEN, FakeSpark, numbers, waiting_for, work
from tests.dagster_defs.maintenance.shop import (
    EVENTS,
    MINUTE,
    SALES,
    THEIRS,
    Shop,
    away_at_every_other_reading,
    shop_app,
)
from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.deployed.names import MEASURING
from tidegate.dagster_defs.deployed.tags import PROJECT
from tidegate.dagster_defs.maintenance import jobs as maintenance_jobs
from tidegate.dagster_defs.maintenance import measuring as measuring_run
from tidegate.dagster_defs.maintenance.due import tables_due
from tidegate.domain.model import App
from tidegate.scheduler.model.maintenance import Health, TableState
from tidegate.scheduler.store import patience
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.spark_jobs.errors import SparkLost
from tidegate.spark_jobs.java import jvm
from tidegate.spark_jobs.maintenance.request import Gone

pytestmark = pytest.mark.dagster


def test_it_reports_the_health_by_which_the_next_poll_decides(waiting: Shop, faked: FakeSpark) -> None:
    faked.measured = lambda _, now: Health(measured_at=now, values={"files": 100})
    waiting.tick()

    assert numbers(waiting) == {"listed": 0, "measured": 1, "gone": 0, "failed": 0}

    assert waiting.table(SALES).health == Health(measured_at=waiting.now, values={"files": 100})
    waiting.now += MINUTE
    assert waiting.request().tags["tidegate/table"] == SALES


def test_many_tables_are_measured_in_batches_each_of_which_is_kept(
    instance: DagsterInstance, faked: FakeSpark
) -> None:
    tables = tuple(f"lake.raw.t{number:02}" for number in range(45))
    shop = waiting_for(instance, *tables)

    def dies(name: str, now: datetime) -> Health:
        if name == tables[30]:
            raise SparkLost("the JVM of Spark has ended")
        return Health(measured_at=now, values={"files": 7})

    faked.measured = dies
    assert not shop.execute(MEASURING, {PROJECT: NO_PROJECT}).success
    healths = [shop.table(table).health for table in tables]
    shown = [None if health is None else health.failure for health in healths]
    assert shown == [*[""] * 20, *["the JVM of Spark has ended"] * 20, *[None] * 5]

    faked.measured, faked.batches = FakeSpark().measured, []
    work(shop)
    assert [len(batch) for batch in faked.batches] == [5], "the others come first"


def test_what_is_due_is_read_once_for_many_batches(
    instance: DagsterInstance, faked: FakeSpark, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = waiting_for(instance, *(f"lake.raw.t{number:02}" for number in range(45)))
    reads: list[int] = []

    def counted(reader: EngineReader, apps: Collection[App], now: datetime) -> tuple[TableState, ...]:
        found = tables_due(reader, apps, now)
        reads.append(len(found))
        return found

    monkeypatch.setattr(measuring_run, "tables_due", counted)
    work(shop)

    assert [len(batch) for batch in faked.batches] == [20, 20, 5]
    assert reads == [45, 0]


def test_a_run_ends_with_the_batch_in_which_its_time_is_over(
    instance: DagsterInstance, faked: FakeSpark
) -> None:
    shop = waiting_for(instance, *(f"lake.raw.t{number:02}" for number in range(45)))

    def takes_long(_name: str, now: datetime) -> Health:
        shop.now += MINUTE / 3
        return Health(measured_at=now, values={"files": 7})

    faked.measured = takes_long
    work(shop)

    assert [len(batch) for batch in faked.batches] == [20, 20]


def test_a_store_that_is_away_for_a_moment_is_waited_for(
    instance: DagsterInstance, faked: FakeSpark, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = waiting_for(instance, EVENTS)
    faked.catalogs = {"lake": (EVENTS,)}
    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0.001)
    shop.before = away_at_every_other_reading()

    assert numbers(shop) == {"listed": 1, "measured": 1, "gone": 0, "failed": 0}


def test_a_table_that_does_not_exist_is_gone(instance: DagsterInstance, faked: FakeSpark) -> None:
    shop = waiting_for(instance, EVENTS)
    faked.catalogs = {"lake": (EVENTS,)}
    faked.measured = lambda name, _: Gone(name=name)

    assert numbers(shop) == {"listed": 1, "measured": 0, "gone": 1, "failed": 0}
    assert shop.table(EVENTS).gone


def test_a_dataset_that_was_never_published_has_no_files(waiting: Shop, faked: FakeSpark) -> None:
    waiting.tick()
    faked.measured = lambda name, _: Gone(name=name)

    work(waiting)

    health = waiting.table(SALES).health
    assert health is not None
    assert (health.values["files"], health.note, waiting.table(SALES).gone) == (
        0,
        "never published",
        False,
    )


def test_a_dataset_of_another_project_that_is_not_found_cannot_be_measured(
    instance: DagsterInstance, faked: FakeSpark
) -> None:
    shop = Shop(instance)
    shop.deploy(shop_app(yaml=THEIRS), project="theirs")
    shop.deploy(shop_app("their/sales", WHEN))
    shop.tick()
    faked.measured = lambda name, _: Gone(name=name)

    assert "their/sales belongs to another project" in work(shop)


def test_a_table_is_measured_by_the_rules_of_its_policy(instance: DagsterInstance, faked: FakeSpark) -> None:
    health = "    health: {small_file: 1MB, sample: 50}\n    operations:"
    shop = Shop(instance, shop_app(yaml=WHEN.replace("    operations:", health)))
    shop.tick()

    work(shop)

    ((wanted,),) = faked.batches
    assert (wanted.rules.small_file, wanted.rules.sample) == (1_000_000, 50)


def test_a_run_that_never_gets_an_answer_is_ended(
    waiting: Shop, faked: FakeSpark, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = threading.Event()
    monkeypatch.setattr(maintenance_jobs, "LONGEST_SECONDS", 0.01)
    monkeypatch.setattr(jvm, "kill", killed.set)
    waiting.tick()

    def hangs(_name: str, _now: datetime) -> Health:
        assert killed.wait(10)
        raise SparkLost("the JVM of Spark has ended")

    faked.measured = hangs

    assert not waiting.execute(MEASURING, {PROJECT: NO_PROJECT}).success
    assert killed.is_set()
