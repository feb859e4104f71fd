"""What dead runs have staged is removed, and nothing that anybody may still publish."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.crashes.processes import in_children
from tests.doubles.commit_store import MemoryCommitStepStore
from tests.doubles.wired import wired
from tests.spark_jobs.staging import daily, read_rows, stage_rows
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.commit.sequence import encode_sequence
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.errors import CommitFenced, CommitUnknown
from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.spark_jobs.parquet.output import staging_folder
from tidegate.spark_jobs.publication.table import sequence_of
from tidegate.spark_jobs.repair.orphans import (
    expire_dead_attempts,
    find_orphans,
    needed_tokens,
    remove_orphans,
)

NOW = datetime(2023, 3, 10, 12, 0, tzinfo=UTC)
LEASE = timedelta(minutes=2)
TABLE = daily("table")
DAY = "2013-12-22"


def no_spark() -> Any:
    raise AssertionError("Parquet needs no Spark here")


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(path=tmp_path / "warehouse", project=tmp_path)


@pytest.fixture
def store() -> MemoryCommitStepStore:
    return MemoryCommitStepStore()


def attempt(store: MemoryCommitStepStore, warehouse: Warehouse, commit: str) -> int:
    """A run that has staged its rows."""
    token = store.begin(commit, [TABLE.id], until=NOW + LEASE)
    stage_rows(warehouse, TABLE, {DAY: [token]}, commit=commit, token=token)
    return token


def staged(warehouse: Warehouse, commit: str, token: int) -> bool:
    return Path(staging_folder(TABLE.root(warehouse), commit, token)).exists()


def clean(warehouse: Warehouse, store: MemoryCommitStepStore) -> list[int]:
    """One cleaning; returns the tokens whose staging was removed."""
    orphans = find_orphans([TABLE], warehouse, store, no_spark)
    remove_orphans(orphans, [TABLE], warehouse, no_spark)
    return [one.token for one in orphans]


def test_the_staging_of_a_run_at_work_stays(store: MemoryCommitStepStore, warehouse: Warehouse) -> None:
    token = attempt(store, warehouse, "c1")

    assert expire_dead_attempts(store, NOW) == ()
    assert clean(warehouse, store) == []
    assert staged(warehouse, "c1", token)


def test_the_staging_of_a_dead_run_goes_once_its_attempt_is_closed(
    store: MemoryCommitStepStore, warehouse: Warehouse
) -> None:
    dead, other = attempt(store, warehouse, "c1"), attempt(store, warehouse, "c2")
    store.renew(other, NOW + 2 * LEASE)

    assert clean(warehouse, store) == [], "a lease that ran out closes nothing by itself"
    assert [one.commit for one in expire_dead_attempts(store, NOW + LEASE)] == ["c1"]
    assert clean(warehouse, store) == [dead]

    assert not staged(warehouse, "c1", dead)
    assert staged(warehouse, "c2", other)


def test_a_run_that_was_only_asleep_cannot_publish_any_more(
    store: MemoryCommitStepStore, warehouse: Warehouse
) -> None:
    token = store.begin("c1", [TABLE.id], until=NOW + LEASE)
    table = stage_rows(warehouse, TABLE, {DAY: [1]}, commit="c1", token=token)
    expire_dead_attempts(store, NOW + LEASE)
    clean(warehouse, store)

    with pytest.raises(CommitFenced):
        publish(sequence_of("c1", token, [table]), store, CommitContext(files=LocalFiles()))

    assert read_rows(warehouse, TABLE) == {}


def test_what_an_unfinished_sequence_publishes_stays(
    store: MemoryCommitStepStore, warehouse: Warehouse
) -> None:
    token = store.begin("c1", [TABLE.id], until=NOW + LEASE)
    table = stage_rows(warehouse, TABLE, {DAY: [1]}, commit="c1", token=token)
    sequence = sequence_of("c1", token, [table])
    store.put("c1", sequence.datasets, token, encode_sequence(sequence))

    assert expire_dead_attempts(store, NOW + LEASE) == ()
    assert clean(warehouse, store) == []
    assert needed_tokens(store) == {token}


def test_an_abandoned_sequence_needs_its_staging_no_more(
    store: MemoryCommitStepStore, warehouse: Warehouse
) -> None:
    token = store.begin("c1", [TABLE.id], until=NOW + LEASE)
    table = stage_rows(warehouse, TABLE, {DAY: [1]}, commit="c1", token=token)
    sequence = sequence_of("c1", token, [table])
    store.put("c1", sequence.datasets, token, encode_sequence(sequence))
    store.abandon("c1", "by hand", NOW)

    assert clean(warehouse, store) == [token]


def test_where_a_sequence_cannot_be_read_nothing_is_removed(
    store: MemoryCommitStepStore, warehouse: Warehouse
) -> None:
    dead = attempt(store, warehouse, "c1")
    expire_dead_attempts(store, NOW + LEASE)
    token = store.begin("c2", [TABLE.id], until=NOW + LEASE)
    store.put("c2", [TABLE.id], token, "written by another version")

    with pytest.raises(CommitUnknown, match="c2 cannot be read"):
        clean(warehouse, store)

    assert staged(warehouse, "c1", dead)


def test_the_steps_of_another_version_are_no_obstacle(
    store: MemoryCommitStepStore, warehouse: Warehouse
) -> None:
    token = attempt(store, warehouse, "c2")
    body = json.dumps({"id": "c2", "token": token, "steps": [{"kind": "unheard of"}]})
    store.put("c2", [TABLE.id], token, body)

    assert clean(warehouse, store) == []


@pytest.mark.parametrize("moment", ["attempts", "list_unfinished"])
@pytest.mark.parametrize("happens", ["it puts", "it puts and publishes", "a later run stages"])
def test_a_run_that_goes_on_while_one_looks_loses_nothing(
    warehouse: Warehouse, moment: str, happens: str
) -> None:
    kept = MemoryCommitStepStore()
    happening: dict[str, Callable[[], object]] = {}
    store = wired(kept, before=lambda method: happening.pop(method, lambda: None)())
    token = store.begin("c1", [TABLE.id], until=NOW + LEASE)
    table = stage_rows(warehouse, TABLE, {DAY: [1]}, commit="c1", token=token)
    sequence = sequence_of("c1", token, [table])
    happening[moment] = {
        "it puts": lambda: store.put("c1", sequence.datasets, token, encode_sequence(sequence)),
        "it puts and publishes": lambda: publish(sequence, store, CommitContext(files=LocalFiles())),
        "a later run stages": lambda: attempt(store, warehouse, "c2"),
    }[happens]

    removed = clean(warehouse, store)

    # What is published needs its staging no more, so it does not matter whether that is seen yet.
    assert removed == [] or happens == "it puts and publishes"
    publish(sequence, store, CommitContext(files=LocalFiles()))
    assert read_rows(warehouse, TABLE) == {DAY: [1]}
    assert happens != "a later run stages" or staged(warehouse, "c2", token + 1)


RUNS = 12


@pytest.mark.store  # processes on one SQLite file, a cleaner beside them
def test_a_cleaner_beside_runs_takes_nothing_from_them(warehouse: Warehouse, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    open_sql_store(url).close()

    def runs(name: str) -> Callable[[], None]:
        def work() -> None:
            opened = open_sql_store(url)
            store = SqlCommitStepStore(opened.engine)
            for number in range(RUNS):
                commit = f"{name}{number}"
                token = store.begin(commit, [TABLE.id], until=datetime.now(UTC) + LEASE)
                day = f"2013-12-{number + 1:02}" if name == "a" else f"2014-01-{number + 1:02}"
                table = stage_rows(warehouse, TABLE, {day: [number]}, commit=commit, token=token)
                if number % 4 == 3:
                    # Dies here: a run whose attempt is closed for it, and whose staging is rubbish.
                    store.renew(token, NOW)
                    continue
                publish(sequence_of(commit, token, [table]), store, CommitContext(files=LocalFiles()))
            opened.close()

        return work

    removed: list[int] = []

    def cleaner() -> None:
        opened = open_sql_store(url)
        store = SqlCommitStepStore(opened.engine)
        expire_dead_attempts(store, datetime.now(UTC))
        removed.extend(clean(warehouse, store))
        opened.close()

    codes = in_children(runs("a"), runs("b"), meanwhile=cleaner)
    cleaner()

    assert codes == [0, 0]
    kept = [number for number in range(RUNS) if number % 4 != 3]
    wanted = {f"2013-12-{n + 1:02}": [n] for n in kept} | {f"2014-01-{n + 1:02}": [n] for n in kept}
    assert read_rows(warehouse, TABLE) == wanted
    assert len(removed) >= 2 * RUNS // 4
    assert list(Path(TABLE.root(warehouse), "_staging").glob("*/*")) == []
