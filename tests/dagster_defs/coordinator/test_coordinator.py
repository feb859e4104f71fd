"""The run coordinator: what is launched at once, what waits in the queue, and that none is launched twice."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from dagster import DagsterRunStatus
from dagster._core.storage.dagster_run import RunOpConcurrency
from dagster._daemon.controller import create_daemon_of_type

from tests.dagster_defs.conftest import KEPT, in_postgres, kept_storage
from tests.dagster_defs.coordinator.queued import PLACES, Queue, queue_in
from tests.databases import POSTGRES
from tidegate.dagster_defs.coordinator import coordinator as turn
from tidegate.dagster_defs.coordinator.coordinator import DEQUEUE_SECONDS, LaunchingCoordinator
from tidegate.dagster_defs.coordinator.daemon import noted_daemon
from tidegate.dagster_defs.internals.errors import DagsterUserCodeUnreachableError
from tidegate.dagster_defs.internals.queue_daemon import QueuedRunCoordinatorDaemon
from tidegate.spark_jobs.commit.process import this_process

pytestmark = pytest.mark.dagster

QUEUED, STARTING, FAILED = DagsterRunStatus.QUEUED, DagsterRunStatus.STARTING, DagsterRunStatus.FAILURE


def test_runs_are_launched_at_once_while_there_are_places_and_then_queued(queue: Queue) -> None:
    assert [queue.submit_new() for _ in range(4)] == [STARTING, STARTING, QUEUED, QUEUED]
    assert len(queue.launched) == PLACES


def test_none_passes_a_run_that_is_queued_and_the_daemon_takes_that_one(queue: Queue) -> None:
    for _ in range(3):
        queue.submit_new()
    queue.end(queue.launched[0])
    assert queue.submit_new() is QUEUED, "a place is free, and one waits for it already"

    queue.dequeue()
    assert len(queue.launched) == 3
    for run_id in queue.launched:
        queue.end(run_id)
    queue.dequeue()
    assert len(set(queue.launched)) == 4
    assert queue.submit_new() is STARTING


def test_a_run_is_submitted_once(queue: Queue) -> None:
    run = queue.created()
    assert [queue.submit(run), queue.submit(run)] == [STARTING, STARTING]
    assert queue.launched == [run.run_id]


@pytest.mark.parametrize(
    ("config", "launched"),
    [
        ({"max_concurrent_runs": -1}, True),
        ({"max_concurrent_runs": 0}, False),
        ({"tag_concurrency_limits": [{"key": "team", "limit": 1}]}, False),
    ],
    ids=["without a limit", "stopped", "limits of tags"],
)
def test_the_configuration_decides(home: Path, config: dict[str, Any], launched: bool) -> None:
    with queue_in(home, config, **KEPT) as queue:
        assert queue.submit_new() is (STARTING if launched else QUEUED)


@pytest.mark.parametrize(("blocks", "expected"), [(True, QUEUED), (False, STARTING)])
def test_a_run_with_steps_in_pools_is_left_to_the_daemon(
    home: Path, blocks: bool, expected: DagsterRunStatus
) -> None:
    with queue_in(home, {"block_op_concurrency_limited_runs": {"enabled": blocks}}, **KEPT) as queue:
        pools = RunOpConcurrency(root_key_counts={"cluster": 1}, has_unconstrained_root_nodes=False)
        run = queue.created()
        queue.instance.delete_run(run.run_id)
        queue.instance.run_storage.add_run(run._replace(run_op_concurrency=pools))
        assert queue.submit(run) is expected


def test_the_daemon_looks_as_often_as_it_can_unless_the_configuration_says_more() -> None:
    for configured, expected in ((None, 5), (1, DEQUEUE_SECONDS), (7, 7)):
        coordinator = LaunchingCoordinator(dequeue_interval_seconds=configured)
        assert coordinator.dequeue_interval_seconds == expected


def test_the_daemon_notes_its_version_when_it_begins(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `status` and `doctor` read it: after an upgrade in place the old daemon goes on."""
    assert noted_daemon(queue.instance) is None
    monkeypatch.setattr("tidegate.dagster_defs.coordinator.daemon.release", lambda: "1.2")
    create_daemon_of_type(QueuedRunCoordinatorDaemon.daemon_type(), queue.instance)
    noted = noted_daemon(queue.instance)
    assert noted is not None and (noted.version, noted.process) == ("1.2", this_process())


@pytest.mark.parametrize("retries", [0, 1])
def test_a_code_server_that_is_away_fails_the_run_or_leaves_it_to_the_daemon(
    home: Path, monkeypatch: pytest.MonkeyPatch, retries: int
) -> None:
    with queue_in(home, {"max_user_code_failure_retries": retries}, **KEPT) as queue:
        run = queue.created()
        launcher = queue.launcher
        launcher.bad_user_code_run_ids = {run.run_id}
        if retries:
            assert queue.submit(run) is QUEUED
            launcher.bad_user_code_run_ids = set()
            queue.dequeue()
            assert queue.launched == [run.run_id]
            return
        with pytest.raises(DagsterUserCodeUnreachableError):
            queue.submit(run)
        found = queue.instance.get_run_by_id(run.run_id)
        assert found is not None and found.status is FAILED


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.store)])
def test_submitters_at_once_neither_launch_twice_nor_exceed_the_limit(
    kind: str, home: Path, request: pytest.FixtureRequest
) -> None:
    settings: dict[str, Any] = dict(KEPT)
    if kind == "postgres":
        settings = in_postgres(kept_storage(request.getfixturevalue("postgres_server")).take(request))
    with queue_in(home, {}, **settings) as queue:
        runs = [queue.created() for _ in range(5)]
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(queue.submit, runs * 2))
        assert len(queue.launched) == len(set(queue.launched)) == PLACES


def test_who_launches_a_run_is_noted_before_it_starts(queue: Queue) -> None:
    """A process that is killed after STARTING leaves a run that is found dead by the note."""
    assert [queue.submit_new() for _ in range(3)] == [STARTING, STARTING, QUEUED]
    assert queue.launcher.noted == [DagsterRunStatus.NOT_STARTED] * 2


@pytest.mark.parametrize("kind", ["sqlite", POSTGRES])
def test_a_submitter_that_hangs_in_its_turn_stops_no_other(
    kind: str, home: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one whose machine is suspended: the others leave the decision to the queue, which goes on."""
    monkeypatch.setattr(turn, "WAIT_SECONDS", 0.3)
    monkeypatch.setattr(turn, "HUNG_SECONDS", 1)
    settings: dict[str, Any] = dict(KEPT)
    if kind == "postgres":
        settings = in_postgres(kept_storage(request.getfixturevalue("postgres_server")).take(request))
    with queue_in(home, {}, **settings) as queue:
        with turn.submitters_turn(queue.instance) as hangs:
            assert hangs
            assert queue.submit_new() is QUEUED
            if kind == "postgres":
                time.sleep(1.5)  # the server ends the session of the one that hangs
                with turn.submitters_turn(queue.instance) as free:
                    assert free
        queue.dequeue()
        assert len(queue.launched) == 1
        assert queue.submit_new() is STARTING
