"""The run of an operation: what it claims and hands over, how it reports its end, and what Dagster shows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from dagster import AssetKey, AssetObservation, DagsterEventType, DagsterInstance, ExecuteInProcessResult

from tests.dagster_defs.maintenance.shop import EVENTS, SALES, Shop, shop_app
from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.definitions.names import MAINTENANCE
from tidegate.dagster_defs.maintenance import operation_run
from tidegate.dagster_defs.maintenance.operation_run import BY_HAND, TIMED_OUT
from tidegate.domain.model import HealthRules, Operation
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.maintenance import Ended, Ending, table_resource
from tidegate.scheduler.model.reason import Reason
from tidegate.spark_jobs.errors import CommitBlocked
from tidegate.spark_jobs.maintenance.request import Control, MaintenanceContext, OperationRequest

pytestmark = pytest.mark.dagster

HOUR = timedelta(hours=1)

COMPACTED = Ended(
    ending=Ending.SUCCEEDED,
    changed=True,
    bytes=600,
    before={"files": 12, "small_file_percent": 100.0, "partition_skew": 1.5},
    after={"files": 1, "small_file_percent": 0.0, "partition_skew": 1.0},
    results={"files_rewritten": 12, "files_added": 1, "kept": {"17": "the tag v1"}, "ratio": 0.5},
)


@dataclass
class Operator:
    """In place of `run_operation`: takes what it is called with, and does what a test says."""

    work: Callable[[Control], Ended] = lambda _: COMPACTED
    calls: list[OperationRequest] = field(default_factory=list[OperationRequest])

    def __call__(self, context: MaintenanceContext, request: OperationRequest, control: Control) -> Ended:
        assert context.warehouse is not None
        assert context.store is not None
        self.calls.append(request)
        return self.work(control)


@pytest.fixture
def operator(monkeypatch: pytest.MonkeyPatch) -> Operator:
    made = Operator()
    monkeypatch.setattr(operation_run, "run_operation", made)
    return made


def execute(shop: Shop, tags: Mapping[str, str] | None = None) -> ExecuteInProcessResult:
    """A run of the requested operation, as Dagster makes it of the request."""
    return shop.execute(MAINTENANCE, shop.request().tags if tags is None else tags)


def observed(result: ExecuteInProcessResult) -> list[AssetObservation]:
    kind = DagsterEventType.ASSET_OBSERVATION
    found = [event for event in result.all_events if event.event_type is kind]
    return [event.asset_observation_data.asset_observation for event in found]


def failure(result: ExecuteInProcessResult) -> str:
    (event,) = [event for event in result.all_events if event.is_step_failure]
    failed = event.step_failure_data.user_failure_data
    assert failed is not None
    return failed.description or ""


def raises(error: Exception) -> Callable[[Control], Ended]:
    def work(_: Control) -> Ended:
        raise error

    return work


def test_it_carries_out_what_was_decided_and_closes_the_record(shop: Shop, operator: Operator) -> None:
    result = execute(shop)

    assert result.success
    (request,) = operator.calls
    assert (request.table.name, request.operation) == (SALES, Operation.REWRITE_DATA_FILES)
    assert (request.table.spark_name, request.table.is_iceberg) == ("tidegate.shop.sales", True)
    assert (request.options["min_input_files"], request.rules) == (2, HealthRules())
    job, run = shop.job(), shop.run()
    assert (job.state, job.run_id, request.job) == (JobState.SUCCEEDED, result.run_id, job.id)
    assert (run.ending, run.changed, run.bytes, run.before, run.after) == (
        Ending.SUCCEEDED, True, 600, COMPACTED.before, COMPACTED.after,
    )  # fmt: skip
    with shop.store.reading() as reader:
        (record,) = reader.records()
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

    assert operator.calls[0].table.spark_name == EVENTS
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


def test_a_run_whose_timeout_is_over_reports_nothing(shop: Shop, operator: Operator) -> None:
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
    assert (shop.job().reason, shop.run().ending, shop.run().bytes) == (Reason.F_TIMEOUT, Ending.FAILED, 0)


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
    operator.work = lambda _: Ended(ending=Ending.FAILED, detail="gone", results={"gone": True})

    assert execute(shop).success
    assert shop.job().detail == "shop/sales was never published"
    assert not shop.table(SALES).gone


def test_a_dataset_of_another_project_that_is_not_found_is_a_failure(
    instance: DagsterInstance, operator: Operator
) -> None:
    shop = Shop(instance)
    shop.deploy(shop_app(yaml=THEIRS), project="theirs")
    shop.deploy(shop_app("their/sales"), project=NO_PROJECT)
    operator.work = lambda _: Ended(ending=Ending.FAILED, detail="gone", results={"gone": True})

    assert "their/sales belongs to another project" in failure(execute(shop))


THEIRS = "app: their\ndatasets: {sales: {format: iceberg}}\n"


def test_any_other_table_that_does_not_exist_is_gone(instance: DagsterInstance, operator: Operator) -> None:
    shop = Shop(instance, shop_app('"lake.*.*"'))
    shop.find(EVENTS)
    operator.work = lambda _: Ended(ending=Ending.FAILED, detail="it does not exist", results={"gone": True})

    assert failure(execute(shop)) == "it does not exist"
    assert shop.table(EVENTS).gone
    with shop.store.reading() as reader:
        assert reader.records() == ()


def test_its_process_is_recorded_so_that_its_death_is_seen(shop: Shop, operator: Operator) -> None:
    seen: list[bool] = []

    def work(_: Control) -> Ended:
        with shop.store.reading() as reader:
            seen.append(reader.cursor("run-owners") is not None)
        return COMPACTED

    operator.work = work
    execute(shop)

    assert seen == [True]
