"""`tidegate status`: one screen that says whether everything is alive, with the numbers of the work."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.server.process import ServerProcess
from tests.tidegate.cli.operate.test_jobs import dead_letter
from tests.tidegate.project import Project
from tidegate.processes import alive
from tidegate.processes.alive import DagsterState
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.launch.active_host import take
from tidegate.scheduler.tick.tick import tick

pytestmark = pytest.mark.slow  # whole commands


@pytest.fixture
def beating(deployed: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project beside a Dagster whose daemon has just written its heartbeat."""
    state = DagsterState(home=Path("home"), heartbeat=datetime.now(UTC))
    monkeypatch.setattr(alive, "dagster_state", lambda settings, **_: state)
    return deployed


def parts(project: Project, exit_code: int = 0) -> dict[str, str]:
    return {each["part"]: each["health"] for each in project.json("status", exit_code=exit_code)["parts"]}


def test_all_that_is_alive_ends_with_0_and_shows_the_oldest_waiting_job(beating: Project) -> None:
    beating.arrive("2026-03-09")

    (job,) = beating.json("jobs", "list")
    printed = beating.run("status")
    assert printed.startswith("shop: alive\n")
    assert f"job {job['id']}, since " in printed and "W-TRIGGER" in printed
    assert parts(beating) == {
        "store": "ok",
        "deployment": "ok",
        "host": "note",
        "engine": "ok",
        "version": "ok",
        "Dagster's database": "ok",
        "daemon": "ok",
        "server": "note",
        "warehouse": "note",
    }
    found = beating.json("status")
    assert (found["alive"], found["work"]["waiting"], found["work"]["oldest_waiting"]["job"]) == (
        True,
        1,
        job["id"],
    )


def test_dead_letters_failures_and_holds_are_counted(beating: Project) -> None:
    dead_letter(beating)
    beating.run("apps", "hold", "sales")

    found = beating.json("status", exit_code=1)
    [engine] = [part for part in found["parts"] if part["part"] == "engine"]
    assert engine["text"].endswith("s in the future"), "the dead letter was made by ticks of the coming hours"
    work = found["work"]

    assert (work["dead_letters"], work["failed"], work["held"]) == (1, 1, ["sales"])
    assert "1; `tidegate jobs list --dead-letters`" in beating.run("status", exit_code=1)


def test_what_is_not_alive_ends_with_1(beating: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    beating.arrive("2026-03-09")
    monkeypatch.setattr(alive, "dagster_state", lambda settings, **_: "its database is down")
    assert parts(beating, exit_code=1)["Dagster's database"] == "wrong"

    (beating.folder / "warehouse").write_text("not a folder")
    assert parts(beating, exit_code=1)["warehouse"] == "wrong"

    monkeypatch.setenv("TIDEGATE_STORE_URL", "sqlite:////no/such/folder/store.db")
    found = beating.json("status", exit_code=1)
    assert (found["parts"][0]["health"], found["work"]) == ("wrong", None)
    assert beating.run("status", exit_code=1).startswith("shop: not alive")


def test_next_fires_are_compared_with_their_crons_once_a_clock_was_ahead(beating: Project) -> None:
    beating.arrive("2026-03-09")
    assert not [part for part in parts(beating) if part.startswith("next fire")]
    store = beating.store()
    tick(store, datetime.now(UTC) + timedelta(days=500))
    store.close()
    assert parts(beating, exit_code=1)["next fire of sales/report_at_six"] == "wrong"


def test_doctor_and_status_say_the_same_of_each_part(beating: Project) -> None:
    beating.arrive("2026-03-09")
    doctor = [each for each in beating.json("doctor") if not each["part"].startswith(("Spark", "Iceberg"))]

    assert doctor == beating.json("status")["parts"][: len(doctor)]


@pytest.mark.slow
def test_the_server_of_the_project_is_asked(beating: Project) -> None:
    beating.arrive("2026-03-09")
    server = ServerProcess(beating.folder, "--no-host")
    try:
        printed = beating.run("status")
        assert f"answers at {server.address}" in printed
        assert parts(beating)["server"] == "ok"
    finally:
        server.kill()
    assert f"does not answer at {server.address}" in beating.run("status")

    server = ServerProcess(beating.folder, "--no-host")
    server.end()
    assert "none has left its address" in beating.run("status")


def test_a_host_that_renews_its_lease_while_dagster_is_asked_has_no_other_clock(
    beating: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dagster takes seconds to answer on a busy machine."""
    state = alive.dagster_state(load_settings())

    def renewed(*_: object, **__: object) -> DagsterState | str:
        store = beating.store()
        with store.transaction() as transaction:
            take(transaction, "shop", "machine/1/m/b/s/9", datetime.now(UTC) + timedelta(seconds=7))
        store.close()
        return state

    monkeypatch.setattr(alive, "dagster_state", renewed)
    assert parts(beating, exit_code=1)["host"] == "note", "the engine alone has never ticked"
