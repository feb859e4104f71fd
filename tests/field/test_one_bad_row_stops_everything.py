"""One row of the scheduler's database was damaged, and every command and the scheduling of all apps died.

A damaged row is left out and named; everything else goes on, and nothing that belongs to it is discarded.
"""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.tidegate.project import Project, sales_as
from tidegate.project import imports
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.tick.tick import tick

pytestmark = pytest.mark.slow  # whole commands


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Two apps; one job of each waits for a second day."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(imports, "check_imports", lambda compilation, project: compilation)
    made = Project(tmp_path)
    made.write("shop", sales_as("shop"))
    made.run("deploy", "--yes")
    arrive("2026-03-09")
    return made


def arrive(day: str) -> None:
    now = datetime.now(UTC)
    store = open_store(load_settings().store_url, create=False)
    with store.transaction() as transaction:
        transaction.add_events(
            [
                Event(
                    id=f"{app}:{day}",
                    kind=EventKind.PARTITION,
                    key=partition_event_key(app, "orders"),
                    time=now,
                    arrived=now,
                    partition=day,
                )
                for app in ("sales", "shop")
            ]
        )
    tick(store, now + timedelta(seconds=1))
    store.close()


def damage(table: str, column: str, where: str, value: str = "{half") -> None:
    store = open_sql_store(load_settings().store_url)
    with store.engine.begin() as connection:
        changed = connection.execute(text(f"UPDATE {table} SET {column} = '{value}' WHERE {where}"))
        assert changed.rowcount == 1
    store.close()


def states() -> dict[str, JobState]:
    """The state of the job of each schedule."""
    store = open_store(load_settings().store_url, create=False)
    with store.reading() as reader:
        found = {job.schedule: job.state for job in reader.jobs()}
    store.close()
    return found


@pytest.mark.parametrize(
    ("table", "column", "where"),
    [
        ("schedules", "spec", "ref = 'sales/report_daily'"),
        ("schedules", "spec", "ref = 'sales/report_at_six'"),
        ("apps", "spec", "name = 'sales'"),
        ("events", "run", "id = 'sales:2026-03-09'"),
    ],
)
def test_the_rest_goes_on(project: Project, table: str, column: str, where: str) -> None:
    damage(table, column, where)
    arrive("2026-03-10")

    assert states()["shop/report_daily"] is JobState.PENDING_LAUNCH
    assert states()["sales/report_daily"] is not JobState.DISCARDED
    for command in (
        ("jobs", "list"),
        ("schedules", "list"),
        ("ledger",),
        ("why", "shop/report_daily"),
    ):
        project.run_with_errors(*command)

    key = where.partition("'")[2].rstrip("'")
    said = project.run_with_errors("doctor", exit_code=1)
    assert f"row {key} of {table}: its {column} cannot be read" in said
    assert f"row {key} of {table}" in project.run_with_errors("commits", "fsck", exit_code=1)


@pytest.mark.parametrize(
    ("table", "where"), [("schedules", "ref = 'sales/report_daily'"), ("apps", "name = 'sales'")]
)
@pytest.mark.parametrize("change", [False, True], ids=["nothing", "it"])
def test_a_deployment_repairs_what_it_deploys(project: Project, table: str, where: str, change: bool) -> None:
    damage(table, "spec", where)
    if change:
        project.edit("0 6 1-15 3 *", "0 7 1-15 3 *")
    project.run("deploy", "--yes")
    assert f"of {table}" not in project.run_with_errors("doctor", exit_code=1)


def test_a_job_of_a_damaged_schedule_waits_until_the_row_is_back(project: Project) -> None:
    damage("schedules", "spec", "ref = 'sales/report_daily'")
    store = open_store(load_settings().store_url, create=False)
    for minutes in (2, 200):
        tick(store, datetime.now(UTC) + timedelta(minutes=minutes))
    store.close()
    assert states()["sales/report_daily"] is JobState.PENDING_TRIGGER


def test_what_the_database_says_of_itself_is_in_doctor(project: Project) -> None:
    file = Path(load_settings().store_url.removeprefix("sqlite:///"))
    connection = sqlite3.connect(file)
    query = "SELECT rootpage FROM sqlite_master WHERE name = 'ix_commit_abandoned_at'"
    ((page,), (size,)) = (connection.execute(one).fetchone() for one in (query, "PRAGMA page_size"))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    content = bytearray(file.read_bytes())
    content[(page - 1) * size : (page - 1) * size + 100] = b"x" * 100
    file.write_bytes(bytes(content))
    assert "quick_check" in project.run_with_errors("doctor", exit_code=1)
