"""Runs of operations that are lost: their process dies, or goes on after the timeout of the operation."""

from datetime import timedelta

import pytest
from dagster import DagsterInstance, DagsterRunStatus

from tests.dagster_defs.instance import claimed, end_dead, started, status_of
from tests.dagster_defs.maintenance.shop import NOW, SALES, Shop, shop_app
from tests.doubles.dead_process import of_a_dead_process
from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.deployed.names import MAINTENANCE, MEASURING
from tidegate.dagster_defs.deployed.tags import PROJECT
from tidegate.dagster_defs.dispatch.steps import FORCED_AT, end_stopped
from tidegate.dagster_defs.ingest.event_log import storage_id
from tidegate.dagster_defs.run.dead_runs import START_SECONDS
from tidegate.scheduler.launch.owners import RunOwner, own
from tidegate.scheduler.launch.run_report import end_operation
from tidegate.scheduler.launch.stopped import FIRST_PAUSE, TIMEOUT_GRACE
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.maintenance import MAINTENANCE_RECORDS, Ended, Ending, table_resource
from tidegate.scheduler.model.reason import Reason

pytestmark = pytest.mark.dagster

TIMEOUT = timedelta(minutes=10)


def under_way(shop: Shop) -> str:
    """A run that has claimed the requested operation, and is known to the store."""
    run_id = started(shop.instance, shop.repository, MAINTENANCE, shop.request().tags)
    claimed(shop.store, run_id, shop.job().id, "shop/maintain:rewrite_data_files", shop.now)
    return run_id


def stop(shop: Shop) -> list[str]:
    said: list[str] = []
    end_stopped(shop.instance, shop.store, "shop", shop.now, said.append)
    return said


def test_a_run_that_dies_frees_the_table_and_the_operation_is_due_again(
    disk_instance: DagsterInstance,
) -> None:
    shop = Shop(disk_instance, shop_app())
    run_id = under_way(shop)
    owner = RunOwner(
        instance=storage_id(disk_instance), process=of_a_dead_process(), until=shop.now + timedelta(minutes=2)
    )
    own(shop.store, run_id, owner)

    assert len(end_dead(disk_instance, shop.location, shop.now)) == 1
    assert status_of(shop.instance, run_id) is DagsterRunStatus.FAILURE
    shop.requests()

    job, run = shop.job(), shop.run()
    assert (job.state, job.reason, run.ending) == (JobState.FAILED, Reason.F_RUN, Ending.FAILED)
    assert "has ended without a word" in run.detail
    with shop.store.reading() as reader:
        assert reader.slots([table_resource(SALES)]) == {table_resource(SALES): 0}
        (record,) = reader.records(MAINTENANCE_RECORDS)
    shop.now = record.next_run or NOW
    assert shop.request().tags["tidegate/job"] != job.id


def test_a_measuring_run_that_no_process_has_taken_up_has_failed(shop: Shop) -> None:
    run_id = started(shop.instance, shop.repository, MEASURING, {PROJECT: NO_PROJECT})
    theirs = started(shop.instance, shop.repository, MEASURING, {PROJECT: "theirs"})
    record = shop.instance.get_run_record_by_id(run_id)
    assert record is not None
    since = record.update_timestamp - shop.now + timedelta(seconds=START_SECONDS + 10)

    assert len(end_dead(shop.instance, shop.location, shop.now + since)) == 1
    assert status_of(shop.instance, run_id) is DagsterRunStatus.FAILURE
    assert status_of(shop.instance, theirs) is DagsterRunStatus.STARTED


def test_a_run_whose_timeout_is_over_is_cancelled_after_a_grace(shop: Shop) -> None:
    run_id = under_way(shop)
    shop.now = NOW + TIMEOUT
    shop.tick()
    assert shop.job().reason is Reason.F_TIMEOUT

    shop.now = NOW + TIMEOUT + TIMEOUT_GRACE - timedelta(seconds=1)
    assert stop(shop) == []
    shop.now += timedelta(seconds=1)
    said = stop(shop)

    assert said[0] == (
        f"run {run_id} is cancelled: shop/sales rewrite_data_files: rewrite_data_files was not done within"
        " its timeout of 0:10:00"
    )
    with shop.store.reading() as reader:
        stops = [entry for entry in reader.journal(job=shop.job().id) if entry.kind is EntryKind.STOPPED]
    assert [(entry.run_id, entry.data) for entry in stops] == [(run_id, {"attempt": 1, "tries": 1})]


def test_a_run_that_does_not_end_is_marked_as_cancelled(shop: Shop) -> None:
    run_id = under_way(shop)
    shop.now = NOW + TIMEOUT
    shop.tick()
    shop.now += TIMEOUT_GRACE

    for pause in (1, 2, 4)[:FORCED_AT]:
        stop(shop)
        shop.now += pause * FIRST_PAUSE

    assert status_of(shop.instance, run_id) is DagsterRunStatus.CANCELED


@pytest.mark.parametrize("ending", list(Ending))
def test_a_run_that_has_reported_its_end_is_left_alone(shop: Shop, ending: Ending) -> None:
    under_way(shop)
    with shop.store.transaction() as transaction:
        assert end_operation(transaction, shop.job().id, 1, Ended(ending=ending), shop.now)
    shop.now += TIMEOUT_GRACE * 10

    assert stop(shop) == []
