"""A host whose lease lapses while it works, on a machine with too much to do: no attempt gets two runs."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partialmethod
from typing import Any, TypeVar

import pytest
from dagster import DagsterRunStatus, RunRequest, RunsFilter
from dagster._core.test_utils import create_run_for_test
from sqlalchemy.exc import OperationalError

from tests.dagster_defs.host.world import HostWorld
from tidegate.dagster_defs.coordinator.run_rows import RunRows
from tidegate.dagster_defs.existing.new_run import note_run, run_id_of
from tidegate.dagster_defs.host import runs
from tidegate.dagster_defs.host.runs import Runs
from tidegate.dagster_defs.ingest import intake, owed_reports
from tidegate.dagster_defs.ingest.event_log import EventLog
from tidegate.dagster_defs.internals.remote_jobs import RUN_KEY_TAG
from tidegate.scheduler.intake.report_partitions import Landed, report_partitions
from tidegate.scheduler.launch.active_host import LEASE
from tidegate.scheduler.launch.outbox import LaunchRequest
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import By

pytestmark = pytest.mark.dagster

T = TypeVar("T")


@pytest.mark.parametrize("meanwhile", ["no time passes", "another host is active", "a dispatcher is"])
def test_a_host_that_loses_its_lease_launches_no_more(
    world: HostWorld, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    slow = meanwhile != "no time passes"
    host, day = world.host(1), world.report_day()
    offered, submit, other = host._steps.launches, host._runs.submit, world.host(2)
    second = RunRequest(run_key=f"second {world.after}", job_name="tidegate_recover_commits")

    def launches(*arguments: Any) -> Iterator[tuple[LaunchRequest, RunRequest]]:
        for launch, request in offered(*arguments):
            yield launch, request
            yield launch, second

    def submitted(*arguments: Any) -> str | None:
        """If it is slow, the creation of a run takes so long that the lease ends."""
        found = submit(*arguments)
        world.after += LEASE if slow else timedelta(0)
        if meanwhile == "another host is active":
            other.loop()
        return found

    monkeypatch.setattr(host._steps, "launches", launches)
    monkeypatch.setattr(host._runs, "submit", submitted)
    monkeypatch.setattr(host._runs, "create", lambda *_: None)  # each by itself
    host.loop()

    assert len(world.runs(day)) == 1
    assert (host.active is None) is (meanwhile == "another host is active")
    assert (world.instance.get_run_by_id(run_id_of(second.run_key or "")) is None) is slow


def test_a_host_that_loses_its_lease_submits_nothing_of_what_it_has_created(
    world: HostWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, other, days = world.host(1), world.host(2), [world.report_day(), world.report_day()]
    create = host._runs.create

    def created(*arguments: Any) -> None:
        """The creation of the runs takes so long that another host becomes active, which submits them."""
        create(*arguments)
        assert [run.status for day in days for run in world.runs(day)] == [DagsterRunStatus.NOT_STARTED] * 2
        world.after += LEASE
        other.loop()

    monkeypatch.setattr(host._runs, "create", created)
    monkeypatch.setattr(host._runs, "submit", lambda *_: pytest.fail("its lease has ended"))
    host.loop()

    assert host.active is None
    assert [run.status for day in days for run in world.runs(day)] == [DagsterRunStatus.QUEUED] * 2


def test_the_lease_is_renewed_while_many_runs_are_created(
    world: HostWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, days = world.host(1), [world.report_day() for _ in range(4)]

    def slow(*arguments: Any) -> None:
        note_run(*arguments)
        world.after += LEASE / 2

    monkeypatch.setattr(runs, "note_run", slow)
    host.loop()

    assert [run.status for day in days for run in world.runs(day)] == [DagsterRunStatus.QUEUED] * 4


def test_the_lease_is_renewed_while_a_host_takes_in_what_was_reported(
    world: HostWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes two reports to Dagster's log and reads two pages of it; each takes most of a lease."""
    host, other = world.host(1), world.host(2)
    host.loop()
    with world.location.open_store().transaction() as transaction:
        for number in range(2):
            report_partitions(
                transaction,
                world.location.project,
                "flights",
                "raw",
                [Landed(key="2023-03-30|JFK")],
                world.now(),
                By(actor="rest"),
                f"report {number} {world.after}",
            )

    def slowly(work: Callable[..., T]) -> Callable[..., T]:
        def done(*given: Any, **named: Any) -> T:
            world.after += LEASE * 3 / 4
            other.loop()
            assert other.active is None
            return work(*given, **named)

        return done

    monkeypatch.setattr(owed_reports, "_write_together", slowly(owed_reports._write_together))
    monkeypatch.setattr(intake, "translate", slowly(intake.translate))
    monkeypatch.setattr(intake, "PAGE_ROWS", 1)
    monkeypatch.setattr(EventLog, "after", partialmethod(EventLog.after, limit=1))
    before = world.after
    host.loop()

    assert world.after - before > 2 * LEASE
    assert host.active is not None and not host._steps.failures


def test_runs_that_cannot_be_created_together_are_created_one_by_one(
    world: HostWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> None:
        raise OperationalError("INSERT", {}, Exception("database is locked"))

    host, days = world.host(1), [world.report_day() for _ in range(2)]
    monkeypatch.setattr(RunRows, "create", away)
    host.loop()

    assert [run.status for day in days for run in world.runs(day)] == [DagsterRunStatus.QUEUED] * 2


@pytest.mark.parametrize("status", [DagsterRunStatus.QUEUED, DagsterRunStatus.NOT_STARTED])
def test_a_host_that_is_active_again_makes_no_run_beside_that_of_a_dispatcher(
    world: HostWorld, monkeypatch: pytest.MonkeyPatch, status: DagsterRunStatus
) -> None:
    """Dagster's daemon gives the run of a sensor an id of its own, and may not have submitted it yet."""
    host, first, day = world.host(1), world.report_day(), world.report_day()
    requested: dict[str, RunRequest] = {}
    with monkeypatch.context() as dispatcher:
        # It offers the same jobs; what Dagster makes of its requests is made below.
        dispatcher.setattr(host._runs, "create", lambda *_: None)
        dispatcher.setattr(
            host._runs, "submit", lambda request, _: requested.update({key_of(request): request})
        )
        host.loop()
    world.lapse()
    Runs(world.instance, world.workspace, world.location.project).submit(requested[first], {})
    (alike,) = world.instance.get_runs(RunsFilter(run_ids=[run_id_of(requested[first].run_key or "")]))
    run = create_run_for_test(
        world.instance,
        job_name=alike.job_name,
        remote_job_origin=alike.remote_job_origin,
        job_code_origin=alike.job_code_origin,
        tags={
            **requested[day].tags,
            "dagster/partition": day,
            RUN_KEY_TAG: requested[day].run_key or "",
        },
    )
    if status is DagsterRunStatus.QUEUED:
        world.instance.submit_run(run.run_id, world.workspace.create_request_context())

    for _ in range(3):
        host.loop()

    assert [(each.run_id, each.status) for each in world.runs(day)] == [(run.run_id, DagsterRunStatus.QUEUED)]
    assert world.job(day).state is JobState.LAUNCHED


def key_of(request: RunRequest) -> str:
    return str(request.partition_key)
