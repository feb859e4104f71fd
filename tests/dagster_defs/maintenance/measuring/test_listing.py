"""Which catalogs are listed, when, and what follows for the tables that are found and that are not."""

from datetime import timedelta

import msgspec
import pytest
from dagster import DagsterInstance

from tests.dagster_defs.maintenance.measuring.world import (
    LAKE,
    WHEN,
    FakeSpark,
    lake,
    measuring,
    waiting_for,
    work,
)
from tests.dagster_defs.maintenance.shop import EVENTS, SALES, Shop, shop_app
from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.deployed.names import MEASURING
from tidegate.dagster_defs.deployed.tags import PROJECT, REASON
from tidegate.dagster_defs.maintenance import jobs as maintenance_jobs
from tidegate.dagster_defs.maintenance import measuring as measuring_run
from tidegate.dagster_defs.maintenance.due import LISTED_EVERY, listing_due
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES
from tidegate.spark_jobs.errors import SparkLost
from tidegate.spark_jobs.maintenance.listing import Listing

pytestmark = pytest.mark.dagster


def test_where_policies_name_datasets_only_nothing_is_listed(waiting: Shop, faked: FakeSpark) -> None:
    measuring(waiting)
    work(waiting)

    assert faked.listed == []


def test_tables_are_listed_before_the_first_poll_and_then_every_ten_minutes(
    instance: DagsterInstance, faked: FakeSpark
) -> None:
    shop = lake(instance)
    faked.catalogs = {"lake": (EVENTS,), "mart": ("mart.a.b",)}
    (request,) = measuring(shop)
    assert request.tags[REASON] == "list the tables of catalogs"

    work(shop)
    assert faked.listed == [("lake",)], "only catalogs that a pattern may match"
    assert shop.table(EVENTS).dataset is None

    shop.now += LISTED_EVERY - timedelta(seconds=1)
    work(shop)
    assert len(faked.listed) == 1
    shop.now += timedelta(seconds=1)
    work(shop)
    assert len(faked.listed) == 2


def test_a_listing_that_never_ends_is_tried_again_after_others_have_measured(
    instance: DagsterInstance, faked: FakeSpark, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = waiting_for(instance, EVENTS)
    faked.catalogs = {"lake": (EVENTS,)}
    meanwhile: list[bool] = []

    def hangs(*_: object) -> Listing:
        with shop.store.reading() as reader:
            meanwhile.append(listing_due(reader, [shop_app(LAKE, WHEN)], NO_PROJECT, shop.now))
        shop.now += timedelta(seconds=maintenance_jobs.LONGEST_SECONDS)
        raise SparkLost("the JVM of Spark has ended")

    monkeypatch.setattr(measuring_run, "list_tables", hangs)
    assert not shop.execute(MEASURING, {PROJECT: NO_PROJECT}).success
    assert (meanwhile, shop.table(EVENTS).health) == ([False], None)

    monkeypatch.setattr(measuring_run, "list_tables", faked.list)
    work(shop)
    assert faked.listed == []
    assert shop.table(EVENTS).health is not None

    shop.now += LISTED_EVERY
    work(shop)
    assert faked.listed == [("lake",)]


def test_new_patterns_are_listed_at_once(instance: DagsterInstance, faked: FakeSpark) -> None:
    shop = lake(instance)
    faked.catalogs = {"lake": (EVENTS,), "mart": ("mart.a.b",)}
    work(shop)

    shop.deploy(shop_app('["lake.*.*", "/mart.*/"]', WHEN))
    work(shop)

    assert faked.listed == [("lake",), ("lake", "mart")]


def test_a_listed_table_that_is_that_of_a_dataset_is_the_dataset(
    instance: DagsterInstance, faked: FakeSpark
) -> None:
    shop = Shop(instance, shop_app('"*.*.*"', WHEN))
    faked.catalogs = {"tidegate": ("tidegate.shop.sales", "tidegate.old.table")}

    work(shop)

    with shop.store.reading() as reader:
        assert {table.name for table in reader.records(MAINTAINED_TABLES)} == {
            SALES,
            "shop/notes",
            "tidegate.old.table",
        }


@pytest.mark.parametrize("broken", [False, True])
def test_a_table_that_is_not_listed_any_more_is_gone_if_its_whole_catalog_was_listed(
    instance: DagsterInstance, faked: FakeSpark, broken: bool
) -> None:
    shop = lake(instance)
    faked.catalogs = {"lake": (EVENTS,)}
    work(shop)

    faked.catalogs, faked.broken = {"lake": ()}, ("lake",) if broken else ()
    shop.now += LISTED_EVERY
    said = work(shop)

    assert shop.table(EVENTS).gone is not broken
    assert ("lake could not be listed: no answer" in said) is broken


def test_with_several_projects_a_listing_says_of_no_table_that_it_is_gone(
    instance: DagsterInstance, faked: FakeSpark
) -> None:
    shop = lake(instance)
    shop.deploy(msgspec.structs.replace(shop_app("shop/notes", WHEN), name="other"), project="theirs")
    faked.catalogs = {"lake": (EVENTS,)}
    work(shop)

    faked.catalogs = {"lake": ()}
    shop.now += LISTED_EVERY
    work(shop)

    assert not shop.table(EVENTS).gone
