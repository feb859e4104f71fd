"""Runs as the engine sees them: ours by their tags, others' by what they select."""

from datetime import timedelta
from typing import Any

import pytest
from dagster import AssetKey, DagsterEvent, DagsterEventType, DagsterInstance, DagsterRunStatus
from dagster._core.test_utils import create_run_for_test

from tests.dagster_defs.ingest.log_rows import hide, ids_of, show
from tests.dagster_defs.instance import evaluate, make_run, report, report_day, repository_of
from tests.dagster_defs.sample import NOW, location_of, sample_app
from tests.doubles.dump import dump
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.plan_state import LoadedApp, Plan
from tidegate.dagster_defs.ingest.intake import ingest
from tidegate.dagster_defs.ingest.position import HOLE_SECONDS
from tidegate.dagster_defs.ingest.reconcile import DELETED_AFTER, RECONCILE_EVERY, reconcile
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.run import Run, RunStatus

pytestmark = pytest.mark.dagster

LATER = NOW + timedelta(days=10_000)
"""After everything that Dagster writes with the real clock."""

STARTING, START, SUCCESS, FAILURE, CANCELED = (
    DagsterEventType.RUN_STARTING,
    DagsterEventType.RUN_START,
    DagsterEventType.RUN_SUCCESS,
    DagsterEventType.RUN_FAILURE,
    DagsterEventType.RUN_CANCELED,
)


@pytest.fixture
def plan() -> AssetPlan:
    return AssetPlan(Plan(apps=(LoadedApp(app=sample_app(), revision=1),)))


def happens(instance: DagsterInstance, run_id: str, *kinds: DagsterEventType) -> None:
    for kind in kinds:
        event = DagsterEvent(event_type_value=kind.value, job_name="__ASSET_JOB", message="")
        instance.report_dagster_event(event, run_id)


def runs(store: ReferenceStore) -> dict[str, Run]:
    with store.reading() as reader:
        return {run.run_id: run for run in reader.runs()}


def read(instance: DagsterInstance, store: ReferenceStore, plan: AssetPlan) -> None:
    ingest(instance, store, plan, LATER, print)


def launched_job(instance: DagsterInstance, store: ReferenceStore) -> tuple[str, dict[str, str]]:
    """A job that the dispatcher has asked a run for, and the tags of that run."""
    report_day(instance, "2023-03-09")
    asked = evaluate(instance, repository_of(location_of(store, now=LATER))).run_requests or []
    (request,) = [r for r in asked if r.tags["tidegate/schedule"] == "flights/clean_as_it_comes"]
    return request.tags["tidegate/job"], dict(request.tags)


def state(store: ReferenceStore, job: str) -> JobState:
    with store.reading() as reader:
        (found,) = reader.jobs(ids=[job])
    return found.state


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((START,), JobState.LAUNCHED),
        ((START, SUCCESS), JobState.SUCCEEDED),
        # No program has noted an error, so the run died, and is started again (rule 26).
        ((START, FAILURE), JobState.PENDING_CONSTRAINT),
        ((START, CANCELED), JobState.FAILED),
        ((FAILURE,), JobState.PENDING_CONSTRAINT),
    ],
)
def test_a_job_follows_its_run(
    instance: DagsterInstance,
    store: ReferenceStore,
    plan: AssetPlan,
    ends: tuple[DagsterEventType, ...],
    expected: JobState,
) -> None:
    job, tags = launched_job(instance, store)
    run = make_run(instance, "clean", tags=tags)
    happens(instance, run, *ends)

    read(instance, store, plan)

    assert state(store, job) is expected


@pytest.mark.parametrize("kind", [DagsterEventType.RUN_ENQUEUED, STARTING])
@pytest.mark.parametrize("dies", [False, True])
def test_a_run_whose_row_does_not_say_yet_that_it_is_on_its_way_is_not_launched(
    instance: DagsterInstance,
    store: ReferenceStore,
    plan: AssetPlan,
    kind: DagsterEventType,
    dies: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job, tags = launched_job(instance, store)
    run = make_run(instance, "clean", tags=tags, status=DagsterRunStatus.NOT_STARTED)
    with monkeypatch.context() as before_the_row:
        before_the_row.setattr(instance.run_storage, "handle_run_event", lambda *given: None)
        happens(instance, run, kind)
    report_day(instance, "2023-03-10")

    read(instance, store, plan)
    assert (state(store, job), runs(store)) == (JobState.PENDING_LAUNCH, {})

    if not dies:
        # Of a queued run it wants to know where it is from, which this one is not.
        starting = DagsterEvent(STARTING.value, "__ASSET_JOB")
        instance.run_storage.handle_run_event(run, starting)
    ingest(instance, store, plan, LATER + timedelta(seconds=HOLE_SECONDS), print)
    found = state(store, job), [each.run_id for each in runs(store).values()]
    assert found == ((JobState.PENDING_LAUNCH, []) if dies else (JobState.LAUNCHED, [run]))
    # Its process has died, or hangs: the offers of the job go on, and what comes of the run is seen.
    ingest(instance, store, plan, LATER + timedelta(hours=1), print)
    happens(instance, run, STARTING)
    ingest(instance, store, plan, LATER + timedelta(hours=1), print)
    assert state(store, job) is JobState.LAUNCHED


def test_a_run_by_hand_counts_for_its_program(
    instance: DagsterInstance, store: ReferenceStore, plan: AssetPlan
) -> None:
    run = make_run(instance, "report")
    happens(instance, run, START, SUCCESS)

    read(instance, store, plan)

    seen = runs(store)[run]
    assert (seen.program, seen.job, seen.status) == ("flights/report", None, RunStatus.SUCCEEDED)
    with store.reading() as reader:
        (triggered,) = reader.events(key_prefix="run:flights/report:succeeded")
    assert triggered.run_id == run


PARTITION, RANGE_START, RANGE_END = (
    "dagster/partition",
    "dagster/asset_partition_range_start",
    "dagster/asset_partition_range_end",
)


@pytest.mark.parametrize(
    ("tags", "config", "args", "outputs"),
    [
        ({PARTITION: "2023-03-09"}, {}, {}, {"clean": ("2023-03-09",)}),
        (
            {RANGE_START: "2023-03-08", RANGE_END: "2023-03-09"},
            {"ops": {"clean": {"config": {"args": {"country": "fr"}}}}},
            {"country": "fr"},
            {"clean": ("2023-03-08", "2023-03-09")},
        ),
        # In a code location of others the op has our prefix.
        ({}, {"ops": {"tidegate_clean": {"config": {"args": {"day": 1}}}, "x": {}}}, {"day": 1}, {}),
        ({}, {}, {}, {}),
    ],
)
def test_what_a_run_by_hand_was_given_is_known_to_what_it_triggers(
    instance: DagsterInstance,
    store: ReferenceStore,
    plan: AssetPlan,
    tags: dict[str, str],
    config: dict[str, Any],
    args: dict[str, Any],
    outputs: dict[str, tuple[str, ...]],
) -> None:
    run = create_run_for_test(
        instance,
        job_name="__ASSET_JOB",
        asset_selection=frozenset({AssetKey(["flights", "clean"])}),
        tags=tags,
        run_config=config,
        status=DagsterRunStatus.STARTED,
    )
    happens(instance, run.run_id, START, SUCCESS)

    read(instance, store, plan)

    with store.reading() as reader:
        (triggered,) = reader.events(key_prefix="run:flights/clean:succeeded")
    assert triggered.run is not None
    assert (triggered.run.args, triggered.run.outputs) == (args, outputs)


def test_a_run_of_several_programs_counts_for_each(
    instance: DagsterInstance, store: ReferenceStore, plan: AssetPlan
) -> None:
    run = make_run(instance, "report", "notify")
    happens(instance, run, START)

    read(instance, store, plan)

    assert {(r.program, r.active) for r in runs(store).values()} == {
        ("flights/report", True),
        ("flights/notify", True),
    }


def test_a_run_of_others_assets_is_none_of_ours(
    instance: DagsterInstance, store: ReferenceStore, plan: AssetPlan
) -> None:
    happens(instance, make_run(instance, "somebody_elses"), START, SUCCESS)

    read(instance, store, plan)

    assert runs(store) == {}


def test_a_reexecution_is_a_run_by_hand(
    instance: DagsterInstance, store: ReferenceStore, plan: AssetPlan
) -> None:
    job, tags = launched_job(instance, store)
    first = make_run(instance, "clean", tags=tags)
    happens(instance, first, START, FAILURE)
    again = make_run(instance, "clean", tags={**tags, "dagster/parent_run_id": first})
    happens(instance, again, START, SUCCESS)

    read(instance, store, plan)

    assert state(store, job) is JobState.PENDING_CONSTRAINT, "the job has a further attempt of its own"
    assert (runs(store)[again].job, runs(store)[again].status) == (None, RunStatus.SUCCEEDED)


# --- reconciliation ---------------------------------------------------------------------


def test_an_end_whose_event_was_lost_is_found_in_the_runs_table(
    disk_instance: DagsterInstance, store: ReferenceStore, plan: AssetPlan
) -> None:
    job, tags = launched_job(disk_instance, store)
    run = make_run(disk_instance, "clean", tags=tags)
    happens(disk_instance, run, START)
    read(disk_instance, store, plan)
    happens(disk_instance, run, SUCCESS)
    hide(disk_instance, ids_of(disk_instance)[-1:])
    read(disk_instance, store, plan)
    assert state(store, job) is JobState.LAUNCHED

    assert reconcile(disk_instance, store, plan, LATER + RECONCILE_EVERY, print)

    assert state(store, job) is JobState.SUCCEEDED


def test_a_row_that_commits_later_than_any_hole_is_found(
    disk_instance: DagsterInstance, store: ReferenceStore, plan: AssetPlan
) -> None:
    def at(minutes: float) -> None:
        now = LATER + timedelta(minutes=minutes)
        ingest(disk_instance, store, plan, now, print)
        reconcile(disk_instance, store, plan, now, print)

    at(0)
    for day in ("2023-03-01", "2023-03-02", "2023-03-03"):
        report(disk_instance, "clean", day)
    late = hide(disk_instance, ids_of(disk_instance)[1:2])
    at(4)
    at(5)
    show(disk_instance, late)
    at(6.5)
    at(8)

    with store.reading() as reader:
        found = {event.partition for event in reader.events(key_prefix="partition:")}
    assert found == {"2023-03-01", "2023-03-02", "2023-03-03"}


def test_a_deleted_run_gives_its_slot_back(
    instance: DagsterInstance, store: ReferenceStore, plan: AssetPlan
) -> None:
    job, tags = launched_job(instance, store)
    run = make_run(instance, "clean", tags=tags)
    happens(instance, run, START)
    read(instance, store, plan)
    reconcile(instance, store, plan, LATER, print)
    instance.delete_run(run)

    reconcile(instance, store, plan, LATER + DELETED_AFTER / 2, print)
    assert state(store, job) is JobState.LAUNCHED, "it may only be late"
    reconcile(instance, store, plan, LATER + DELETED_AFTER * 2, print)

    assert state(store, job) is JobState.FAILED


def test_a_pass_is_made_every_few_minutes(
    instance: DagsterInstance, store: ReferenceStore, plan: AssetPlan
) -> None:
    made = [reconcile(instance, store, plan, LATER + RECONCILE_EVERY * part / 2, print) for part in range(5)]

    assert made == [True, False, True, False, True]


def test_it_finds_nothing_new_where_nothing_was_missed(
    instance: DagsterInstance, store: ReferenceStore, plan: AssetPlan
) -> None:
    job, tags = launched_job(instance, store)
    run = make_run(instance, "clean", tags=tags, status=DagsterRunStatus.SUCCESS)
    happens(instance, run, START, SUCCESS)
    report(instance, "clean", "2023-03-09")
    read(instance, store, plan)
    reconcile(instance, store, plan, LATER, print)
    before = len(dump(store)["events"]), state(store, job)

    said: list[str] = []
    reconcile(instance, store, plan, LATER + RECONCILE_EVERY, said.append)

    assert (len(dump(store)["events"]), state(store, job)) == before
    assert said == []
