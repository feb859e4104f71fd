"""Every command that lists or shows prints one JSON document on stdout with `--format json`.

The commands come from the command line itself: a new one that only reads must be named here.
"""

import json
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner, Result

from tests.alerts.samples import alert
from tests.tidegate.cli.walk import Path, every_command, is_group
from tests.tidegate.project import Project
from tests.tidegate.tasks import EIGHT, TaskProject
from tidegate.cli import main as frame
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.model.records.alert import ALERTS
from tidegate.scheduler.model.run import GAUGES, Gauge
from tidegate.scheduler.store.open import open_store

pytestmark = pytest.mark.slow  # whole commands

WRITES = {
    ("init",),
    ("fmt",),
    ("render",),
    ("apps", "hold"),
    ("apps", "release"),
    ("schedules", "suspend"),
    ("schedules", "resume"),
    ("schedules", "trigger"),
    ("schedules", "delete"),
    ("schedules", "create"),
    ("schedules", "update"),
    ("overrides", "revert"),
    ("jobs", "cancel"),
    ("jobs", "retry"),
    ("jobs", "force"),
    ("jobs", "requeue"),
    ("alerts", "test"),
    ("alerts", "retry"),
    ("gauge", "set"),
    ("token", "create"),
    ("token", "revoke"),
    ("commits", "abandon"),
    ("commits", "adopt"),
    ("commits", "recover"),
    ("commits", "release"),
    ("watermarks", "reset"),
    ("watermarks", "forget"),
}
"""Commands without `--format` that change something and say what they did."""

SCRIPTS = {("completion",), ("schema",), ("import", "crontab"), ("import", "cdap")}
OTHERS = {("dev",), ("host",), ("serve",), ("demo",), ("land",), ("version",)} | SCRIPTS
"""Processes that go on, files of another form (scripts, the schema, YAML), and the version (one word)."""

LISTS: dict[Path, int] = {
    ("docs",): 0,
    ("docs", "concepts"): 0,
    ("explain", "W-TRIGGER"): 0,
    ("lint",): 0,
    ("plan",): 0,
    ("diff",): 0,
    ("deployments", "log"): 0,
    ("apps", "list"): 0,
    ("schedules", "list"): 0,
    ("jobs", "list"): 0,
    ("jobs", "list", "--all"): 0,
    ("jobs", "list", "--failed"): 0,
    ("jobs", "list", "--dead-letters"): 0,
    ("tasks", "list"): 0,
    ("instances", "list"): 0,
    ("instances", "list", "--status", "failed"): 0,
    ("day",): 0,
    ("backfill", "status"): 0,
    ("watch",): 0,
    ("alerts", "list"): 0,
    ("gauge", "list"): 0,
    ("maintenance", "tables"): 0,
    ("maintenance", "plan"): 0,
    ("maintenance", "history"): 0,
    ("events", "list"): 0,
    ("late",): 0,
    ("overrides", "list"): 0,
    ("ledger",): 0,
    ("token", "list"): 0,
    ("status",): 1,
    ("doctor",): 1,
    ("checks", "list"): 0,
    ("commits", "list"): 0,
    ("commits", "fsck"): 0,
    ("watermarks", "list"): 0,
    ("store", "size"): 0,
}
"""Calls that answer in any project whose store exists, with their exit codes: no Dagster runs."""

OF_YAML: set[Path] = {("lint",), ("plan",), ("diff",)}
"""Those that need a YAML file."""

OF_SALES: dict[Path, int] = {
    ("plan",): 2,
    ("diff",): 2,
    ("lineage", "report"): 0,
    ("lineage", "report.day"): 0,
    ("datasets", "show", "report"): 0,
    ("schedules", "show", "report_daily"): 0,
    ("overrides", "show", "sales/report_at_six"): 0,
    ("why", "report_daily"): 0,
    ("test",): 0,
}
"""Further calls in the project with an app; its YAML has changed since."""

OF_TASKS: dict[Path, int] = {
    ("instances", "show", "feed", EIGHT): 0,
    ("why", "feed"): 0,
    ("why", "feed", EIGHT): 0,
}

OF_JOB: tuple[Path, ...] = (("jobs", "show"), ("why",))
"""Calls with the id of a job."""

OF_NUMBERS: tuple[Path, ...] = (*OF_JOB, ("deployments", "show"), ("deployments", "diff"))
"""Calls with the id of a job or the number of a deployment."""

OF_TABLES = {
    ("maintenance", "status"),
    ("maintenance", "explain"),
    ("columns",),
    ("checks", "show"),
    ("commits", "show"),
    ("watermarks", "show"),
}
"""Commands about a table, a commit or a reader, whose JSON the tests of each look at."""

ELSEWHERE = {
    ("deploy",),
    ("deployments", "rollback"),
    ("instances", "mark"),
    ("instances", "pause"),
    ("instances", "resume"),
    ("instances", "rerun"),
    ("backfill", "start"),
    ("backfill", "cancel"),
    ("backfill", "resume"),
    ("report",),
    ("run",),
    ("maintenance", "run"),
    ("events", "replay"),
    ("simulate",),
    ("store", "prune"),
    ("store", "export"),
}
"""Commands that change something, or play a file, whose JSON the tests of each look at."""


def call(*arguments: str) -> Result:
    return CliRunner().invoke(frame.application, [*arguments, "--format", "json"])


def document(result: Result, code: int) -> Any:
    """Return the only document on stdout."""
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


@pytest.fixture
def empty(project: Project) -> Project:
    """A project without an app, whose store exists."""
    (project.folder / "schedules/sales.yaml").unlink()
    open_store(load_settings().store_url, create=True).close()
    return project


@pytest.fixture
def filled(deployed: Project) -> Project:
    """A project with events, a waiting job, an alert, a gauge and a token, and with a change in its YAML."""
    deployed.arrive("2026-03-09")
    store = deployed.store()
    now = datetime.now(UTC)
    with store.transaction() as transaction:
        transaction.put_records(ALERTS, [msgspec.structs.replace(alert(), project="shop")])
        transaction.put_records(
            GAUGES, [Gauge(name="cpu", value=42.0, reported_at=now - timedelta(minutes=1))]
        )
    store.close()
    deployed.run("token", "create", "reader", "--role", "read")
    deployed.run("schedules", "suspend", "report_at_six", "--reason", "no orders today")
    deployed.edit("count: 2", "count: 3")
    return deployed


def test_every_command_that_lists_or_shows_is_called_here() -> None:
    commands = {path: command for path, command in every_command() if not is_group(command)}
    called = {
        path
        for path in commands
        for each in (*LISTS, *OF_SALES, *OF_TASKS, *OF_NUMBERS)
        if each[: len(path)] == path
    }
    assert commands.keys() - called == WRITES | OTHERS | ELSEWHERE | OF_TABLES
    formats = {
        path for path, command in commands.items() if any(each.name == "format" for each in command.params)
    }
    assert formats == commands.keys() - WRITES - OTHERS


@pytest.mark.parametrize("path", [path for path in LISTS if path not in OF_YAML], ids=" ".join)
def test_an_empty_store_is_one_document(empty: Project, path: Path) -> None:
    document(call(*path), LISTS[path])


@pytest.mark.parametrize("command", ["show", "diff"])
def test_a_deployment_is_one_document(filled: Project, command: str) -> None:
    (deployed,) = filled.json("deployments", "log")
    document(call("deployments", command, str(deployed["number"])), 0)


@pytest.mark.parametrize("path", {**LISTS, **OF_SALES}, ids=" ".join)
def test_a_filled_store_is_one_document(filled: Project, path: Path) -> None:
    assert document(call(*path), {**LISTS, **OF_SALES}[path]) is not None


@pytest.mark.parametrize("path", OF_JOB, ids=" ".join)
def test_a_job_is_one_document(filled: Project, path: Path) -> None:
    (job,) = filled.json("jobs", "list")
    assert document(call(*path, job["id"]), 0)


@pytest.mark.parametrize("path", {**LISTS, **OF_TASKS}, ids=" ".join)
def test_tasks_are_one_document(morning: TaskProject, path: Path) -> None:
    codes = {**LISTS, **OF_TASKS}
    document(call(*path), codes[path])


def test_errors_go_to_stderr(
    empty: Project, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["tidegate", "jobs", "show", "nothing", "--format", "json"])
    with pytest.raises(SystemExit) as end:
        frame.main()
    printed = capfd.readouterr()
    assert (end.value.code, printed.out) == (1, "")
    assert "error:" in printed.err and "nothing" in printed.err


@pytest.mark.parametrize("path", LISTS, ids=" ".join)
def test_wrong_usage_prints_nothing_on_stdout(path: Path) -> None:
    result = call(*path, "--no-such-option")
    assert (result.exit_code, result.stdout) == (64, "")
    assert "no-such-option" in result.stderr
