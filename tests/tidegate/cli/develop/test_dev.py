"""`tidegate dev`: a mistake in the YAML changes nothing, and nothing to run is reported at once."""

import shutil
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.tidegate.project import SALES, Project
from tidegate.cli.develop.dev import _queries, changes, redeploy
from tidegate.cli.main import application
from tidegate.processes import living
from tidegate.processes.lock import project_lock
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.launch.active_host import take
from tidegate.scheduler.store.open import open_store

pytestmark = pytest.mark.slow  # whole commands


def deployed_schedules(project: Project) -> set[str]:
    store = open_store(load_settings(project.folder).store_url)
    try:
        with store.reading() as reader:
            return {state.name for state in reader.schedules()}
    finally:
        store.close()


def test_a_change_is_deployed(project: Project) -> None:
    assert redeploy(load_settings())
    project.write("sales", SALES.replace("report_at_six", "report_at_seven"))

    assert redeploy(load_settings())

    assert "report_at_seven" in deployed_schedules(project)


def test_a_query_that_is_saved_is_a_change(project: Project) -> None:
    (project.folder / "programs").mkdir(exist_ok=True)
    query = project.folder / "programs" / "report.sql"
    query.write_text("SELECT 1 AS n")
    project.write(
        "asked", "app: asked\ndatasets: {n: {}}\nprograms: {p: {sql: programs/report.sql, writes: [n]}}\n"
    )
    settings = load_settings()
    assert redeploy(settings)

    seen = changes(settings.schedules, lambda: _queries(settings))
    assert not next(seen)
    query.write_text("SELECT 2 AS n")
    assert next(seen)
    assert not next(seen)


def test_a_folder_that_is_missing_may_come_and_come_back(tmp_path: Path) -> None:
    folder = tmp_path / "schedules"
    seen = changes(folder)
    assert not next(seen)
    for _ in range(2):
        folder.mkdir()
        (folder / "a.yaml").write_text("app: a\n")
        assert next(seen)
        assert not next(seen)
        shutil.rmtree(folder)
        assert next(seen)
        assert not next(seen)


def test_a_mistake_leaves_what_was_deployed(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    redeploy(load_settings())
    project.write("sales", SALES.replace("make_report,", "make_nothing, bad: [,"))

    assert not redeploy(load_settings())

    assert "report_at_six" in deployed_schedules(project)
    assert "the previous deployment remains" in capsys.readouterr().err


def test_with_nothing_to_run_it_ends(project: Project) -> None:
    project.write("sales", "app: [")

    assert "no earlier deployment" in project.refused("dev").message


def test_a_second_one_on_the_project_is_refused_and_deploys_nothing(project: Project) -> None:
    with project_lock(project.folder):
        assert "`tidegate dev` already runs" in project.refused("dev").message

    assert not (project.folder / ".tidegate" / "store.db").exists()


def test_it_is_refused_beside_a_host_that_is_at_work(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.run("deploy")
    monkeypatch.setattr(living, "is_renewed", lambda *_: True)
    settings, store = load_settings(), project.store()
    with store.transaction() as transaction:
        take(transaction, settings.name, "night/4242/a/b/c/d", datetime.now(UTC))
    store.close()

    refusal = project.refused("dev")

    assert f"a host already works on {settings.name}: process 4242 on night, since " in refusal.message
    assert "end it first" in refusal.hint


@pytest.mark.parametrize("port", ["0", "65536", "-1"])
def test_a_port_that_does_not_exist_is_refused(project: Project, port: str) -> None:
    result = CliRunner().invoke(application, ["dev", "--port", port])

    assert result.exit_code != 0
    assert "'--port'" in result.output


def test_a_port_that_is_in_use_is_refused_before_anything_is_deployed(project: Project) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert project.refused("dev", "--port", str(port)).message == f"port {port} is in use"

    assert not (project.folder / ".tidegate" / "store.db").exists()


def test_what_waits_is_never_discarded_without_a_question(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    redeploy(load_settings())
    project.arrive("2026-03-09")

    project.write("sales", SALES.replace("orders", "purchases"))
    assert not redeploy(load_settings())
    assert "sales/report_daily: 1 waiting job is discarded with D-UPDATED" in capsys.readouterr().err

    project.write("sales", SALES)
    assert redeploy(load_settings())
    (found,) = project.json("why", "report_daily")
    assert found["trigger"]["summary"] == "1 of 2 new partitions of orders"


def test_a_person_at_the_terminal_may_agree(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    redeploy(load_settings())
    project.arrive("2026-03-09")
    project.write("sales", SALES.replace("count: 2", "count: 3"))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    answers = [False, True]
    monkeypatch.setattr("typer.confirm", lambda _: answers.pop(0))

    assert not redeploy(load_settings())
    assert redeploy(load_settings())
    assert project.json("jobs", "list", "--all")[0]["reason"] == "D-UPDATED"


def test_carried_events_are_no_question(project: Project) -> None:
    (project.folder / "tidegate.toml").write_text('[deploy]\non_update = "carry"\n')
    redeploy(load_settings())
    project.arrive("2026-03-09")
    project.write("sales", SALES.replace("count: 2", "count: 3"))

    assert redeploy(load_settings())
    (found,) = project.json("why", "report_daily")
    assert found["trigger"]["summary"] == "1 of 3 new partitions of orders"
