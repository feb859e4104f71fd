"""`tidegate commits` of a withheld publish: what it shows, and the two decisions of a person."""

import json
from pathlib import Path

import pytest

from tests.spark_jobs.staging import begin, read_rows, stage_rows
from tests.tidegate.promised import FIRST, SECOND, TABLE, findings, invoke, run, staged
from tests.tidegate.promised import engine_store as engine_store
from tests.tidegate.promised import warehouse as warehouse
from tests.worlds.by import ME
from tests.worlds.samples import verdict
from tidegate.scheduler.model.event import publish_event_id
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.refused import RefusedWithCode
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.errors import PublishWithheld
from tidegate.spark_jobs.publication.table import sequence_of

pytestmark = pytest.mark.store  # each test migrates a database

NULLS = verdict(
    "test/table", "not_null_id", "1 of 3 rows: id is null", kind="not_null", rows=3, bad=1,
    samples=({"id": None, "day": FIRST},),
)  # fmt: skip
FINE = verdict("test/table", "rows", "3 rows", passed=True)


@pytest.fixture
def store(warehouse: Warehouse, engine_store: SqlStore) -> SqlCommitStepStore:
    """A publish of one partition is withheld."""
    store = SqlCommitStepStore(engine_store.engine)
    withhold(store, warehouse)
    return store


def withhold(store: SqlCommitStepStore, warehouse: Warehouse) -> None:
    token = begin(store, "c1", [TABLE.id])
    table = stage_rows(warehouse, TABLE, {FIRST: [7]}, commit="c1", token=token)
    sequence = sequence_of("c1", token, [table], reports_events=True)
    with pytest.raises(PublishWithheld):
        publish(sequence, store, CommitContext(files=warehouse.files), verdicts=[FINE, NULLS])


def refused(*arguments: str) -> str:
    failure = invoke(*arguments).exception
    assert isinstance(failure, RefusedWithCode) and failure.code == "E-STATE", failure
    return failure.message


def test_it_is_shown_with_its_checks_and_samples(store: SqlCommitStepStore) -> None:
    shown = run("show", "c1")
    assert "c1: WITHHELD since" in shown
    assert "passed         test/table: check rows: 3 rows" in shown
    assert "FAILED (block) test/table: check not_null_id: 1 of 3 rows: id is null" in shown
    assert f"id=null, day={FIRST}" in shown
    assert "publish it with: tidegate commits release c1 --reason" in shown
    found = json.loads(run("show", "c1", "--format", "json"))["withheld"]
    assert [each["name"] for each in found["checks"]] == ["rows", "not_null_id"]
    assert {each["verdict"] for each in found["steps"]} == {"not done", "done"}


def test_a_release_publishes_reports_and_is_in_the_journal(
    store: SqlCommitStepStore, engine_store: SqlStore, warehouse: Warehouse
) -> None:
    lines = run("release", "c1", "--reason", "the null is right").splitlines()
    assert lines[0] == "test/table: check not_null_id failed: 1 of 3 rows: id is null"
    assert lines[-1] == "c1: released, 1 partition published"
    assert read_rows(warehouse, TABLE) == {FIRST: [7]}
    with engine_store.reading() as reader:
        assert len(reader.events(ids=[publish_event_id("c1", "test/table", FIRST)])) == 1
        (entry,) = reader.journal(kinds=(EntryKind.COMMIT,))
    assert entry.data == {
        "action": "release",
        "commit": "c1",
        "datasets": ["test/table"],
        "by": ME,
        "why": "the null is right",
    }
    assert "release at" in run("show", "c1")
    assert "it was released, or the next attempt of its work has published it" in refused("release", "c1")
    assert "has done `release`" in refused("abandon", "c1", "--yes")


def test_an_abandonment_removes_the_staging_and_nothing_else(
    store: SqlCommitStepStore, warehouse: Warehouse
) -> None:
    assert "nothing was changed" in invoke("abandon", "c1", answer="n\n").output
    assert staged(warehouse, "c1", 1)
    output = run("abandon", "c1", "--yes", "--reason", "wrong source")
    assert "check not_null_id failed" in output and "c1: abandoned" in output
    assert not staged(warehouse, "c1", 1)
    assert read_rows(warehouse, TABLE) == {}
    assert "abandon at" in run("show", "c1") and "wrong source" in run("show", "c1")
    assert "it was abandoned or replaced meanwhile" in refused("release", "c1")
    assert "has done `abandon`" in refused("abandon", "c1", "--yes")
    withhold(store, warehouse)
    run("release", "c1")
    assert read_rows(warehouse, TABLE) == {FIRST: [7]}


def test_recovery_and_fsck_leave_it_alone(store: SqlCommitStepStore, warehouse: Warehouse) -> None:
    assert run("recover") == "no unfinished commits\n"
    assert findings() == findings("--clean") == []
    assert staged(warehouse, "c1", 1)
    run("release", "c1")
    assert findings() == []


def test_fsck_finds_one_that_cannot_be_released(store: SqlCommitStepStore, warehouse: Warehouse) -> None:
    (file,) = Path(str(warehouse.path)).glob("test/table/_staging/*/*/*/*.parquet")
    file.unlink()
    ((kind, where),) = findings()
    assert kind == "withheld" and where.startswith("c1 (move 1 files to ")
    assert "E-STATE: commit c1 cannot be released" in refused("release", "c1")


def test_a_later_publish_is_named_with_the_remedy(store: SqlCommitStepStore, warehouse: Warehouse) -> None:
    for commit, day in (("c2", SECOND), ("c3", FIRST)):
        token = begin(store, commit, [TABLE.id])
        table = stage_rows(warehouse, TABLE, {day: [8]}, commit=commit, token=token)
        publish(sequence_of(commit, token, [table]), store, CommitContext(files=warehouse.files))
    failure = invoke("release", "c1").exception
    assert isinstance(failure, RefusedWithCode)
    assert f"commit c3 has published test/table, partition {FIRST}, since" in failure.message
    assert "abandon it with `tidegate commits abandon c1`, and run the job again" in failure.hint
    assert read_rows(warehouse, TABLE) == {FIRST: [8], SECOND: [8]}


def test_one_output_of_it_cannot_be_abandoned(store: SqlCommitStepStore) -> None:
    failure = invoke("abandon", "c1", "--output", "test/table", "--yes").exception
    assert "commit c1 is withheld" in str(failure)
    assert store.withheld("c1") is not None
