"""`tidegate commits`: what it shows of publishes that died, how it finishes them and takes them away."""

import json
import os

import pytest

from tests.spark_jobs.staging import daily, put, read_rows, stage_rows
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
from tidegate.cli.commits.project import CommitsProject
from tidegate.domain.error import UserError
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.model.event import publish_event_id
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.process import new_owner
from tidegate.spark_jobs.commit.recovery import BLOCKED_AFTER
from tidegate.spark_jobs.commit.sequence import CommitSequence
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.spark_jobs.iceberg.steps.drop_staging_tables import DropStagingTables
from tidegate.spark_jobs.parquet.folders.publish_folder import PublishFolder
from tidegate.spark_jobs.parquet.steps.version import PublishVersion
from tidegate.spark_jobs.publication.table import sequence_of

pytestmark = pytest.mark.store  # each test migrates a database


# --- list, show, recover ---


def test_unfinished_commits_are_listed_shown_and_finished(
    store: SqlCommitStepStore, engine_store: SqlStore, warehouse: Warehouse
) -> None:
    lines = run("list").splitlines()
    assert [line.split()[0] for line in (lines[0], *lines[2:])] == ["commit", "c1", "c2"]
    assert "waiting for recovery" in lines[2] and "test/table" in lines[2]
    assert "not done  report 1 partitions of test/table" in run("show", "c1")

    assert run("recover").splitlines() == [f"c{n}: finished, 1 partitions published" for n in (1, 2)]

    assert read_rows(warehouse, TABLE) == {FIRST: [1], SECOND: [2]}
    assert run("list") == run("recover") == "no unfinished commits\n"
    assert "c1: finished" in run("show", "c1") and "table 2013-12-22: 1 rows" in run("show", "c1")
    found = json.loads(run("show", "c1", "--format", "json"))
    assert (found["finished"], found["unfinished"], len(found["published"])) == (True, None, 1)
    with engine_store.reading() as reader:
        assert len(reader.events(ids=[publish_event_id("c1", "test/table", FIRST)])) == 1


@pytest.mark.dagster
def test_what_is_finished_by_hand_is_shown_in_dagster(
    store: SqlCommitStepStore, warehouse: Warehouse
) -> None:
    from dagster import AssetKey, DagsterInstance

    home = load_settings().dagster_home
    home.mkdir(parents=True)

    run("recover")

    with DagsterInstance.from_config(str(home)) as instance:
        assert instance.get_materialized_partitions(AssetKey(["test", "table"])) == {FIRST, SECOND}


@pytest.mark.dagster
def test_a_dagster_that_cannot_be_opened_stops_no_publish(
    store: SqlCommitStepStore, engine_store: SqlStore, warehouse: Warehouse
) -> None:
    load_settings().dagster_home.mkdir(parents=True)
    (warehouse.project / "dagster.yaml").write_text("storage: {of: nothing}")

    result = invoke("recover")

    assert result.exit_code == 0
    assert "commit c1 could not be reported to Dagster" in result.output
    with engine_store.reading() as reader:
        assert len(reader.events(key_prefix="partition:")) == 2


def test_the_list_says_who_is_at_work_and_what_failed(store: SqlCommitStepStore) -> None:
    store.take("c1", "host-1/77/another-machine/1/1/1", now=now(), until=now() + LEASE)
    fail(store, "c2", BLOCKED_AFTER)

    first, second = run("list").splitlines()[2:]
    assert "being finished by process 77 on host-1" in first
    assert "BLOCKED after 5 failed tries" in second and "no file system" in second
    rows = json.loads(run("list", "--format", "json"))
    assert [(row["commit"], row["blocked"], row["failures"]) for row in rows] == [
        ("c1", False, 0),
        ("c2", True, 5),
    ]
    shown = run("show", "c2")
    assert "BLOCKED after 5 failed tries" in shown and "CommitUnknown: no file system" in shown


def test_a_commit_that_this_version_cannot_read_is_listed(store: SqlCommitStepStore) -> None:
    token = store.begin("c3", [TABLE.id], until=now() + LEASE)
    store.put("c3", [TABLE.id], token, "{}")

    assert "CANNOT BE READ" in run("list").splitlines()[4]
    with pytest.raises(UserError, match="commit c3 cannot be read"):
        run("show", "c3")
    with pytest.raises(UserError, match="1 of 3 commits could not be finished: c3"):
        run("recover")


def test_recover_tries_those_that_have_failed_often_too(
    store: SqlCommitStepStore, warehouse: Warehouse
) -> None:
    fail(store, "c1", BLOCKED_AFTER)

    run("recover", "test/table")

    assert read_rows(warehouse, TABLE) == {FIRST: [1], SECOND: [2]}


def test_one_that_cannot_be_finished_does_not_stop_those_of_other_datasets(
    store: SqlCommitStepStore, warehouse: Warehouse
) -> None:
    spoil(warehouse, "c1")
    other = stage_rows(warehouse, OTHER, {FIRST: [3]}, commit="c3", token=3)
    put(store, sequence_of("c3", 3, [other]))
    assert "neither the staged folder" in run("show", "c1")

    with pytest.raises(UserError, match="2 of 3 commits could not be finished: c1, c2"):
        run("recover")

    assert read_rows(warehouse, OTHER) == {FIRST: [3]}
    assert store.list_unfinished() == ("c1", "c2")


def test_a_step_that_cannot_be_asked_is_told_and_stops_no_other(
    store: SqlCommitStepStore, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = DropStagingTables(table=("test", "lake"), commit="c3", root="")
    put(store, CommitSequence(id="c3", datasets=("test/lake",), token=3, steps=(step,), result=()))
    bare = property(lambda _: CommitContext(files=LocalFiles()))
    monkeypatch.setattr(CommitsProject, "context", bare)

    assert "unknown   remove what was staged for tidegate.`test`.`lake`" in run("show", "c3")
    assert "it cannot be verified: this step needs Spark" in run("show", "c3")


def test_an_attempt_of_a_commit_is_shown(store: SqlCommitStepStore) -> None:
    store.begin("c9", [TABLE.id], until=now() + LEASE)
    store.begin("c9", [TABLE.id], until=now() - LEASE)

    alive, dead = run("show", "c9").splitlines()
    assert "token 3: running" in alive and "token 4: dead since" in dead


def test_what_does_not_exist_is_said(store: SqlCommitStepStore) -> None:
    with pytest.raises(UserError, match="there is no commit c9"):
        run("show", "c9")
    with pytest.raises(UserError, match="test/nothing"):
        run("list", "test/nothing")


def test_a_project_that_was_never_deployed_has_no_store(warehouse: Warehouse) -> None:
    with pytest.raises(UserError) as caught:
        run("list")
    assert caught.value.hint


# --- abandon ---


def test_an_abandoned_commit_leaves_a_record_and_no_staging(
    store: SqlCommitStepStore, warehouse: Warehouse
) -> None:
    output = run("abandon", "c1", "--yes", "--reason", "the source was wrong")

    assert "not done  report 1 partitions of test/table" in output
    assert "Readers do not see its data" in output
    assert "c1: abandoned; test/table can be written again" in output
    assert not staged(warehouse, "c1", 1) and staged(warehouse, "c2", 2)
    assert "the source was wrong" in run("show", "c1")
    run("recover")
    assert read_rows(warehouse, TABLE) == {SECOND: [2]}


@pytest.mark.parametrize(("done", "shown"), [
    (PublishFolder, "Readers do not see its data"),
    (PublishVersion, "All data is published"),
])  # fmt: skip
def test_what_readers_will_see_is_shown_before_an_abandonment(
    store: SqlCommitStepStore, warehouse: Warehouse, done: type, shown: str
) -> None:
    context = CommitContext(files=LocalFiles())
    table = stage_rows(warehouse, OTHER, {FIRST: [3]}, commit="c3", token=3)
    sequence = sequence_of("c3", 3, [table])
    put(store, sequence)
    for step in sequence.steps[: 1 + [type(step) for step in sequence.steps].index(done)]:
        step.execute(context)

    assert shown in run("abandon", "c3", "--yes")


def test_of_several_tables_the_half_that_is_done_stays(
    store: SqlCommitStepStore, warehouse: Warehouse
) -> None:
    tables = [stage_rows(warehouse, ref, {FIRST: [3]}, commit="c3", token=3) for ref in (TABLE, OTHER)]
    sequence = sequence_of("c3", 3, tables, reports_events=True)
    put(store, sequence)
    for step in sequence.steps[:3]:
        step.execute(CommitContext(files=LocalFiles()))

    output = run("abandon", "c3", "--yes")

    assert "run the program again" in output and "does not trigger any schedule" in output
    assert (read_rows(warehouse, TABLE), read_rows(warehouse, OTHER)) == ({FIRST: [3]}, {})
    assert findings() == [], "what was published of it is known"


def test_rows_that_the_next_run_would_append_again_are_not_left_behind(
    store: SqlCommitStepStore, warehouse: Warehouse
) -> None:
    refs = (daily("table", "append"), daily("other", "append"))
    tables = [stage_rows(warehouse, ref, {FIRST: [3]}, commit="c3", token=3) for ref in refs]
    move = SetWatermark(consumer="test/both", source="test/raw", part="", number=1, position="7", commit="c3")
    sequence = sequence_of("c3", 3, tables, [move])
    put(store, sequence)
    for step in sequence.steps[:3]:
        step.execute(CommitContext(files=LocalFiles()))

    with pytest.raises(UserError, match="test/table has the rows of this commit") as refused:
        run("abandon", "c3", "--yes")
    assert refused.value.hint.endswith("tidegate commits abandon c3 --output test/other")

    run("abandon", "c3", "--yes", "--output", "test/other")
    run("recover")
    assert store.watermarks("test/both", "test/raw")[""].position == "7"
    assert (read_rows(warehouse, TABLE)[FIRST], read_rows(warehouse, OTHER)) == ([3], {})


def test_by_force_the_next_run_appends_them_again(store: SqlCommitStepStore, warehouse: Warehouse) -> None:
    table = stage_rows(warehouse, daily("table", "append"), {FIRST: [3]}, commit="c3", token=3)
    move = SetWatermark(consumer="test/both", source="test/raw", part="", number=1, position="7", commit="c3")
    sequence = sequence_of("c3", 3, [table], [move])
    put(store, sequence)
    for step in sequence.steps[:2]:
        step.execute(CommitContext(files=LocalFiles()))

    with pytest.raises(UserError) as refused:
        run("abandon", "c3", "--yes")
    assert "add --force" in refused.value.hint
    run("abandon", "c3", "--yes", "--force")
    assert store.was_abandoned("c3") and store.output_records("c3") == ()


def test_it_asks_first(store: SqlCommitStepStore) -> None:
    declined = invoke("abandon", "c1", answer="n\n")
    assert declined.exit_code == 1 and "nothing was changed" in declined.output
    assert store.get("c1") is not None

    assert invoke("abandon", "c1", answer="y\n").exit_code == 0
    assert store.get("c1") is None


def test_one_that_a_living_process_finishes_is_not_abandoned(store: SqlCommitStepStore) -> None:
    store.take("c1", "host-1/77/another-machine/1/1/1", now=now(), until=now() + LEASE)

    with pytest.raises(UserError, match="being finished by process 77 on host-1"):
        run("abandon", "c1", "--yes")

    assert store.get("c1") is not None


def test_one_whose_process_is_gone_is_abandoned_before_its_lease_runs_out(store: SqlCommitStepStore) -> None:
    gone = new_owner().replace(f"/{os.getpid()}/", "/4194305/")
    store.take("c1", gone, now=now(), until=now() + LEASE)
    assert "its process is dead" in run("list")

    run("abandon", "c1", "--yes")

    assert store.get("c1") is None


def test_there_is_nothing_to_abandon(store: SqlCommitStepStore) -> None:
    run("recover")
    for commit in ("c1", "c9"):
        with pytest.raises(UserError, match=f"there is no unfinished commit {commit}"):
            run("abandon", commit, "--yes")


# --- adopt ---


def test_a_table_that_is_newer_than_the_store_is_adopted(
    store: SqlCommitStepStore, warehouse: Warehouse
) -> None:
    table = stage_rows(warehouse, OTHER, {FIRST: [9]}, commit="c9", token=9)
    for step in (*table.folder_steps(), table.version_step()):
        step.execute(CommitContext(files=warehouse.files))
    assert ("table", "test/other") in findings()

    refused = invoke("adopt", "test/other", answer="n\n")
    assert "its newest token is 9, but the schedule store has given only 2" in refused.output
    assert (refused.exit_code, store.last_token()) == (1, 2)

    assert run("adopt", "test/other", "--yes").endswith("adopted; the next token is larger than 9\n")
    assert (store.last_token(), len(store.attempts())) == (11, 0)
    assert ("table", "test/other") not in findings()
    assert "nothing to do" in run("adopt", "test/other")
    with pytest.raises(UserError, match="there is no dataset test/othr"):
        run("adopt", "test/othr")


def test_a_publish_that_a_restored_store_has_forgotten_is_adopted(
    store: SqlCommitStepStore, warehouse: Warehouse
) -> None:
    """Its token was given before the backup was made, so that only the commit is unknown."""
    table = stage_rows(warehouse, OTHER, {FIRST: [9]}, commit="c9", token=2)
    for step in (*table.folder_steps(), table.version_step()):
        step.execute(CommitContext(files=warehouse.files))

    refused = invoke("adopt", "test/other", answer="n\n")
    assert "c9 has published into it, but the schedule store has no record of that" in refused.output
    assert (refused.exit_code, store.result("c9")) == (1, None)

    run("adopt", "test/other", "--yes")
    assert (store.result("c9"), store.list_unfinished()) == ("[]", ("c1", "c2"))
    assert "nothing to do" in run("adopt", "test/other")
