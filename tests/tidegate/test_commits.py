"""`tidegate commits`: what it shows of a publish that died, and how it finishes it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scheduler.store.commit_steps import SqlCommitStepStore
from scheduler.store.open_sql import open_sql_store
from spark_jobs.commit.context import CommitContext
from spark_jobs.commit.sequence import CommitSequence
from spark_jobs.commit.steps.drop_staging_tables import DropStagingTables
from spark_jobs.io.dataset_ref import Warehouse
from spark_jobs.io.filesystem import LocalFiles
from spark_jobs.io.table import sequence_of
from tests.spark_jobs.staging import daily, put, read_rows, stage_rows
from tidegate.cli import commits
from tidegate.cli.commits import app
from tidegate.errors import UserError
from tidegate.settings import PROJECT_VARIABLE, STORE_VARIABLE, load_settings

TABLE = daily("table")


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    (tmp_path / "tidegate.toml").write_text("")
    monkeypatch.setenv(PROJECT_VARIABLE, str(tmp_path))
    monkeypatch.delenv(STORE_VARIABLE, raising=False)
    return Warehouse(path=tmp_path / "warehouse", project=tmp_path)


@pytest.fixture
def store(warehouse: Warehouse) -> Iterator[SqlCommitStepStore]:
    """The project's store, with two publishes promised and none of their steps done."""
    opened = open_sql_store(load_settings().store_url)
    store = SqlCommitStepStore(opened.engine)
    for number, day in enumerate(("2013-12-22", "2013-12-23"), start=1):
        table = stage_rows(warehouse, TABLE, {day: [number]}, commit=f"c{number}", token=number)
        put(store, sequence_of(f"c{number}", number, [table]))
    yield store
    opened.close()


def run(*arguments: str) -> str:
    """What the command prints; its failure is raised."""
    result = CliRunner().invoke(app, arguments)
    if result.exception is not None:
        raise result.exception
    return result.output


def test_unfinished_commits_are_listed_shown_and_finished(
    store: SqlCommitStepStore, warehouse: Warehouse
) -> None:
    lines = run("list").splitlines()
    assert [line.split()[0] for line in lines] == ["COMMIT", "c1", "c2"]
    assert "0 of 3" in lines[1] and "test/table" in lines[1]
    assert "not done  switch 1 partitions" in run("show", "c1")

    assert run("recover").splitlines() == [f"c{n}: finished, 1 partitions published" for n in (1, 2)]

    assert read_rows(warehouse, TABLE) == {"2013-12-22": [1], "2013-12-23": [2]}
    assert run("list") == run("recover") == "no unfinished commits\n"
    assert "c1: finished" in run("show", "c1") and "table 2013-12-22: 1 rows" in run("show", "c1")


def test_one_that_cannot_be_finished_does_not_stop_the_others(
    store: SqlCommitStepStore, warehouse: Warehouse
) -> None:
    warehouse.files.delete(f"{TABLE.root(warehouse)}/_staging/c1")
    assert "neither the staged folder" in run("show", "c1")

    with pytest.raises(UserError, match="1 of 2 commits could not be finished: c1"):
        run("recover")

    assert read_rows(warehouse, TABLE) == {"2013-12-23": [2]}
    assert store.list_unfinished() == ("c1",)


def test_a_step_that_cannot_be_asked_is_told_and_stops_no_other(
    store: SqlCommitStepStore, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = DropStagingTables(table=("test", "lake"), commit="c3")
    put(store, CommitSequence(id="c3", datasets=("test/lake",), token=3, steps=(step,), result=()))
    monkeypatch.setattr(commits, "_context", lambda: CommitContext(files=LocalFiles()))

    assert "0 of 1" in run("list").splitlines()[3]
    assert "unknown   drop the staging tables of tidegate.`test`.`lake`" in run("show", "c3")
    assert "it cannot be looked at: this step needs Spark" in run("show", "c3")
    with pytest.raises(UserError, match="1 of 3 commits could not be finished: c3"):
        run("recover")


def test_what_does_not_exist_is_said(store: SqlCommitStepStore) -> None:
    with pytest.raises(UserError, match="there is no commit c9"):
        run("show", "c9")
    assert run("list", "test/other") == "no unfinished commits\n"


def test_a_project_that_was_never_deployed_has_no_store(warehouse: Warehouse) -> None:
    with pytest.raises(UserError) as caught:
        run("list")
    assert caught.value.hint
