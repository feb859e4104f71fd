"""Runs that are created and queued together: their rows are Dagster's own, and a crash loses none."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import pytest
import sqlalchemy as sa
from dagster import AssetKey, DagsterEventType, DagsterInstance, DagsterRunStatus, RunRequest
from dagster._core.test_utils import MockedRunLauncher, instance_for_test
from sqlalchemy import Engine

from tests.crashes.statements import dying_before
from tests.dagster_defs.conftest import KEPT, ONE_FILE, SHARDED, in_postgres, kept_storage
from tests.dagster_defs.host.world import HostWorld, Killed, loaded_here
from tests.dagster_defs.live.live import Live
from tests.effort import every
from tests.tally import reach
from tidegate.dagster_defs.coordinator.instance import keep_answers
from tidegate.dagster_defs.coordinator.run_rows import RunRows, writes_together
from tidegate.dagster_defs.existing.new_run import run_id_of
from tidegate.dagster_defs.host.runs import Runs

pytestmark = pytest.mark.dagster

APP = """
app: many
datasets:
  raw: {partitions: {cycle: day, start: 2023-01-01}, path: landing/many}
  days:
    partitions: {cycle: day, start: 2023-01-01}
    checks: [{name: some, rows: {min: 1}}, {name: once, unique: [day]}]
  whole: {}
programs:
  make: {run: live_programs.clean, reads: [raw], writes: [days]}
  both: {run: live_programs.report, writes: [whole]}
schedules:
  make: {program: make, trigger: {partitions: {dataset: raw}}, for_each: partition}
"""

Requests = Sequence[tuple[RunRequest, dict[str, str]]]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostWorld]:
    """A world whose code location makes the runs of instances that are not its own."""

    def beside(live: Live) -> None:
        live.deploy_beside("many.yaml", APP, assume_published=False)

    with loaded_here(tmp_path_factory.mktemp("many"), beside=beside) as made:
        yield made


@contextmanager
def instance_in(folder: Path, settings: dict[str, Any], places: int = 0) -> Iterator[DagsterInstance]:
    """An instance whose runs all stay in the queue, or some of whose runs are launched by nothing."""
    coordinator = {"module": "tidegate.dagster_defs.coordinator", "class": "LaunchingCoordinator"}
    overrides = {
        "run_coordinator": {**coordinator, "config": {"max_concurrent_runs": places}},
        "run_launcher": {"module": "dagster._core.test_utils", "class": "MockedRunLauncher"},
        **settings,
    }
    with instance_for_test(overrides=overrides, temp_dir=str(folder)) as instance:
        keep_answers(instance)
        yield instance


@pytest.fixture
def home(empty_homes: dict[str, Path], tmp_path: Path) -> Path:
    shutil.copytree(empty_homes[ONE_FILE], tmp_path, dirs_exist_ok=True)
    return tmp_path


def runs_of(instance: DagsterInstance, world: HostWorld) -> Runs:
    return Runs(instance, world.workspace, world.location.project)


def requests(name: str = "run") -> Requests:
    """Runs of a partition with checks, of an asset without partitions, of nothing, and of an asset again."""
    tags = {"dagster/priority": "3", "team": "äöü"}
    partition = {"dagster/partition": "2023-02-03"}
    made = [
        ("make", [AssetKey(["many", "days"])], partition),
        ("both", [AssetKey(["many", "whole"])], {}),
        ("nothing", None, {}),
        ("again", [AssetKey(["many", "whole"])], {}),
    ]
    return [
        (
            RunRequest(
                run_key=f"{name} {key}",
                job_name="tidegate_recover_commits" if assets is None else "__ASSET_JOB",
                asset_selection=assets,
                partition_key=more.get("dagster/partition"),
                tags=tags,
            ),
            more,
        )
        for key, assets, more in made
    ]


def always() -> bool:
    return True


def submit_together(runs: Runs, wanted: Requests) -> list[str | None]:
    runs.create(wanted, always)
    return [runs.submit(request, tags) for request, tags in wanted]


def rows(storage: Any, connect: str, order: dict[str, str]) -> dict[str, list[dict[str, Any]]]:
    """What is in some tables, without what differs from second to second."""
    found: dict[str, list[dict[str, Any]]] = {}
    with getattr(storage, connect)() as connection:
        for table, by in order.items():
            read = connection.execute(sa.text(f"SELECT * FROM {table} ORDER BY {by}")).mappings()
            found[table] = [without_times(dict(row)) for row in read]
    return found


def without_times(row: dict[str, Any]) -> dict[str, Any]:
    row.pop("id", None)
    row.pop("evaluation_event_storage_id", None)
    for name, value in row.items():
        if name.endswith("timestamp"):
            row[name] = value is not None
        if name in ("event", "evaluation_event") and value is not None:
            row[name] = {**json.loads(value), "timestamp": ""}
    return row


def all_rows(instance: DagsterInstance) -> dict[str, list[dict[str, Any]]]:
    runs = getattr(instance.run_storage, "run_storage", instance.run_storage)
    events = getattr(instance.event_log_storage, "event_log_storage", instance.event_log_storage)
    return {
        **rows(runs, "connect", {"runs": "run_id", "run_tags": "run_id, key", "snapshots": "snapshot_id"}),
        # Of each run its events in the order of their ids.
        **rows(events, "index_connection", {"event_logs": "run_id, id", "asset_keys": "asset_key"}),
        **rows(events, "index_connection", {"asset_check_executions": "run_id, check_name"}),
    }


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.store)])
def test_the_rows_are_those_that_dagster_writes_itself(
    world: HostWorld, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Each run is created and submitted by Dagster alone, and in another database all of them together."""
    written: list[dict[str, list[dict[str, Any]]]] = []
    for number in range(2):
        folder = tmp_path / str(number)
        settings: dict[str, Any] = dict(KEPT)
        if kind == "postgres":
            folder.mkdir()
            settings = in_postgres(kept_storage(request.getfixturevalue("postgres_server")).take(request))
        else:
            shutil.copytree(request.getfixturevalue("empty_homes")[ONE_FILE], folder)
        with instance_in(folder, settings) as instance:
            runs = runs_of(instance, world)
            for name in ("first", "second"):
                # The second time the assets have rows already.
                if number:
                    submit_together(runs, requests(name))
                else:
                    for each, tags in requests(name):
                        runs.submit(each, tags)
            written.append(all_rows(instance))
            assert_times(instance)

    alone, together = written
    assert all(alone.values())
    for table, found in alone.items():
        assert together[table] == found, table


def assert_times(instance: DagsterInstance) -> None:
    """A run was updated when it was queued, and created before; an asset has the time of what was planned."""
    for record in instance.get_run_records():
        (queued,) = instance.all_logs(record.dagster_run.run_id, of_type=DagsterEventType.RUN_ENQUEUED)
        assert record.update_timestamp.timestamp() == pytest.approx(queued.timestamp, abs=1e-5)
        assert record.create_timestamp <= record.update_timestamp


def test_the_first_ones_are_launched_while_places_are_free(world: HostWorld, home: Path) -> None:
    with instance_in(home, dict(KEPT), places=2) as instance:
        wanted = requests()
        found = submit_together(runs_of(instance, world), wanted)
        ids = [run_id_of(request.run_key or "") for request, _ in wanted]
        assert found[:3] == ids[:3]

        statuses = [run.status for run_id in ids if (run := instance.get_run_by_id(run_id))]
        queued = DagsterRunStatus.QUEUED
        assert statuses == [DagsterRunStatus.STARTING, DagsterRunStatus.STARTING, queued, queued]
        assert [run.run_id for run in cast(MockedRunLauncher, instance.run_launcher).queue()] == ids[:2]


def test_what_is_wrong_with_one_of_them_is_raised_when_it_is_submitted(world: HostWorld, home: Path) -> None:
    with instance_in(home, dict(KEPT)) as instance:
        runs, wanted = runs_of(instance, world), list(requests())
        wanted.insert(1, (RunRequest(run_key="wrong", job_name="no_such_job"), {}))
        runs.create(wanted, always)
        for request, tags in wanted:
            if request.run_key == "wrong":
                with pytest.raises(Exception, match="no_such_job"):
                    runs.submit(request, tags)
            else:
                runs.submit(request, tags)
        assert {run.status for run in instance.get_runs()} == {DagsterRunStatus.QUEUED}
        assert instance.get_runs_count() == len(wanted) - 1


def test_runs_that_exist_are_neither_written_nor_queued_again(world: HostWorld, home: Path) -> None:
    with instance_in(home, dict(KEPT)) as instance:
        first, wanted = runs_of(instance, world), requests()
        submit_together(first, wanted[:2])
        before = all_rows(instance)["event_logs"]
        assert submit_together(runs_of(instance, world), wanted[:2]) == [None, None]
        assert all_rows(instance)["event_logs"] == before
        found = submit_together(runs_of(instance, world), wanted)
        assert found[:2] == [None, None] and found[2] is not None
        assert {run.status for run in instance.get_runs()} == {DagsterRunStatus.QUEUED}


def test_a_run_that_is_cancelled_before_it_is_queued_stays_so(world: HostWorld, home: Path) -> None:
    with instance_in(home, dict(KEPT)) as instance:
        runs, wanted = runs_of(instance, world), requests()
        runs.create(wanted, always)
        cancelled = instance.get_run_by_id(run_id_of(wanted[1][0].run_key or ""))
        assert cancelled is not None
        instance.report_run_canceled(cancelled)
        for request, tags in wanted:
            runs.submit(request, tags)
        statuses = {run.run_id: run.status for run in instance.get_runs()}
        assert statuses.pop(cancelled.run_id) is DagsterRunStatus.CANCELED
        assert set(statuses.values()) == {DagsterRunStatus.QUEUED}
        assert not instance.all_logs(cancelled.run_id, of_type=DagsterEventType.RUN_ENQUEUED)


def test_a_run_that_another_host_creates_at_the_same_moment_is_found(
    world: HostWorld, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with instance_in(home, dict(KEPT)) as instance:
        create, wanted = RunRows.create, requests()

        def outrun(*arguments: Any) -> Any:
            monkeypatch.setattr(RunRows, "create", create)
            storage: Any = instance.run_storage
            exists = storage.get_runs
            # It looks before, and writes after the other one has written.
            monkeypatch.setattr(storage, "get_runs", lambda *_, **__: ())
            runs_of(instance, world).submit(*wanted[1])
            try:
                return create(*arguments)
            finally:
                monkeypatch.setattr(storage, "get_runs", exists)

        monkeypatch.setattr(RunRows, "create", outrun)
        found = submit_together(runs_of(instance, world), wanted)
        assert found[1] is None and None not in (found[0], found[2], found[3])
        assert {run.status for run in instance.get_runs()} == {DagsterRunStatus.QUEUED}
        assert instance.get_runs_count() == len(wanted)


def test_with_a_file_for_each_run_they_are_created_by_themselves(
    world: HostWorld, empty_homes: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(empty_homes[SHARDED], tmp_path, dirs_exist_ok=True)
    with instance_in(tmp_path, {}) as instance:
        assert not writes_together(instance)
        runs = runs_of(instance, world)
        runs.create(requests(), always)
        assert not instance.get_runs()
        assert submit_together(runs, requests()).count(None) == 0


def test_the_next_offer_completes_what_a_killed_host_was_writing(world: HostWorld, home: Path) -> None:
    """It is killed before each of its statements, as far as there are more of them."""
    with instance_in(home, dict(KEPT)) as instance:
        submit_together(runs_of(instance, world), requests("not killed"))
        kills = 0
        while True:
            wanted = requests(f"kill {kills}")
            with suppress(Killed), dying_before(Engine, 1 + kills * every(3), Killed):
                submit_together(runs_of(instance, world), wanted)
                break
            submit_together(runs_of(instance, world), wanted)
            kills += 1

            for request, _ in wanted:
                run_id = run_id_of(request.run_key or "")
                run = instance.get_run_by_id(run_id)
                assert run is not None and run.status is DagsterRunStatus.QUEUED, f"kill {kills}"
                assert instance.all_logs(run_id, of_type=DagsterEventType.RUN_ENQUEUED), f"kill {kills}"
        assert kills > 3
        reach("kills of a host that writes runs together", kills)
