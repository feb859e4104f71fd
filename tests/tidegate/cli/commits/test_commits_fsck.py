"""`tidegate commits fsck`: what it finds wrong, and what it removes."""

from pathlib import Path

import msgspec
import pytest
from sqlalchemy import text

from tests.spark_jobs.staging import read_rows, stage_rows
from tests.tidegate.promised import (
    FIRST,
    LEASE,
    OTHER,
    SECOND,
    TABLE,
    fail,
    findings,
    invoke,
    now,
    run,
    spoil,
    staged,
)
from tests.tidegate.promised import engine_store as engine_store
from tests.tidegate.promised import store as store
from tests.tidegate.promised import warehouse as warehouse
from tidegate.domain.error import UserError
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.recovery import BLOCKED_AFTER
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.spark_jobs.publication.table import sequence_of

pytestmark = pytest.mark.store  # each test migrates a database


def test_unfinished_is_not_wrong(store: SqlCommitStepStore) -> None:
    assert findings() == []
    assert run("fsck") == "no problems found\n"


def test_what_is_wrong_is_found(
    store: SqlCommitStepStore, engine_store: SqlStore, warehouse: Warehouse
) -> None:
    spoil(warehouse, "c1")
    fail(store, "c1", BLOCKED_AFTER)
    with engine_store.engine.begin() as connection:
        connection.execute(text("UPDATE commit_sequences SET body = 'half' WHERE id = 'c2'"))
    store.begin("c3", [TABLE.id], until=now())
    stage_rows(warehouse, OTHER, {FIRST: [3]}, commit="c4", token=99)

    found = findings()

    assert [kind for kind, _ in found] == [
        "torn record",
        "blocked",
        "step that cannot tell",
        "dead run",
        "orphaned staging",
        "orphaned staging",
    ]
    assert [where for _, where in found[:2]] == ["c2", "c1"]
    output = invoke("fsck").output
    assert "5 failed tries; CommitUnknown: no file system" in output
    assert "neither the staged folder" in output and "tidegate commits show c1" in output


def test_clean_removes_what_is_orphaned_and_nothing_else(
    store: SqlCommitStepStore, warehouse: Warehouse
) -> None:
    token = store.begin("c3", [TABLE.id], until=now())
    stage_rows(warehouse, TABLE, {FIRST: [3]}, commit="c3", token=token)
    assert [kind for kind, _ in findings()] == ["dead run"], "its staging is its own until it is abandoned"

    assert findings("--clean") == []

    assert not staged(warehouse, "c3", token)
    assert staged(warehouse, "c1", 1) and staged(warehouse, "c2", 2)
    run("recover")
    assert read_rows(warehouse, TABLE) == {FIRST: [1], SECOND: [2]}


def test_a_table_that_does_not_agree_with_the_store_is_found(
    store: SqlCommitStepStore, warehouse: Warehouse
) -> None:
    run("recover")
    table = stage_rows(warehouse, OTHER, {FIRST: [7]}, commit="of-another-store", token=7)
    for step in sequence_of("of-another-store", 7, [table]).steps:
        step.execute(CommitContext(files=LocalFiles()))
    warehouse.files.delete(f"{TABLE.root(warehouse)}/_data/day={FIRST}")

    assert findings() == [("table", f"test/table {FIRST}"), ("table", "test/other")]


def test_a_version_that_cannot_be_read_is_found(store: SqlCommitStepStore, warehouse: Warehouse) -> None:
    run("recover")
    newest = sorted(Path(TABLE.root(warehouse), "_versions").iterdir())[-1]
    newest.write_text("{")

    ((kind, where),) = findings()
    assert (kind, where) == ("table", "test/table")


def test_a_sequence_of_another_version_is_found(store: SqlCommitStepStore) -> None:
    token = store.begin("c3", [TABLE.id], until=now() + LEASE)
    store.put("c3", [TABLE.id], token, "of another version")

    assert findings() == [("unreadable sequence", "c3"), ("staging", str(load_settings().warehouse))]
    with pytest.raises(UserError, match="orphaned staging cannot be determined"):
        run("fsck", "--clean")


def test_what_belongs_to_another_project_is_left_to_it(
    store: SqlCommitStepStore, engine_store: SqlStore, warehouse: Warehouse
) -> None:
    spoil(warehouse, "c1")
    fail(store, "c1", BLOCKED_AFTER)
    store.begin("c3", [TABLE.id], until=now())
    with engine_store.transaction() as transaction:
        (app,) = transaction.records(APPS)
        transaction.put_records(APPS, [msgspec.structs.replace(app, project="another")])

    assert findings() == []
    findings("--clean")
    assert staged(warehouse, "c2", 2)
    assert [attempt.commit for attempt in store.attempts()] == ["c3"]
    assert run("recover") == "no unfinished commits\n"
    refused = invoke("recover", TABLE.id).exception
    assert isinstance(refused, UserError)
    assert refused.message == "test/table belongs to another project, which has its tables elsewhere"
