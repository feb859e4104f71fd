"""The whole Dagster side, alive: the real daemon, the real UI server, a run in its own process.

The tests go through a day of the project in order. An ordinary run kills the daemon and
a run after its promise; a soak also kills a run together with the code server, and reloads it.
"""

import os
import shutil
import signal
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from dagster import AssetKey, DagsterRunStatus, RunsFilter

import tidegate.read
from tests.dagster_defs.live.live import Live, live_app
from tests.dagster_defs.live.neighbour import NAME
from tests.effort import much
from tests.tally import reach
from tests.worlds.by import CLI
from tidegate.dagster_defs.deployed.names import DISPATCHER, RECOVERY
from tidegate.dagster_defs.dispatch.switch import is_parked
from tidegate.dagster_defs.internals.instigators import InstigatorState, InstigatorType
from tidegate.domain.model import Dataset
from tidegate.processes.alive import DagsterState, dagster_state
from tidegate.project.environment import LOCATION_NAME
from tidegate.release import release
from tidegate.scheduler.commands.by_hand.manual import suspend
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.event import publish_event_id
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.spark_jobs.commit.process import ProcessState, state_of

pytestmark = [pytest.mark.dagster, pytest.mark.spark]

DAEMON_KILLS = much(1)

CLEAN = AssetKey(["flights", "clean"])
REPOSITORY = {"repositoryLocationName": LOCATION_NAME, "repositoryName": "__repository__"}

LAUNCH = """
mutation Launch($params: ExecutionParams!) {
  launchPipelineExecution(executionParams: $params) {
    __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message }
  }
}
"""
SCHEDULE_STATE = """
query State($selector: ScheduleSelector!) {
  scheduleOrError(scheduleSelector: $selector) {
    ... on Schedule { scheduleState { id status nextTick { timestamp } } }
  }
}
"""
MATERIALISATIONS = """
query Materialisations($key: AssetKeyInput!) {
  assetOrError(assetKey: $key) {
    ... on Asset { assetMaterializations { description metadataEntries {
      label ... on IntMetadataEntry { intValue } ... on TextMetadataEntry { text }
    } } }
  }
}
"""
STOP = "mutation Stop($id: String!) { stopRunningSchedule(id: $id) { __typename } }"
PREVIEW = """
mutation Preview($selector: SensorSelector!) {
  sensorDryRun(selectorData: $selector, cursor: null) {
    __typename ... on DryRunInstigationTick { evaluationResult { skipReason runRequests { runKey } } }
  }
}
"""


def launch(live: Live, *datasets: str, **tags: str) -> str:
    """Launch a run by hand, as the UI does."""
    params = {
        "selector": {
            **REPOSITORY,
            "jobName": "__ASSET_JOB",
            "assetSelection": [{"path": ["flights", dataset]} for dataset in datasets],
        },
        "executionMetadata": {"tags": [{"key": key, "value": value} for key, value in tags.items()]},
    }
    answer = live.ask(LAUNCH, params=params)
    assert answer["__typename"] == "LaunchRunSuccess", answer
    return answer["run"]["runId"]


def ended(live: Live, run_id: str) -> DagsterRunStatus:
    def look() -> DagsterRunStatus | None:
        run = live.instance.get_run_by_id(run_id)
        return run.status if run is not None and run.is_finished else None

    status = live.until(f"the end of run {run_id}", look)
    assert status is not None
    return status


def test_what_is_reported_from_outside_makes_a_job_run(live: Live) -> None:
    live.land_day("2023-03-09")

    job = live.ended_job("clean_as_it_comes")

    assert (job.state, job.key) == (JobState.SUCCEEDED, "2023-03-09")
    assert live.instance.get_materialized_partitions(CLEAN) == {"2023-03-09"}
    event = live.instance.get_latest_materialization_event(CLEAN)
    assert event is not None
    assert event.asset_materialization is not None
    assert event.asset_materialization.metadata["rows"].value == 2
    run = live.instance.get_run_by_id(job.run_id or "")
    assert run is not None
    assert run.tags["tidegate/schedule"] == "flights/clean_as_it_comes"


def test_a_dataset_of_one_project_makes_a_job_of_another_project_run(live: Live) -> None:
    """The partition is the one that the test before has published; both code locations have one daemon."""
    job = live.ended_job("daily", app="sales")

    assert (job.state, job.key, job.attempt) == (JobState.SUCCEEDED, "2023-03-09", 1)
    run = live.instance.get_run_by_id(job.run_id or "")
    assert run is not None and run.remote_job_origin is not None
    assert run.remote_job_origin.location_name == NAME
    counted = tidegate.read.pyarrow(str(live.folder / "warehouse/sales/revenue")).to_table()
    assert counted.to_pylist() == [{"day": "2023-03-09", "count": 2}]
    with live.store.reading() as reader:
        owners = {app.name: app.project for app in reader.records(APPS)}
    own = dict.fromkeys(("flights", "night", "shop"), live.settings.name)
    assert owners == {**own, "sales": NAME}
    state = dagster_state(live.settings)
    assert isinstance(state, DagsterState) and state.heartbeat is not None
    assert state.daemon is not None and state.daemon.version == release()
    assert state_of(state.daemon.process) is ProcessState.ALIVE
    assert [server.problem for server in state.servers] == ["", ""]
    assert {(each.name, each.on, each.problem) for each in state.dispatchers} == {
        (f"{DISPATCHER} of {LOCATION_NAME}", True, ""),
        (f"{DISPATCHER} of {NAME}", True, ""),
    }
    # What the next tests publish is not of interest to the other project.
    with live.store.transaction() as transaction:
        suspend(transaction, "sales/daily", datetime.now(UTC), by=CLI)


@pytest.mark.soak  # a run by hand on a real daemon: tests/real_daemon/kinds.yaml
def test_a_range_by_hand_is_one_run_that_counts_for_its_program(live: Live) -> None:
    tags = {
        "dagster/asset_partition_range_start": "2023-03-01",
        "dagster/asset_partition_range_end": "2023-03-03",
    }

    run_id = launch(live, "clean", **tags)

    assert ended(live, run_id) is DagsterRunStatus.SUCCESS
    assert {"2023-03-01", "2023-03-02", "2023-03-03"} <= live.instance.get_materialized_partitions(CLEAN)

    def observed() -> bool:
        with live.store.reading() as reader:
            return any(run.job is None and not run.active for run in reader.runs(ids=[run_id]))

    live.until("the observation of a run by hand", observed)


def test_a_preview_of_the_dispatcher_changes_nothing(live: Live) -> None:
    answer = live.ask(PREVIEW, selector={**REPOSITORY, "sensorName": DISPATCHER})

    result = answer["evaluationResult"]
    assert result["skipReason"].startswith("preview only")
    assert not result["runRequests"]


def schedule_rows(live: Live) -> list[InstigatorState]:
    rows = live.instance.all_instigator_state(instigator_type=InstigatorType.SCHEDULE)
    return [row for row in rows if row.instigator_name == "report_daily"]


def test_switching_a_schedule_off_suspends_it(live: Live) -> None:
    selector = {**REPOSITORY, "scheduleName": "report_daily"}
    state = live.ask(SCHEDULE_STATE, selector=selector)["scheduleState"]
    assert state["status"] == "RUNNING"
    live.until("a parked schedule", lambda: any(is_parked(row) for row in schedule_rows(live)))
    state = live.ask(SCHEDULE_STATE, selector=selector)["scheduleState"]
    assert state["status"] == "RUNNING"
    assert state["nextTick"]["timestamp"] > datetime.now(UTC).timestamp(), "it is shown all the same"

    live.ask(STOP, id=state["id"])

    def suspended() -> bool:
        with live.store.reading() as reader:
            (found,) = reader.schedules(refs=["flights/report_daily"])
        return (found.status, found.changed_by) == ("suspended", "ui")

    live.until("the suspend", suspended)


def test_a_daemon_that_is_killed_and_started_again_runs_each_job_once(live: Live) -> None:
    live.land_day("2023-03-10")
    live.until("a second job", lambda: len(live.jobs("clean_as_it_comes")) == 2)
    for _ in range(DAEMON_KILLS):
        live.daemon.kill()
        reach("real processes killed")
        live.daemon = live.processes.start_daemon()

    def both_ended() -> bool:
        return all(job.state in FINISHED for job in live.jobs("clean_as_it_comes"))

    live.until("the end of both jobs", both_ended)
    for job in live.jobs("clean_as_it_comes"):
        assert job.state is JobState.SUCCEEDED
        # A run that the daemon lost on the way to its process never begins, and another follows.
        records = live.instance.get_run_records(RunsFilter(tags={"tidegate/job": job.id}))
        runs = [(run.dagster_run.status, run.start_time) for run in records]
        assert [status for status, start in runs if start] == [DagsterRunStatus.SUCCESS], runs


@pytest.mark.soak  # the same with `dagster dev`: test_dev.py
def test_a_reload_shows_what_was_deployed_since(live: Live) -> None:
    app = live_app()
    more = {**app.datasets, "tides": Dataset(name="tides")}
    live.deploy(msgspec.structs.replace(app, datasets=more), revision=2)

    live.processes.reload()

    assets = live.ask("query Assets { assetNodes { assetKey { path } } }")
    assert {"assetKey": {"path": ["flights", "tides"]}} in assets


def test_a_run_loads_its_definitions_while_the_store_cannot_be_read(live: Live) -> None:
    path = live.folder / ".tidegate" / "store.db"
    aside = Path(f"{path}.aside")
    live.store.close()
    shutil.move(path, aside)
    path.mkdir()
    try:
        run_id = launch(live, "report")
        status = ended(live, run_id)
    finally:
        path.rmdir()
        shutil.move(aside, path)

    kinds = [
        entry.dagster_event.event_type_value
        for entry in live.instance.all_logs(run_id)
        if entry.dagster_event
    ]
    assert status is DagsterRunStatus.FAILURE, "a program may not run without its store"
    assert "STEP_START" in kinds, "the definitions were there; only the step had no store"


def test_a_run_that_takes_longer_than_its_timeout_is_terminated_and_has_failed(live: Live) -> None:
    app = live_app()
    notify = msgspec.structs.replace(app.programs["notify"], timeout=timedelta(seconds=3))
    live.deploy(msgspec.structs.replace(app, programs={**app.programs, "notify": notify}), revision=3)
    order = live.folder / "too-long"
    order.touch()
    before = {job.id for job in live.jobs("notify_after")}
    launch(live, "report")

    def failed() -> Job | None:
        new = [job for job in live.jobs("notify_after") if job.id not in before]
        return next((job for job in new if job.state is JobState.FAILED), None)

    job = live.until("the end of a run that takes too long", failed)
    order.unlink()
    live.deploy(app, revision=4)

    assert job is not None and job.run_id is not None
    assert job.detail == (
        "the run took longer than the timeout of 3s of program flights/notify, and was terminated"
    )
    assert (job.attempt, job.reason) == (1, "F-RUN")
    assert ended(live, job.run_id) in (DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED)


@pytest.mark.soak  # found: test_killed_before_begun.py; started again: test_dead_runs.py
def test_a_run_that_is_killed_with_the_code_server_is_found_and_started_again(live: Live) -> None:
    order = live.folder / "too-long"
    order.touch()
    before = {job.id for job in live.jobs("notify_after")}
    launch(live, "report")
    killed = live.until(
        "the job", lambda: next((job for job in live.jobs("notify_after") if job.id not in before), None)
    )
    assert killed is not None
    # The file of this job: the process of the test before may still be on its way to the same place.
    process = live.folder / f"process-{killed.id}"
    live.until("its run", lambda: process.exists() and process.read_text())
    live.code_server.signal_group(signal.SIGKILL)
    live.code_server.wait(10)
    state = dagster_state(live.settings)
    assert isinstance(state, DagsterState) and state.servers[0].problem == "does not answer"
    with suppress(ProcessLookupError):
        os.kill(int(process.read_text()), signal.SIGKILL)
    order.unlink()
    live.code_server = live.processes.start_code_server()
    reach("real processes killed")

    def succeeded() -> Job | None:
        return next((j for j in live.jobs("notify_after") if j.id == killed.id and j.state in FINISHED), None)

    job = live.until("the end of the job whose run was killed", succeeded)
    assert job is not None and (job.state, job.attempt) == (JobState.SUCCEEDED, 2)
    with live.store.reading() as reader:
        first = next(run for run in reader.runs(jobs=[job.id]) if run.attempt == 1)
    assert ended(live, first.run_id) is DagsterRunStatus.FAILURE


@pytest.mark.soak  # alive: demo/test_demo.py; what it reports: run/test_recovery.py
def test_what_a_killed_run_has_promised_is_finished_by_the_recovery_job(live: Live) -> None:
    order = live.folder / "kill-after-put"
    order.touch()
    run_id = launch(live, "report")
    assert ended(live, run_id) is DagsterRunStatus.FAILURE
    reach("real processes killed")
    order.unlink()

    commit = f"{run_id}.flights.report"

    def reported() -> dict[str, Any] | None:
        shown = live.ask(MATERIALISATIONS, key={"path": ["flights", "report"]})["assetMaterializations"]
        return next((found for found in shown if commit in str(found["metadataEntries"])), None)

    # The daemon starts it by its schedule; no test asks for it here, and no run of the program comes.
    materialisation = live.until("the report of the publish", reported)

    recovery = live.instance.get_runs(filters=RunsFilter(job_name=RECOVERY), limit=1)[0]
    assert ended(live, recovery.run_id) is DagsterRunStatus.SUCCESS
    assert materialisation is not None
    facts = {entry["label"]: entry for entry in materialisation["metadataEntries"]}
    assert materialisation["description"] == "published by a run that ended before it reported the partition"
    assert (facts["rows"]["intValue"], facts["tidegate/commit"]["text"]) == (1, commit)
    assert isinstance(live.store, SqlStore)
    assert SqlCommitStepStore(live.store.engine).list_unfinished() == ()
    with live.store.reading() as reader:
        events = reader.events(key_prefix="partition:flights/report")
    assert [event.id for event in events].count(publish_event_id(commit, "flights/report", "")) == 1
