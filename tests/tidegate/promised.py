"""A project with two publishes that are promised and not begun, for the tests of `commits`."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.spark_jobs.staging import DAILY, daily, put, stage_rows
from tidegate.cli.commits.inspect import app
from tidegate.domain.model import App, Dataset, Program
from tidegate.project.environment import PROJECT_VARIABLE, STORE_VARIABLE
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.model.deployed import APPS, DeployedApp
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.parquet.output import staging_folder
from tidegate.spark_jobs.publication.table import sequence_of

TABLE, OTHER = daily("table"), daily("other")
LEASE = timedelta(minutes=2)
FIRST, SECOND = "2013-12-22", "2013-12-23"


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    (tmp_path / "tidegate.toml").write_text('[warehouse]\ndefault_format = "parquet"\n')
    monkeypatch.setenv(PROJECT_VARIABLE, str(tmp_path))
    monkeypatch.delenv(STORE_VARIABLE, raising=False)
    return Warehouse(path=tmp_path / "warehouse", project=tmp_path)


@pytest.fixture
def engine_store(warehouse: Warehouse) -> Iterator[SqlStore]:
    """The project's store, in which an app with two tables is deployed."""
    opened = open_sql_store(load_settings().store_url)
    deployed = App(
        name="test",
        datasets={name: Dataset(name=name, partitions=DAILY) for name in ("table", "other")},
        programs={"both": Program(name="both", run="m.f", writes=("table", "other"))},
    )
    with opened.transaction() as transaction:
        transaction.put_records(APPS, [DeployedApp(app=deployed, revision=1, deployed_at=now())])
    yield opened
    opened.close()


@pytest.fixture
def store(warehouse: Warehouse, engine_store: SqlStore) -> SqlCommitStepStore:
    """Two publishes are promised, and none of their steps is done."""
    store = SqlCommitStepStore(engine_store.engine)
    for number, day in enumerate((FIRST, SECOND), start=1):
        table = stage_rows(warehouse, TABLE, {day: [number]}, commit=f"c{number}", token=number)
        put(store, sequence_of(f"c{number}", number, [table], reports_events=True))
    return store


def invoke(*arguments: str, answer: str = "") -> Result:
    return CliRunner().invoke(app, arguments, input=answer)


def run(*arguments: str) -> str:
    """What the command prints; its failure is raised."""
    result = invoke(*arguments)
    if result.exception is not None:
        raise result.exception
    return result.output


def fail(store: SqlCommitStepStore, commit: str, times: int) -> None:
    for _ in range(times):
        store.take(commit, "me", now=now(), until=now() + LEASE)
        store.fail(commit, "me", "CommitUnknown: no file system", now())


def staged(warehouse: Warehouse, commit: str, token: int) -> bool:
    return Path(staging_folder(TABLE.root(warehouse), commit, token)).exists()


def spoil(warehouse: Warehouse, commit: str) -> None:
    """What it has staged is lost."""
    warehouse.files.delete(f"{TABLE.root(warehouse)}/_staging/{commit}")


def findings(*arguments: str) -> list[tuple[str, str]]:
    """Kind and place of what fsck finds; its exit code must agree."""
    result = invoke("fsck", "--format", "json", *arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    found: list[dict[str, Any]] = json.loads(result.stdout)["findings"]
    assert result.exit_code == (1 if found else 0), result.exception
    return [(one["kind"], one["where"]) for one in found]
