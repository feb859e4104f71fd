"""`tidegate doctor`: a finding for each part, a remedy for what is wrong, and the exit code."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from tests.doubles.dead_process import DEAD, process_of
from tests.tidegate.project import Project
from tidegate.cli.operate.health.findings import Engine, Finding, Health, dagster_findings, engine_findings
from tidegate.cli.operate.health.found import permission_findings
from tidegate.processes import alive
from tidegate.processes.alive import CodeServer, DagsterState, Dispatcher
from tidegate.release import release
from tidegate.scheduler.launch.active_host import ActiveHost
from tidegate.scheduler.launch.versions import AtWork
from tidegate.scheduler.model.obstacle import LocationState
from tidegate.scheduler.model.records.watched import WatchedFolder

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(hours=1)
PROCESS = "machine/77/m/b/s/9"
SEEN_BY_OTHERS = ("permissions of store.db", "permissions of store.db-wal")

FOLDER = WatchedFolder(dataset="a/d", project="p", folder="/landing", since=NOW)
FAILING = WatchedFolder(
    dataset="a/d", project="p", folder="/landing", since=NOW, problem="gone", remedy="mount it"
)

LOST = LocationState(problem="ModuleNotFoundError: no module", since=LONG_AGO)


def lease(looped_at: datetime, problem: str = "", problem_since: datetime | None = None) -> ActiveHost:
    given = {"problem": problem, "problem_since": problem_since}
    return ActiveHost(process=PROCESS, since=LONG_AGO, looped_at=looped_at, **given)


def engine(**fields: object) -> list[Finding]:
    given = {"apps": ("sales",), "ticked_at": NOW, "host": lease(NOW), **fields}
    return list(engine_findings(cast(Any, Engine)(**given), NOW, 5))


def dagster(*, hosted: bool = False, **fields: object) -> list[Finding]:
    given = {"home": Path("home"), "heartbeat": NOW, **fields}
    return list(dagster_findings(cast(Any, DagsterState)(**given), NOW, hosted=hosted))


def off(health: Health, found: list[Finding]) -> list[str]:
    """The parts of which a finding says so."""
    return [each.part for each in found if each.health is health]


@pytest.mark.parametrize(
    ("found", "notes", "wrong"),
    [
        (engine(), [], []),
        (engine(apps=()), [], ["deployment"]),
        (engine(host=None), ["host"], []),
        (engine(host=lease(LONG_AGO)), [], ["host"]),
        (engine(ticked_at=None), [], ["engine"]),
        (engine(folders=[FOLDER]), [], []),
        (engine(folders=[FAILING]), [], ["watched folder of a/d"]),
        (engine(ticked_at=LONG_AGO), [], ["engine"]),
        (engine(writer="process 7 (python, stopped)"), [], []),
        (engine(ticked_at=LONG_AGO, writer="process 7 (python, stopped)"), [], ["engine"]),
        (engine(ticked_at=NOW + timedelta(minutes=1)), [], ["engine"]),
        (engine(host=lease(NOW, problem="the location is not loaded", problem_since=NOW)), [], ["host"]),
        (engine(locations={"acme": LocationState(since=NOW)}), [], []),
        (engine(locations={"acme": LOST}), [], ["location acme"]),
        (engine(locations={"acme": LOST}, host=None), ["host", "location acme"], []),
        (engine(hostless=["sales/load"], host=None), ["host"], ["existing jobs"]),
        (engine(hostless=["sales/load"]), [], []),
        (engine(version="2", versions=[("2", "host"), ("2", "3 runs")]), [], []),
        (engine(version="2", versions=[("2", "host"), ("1", "server")]), [], ["version"]),
        (engine(host=lease(NOW + timedelta(minutes=1)), renewed=True), [], ["host"]),
        (engine(host=lease(LONG_AGO), renewed=True), [], ["host"]),
        (dagster(), [], []),
        (dagster(heartbeat=None), [], ["daemon"]),
        (dagster(heartbeat=LONG_AGO), [], ["daemon"]),
        (dagster(outdated=("runs",)), [], ["Dagster's database"]),
        (dagster(sharded=True), ["Dagster's event log"], []),
        (dagster(servers=(CodeServer(address="h:1"),)), [], []),
        (
            dagster(servers=(CodeServer(address="h:1", problem="does not answer"),)),
            [],
            ["code location at h:1"],
        ),
        (dagster(dispatchers=(Dispatcher(name="d", on=True, at=NOW),)), [], []),
        (dagster(dispatchers=(Dispatcher(name="d", on=False),)), ["d"], []),
        (dagster(dispatchers=(Dispatcher(name="d", on=True, at=NOW, problem="x"),)), [], ["d"]),
        (dagster(hosted=True, dispatchers=(Dispatcher(name="d", on=True, at=NOW, problem="x"),)), ["d"], []),
        (list(dagster_findings("the server is down", NOW, hosted=False)), [], ["Dagster's database"]),
    ],
)
def test_what_is_found(found: list[Finding], notes: list[str], wrong: list[str]) -> None:
    assert (off(Health.NOTE, found), off(Health.WRONG, found)) == (notes, wrong)
    assert all(bool(each.remedy) is (each.health is not Health.OK) for each in found)


def test_a_location_is_named_with_its_error_and_since_when() -> None:
    (found,) = [each for each in engine(locations={"acme": LOST}) if each.part == "location acme"]
    assert found.text == "failed since 2026-03-10 11:00:00Z: ModuleNotFoundError: no module"


def test_the_active_host_is_named() -> None:
    (host,) = [each for each in engine() if each.part == "host"]
    assert "process 77 on machine" in host.text and "last loop at 2026-03-10 12:00:00Z" in host.text


@pytest.mark.dagster
def test_it_says_what_is_wrong_with_a_project(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    assert "wrong store: " in project.run("doctor", exit_code=1)
    project.run("deploy")
    found = {each["part"]: each["health"] for each in project.json("doctor", exit_code=1)}
    # With Spark 4 the wheel has a runtime of Iceberg for another Spark.
    assert found.pop("Iceberg", "note") == "note"
    assert found == {
        "store": "ok",
        "deployment": "ok",
        "host": "note",
        "engine": "wrong",
        "version": "ok",
        "Dagster's database": "wrong",
        "Spark": "ok",
    }


@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        ({}, {}),
        ({".": 0o755}, {"permissions of .tidegate": "note"}),
        ({"store.db": 0o644, "store.db-wal": 0o640}, dict.fromkeys(SEEN_BY_OTHERS, "note")),
        ({".": 0o777}, {"permissions of .tidegate": "wrong"}),
    ],
    ids=["private", "an older folder", "older files", "all may write"],
)
def test_files_of_the_store_that_others_can_use_are_named_with_the_remedy(
    tmp_path: Path, modes: dict[str, int], expected: dict[str, str]
) -> None:
    folder = tmp_path / ".tidegate"
    folder.mkdir(mode=0o700)
    for name in ("store.db", "store.db-wal", "store.db-shm"):
        (folder / name).touch(mode=0o600)
    for name, mode in modes.items():
        (folder / name).chmod(mode)
    found = list(permission_findings(f"sqlite:///{folder}/store.db"))
    assert {each.part: each.health for each in found} == expected
    assert all("`chmod " in each.remedy and str(folder) in each.text for each in found)


@pytest.mark.parametrize(
    ("daemon", "version"),
    [
        (None, "ok"),
        (AtWork(version=release(), process=PROCESS, since=NOW), "ok"),
        (AtWork(version="0.0.1", process=PROCESS, since=NOW), "wrong"),
        (AtWork(version="0.0.1", process=DEAD, since=NOW), "ok"),
        (AtWork(version="", process="", since=NOW), "wrong"),
    ],
    ids=["not ours", "of this version", "old", "ended", "older than the note"],
)
def test_an_old_daemon_is_named_after_an_upgrade(
    project: Project, monkeypatch: pytest.MonkeyPatch, daemon: AtWork | None, version: str
) -> None:
    project.run("deploy")
    if daemon is not None:
        daemon = msgspec.structs.replace(daemon, process=process_of(daemon.process))
    state = DagsterState(home=Path("home"), heartbeat=datetime.now(UTC), daemon=daemon)
    monkeypatch.setattr(alive, "dagster_state", lambda settings, **_: state)
    for command in ("doctor", "status"):
        printed = project.json(command, exit_code=1)
        (found,) = [
            each
            for each in cast(Any, printed if command == "doctor" else printed["parts"])
            if each["part"] == "version"
        ]
        assert found["health"] == version
        if version == "wrong":
            assert ": daemon" in found["text"] and "restart" in found["remedy"]
