"""From a poll to a run request: what the dispatcher asks of Dagster for an operation, and what it rejects."""

import msgspec
import pytest
from dagster import DagsterInstance

from tests.dagster_defs.maintenance.shop import SALES, Shop, shop_app
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB, MAINTENANCE
from tidegate.domain.model import CronTrigger, Schedule
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.maintenance import table_resource

pytestmark = pytest.mark.dagster


def test_a_due_operation_is_requested_with_tags_that_say_what_it_does(shop: Shop) -> None:
    request, job = shop.request(), shop.job()

    assert (request.job_name, request.run_key) == (MAINTENANCE, f"{job.id}:1")
    ours = {name: value for name, value in request.tags.items() if name.startswith("tidegate/")}
    assert ours == {
        "tidegate/app": "shop",
        "tidegate/schedule": "shop/policy:tidy",
        "tidegate/program": "shop/maintain:rewrite_data_files",
        "tidegate/job": job.id,
        "tidegate/attempt": "1",
        "tidegate/reason": "rewrite_data_files of shop/sales, by policy shop/tidy",
        "tidegate/table": SALES,
        "tidegate/operation": "rewrite_data_files",
        "tidegate/policy": "shop/tidy",
        "tidegate/origin": "policy",
        "tidegate/key": "shop/sales rewrite_data_files",
    }


def test_a_request_that_comes_again_has_the_same_key(shop: Shop) -> None:
    assert shop.request().run_key == shop.request().run_key


def test_pipelines_are_requested_before_operations(instance: DagsterInstance) -> None:
    app = shop_app()
    often = Schedule(name="often", program="fill", trigger=CronTrigger(cron="* * * * *"), status="active")
    shop = Shop(instance, msgspec.structs.replace(app, schedules={"often": often}))
    shop.now = shop.now.replace(minute=1)

    requests = shop.requests()

    assert [each.job_name for each in requests][:2] == [ALL_ASSETS_JOB, MAINTENANCE]


def test_before_a_reload_it_is_rejected_and_the_table_stays_taken(instance: DagsterInstance) -> None:
    without = msgspec.structs.replace(shop_app(), policies={})
    shop = Shop(instance, without)
    loaded = shop.repository
    shop.deploy(shop_app())
    shop.repository = loaded

    assert shop.requests() == []

    job = shop.job()
    assert job.state is JobState.PENDING_LAUNCH
    assert job.detail == "the app had no policies when the code location was loaded: reload the code location"
    with shop.store.reading() as reader:
        assert reader.slots([table_resource(SALES)]) == {table_resource(SALES): 1}
