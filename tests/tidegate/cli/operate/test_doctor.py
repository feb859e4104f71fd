"""`tidegate doctor`: a finding for each part, a remedy for what is wrong, and the exit code."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from tests.tidegate.project import Project
from tidegate.cli.operate.health.findings import Engine, Finding, Health, dagster_findings, engine_findings
from tidegate.processes.alive import CodeServer, DagsterState, Dispatcher
from tidegate.scheduler.launch.active_host import ActiveHost
from tidegate.scheduler.model.records.watched import WatchedFolder

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(hours=1)
PROCESS = "machine/77/m/b/s/9"

FOLDER = WatchedFolder(dataset="a/d", project="p", folder="/landing", since=NOW)
FAILING = WatchedFolder(
    dataset="a/d", project="p", folder="/landing", since=NOW, problem="gone", remedy="mount it"
)


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
        (engine(ticked_at=NOW + timedelta(minutes=1)), [], ["engine"]),
        (engine(host=lease(NOW, problem="the location is not loaded", problem_since=NOW)), [], ["host"]),
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


def test_the_active_host_is_named() -> None:
    (host,) = [each for each in engine() if each.part == "host"]
    assert "process 77 on machine" in host.text and "last loop at 2026-03-10 12:00:00Z" in host.text


@pytest.mark.dagster
def test_it_says_what_is_wrong_with_a_project(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    assert "wrong store: " in project.run("doctor", exit_code=1)
    project.run("deploy")
    found = project.json("doctor", exit_code=1)
    assert {each["part"]: each["health"] for each in found} == {
        "store": "ok",
        "deployment": "ok",
        "host": "note",
        "engine": "wrong",
        "version": "ok",
        "Dagster's database": "wrong",
    }
