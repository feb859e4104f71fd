"""The run of an operation: what it claims and hands over, how it reports its end, and what Dagster shows."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from dagster import AssetKey, AssetObservation, DagsterEventType, DagsterInstance, ExecuteInProcessResult

from tests.dagster_defs.instance import failure
from tests.dagster_defs.maintenance.operator import COMPACTED, GONE, Operator, execute
from tests.dagster_defs.maintenance.shop import (
    EVENTS,
    SALES,
    THEIRS,
    YAML,
    Shop,
    away_at_every_other_reading,
    shop_app,
)
from tests.worlds.by import CLI
from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.deployed.names import MAINTENANCE
from tidegate.dagster_defs.maintenance.operation_run import BY_HAND, TIMED_OUT
from tidegate.domain.model import HealthRules, Operation
from tidegate.scheduler.commands.maintain import run_by_hand
from tidegate.scheduler.launch.owners import owners
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.maintenance import MAINTENANCE_RECORDS, Ended, Ending, table_resource
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store import patience
from tidegate.spark_jobs.commit.process import this_process
from tidegate.spark_jobs.errors import CommitBlocked
from tidegate.spark_jobs.maintenance.iceberg.format import spark_name
from tidegate.spark_jobs.maintenance.request import Control

pytestmark = pytest.mark.dagster

HOUR = timedelta(hours=1)


def observed(result: ExecuteInProcessResult) -> list[AssetObservation]:
    kind = DagsterEventType.ASSET_OBSERVATION
    found = [event for event in result.all_events if event.event_type is kind]
    return [event.asset_observation_data.asset_observation for event in found]


def raises(error: Exception) -> Callable[[Control], Ended]:
    def work(_: Control) -> Ended:
        raise error

    return work


def test_it_carries_out_what_was_decided_and_closes_the_record(shop: Shop, operator: Operator) -> None:
    result = execute(shop)

    assert result.success
    (request,) = operator.calls
    assert (request.table.name, request.operation) == (SALES, Operation.REWRITE_DATA_FILES)
    assert (spark_name(request.table), request.table.format) == ("tidegate.shop.sales", "iceberg")
    assert (request.options["min_input_files"], request.rules) == (2, HealthRules())
    job, run = shop.job(), shop.run()
    assert (job.state, job.run_id, request.job) == (JobState.SUCCEEDED, result.run_id, job.id)
    assert (run.ending, run.changed, run.bytes, run.before, run.after) == (
        Ending.SUCCEEDED, True, 600, COMPACTED.before, COMPACTED.after,
    )  # fmt: skip
    with shop.store.reading() as reader:
        (record,) = reader.records(MAINTENANCE_RECORDS)
        assert reader.slots([table_resource(SALES)]) == {table_resource(SALES): 0}
    assert (record.job, record.next_run) == (None, shop.now + HOUR)


def test_dagster_has_the_numbers_before_and_after_on_the_asset(shop: Shop, operator: Operator) -> None:
    (observation,) = observed(execute(shop))

    assert observation.asset_key == AssetKey(["shop", "sales"])
    assert observation.description == "rewrite_data_files by policy shop/tidy: succeeded"
    values = {name: value.value for name, value in observation.metadata.items() if name != "job"}
    assert values == {
        "operation": "rewrite_data_files",
        "ending": "succeeded",
        "policy": "shop/tidy",
        "files": 1,
        "files_before": 12,
        "small_file_percent": 0.0,
        "small_file_percent_before": 100.0,
        "partition_skew": 1.0,
        "partition_skew_before": 1.5,
        "rewritten_bytes": 600,
        "files_rewritten": 12,
        "files_added": 1,
        "kept": {"17": "the tag v1"},
        "ratio": 0.5,
    }
    assert {type(observation.metadata[name].value) for name in ("files", "files_rewritten")} == {int}


def test_an_operation_is_not_new_data_for_the_schedules(
    disk_instance: DagsterInstance, operator: Operator
) -> None:
    shop = Shop(disk_instance, shop_app())
    assert execute(shop).success

    shop.requests()

    with shop.store.reading() as reader:
        kinds = {entry.kind for entry in reader.journal()}
        assert reader.keys_written(SALES) == ()
    assert EntryKind.EVENT not in kinds
    assert shop.job().state is JobState.SUCCEEDED


def test_a_table_that_is_not_a_dataset_is_named_as_in_spark(
    instance: DagsterInstance, operator: Operator
) -> None:
    shop = Shop(instance, shop_app('"lake.*.*"'))
    shop.find(EVENTS)

    (observation,) = observed(execute(shop))

    assert spark_name(operator.calls[0].table) == EVENTS
    assert observation.asset_key == AssetKey(["maintenance", "lake", "raw", "events"])


@pytest.mark.parametrize(
    ("work", "text"),
    [
        (lambda _: Ended(ending=Ending.FAILED, detail="no space left"), "no space left"),
        (raises(ValueError("boom\nat line 7")), "ValueError: boom"),
        (raises(CommitBlocked("commit c waits", "look at it")), "commit c waits"),
    ],
)
def test_a_failure_is_reported_and_fails_the_run(
    shop: Shop, operator: Operator, work: Callable[[Control], Ended], text: str
) -> None:
    operator.work = work

    result = execute(shop)

    assert not result.success
    assert text in failure(result)
    job = shop.job()
    assert (job.state, job.reason) == (JobState.FAILED, Reason.F_RUN)
    assert text in job.detail
    assert "at line 7" not in job.detail
    assert shop.run().ending is Ending.FAILED


@pytest.mark.parametrize(
    ("ending", "reason"), [(Ending.STOPPED, Reason.F_YIELDED), (Ending.CONFLICT, Reason.F_CONFLICT)]
)
def test_room_made_for_a_pipeline_and_a_lost_race_are_no_failures_of_the_run(
    shop: Shop, operator: Operator, ending: Ending, reason: Reason
) -> None:
    operator.work = lambda _: Ended(ending=ending, detail="of course")

    assert execute(shop).success
    assert shop.job().reason is reason


def test_a_run_whose_timeout_is_over_has_failed_already(shop: Shop, operator: Operator) -> None:
    def too_long(control: Control) -> Ended:
        assert not control.should_stop()
        shop.now += timedelta(minutes=10, seconds=1)
        assert control.should_stop()
        return COMPACTED

    operator.work = too_long

    result = execute(shop)

    detail = "rewrite_data_files was not done within its timeout of 0:10:00"
    assert failure(result) == f"{TIMED_OUT}: {detail}"
    assert observed(result) == []
    assert (shop.job().reason, shop.run().ending, shop.run().bytes) == (Reason.F_TIMEOUT, Ending.FAILED, 600)


@pytest.mark.parametrize("late", [False, True])
def test_a_store_that_is_away_for_a_moment_is_waited_for(
    shop: Shop, operator: Operator, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    def work(_: Control) -> Ended:
        shop.now += timedelta(minutes=11 if late else 1)
        return COMPACTED

    operator.work = work
    tags = shop.request().tags
    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0.001)
    shop.before = away_at_every_other_reading()

    result = execute(shop, tags)

    assert shop.job().state is (JobState.FAILED if late else JobState.SUCCEEDED)
    assert TIMED_OUT in failure(result) if late else result.success


def test_a_second_run_of_an_attempt_does_nothing(shop: Shop, operator: Operator) -> None:
    tags = dict(shop.request().tags)
    assert execute(shop, tags).success

    assert execute(shop, tags).success
    assert len(operator.calls) == 1


@pytest.mark.parametrize("again", [False, True])
def test_a_run_that_a_person_starts_in_dagster_says_what_to_do_instead(
    shop: Shop, operator: Operator, again: bool
) -> None:
    requested = shop.request().tags
    tags = {**requested, "dagster/parent_run_id": "before"} if again else {}

    result = execute(shop, tags)

    assert failure(result) == BY_HAND
    assert operator.calls == []
    assert shop.job().state is JobState.PENDING_LAUNCH


def test_a_dataset_that_was_never_published_has_nothing_to_do(shop: Shop, operator: Operator) -> None:
    operator.work = lambda _: GONE

    assert execute(shop).success
    assert shop.job().detail == "shop/sales was never published"
    assert not shop.table(SALES).gone


def test_a_dataset_of_another_project_that_is_not_found_is_a_failure(
    instance: DagsterInstance, operator: Operator
) -> None:
    shop = Shop(instance)
    shop.deploy(shop_app(yaml=THEIRS), project="theirs")
    shop.deploy(shop_app("their/sales"), project=NO_PROJECT)
    operator.work = lambda _: GONE

    assert "their/sales belongs to another project" in failure(execute(shop))


def test_any_other_table_that_does_not_exist_is_gone(instance: DagsterInstance, operator: Operator) -> None:
    shop = Shop(instance, shop_app('"lake.*.*"'))
    shop.find(EVENTS)
    operator.work = lambda _: GONE

    assert failure(execute(shop)) == "it does not exist"
    assert shop.table(EVENTS).gone
    with shop.store.reading() as reader:
        assert reader.records(MAINTENANCE_RECORDS) == ()


def test_what_was_asked_for_by_hand_does_not_go_on_with_a_table_that_is_gone(
    instance: DagsterInstance, operator: Operator
) -> None:
    two = YAML.replace("    operations:\n", "    operations:\n      expire_snapshots: {interval: 1d}\n")
    shop = Shop(instance, shop_app('"lake.*.*"', two))
    shop.find(EVENTS)
    with shop.store.transaction() as transaction:
        (first,) = run_by_hand(transaction, EVENTS, shop.now, by=CLI)
    assert len(first.work.then) == 1
    operator.work = lambda _: GONE

    assert failure(execute(shop)) == GONE.detail

    assert [each for each in shop.requests() if each.job_name == MAINTENANCE] == []
    with shop.store.reading() as reader:
        assert [run.job for run in reader.operation_runs()] == [first.id]
    assert (shop.job().work.then, shop.job().reason) == ((), Reason.D_DELETED)


def test_its_process_is_recorded_so_that_its_death_is_seen(shop: Shop, operator: Operator) -> None:
    seen: list[str] = []

    def work(_: Control) -> Ended:
        with shop.store.reading() as reader:
            seen.extend(owner.process for owner in owners(reader).values())
        return COMPACTED

    operator.work = work
    execute(shop)

    assert seen == [this_process()]
