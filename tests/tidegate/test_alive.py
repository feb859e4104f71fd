"""What `why` reads of a real Dagster instance, and of code servers that are not there."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from dagster import DagsterInstance
from dagster._core.remote_origin import RemoteInstigatorOrigin
from dagster._core.scheduler.instigation import TickData, TickStatus
from dagster._daemon.types import DaemonHeartbeat

from tests.tidegate.project import Project
from tidegate.dagster_defs.internals.errors import SerializableErrorInfo
from tidegate.dagster_defs.internals.instigators import InstigatorState, InstigatorStatus, InstigatorType
from tidegate.dagster_defs.internals.origins import GrpcServerCodeLocationOrigin, RemoteRepositoryOrigin
from tidegate.processes.alive import CodeServer, DagsterState, Dispatcher, dagster_state
from tidegate.processes.code_servers import HOST, free_port
from tidegate.processes.home import prepare_home
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.launch.versions import AtWork

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

    assert dagster_state(settings) == DagsterState(
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
