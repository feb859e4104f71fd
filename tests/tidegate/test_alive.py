"""What `why` reads of a real Dagster instance, and of code servers that are not there."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from dagster import DagsterInstance
from dagster._core.remote_origin import RemoteInstigatorOrigin
from dagster._core.scheduler.instigation import TickData, TickStatus
from dagster._daemon.types import DaemonHeartbeat

from tests.tidegate.project import Project
from tidegate.dagster_defs.coordinator.daemon import note_daemon
from tidegate.dagster_defs.internals.errors import SerializableErrorInfo
from tidegate.dagster_defs.internals.instigators import InstigatorState, InstigatorStatus, InstigatorType
from tidegate.dagster_defs.internals.origins import GrpcServerCodeLocationOrigin, RemoteRepositoryOrigin
from tidegate.dagster_defs.internals.sqlite_files import read_notes
from tidegate.processes.alive import CodeServer, DagsterState, Dispatcher, dagster_state
from tidegate.processes.code_servers import HOST, free_port
from tidegate.processes.home import prepare_home
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.launch.versions import AtWork
from tidegate.spark_jobs.commit.process import this_process

pytestmark = pytest.mark.dagster

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
SENSOR = "tidegate_dispatcher"


def dispatcher(instance: DagsterInstance, location: str, at: datetime, on: bool, error: str = "") -> None:
    """Write what the daemon writes about a sensor."""
    server = GrpcServerCodeLocationOrigin(host=HOST, port=1, location_name=location)
    repository = RemoteRepositoryOrigin(code_location_origin=server, repository_name="__repository__")
    origin = RemoteInstigatorOrigin(repository_origin=repository, instigator_name=SENSOR)
    status = InstigatorStatus.RUNNING if on else InstigatorStatus.STOPPED
    state = InstigatorState(origin, InstigatorType.SENSOR, status)
    instance.add_instigator_state(state)
    info = SerializableErrorInfo(message=f"{error}\nmore", stack=[], cls_name=None) if error else None
    instance.create_tick(
        TickData(
            instigator_origin_id=state.instigator_origin_id,
            instigator_name=SENSOR,
            instigator_type=InstigatorType.SENSOR,
            status=TickStatus.FAILURE if error else TickStatus.SKIPPED,
            timestamp=at.timestamp(),
            selector_id=state.selector_id,
            error=info,
        )
    )


def test_heartbeat_dispatchers_and_code_servers_are_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    settings = load_settings()
    home = prepare_home(settings)
    assert dagster_state(settings) == DagsterState(home=home, heartbeat=None)

    with DagsterInstance.from_config(str(home)) as instance:
        instance.add_daemon_heartbeat(DaemonHeartbeat(NOW.timestamp(), "SENSOR", "d"))
        dispatcher(instance, "old", NOW - timedelta(days=1), on=True)
        dispatcher(instance, "new", NOW, on=True, error="the code server is down")
    port = free_port()
    (home / "workspace.yaml").write_text(
        f"load_from:\n  - grpc_server: {{host: {HOST}, port: {port}, location_name: new}}\n"
    )

    found = dagster_state(settings)
    assert found == dagster_state(settings, thorough=True)
    assert found == DagsterState(
        home=home,
        heartbeat=NOW,
        daemon=AtWork(version="", process="", since=NOW),
        servers=(CodeServer(address=f"{HOST}:{port}", problem="does not answer"),),
        dispatchers=(
            Dispatcher(name=f"{SENSOR} of new", on=True, at=NOW, problem="the code server is down"),
        ),
    )
    assert f"code location at {HOST}:{port} does not answer" in project.run("deploy") + project.run(
        "why", "report_daily"
    )


LOADED = """
import sys
from tidegate.processes.alive import dagster_state
from tidegate.project.settings.settings import load_settings
print(dagster_state(load_settings()))
print("dagster" in sys.modules)
"""


def written_home(at: datetime = NOW) -> Path:
    """Return the home of the project with what a daemon has written to it."""
    home = prepare_home(load_settings())
    with DagsterInstance.from_config(str(home)) as instance:
        instance.add_daemon_heartbeat(DaemonHeartbeat(at.timestamp(), "SENSOR", "d"))
        note_daemon(instance)
        dispatcher(instance, "never", at, on=False)
        dispatcher(instance, "failed", at, on=True, error="a line\nanother")
        dispatcher(instance, "fine", at, on=True)
    return home


def test_our_own_storage_is_read_without_dagster_as_dagster_reads_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    settings = written_home() / "dagster.yaml"
    read, asked = dagster_state(load_settings()), dagster_state(load_settings(), thorough=True)
    assert read == asked
    settings.write_text(f"{settings.read_text()}# changed\n")
    assert dagster_state(load_settings()) == read
    assert isinstance(read, DagsterState)
    assert read.daemon is not None
    assert read.daemon.process == this_process()
    assert {each.name: (each.on, each.problem) for each in read.dispatchers} == {
        f"{SENSOR} of never": (False, ""),
        f"{SENSOR} of failed": (True, "a line"),
        f"{SENSOR} of fine": (True, ""),
    }
    shown = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=project.folder, capture_output=True, text=True, check=True
    )
    assert shown.stdout.splitlines() == [str(read), "False"]


def test_of_a_home_that_nothing_has_worked_with_nothing_is_written(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    home = prepare_home(load_settings())
    files = {*home.rglob("*")}
    read = dagster_state(load_settings())
    assert {*home.rglob("*")} == files
    assert read == dagster_state(load_settings(), thorough=True)


OLDER = "UPDATE alembic_version SET version_num = 'a'"
OF_OLD_ROWS = "DELETE FROM secondary_indexes"


@pytest.mark.parametrize(
    ("file", "statement"),
    [
        ("history/runs.db", OLDER),
        ("schedules/schedules.db", "DELETE FROM job_ticks"),
        ("history/runs.db", "DELETE FROM daemon_heartbeats"),
        ("schedules/schedules.db", OF_OLD_ROWS),
    ],
)
def test_what_is_read_of_other_files_is_what_dagster_says(
    project: Project, monkeypatch: pytest.MonkeyPatch, file: str, statement: str
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    home = written_home()
    with closing(sqlite3.connect(home / file)) as connection, connection:
        connection.execute(statement)
    assert (read_notes(home) is None) == (statement == OF_OLD_ROWS)
    assert dagster_state(load_settings()) == dagster_state(load_settings(), thorough=True)


@pytest.mark.parametrize(
    "changed",
    [
        {"run_coordinator": {"module": "dagster._core.run_coordinator", "class": "DefaultRunCoordinator"}},
        {"instance_class": None},
    ],
)
def test_an_instance_with_other_parts_is_asked(
    project: Project, monkeypatch: pytest.MonkeyPatch, changed: dict[str, object]
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    home = written_home()
    content = {**yaml.safe_load((home / "dagster.yaml").read_text()), **changed}
    text = yaml.dump({key: value for key, value in content.items() if value is not None})
    (home / "dagster.yaml").write_text(text)
    monkeypatch.setattr("tidegate.processes.alive.read_notes", lambda home: pytest.fail("read"))
    assert isinstance(dagster_state(load_settings()), DagsterState)


def test_an_instance_that_cannot_be_read_is_a_line(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    home = project.folder / "elsewhere"
    home.mkdir()
    (home / "dagster.yaml").write_text("storage: {postgres: 3}\n")
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    found = dagster_state(load_settings())
    assert isinstance(found, str)
    assert found.startswith(f"Dagster's instance in {home} cannot be read: ")


def test_a_missing_file_of_the_instance_is_named_with_where_to_get_one(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = project.folder / "elsewhere"
    home.mkdir()
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    found = dagster_state(load_settings())
    assert isinstance(found, str)
    assert found.startswith(
        f"there is no dagster.yaml in {home}: set DAGSTER_HOME to the folder of the daemon"
    )
    assert "or make the file: `tidegate docs dagster`, Production, has one, and " in found
    starter = Path(found.partition("has one, and ")[2].partition(" is one for a single machine")[0])
    assert (starter.name, starter.is_file()) == ("dagster.yaml", True)
