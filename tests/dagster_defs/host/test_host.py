"""The host against a real code server and a real Dagster instance: no run twice, none lost."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event
from typing import Any, cast

import msgspec
import pytest
from dagster import DagsterInstance, DagsterRunStatus, RunRequest
from dagster._core.remote_origin import RemoteInstigatorOrigin
from dagster._core.workspace.load_target import EmptyWorkspaceTarget

from tests.dagster_defs.host.world import ELSEWHERE, HostWorld, Killed, host_world
from tests.dagster_defs.instance import evaluate, report, repository_of
from tests.dagster_defs.live.live import live_app
from tests.doubles.dead_process import of_a_dead_process
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB, DISPATCHER
from tidegate.dagster_defs.existing.new_run import run_id_of
from tidegate.dagster_defs.host.host import (
    FAILED_SECONDS,
    POLL_SECONDS,
    REST,
    WAITING_SECONDS,
    Host,
)
from tidegate.dagster_defs.host.runs import Runs
from tidegate.dagster_defs.internals.instigators import (
    InstigatorState,
    InstigatorStatus,
    InstigatorType,
    SensorInstigatorData,
)
from tidegate.dagster_defs.internals.workspace import WorkspaceProcessContext
from tidegate.domain.model import PartitionsTrigger, Program, Schedule
from tidegate.scheduler.explain.outcome import outcome_line
from tidegate.scheduler.launch.active_host import LEASE, active_host, host_of
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.places import Noted
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.places import noted_places

pytestmark = pytest.mark.dagster


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostWorld]:
    with host_world(tmp_path_factory.mktemp("host")) as world:
        yield world


def killed_at(monkeypatch: pytest.MonkeyPatch, instance: DagsterInstance, call: str) -> Callable[[], None]:
    """Let the process end at a call of Dagster's, before it does anything; return what takes this back."""

    def die(*_: Any, **__: Any) -> None:
        raise Killed

    monkeypatch.setattr(instance, call, die)
    return monkeypatch.undo


def test_what_has_landed_is_a_run_after_one_loop(world: HostWorld) -> None:
    host, day = world.host(), world.report_day()

    assert host.loop() == POLL_SECONDS

    (run,) = world.runs(day)
    job = world.job(day)
    assert run.run_id == run_id_of(f"{job.id}:1")
    assert run.status is DagsterRunStatus.QUEUED
    assert run.job_name == ALL_ASSETS_JOB
    assert run.tags["tidegate/job"] == job.id
    assert run.tags["dagster/sensor_name"] == DISPATCHER
    assert (run.tags["tidegate/origin"], run.tags["tidegate/key"]) == ("schedule", job.key)
    assert run.asset_selection is not None and len(run.asset_selection) == 1
    for _ in range(3):
        host.loop()
    assert world.job(day).state is JobState.LAUNCHED
    assert len(world.runs(day)) == 1


@pytest.mark.parametrize("call", ["create_run", "submit_run"])
def test_a_host_that_is_killed_around_the_creation_of_a_run_loses_none_and_makes_none_twice(
    world: HostWorld, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    day = world.report_day()
    alive_again = killed_at(monkeypatch, world.instance, call)
    with pytest.raises(Killed):
        world.host(1).loop()
    alive_again()
    assert [run.status for run in world.runs(day)] == (
        [DagsterRunStatus.NOT_STARTED] if call == "submit_run" else []
    )

    world.lapse()
    other = world.host(2)
    other.loop()

    (run,) = world.runs(day)
    assert run.status is DagsterRunStatus.QUEUED
    other.loop()
    assert world.job(day).state is JobState.LAUNCHED


def test_of_two_hosts_one_waits_until_the_lease_of_the_other_ends(world: HostWorld) -> None:
    first, second = world.host(1), world.host(2)
    assert (first.loop(), second.loop()) == (POLL_SECONDS, WAITING_SECONDS)
    assert world.said[-1] == "waits: process 1 on elsewhere is active"
    day = world.report_day()
    assert second.loop() == WAITING_SECONDS
    assert world.runs(day) == []

    world.after += LEASE
    assert second.loop() == POLL_SECONDS
    assert len(world.runs(day)) == 1
    assert first.loop() == WAITING_SECONDS


def test_a_host_that_waits_takes_over_within_five_seconds_of_the_last_renewal(world: HostWorld) -> None:
    first, second = world.host(1), world.host(2)
    assert first.loop() == POLL_SECONDS
    waited = timedelta(0)
    while (rest := second.loop()) == WAITING_SECONDS:
        waited += timedelta(seconds=rest)
        world.after += timedelta(seconds=rest)
    assert timedelta(0) < waited < timedelta(seconds=5)


def test_the_lease_of_a_process_that_was_killed_here_is_taken_at_once(world: HostWorld) -> None:
    assert world.host(process=of_a_dead_process()).loop() == POLL_SECONDS
    assert world.host(2).loop() == POLL_SECONDS


def test_two_creations_of_one_run_at_once_make_one(world: HostWorld) -> None:
    request = RunRequest(run_key=f"at once {world.after}", job_name="tidegate_recover_commits")
    makers = [Runs(world.instance, world.workspace, world.location.project) for _ in range(4)]
    with ThreadPoolExecutor(len(makers)) as threads:
        found = list(threads.map(lambda runs: runs.submit(request, {}), makers))
    run_id = run_id_of(request.run_key or "")
    assert set(found) <= {run_id, None} and run_id in found
    assert world.instance.get_run_by_id(run_id) is not None
    assert makers[0].submit(request, {}) is None


def test_while_a_host_is_active_the_sensor_only_says_so(world: HostWorld) -> None:
    repository = repository_of(world.location)
    host = world.host()
    host.loop()
    day = world.report_day()

    skipped = evaluate(world.instance, repository)
    assert not skipped.run_requests
    assert (skipped.skip_message or "").startswith(
        "the host drives the engine: process 1 on elsewhere, since "
    )
    world.after += LEASE
    (request,) = evaluate(world.instance, repository).run_requests or []
    assert request.partition_key == day


def test_nothing_is_launched_while_the_dispatcher_is_switched_off(world: HostWorld) -> None:
    repository = (
        world.workspace.create_request_context()
        .get_code_location("tidegate")
        .get_repository("__repository__")
    )
    origin: RemoteInstigatorOrigin = repository.get_sensor(DISPATCHER).get_remote_origin()
    state = InstigatorState(origin, InstigatorType.SENSOR, InstigatorStatus.STOPPED, SensorInstigatorData())
    world.instance.add_instigator_state(state)
    day = world.report_day()

    world.host(1).loop()
    assert world.runs(day) == []
    assert world.job(day).state is JobState.PENDING_LAUNCH

    world.instance.update_instigator_state(state.with_status(InstigatorStatus.RUNNING))
    world.lapse()
    world.host(2).loop()
    assert len(world.runs(day)) == 1


def slots(world: HostWorld) -> dict[str, int]:
    with world.live.store.reading() as reader:
        return reader.slots(("runs", "program:flights/clean"))


def test_without_its_code_location_nothing_is_offered_and_no_slot_is_held(world: HostWorld) -> None:
    """However long the location is away, no job loses a try; when it is back all are launched at once."""
    world.host(1).loop()
    before, day = slots(world), world.report_day()
    world.lapse()
    with WorkspaceProcessContext(world.instance, EmptyWorkspaceTarget()) as empty:
        host = Host(world.location, world.instance, empty, ELSEWHERE.format(1), world.said.append)
        for _ in range(20):
            host.loop()
            world.after += timedelta(minutes=1)
    job = world.job(day)
    assert (job.state, job.offers, job.gave_back) == (JobState.PENDING_LAUNCH, 0, True)
    assert "its launch is postponed: no code location of the workspace has a dispatcher" in outcome_line(job)
    with world.live.store.reading() as reader:
        lease = host_of(reader, world.location.project)
        held = reader.slots(job.resources)
    assert before.keys() <= held.keys()
    assert all(held[resource] == before.get(resource, 0) for resource in held)
    assert lease is not None and lease.problem == job.detail
    world.lapse()
    again = world.host(2)
    again.loop()
    again.loop()
    assert len(world.runs(day)) == 1
    assert world.said[-1] == "launches again"
    world.after += LEASE / 2
    again.loop()
    with world.live.store.reading() as reader:
        lease = host_of(reader, world.location.project)
    assert lease is not None and lease.problem == ""


def test_what_is_deployed_later_is_launched_once_the_code_location_is_reloaded(world: HostWorld) -> None:
    app, host = live_app(), world.host()
    program = Program(name="rate", run="live_programs.notify", reads=("rates",))
    schedule = Schedule(
        name="rate_it", program="rate", trigger=PartitionsTrigger(dataset="rates"), status="active"
    )
    world.live.deploy(
        msgspec.structs.replace(
            app,
            programs={**app.programs, "rate": program},
            schedules={**app.schedules, "rate_it": schedule},
        ),
        revision=2,
    )
    report(world.instance, "rates")
    host.loop()
    (job,) = world.live.jobs("rate_it")
    assert "rate" in job.detail, "the code location does not know the program yet"

    world.live.processes.reload()

    def launched() -> bool:
        world.lapse()
        world.host(2).loop()
        (again,) = world.live.jobs("rate_it")
        return again.state is JobState.LAUNCHED

    world.live.until("a run of the new program", launched)
    assert [run for run in world.instance.get_runs() if run.tags.get("tidegate/job") == job.id]


def test_what_fails_is_logged_and_tried_again(world: HostWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    host, day = world.host(), world.report_day()

    def away(*_: Any) -> None:
        raise RuntimeError("the database is away")

    monkeypatch.setattr("tidegate.dagster_defs.dispatch.steps.ingest", away)
    assert [host.loop() for _ in range(3)] == [FAILED_SECONDS] * 3
    assert world.runs(day) == []
    assert [line for line in world.said if "away" in line] == [
        "ingest failed: RuntimeError: the database is away"
    ]
    monkeypatch.undo()
    host.loop()
    assert len(world.runs(day)) == 1


def test_an_idle_host_only_looks_for_commits(world: HostWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    host, advanced = world.host(), list[bool]()
    advance = host._steps.advance

    def counted(store: Store) -> None:
        advanced.append(True)
        advance(store)

    def loops(number: int) -> int:
        """How many of these loops do more than look."""
        advanced.clear()
        for _ in range(number):
            host.loop()
        return len(advanced)

    monkeypatch.setattr(host._steps, "advance", counted)
    loops(5)  # what the tests before have left is done
    assert loops(3) == 0
    day = world.report_day()
    assert loops(1) == 1
    assert len(world.runs(day)) == 1
    loops(5)
    world.after += REST
    assert loops(3) == 1
    monkeypatch.setattr("tidegate.dagster_defs.host.host.is_anything_due", lambda *_: True)
    world.after += REST
    assert loops(3) == 3


def test_a_host_that_stops_releases_its_lease(world: HostWorld) -> None:
    class Stopped:
        """Set after two loops."""

        left = 2

        def is_set(self) -> bool:
            self.left -= 1
            return self.left < 0

        def wait(self, seconds: float) -> None:
            assert seconds > 0

    world.host().run(cast(Event, Stopped()))
    with world.live.store.reading() as reader:
        assert active_host(reader, world.live.settings.name, world.location.clock()) is None


def test_a_host_notes_the_places_of_dagster(world: HostWorld) -> None:
    host = world.host()
    host.loop()
    with world.live.store.reading() as reader:
        assert noted_places(reader, world.live.settings.name) == Noted(most=0, in_progress=0)
