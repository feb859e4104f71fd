"""What would meet every launch is not counted against a job: it is said, holds no slots, and passes."""

from collections.abc import Mapping
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from tests.dagster_defs.host.world import HostWorld
from tidegate.dagster_defs.host import host as hosts
from tidegate.dagster_defs.host import questions
from tidegate.dagster_defs.internals.errors import DagsterUserCodeUnreachableError
from tidegate.project.environment import LOCATION_NAME
from tidegate.scheduler.launch.active_host import ActiveHost, host_of
from tidegate.scheduler.launch.obstacles import location_states
from tidegate.scheduler.launch.outbox import OFFERS_MAX
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.obstacle import LocationState

pytestmark = pytest.mark.dagster


def lease_in(world: HostWorld) -> ActiveHost:
    with world.live.store.reading() as reader:
        found = host_of(reader, world.location.project)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "failure",
    [
        DagsterUserCodeUnreachableError("the code server is away"),
        OperationalError("INSERT", {}, Exception("could not connect to server")),
        OSError(28, "No space left on device"),
    ],
    ids=["code server", "database", "disk"],
)
def test_a_failure_of_the_world_makes_no_dead_letter_however_long_it_lasts(
    world: HostWorld, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    monkeypatch.setattr(hosts, "PROBE_SECONDS", 0)
    host, days = world.host(), [world.report_day() for _ in range(2)]

    def fail(*_: Any) -> None:
        raise failure

    with monkeypatch.context() as away:
        away.setattr(host._runs, "submit", fail)
        for _ in range(3 * OFFERS_MAX):
            host.loop()
            world.after += timedelta(seconds=30)
    jobs = [world.job(day) for day in days]
    assert {(job.state, job.offers) for job in jobs} == {(JobState.PENDING_LAUNCH, 0)}
    assert any(job.gave_back and str(failure) in job.detail for job in jobs)
    assert str(failure) in lease_in(world).problem and lease_in(world).problem_since is not None

    for _ in range(4):
        host.loop()
        world.after += timedelta(seconds=1)
    assert [len(world.runs(day)) for day in days] == [1, 1]
    assert "launches again" in world.said
    host.loop()
    assert lease_in(world).problem == ""


def test_a_launch_that_is_wrong_itself_counts(world: HostWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    host, day = world.host(), world.report_day()

    def fail(*_: Any) -> None:
        raise ValueError("no such partition")

    monkeypatch.setattr(host._runs, "submit", fail)
    for _ in range(3 * OFFERS_MAX):
        host.loop()
        world.after += timedelta(minutes=6)
    assert world.job(day).state is JobState.FAILED


def test_a_code_server_that_hangs_delays_only_what_it_is_asked_about(
    world: HostWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A launch whose job is known needs no answer; the question of another one is asked in another thread."""
    host, known = world.host(), world.report_day()
    host.loop()
    assert len(world.runs(known)) == 1
    goes_on, day, kept = Event(), world.report_day(), dict(host._runs._snapshots)
    location = host._runs._location
    assert location is not None and kept
    plan = type(location).get_execution_plan

    def hang(*given: Any, **named: Any) -> Any:
        goes_on.wait(60)
        return plan(*given, **named)

    with monkeypatch.context() as hung:
        hung.setattr(questions, "ANSWER_SECONDS", 0.2)
        hung.setattr(type(location), "get_execution_plan", hang)
        host._runs._snapshots.clear()
        host.loop()
        assert "has not answered within" in world.job(day).detail
        assert (world.job(day).offers, world.runs(day)) == (0, [])

        host._runs._snapshots.update(kept)
        other = world.report_day()
        host.loop()
        assert len(world.runs(other)) == 1
        goes_on.set()
    world.after += timedelta(seconds=30)
    host.loop()
    assert len(world.runs(day)) == 1


def test_the_locations_of_the_workspace_are_noted_each_since_it_is_so(
    world: HostWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "LOCATIONS_SECONDS", 0)
    host = world.host()

    def noted() -> Mapping[str, LocationState]:
        world.report_day()  # a host with nothing to do rests
        host.loop()
        with world.live.store.reading() as reader:
            return location_states(reader, world.location.project)

    loaded = noted()
    assert {name: state.problem for name, state in loaded.items()} == {LOCATION_NAME: ""}
    world.after += timedelta(minutes=1)
    problems = {LOCATION_NAME: "", "acme": "ModuleNotFoundError: no module"}
    monkeypatch.setattr(host._existing, "locations", lambda: problems)
    failed = noted()
    world.after += timedelta(minutes=1)
    assert noted() == failed
    assert failed[LOCATION_NAME] == loaded[LOCATION_NAME]
    assert failed["acme"].problem == "ModuleNotFoundError: no module"
    assert failed["acme"].since - loaded[LOCATION_NAME].since >= timedelta(minutes=1)
    problems["acme"] = ""
    assert noted()["acme"].since - failed["acme"].since >= timedelta(minutes=1)
