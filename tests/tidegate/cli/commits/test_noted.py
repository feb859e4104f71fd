"""What a person changes of commits and watermarks is in the journal, with the user and the reason."""

import msgspec
import pytest

from tests.spark_jobs.staging import put, stage_rows
from tests.tidegate.cli.commits.test_watermarks import LOAD
from tests.tidegate.cli.commits.test_watermarks import run as run_watermarks
from tests.tidegate.promised import FIRST, OTHER, TABLE, invoke, now, run
from tests.tidegate.promised import engine_store as engine_store
from tests.tidegate.promised import store as store
from tests.tidegate.promised import warehouse as warehouse
from tests.worlds.by import ME
from tests.worlds.world import World
from tidegate.cli.commits.project import opened_project
from tidegate.cli.printing import instant
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.commits import noted
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.publication.table import sequence_of

pytestmark = pytest.mark.store  # each test migrates a database

KINDS = (EntryKind.COMMIT, EntryKind.WATERMARK)


def entries(opened: SqlStore, **wanted: str) -> list[Entry]:
    with opened.reading() as reader:
        return list(reader.journal(kinds=KINDS, **wanted))


def test_a_recovery_by_hand_is_in_the_history_of_the_job(
    store: SqlCommitStepStore, engine_store: SqlStore
) -> None:
    job = Job(id="c2", schedule="test/daily", key="", opened_at=now(), state=JobState.FAILED)
    with engine_store.transaction() as transaction:
        transaction.put_jobs([job])

    run("recover", "--reason", "the disk is free again")

    first, second = (msgspec.to_builtins(each.data) for each in entries(engine_store))
    assert first == {
        "action": "recover",
        "commit": "c1",
        "datasets": ["test/table"],
        "outcome": "finished",
        "by": ME,
        "why": "the disk is free again",
    }
    assert second["commit"] == "c2"
    (found,) = entries(engine_store, job="c2")
    assert (found.schedule, found.data["commit"]) == ("test/daily", "c2")


def test_a_recovery_that_nobody_asked_for_has_no_entry(
    store: SqlCommitStepStore, engine_store: SqlStore, warehouse: Warehouse
) -> None:
    with opened_project() as project:
        assert len(recover([TABLE.id], store, project.context)) == 2
    assert entries(engine_store) == []


def test_an_abandonment_and_that_of_one_output_are_noted(
    store: SqlCommitStepStore, engine_store: SqlStore, warehouse: Warehouse
) -> None:
    both = [stage_rows(warehouse, each, {FIRST: [3]}, commit="c3", token=3) for each in (TABLE, OTHER)]
    put(store, sequence_of("c3", 3, both))

    run("abandon", "c1", "--yes", "--reason", "the source was wrong")
    run("abandon", "c3", "--yes", "--output", OTHER.id)

    whole, output = (each.data for each in entries(engine_store))
    assert (whole["action"], whole["commit"], whole["by"]) == ("abandon", "c1", ME)
    assert (whole["datasets"], whole["why"]) == (["test/table"], "the source was wrong")
    assert f"abandon at {instant(entries(engine_store)[0].at)} by {ME}: the source was wrong" in run(
        "show", "c1"
    )
    assert (output["action"], output["commit"], output["output"], output["by"]) == (
        "abandon",
        "c3",
        OTHER.id,
        ME,
    )
    assert "why" not in output


def test_what_is_refused_or_declined_is_not_noted(store: SqlCommitStepStore, engine_store: SqlStore) -> None:
    assert invoke("abandon", "c1", answer="n\n").exit_code == 1
    assert invoke("adopt", "test/other", "--yes").exit_code == 0
    assert entries(engine_store) == []


def test_an_adoption_is_noted_for_each_publish_and_for_the_token(
    store: SqlCommitStepStore, engine_store: SqlStore, warehouse: Warehouse
) -> None:
    table = stage_rows(warehouse, OTHER, {FIRST: [9]}, commit="c9", token=9)
    for step in (*table.folder_steps(), table.version_step()):
        step.execute(CommitContext(files=warehouse.files))

    run("adopt", "test/other", "--yes", "--reason", "the store was restored")

    said = {"by": ME, "why": "the store was restored"}
    assert [each.data for each in entries(engine_store)] == [
        {"action": "adopt", "commit": "c9", "dataset": "test/other", **said},
        {"action": "adopt", "dataset": "test/other", "token": 9, **said},
    ]


def test_watermarks_are_set_and_forgotten_in_the_history_of_their_schedules(
    store: SqlCommitStepStore, engine_store: SqlStore
) -> None:
    world = World("s: {program: q, status: active, trigger: {cron: '0 6 * * *'}}")
    with world.store.reading() as reader, engine_store.transaction() as transaction:
        states = reader.schedules()
        transaction.put_schedules([msgspec.structs.replace(each, ref="flights/s") for each in states])
    consumer, source = "flights/q", LOAD[1]
    store.set_watermark((consumer, source, "", 1), "7", "job 1")

    run_watermarks("reset", consumer, source, "--yes", "--reason", "read it again")
    run_watermarks("forget", consumer, source, "--yes")

    reset, forgotten = entries(engine_store, schedule="flights/s")
    assert reset.kind is EntryKind.WATERMARK
    assert {**reset.data, "commit": ""} == {
        "action": "reset",
        "commit": "",
        "consumer": consumer,
        "source": source,
        "parts": [""],
        "to": "the beginning",
        "by": ME,
        "why": "read it again",
    }
    assert forgotten.data == {
        "action": "forget",
        "consumer": consumer,
        "source": source,
        "parts": 1,
        "by": ME,
    }


def test_an_entry_and_its_change_are_kept_together_or_not_at_all(
    store: SqlCommitStepStore, engine_store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(commit: str) -> None:
        raise OSError(commit)

    monkeypatch.setattr(noted, "work_of_commit", fails)
    with pytest.raises(OSError, match="c1"):
        run("abandon", "c1", "--yes")
    assert store.get("c1") is not None and not store.was_abandoned("c1")
    assert entries(engine_store) == []
