"""Native schedules: a tick puts the fire into the store, once, and launches nothing itself."""

from datetime import UTC, datetime, timedelta

import pytest
from dagster import DagsterInstance, ScheduleEvaluationContext
from dagster._core.definitions.schedule_definition import ScheduleExecutionData

from tests.dagster_defs.instance import evaluate, repository_of
from tests.dagster_defs.sample import NOW, location_of
from tests.doubles.dump import dump
from tidegate.scheduler.commands.manual import suspend
from tidegate.scheduler.store.memory.store import MemoryStore

pytestmark = pytest.mark.dagster

SIX = datetime(2023, 3, 11, 6, 0, tzinfo=UTC)
AFTER_SIX = SIX + timedelta(seconds=1)


def fire(
    instance: DagsterInstance, store: MemoryStore, at: datetime = SIX, log_key: str = "7"
) -> ScheduleExecutionData:
    """One tick of the schedule, as the scheduler daemon makes it."""
    repository = repository_of(location_of(store, now=AFTER_SIX))
    context = ScheduleEvaluationContext(
        instance_ref=None,
        scheduled_execution_time=at,
        log_key=["__repository__", "report_daily", log_key],
        repository_name="__repository__",
        schedule_name="report_daily",
        repository_def=repository,
        resources={},
    )
    return repository.get_schedule_def("report_daily").evaluate_tick(context)


def jobs(store: MemoryStore) -> list[str]:
    with store.reading() as reader:
        return [job.id for job in reader.jobs(schedules=["flights/report_daily"])]


def test_a_tick_queues_a_job_and_says_which(instance: DagsterInstance, store: MemoryStore) -> None:
    outcome = fire(instance, store)

    (job,) = jobs(store)
    assert outcome.skip_message == f"queued as job {job}"
    assert not outcome.run_requests


def test_the_same_tick_again_queues_nothing_more(instance: DagsterInstance, store: MemoryStore) -> None:
    fire(instance, store)

    outcome = fire(instance, store)

    assert (outcome.skip_message or "").startswith("already queued as job")
    assert len(jobs(store)) == 1


def test_the_dispatcher_and_the_schedule_make_one_job_of_one_fire(
    instance: DagsterInstance, store: MemoryStore
) -> None:
    repository = repository_of(location_of(store, now=AFTER_SIX))

    first = evaluate(instance, repository).run_requests or []
    outcome = fire(instance, store)

    assert [request.tags["tidegate/schedule"] for request in first] == ["flights/report_daily"]
    assert (outcome.skip_message or "").startswith("already queued as job")
    assert len(jobs(store)) == 1


def test_a_preview_changes_nothing(instance: DagsterInstance, store: MemoryStore) -> None:
    before = dump(store)

    outcome = fire(instance, store, log_key="20230311_060000")

    assert (outcome.skip_message or "").startswith("preview only")
    assert dump(store) == before


@pytest.mark.parametrize(
    ("at", "says"),
    [
        (SIX - timedelta(days=30), "became active after"),
        (SIX + timedelta(minutes=30), "is not a fire of"),
    ],
)
def test_an_instant_that_is_not_its_own_is_told(
    instance: DagsterInstance, store: MemoryStore, at: datetime, says: str
) -> None:
    assert says in (fire(instance, store, at).skip_message or "")
    assert jobs(store) == []


def test_a_suspended_schedule_queues_nothing(instance: DagsterInstance, store: MemoryStore) -> None:
    with store.transaction() as transaction:
        suspend(transaction, "flights/report_daily", NOW)

    assert "suspended" in (fire(instance, store).skip_message or "")
    assert jobs(store) == []
