"""The end of a run: its process starts the next one, in the daemon's order, once, and within the limit."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from dagster import DagsterRun, DagsterRunStatus
from dagster._core.storage.dagster_run import RunOpConcurrency

from tests.dagster_defs.conftest import KEPT, in_postgres, kept_storage
from tests.dagster_defs.coordinator.queued import PLACES, Launcher, Queue, queue_in
from tests.databases import POSTGRES
from tidegate.dagster_defs.coordinator.coordinator import submitters_turn
from tidegate.dagster_defs.deployed.tags import DAGSTER_PRIORITY

pytestmark = pytest.mark.dagster

QUEUED, STARTING, FAILED = DagsterRunStatus.QUEUED, DagsterRunStatus.STARTING, DagsterRunStatus.FAILURE
NOW, LATER = timedelta(0), timedelta(minutes=1)


@pytest.fixture
def others() -> Iterator[set[str]]:
    """Runs that only the server of their code location launches."""
    yield Launcher.others
    Launcher.others.clear()


@pytest.fixture(params=["sqlite", POSTGRES])
def full(request: pytest.FixtureRequest, home: Path) -> Iterator[Queue]:
    """A queue whose daemon has begun, and whose places are taken."""
    settings: dict[str, Any] = dict(KEPT)
    if request.param == "postgres":
        settings = in_postgres(kept_storage(request.getfixturevalue("postgres_server")).take(request))
    with queue_in(home, {}, **settings) as queue:
        yield _filled(queue)


def _filled(queue: Queue) -> Queue:
    queue.daemon()
    for _ in range(PLACES):
        queue.submit_new()
    return queue


def _queued(queue: Queue, *priorities: str | None) -> list[str]:
    """Submit runs with some priorities, and return their ids in the order of submission."""
    runs = [queue.created(tags={} if each is None else {DAGSTER_PRIORITY: each}) for each in priorities]
    assert [queue.submit(run) for run in runs] == [QUEUED] * len(runs)
    return [run.run_id for run in runs]


def _status(queue: Queue, run_id: str) -> DagsterRunStatus:
    found = queue.instance.get_run_by_id(run_id)
    assert found is not None
    return found.status


def test_the_oldest_run_of_the_highest_priority_is_next_as_by_the_daemon(full: Queue) -> None:
    low, none, high, zero, odd, high_too = _queued(full, "-1", None, "10", "0", "no number", "10")
    for _ in range(6):
        full.end(full.launched[-1])
        full.start_next()
    assert full.launched[PLACES:] == [high, high_too, none, zero, odd, low]
    by_daemon = full.daemon()._priority_sort(
        [_run(full, each) for each in (low, none, high, zero, odd, high_too)]
    )
    assert full.launched[PLACES:] == [run.run_id for run in by_daemon]


def _run(queue: Queue, run_id: str) -> DagsterRun:
    found = queue.instance.get_run_by_id(run_id)
    assert found is not None
    return found


def test_ends_at_once_start_as_many_runs_as_there_are_places(full: Queue) -> None:
    _queued(full, *["0"] * 4)
    full.start_next()
    assert len(full.launched) == PLACES, "no place is free"
    for run_id in full.launched:
        full.end(run_id)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: full.start_next(), range(4)))
    assert len(full.launched) == len(set(full.launched)) == 2 * PLACES


def test_the_daemon_takes_no_run_and_no_place_that_an_end_has_taken_since_it_looked(full: Queue) -> None:
    first, _, third = _queued(full, *["0"] * 3)
    daemon, config = full.daemon(), full.instance.get_concurrency_config()
    full.end(full.launched[0])
    full.end(full.launched[1])
    found = daemon._get_runs_to_dequeue(full.instance, config, None)
    assert len(found) == PLACES
    full.start_next()
    full.submit_new()
    list(daemon._dequeue_runs_iter(full.workspace, full.coordinator, found, config, None))
    assert len(full.launched) == len(set(full.launched)) == 2 * PLACES
    assert (_status(full, first), _status(full, third)) == (STARTING, QUEUED)


def test_daemon_and_ends_at_once_start_each_run_once_within_the_limit(full: Queue) -> None:
    _queued(full, *["0"] * 6)
    for run_id in full.launched:
        full.end(run_id)
    with ThreadPoolExecutor(4) as threads:
        done = [threads.submit(each) for each in (full.dequeue, full.start_next) * 3]
        for each in done:
            each.result()
    assert len(full.launched) == len(set(full.launched)) == 2 * PLACES


def test_the_turn_of_the_daemon_is_over_before_it_launches(
    full: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A launch may start a server, or wait for one of others; the others decide meanwhile."""
    launch, free = Launcher.launch_run, list[bool]()

    def look(launcher: Launcher, context: Any) -> None:
        with submitters_turn(full.instance) as turn:
            free.append(turn)
        launch(launcher, context)

    _queued(full, "0")
    full.end(full.launched[0])
    monkeypatch.setattr(Launcher, "launch_run", look)
    full.dequeue()
    assert free == [True]


@pytest.mark.parametrize(
    "config",
    [{"tag_concurrency_limits": [{"key": "team", "limit": 9}]}, {"max_concurrent_runs": 0}],
    ids=["limits of tags", "stopped"],
)
def test_the_configuration_may_leave_all_to_the_daemon(home: Path, config: dict[str, Any]) -> None:
    with queue_in(home, config, **KEPT) as queue:
        queue.daemon()
        _queued(queue, "0")
        queue.start_next()
        assert queue.launched == []


def test_a_run_with_steps_in_pools_and_one_of_others_are_left_to_the_daemon(
    home: Path, others: set[str]
) -> None:
    with queue_in(home, {"block_op_concurrency_limited_runs": {"enabled": True}}, **KEPT) as queue:
        _filled(queue)
        pools = RunOpConcurrency(root_key_counts={"cluster": 1}, has_unconstrained_root_nodes=False)
        run = queue.created()
        queue.instance.delete_run(run.run_id)
        queue.instance.run_storage.add_run(run._replace(run_op_concurrency=pools))
        assert queue.submit(run) is QUEUED
        (other,) = _queued(queue, "0")
        for run_id in queue.launched:
            queue.end(run_id)
        queue.start_next()
        queue.instance.delete_run(run.run_id)
        others.add(other)
        queue.start_next()
        assert len(queue.launched) == PLACES
        others.clear()
        queue.start_next()
        assert queue.launched[PLACES:] == [other]


def test_after_the_start_of_a_daemon_of_another_version_or_since_the_run_began_that_goes_on(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It knows the settings of now, and may not know of turns."""
    for _ in range(PLACES + 1):
        queue.submit_new()
    queue.end(queue.launched[0])
    queue.start_next()
    assert len(queue.launched) == PLACES, "no daemon has begun"
    queue.daemon()
    queue.coordinator.start_next(datetime.now(UTC) - LATER)
    with monkeypatch.context() as upgraded:
        upgraded.setattr("tidegate.dagster_defs.coordinator.coordinator.release", lambda: "9.9")
        queue.start_next()
    assert len(queue.launched) == PLACES
    queue.start_next()
    assert len(queue.launched) == PLACES + 1


def test_a_run_that_cannot_be_launched_fails_alone(full: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_launcher: Launcher, _context: Any) -> None:
        raise RuntimeError("no server")

    (run_id,) = _queued(full, "0")
    full.end(full.launched[0])
    monkeypatch.setattr(Launcher, "launch_run", fail)
    full.start_next()
    assert _status(full, run_id) is FAILED
    assert "no server" in str(full.instance.all_logs(run_id))
