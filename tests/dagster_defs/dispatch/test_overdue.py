"""Runs that take longer than the timeout of their program: noted, terminated, reported as failed."""

from datetime import timedelta

import msgspec
import pytest
from dagster import DagsterInstance, DagsterRunStatus

from tests.dagster_defs.instance import claimed, repository_of, started, status_of
from tests.dagster_defs.run.test_program_op import add_job
from tests.dagster_defs.sample import NOW, deploy, location_of, sample_app
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.plan_state import deployed_plan
from tidegate.dagster_defs.dispatch.overdue import end_overdue
from tidegate.scheduler.model.job import JobState

pytestmark = pytest.mark.dagster


class Terminator:
    """Replaces the launcher: remembers what it was asked to terminate."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[str] = []
        self._error = error

    def __call__(self, run_id: str) -> bool:
        self.asked.append(run_id)
        if self._error is not None:
            raise self._error
        return True


def running(store: ReferenceStore, instance: DagsterInstance) -> str:
    """The run of a job of a program with a timeout of an hour, which began at `NOW`."""
    app = sample_app()
    clean = msgspec.structs.replace(app.programs["clean"], timeout=timedelta(hours=1))
    deploy(store, msgspec.structs.replace(app, programs={**app.programs, "clean": clean}))
    tags = add_job(store, "2023-03-09")
    run_id = started(instance, repository_of(location_of(store)), "__ASSET_JOB", tags)
    claimed(store, run_id, "flights.s-1", "flights/clean", NOW)
    return run_id


def look(store: ReferenceStore, instance: DagsterInstance, after: timedelta) -> list[str]:
    """The dispatcher looks; returns what it says."""
    with store.reading() as reader:
        plan = AssetPlan(deployed_plan(reader, ""))
    said: list[str] = []
    end_overdue(instance, store, plan, {"flights"}, NOW + after, said.append)
    return said


@pytest.mark.parametrize("error", [None, RuntimeError("no such process")])
def test_it_is_terminated_and_has_failed_with_a_message(
    store: ReferenceStore,
    instance: DagsterInstance,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception | None,
) -> None:
    run_id = running(store, instance)
    terminator = Terminator(error)
    monkeypatch.setattr(instance.run_launcher, "terminate", terminator)

    assert look(store, instance, timedelta(minutes=59)) == []
    said = look(store, instance, timedelta(hours=1))

    text = "the run took longer than the timeout of 1h of program flights/clean, and was terminated"
    assert said[0] == f"run {run_id}: {text}"
    assert terminator.asked == [run_id]
    assert status_of(instance, run_id) is DagsterRunStatus.FAILURE
    with store.reading() as reader:
        (job,) = reader.jobs()
    assert (job.state, job.detail, job.raised) == (JobState.LAUNCHED, text, True)


def test_a_run_that_dagster_has_ended_is_left_alone(
    store: ReferenceStore, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = running(store, instance)
    run = instance.get_run_by_id(run_id)
    assert run is not None
    instance.report_run_canceled(run)
    terminator = Terminator()
    monkeypatch.setattr(instance.run_launcher, "terminate", terminator)
    look(store, instance, timedelta(hours=2))
    assert terminator.asked == []
