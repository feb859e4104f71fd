"""What proves that an Iceberg commit happened, through maintenance, lost answers and lost snapshots."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError, Py4JNetworkError
from pyspark.sql import SparkSession

from tests.effort import pick
from tests.spark_jobs.iceberg.house import D22, D23, D24, DAILY, House
from tests.spark_jobs.staging import parts_of, put
from tidegate.domain.model import WriteMode
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.commit.step import Verdict
from tidegate.spark_jobs.errors import CommitFailed
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.iceberg.table.log import KEYS_LENGTH
from tidegate.spark_jobs.publication.table import sequence_of

pytestmark = pytest.mark.spark

LONG_AGO = 10 * 24 * 3600
"""Seconds; maintenance usually takes files of no snapshot after three days."""
MANY_DAYS = tuple(
    f"2014-{number // 28 + 1:02d}-{number % 28 + 1:02d}" for number in range(KEYS_LENGTH // 10 + 1)
)


@pytest.fixture
def house(tmp_path: Path, spark: SparkSession) -> House:
    return House(tmp_path, spark)


def test_rewriting_and_expiring_take_no_evidence_away(house: House) -> None:
    ref = house.ref("append")
    steps = []
    for number in range(3):
        staged = house.stage(house.frame((D22, number, "a")), ref, D22, commit=f"c{number}", token=number)
        staged.version_step().execute(house.context)
        steps.append(staged.version_step())
    house.maintain("rewrite_data_files(options => map('min-input-files', '2'))", "rewrite_manifests()")
    house.expire()
    assert house.snapshots() == 1
    for step in steps:
        assert step.verify(house.context).verdict is Verdict.DONE
        step.execute(house.context)
    assert [row.id for row in house.rows(ref)] == [0, 1, 2]

    # Sweeping up so late: what the snapshot had is not known any more, so every data file stays.
    staged.cleaning_step().execute(house.context)
    assert staged.cleaning_step().verify(house.context).verdict is Verdict.DONE
    assert house.live_files() <= house.data_files()
    assert [row.id for row in house.rows(ref)] == [0, 1, 2]


def test_maintenance_takes_nothing_that_waits_to_be_published(house: House) -> None:
    """Staged data files belong to no snapshot, as do orphans; these are blocked for ten days."""
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    staged = house.stage(house.frame((D22, 2, "b"), (D23, 3, "c")), ref, D22, D23, commit="late", token=9)
    put(house.store, sequence_of("late", 9, [staged]))
    waiting = house.data_files() - house.live_files()
    assert len(waiting) == 2
    orphan = Path(next(iter(house.live_files()))).parents[2] / "orphan.parquet"
    orphan.write_bytes(b"of nobody")
    for file in (*waiting, *house.live_files(), str(orphan)):
        os.utime(file, (Path(file).stat().st_mtime - LONG_AGO,) * 2)

    house.maintain("remove_orphan_files()", "rewrite_manifests()")
    house.expire()
    assert not orphan.exists(), "it does remove what is in sight"
    assert house.data_files() >= waiting
    assert recover([ref.id], house.store, house.context) == ("late",)
    assert [row.id for row in house.rows(ref)] == [1, 2, 3]
    assert house.data_files() == house.live_files()


def test_what_a_later_run_wrote_is_known_without_its_snapshot(house: House) -> None:
    ref = house.ref("overwrite_partitions")
    zombie = house.stage(house.frame((D22, 1, "z"), (D23, 1, "z")), ref, D22, D23, commit="z", token=5)
    later = house.stage(house.frame((D22, 1, "n")), ref, D22, commit="n", token=6)
    later.version_step().execute(house.context)
    house.stage(house.frame(), ref, D24, commit="m", token=4).version_step().execute(house.context)
    put(house.store, sequence_of("z", 5, [zombie]))
    house.expire()
    assert parts_of("z", house.store, house.context) == zombie.result()
    assert house.rows(ref) == [(D22, 1, "n"), (D23, 1, "z")]


def test_beyond_the_log_the_snapshot_is_needed_and_no_expiry_takes_it(house: House) -> None:
    ref = house.ref("overwrite_partitions")
    zombie = house.stage(house.frame((D22, 1, "z"), (D23, 1, "z")), ref, D22, D23, commit="z", token=5)
    later = house.stage(house.frame((D22, 1, "n")), ref, D22, *MANY_DAYS, commit="n", token=6)
    later.version_step().execute(house.context)
    put(house.store, sequence_of("z", 5, [zombie]))
    house.stage(house.frame(), ref, D24, commit="m", token=4).version_step().execute(house.context)
    house.expire()
    assert parts_of("z", house.store, house.context) == zombie.result()
    assert house.rows(ref, D22, D23) == [(D22, 1, "n"), (D23, 1, "z")]


def test_an_older_run_is_stopped_rather_than_let_replace_what_it_cannot_know(house: House) -> None:
    ref = house.ref("overwrite_partitions")
    zombie = house.stage(house.frame((D22, 1, "z")), ref, D22, commit="z", token=5)
    later = house.stage(house.frame((D22, 1, "n")), ref, D22, *MANY_DAYS, commit="n", token=6)
    later.version_step().execute(house.context)
    house.stage(house.frame(), ref, D24, commit="m", token=4).version_step().execute(house.context)
    tags = [tag for tag in each(house.table().refs().keySet()) if tag != "main"]
    assert tags, "it would have stayed"
    for tag in tags:
        house.table().manageSnapshots().removeTag(tag).commit()
    house.expire()
    answer = zombie.version_step().verify(house.context)
    assert answer.verdict is Verdict.UNKNOWN
    assert "snapshots have expired" in answer.reason
    assert house.rows(ref, D22) == [(D22, 1, "n")]


def test_a_table_that_was_dropped_or_made_anew_is_not_published_into(house: House) -> None:
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    step = house.stage(house.frame((D22, 2, "b")), ref, D22, commit="c", token=7).version_step()
    house.catalog.drop((house.app, "t"))
    assert "does not exist, but existed when the commit began" in step.verify(house.context).reason
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    house.table().updateProperties().set("tidegate.publishes", "{}").commit()
    assert "has had 0 publishes, and had 1 when the commit began" in step.verify(house.context).reason
    step.execute(house.context)
    assert house.rows(ref) == [(D22, 1, "a")]
    house.table().updateProperties().set("tidegate.publishes", "my own").commit()
    assert "cannot be read" in step.verify(house.context).reason


class Losing:
    """Iceberg's access to a table, of which every answer to a commit is lost."""

    def __init__(self, operations: Any, failure: Exception, happens: bool) -> None:
        self._operations = operations
        self._failure = failure
        self._happens = happens

    def commit(self, read: Any, made: Any) -> None:
        if self._happens:
            self._operations.commit(read, made)
        raise self._failure


def _state_unknown(java: Any) -> Exception:
    cause = java.java.lang.RuntimeException("Read timed out")
    return Py4JJavaError("commit", java.org.apache.iceberg.exceptions.CommitStateUnknownException(cause))


def _timeout(java: Any) -> Exception:
    cause = java.java.net.SocketTimeoutException("Read timed out")
    return Py4JJavaError("commit", java.org.apache.iceberg.exceptions.RuntimeIOException(cause))


def _cut(_: Any) -> Exception:
    return Py4JNetworkError("Answer from Java side is empty")


@pytest.mark.parametrize(
    ("mode", "failure", "after"),
    pick(
        [
            ("append", _state_unknown, [(D22, 1, "a"), (D22, 2, "a"), (D22, 2, "b"), (D23, 1, "a")]),
            ("overwrite_partitions", _timeout, [(D22, 2, "b"), (D23, 1, "a")]),
            ("merge", _cut, [(D22, 1, "a"), (D22, 2, "b"), (D23, 1, "a")]),
            ("full", _state_unknown, [(D22, 2, "b")]),
        ],
        2,
    ),
)
def test_a_commit_whose_answer_was_lost_is_looked_up(
    house: House,
    monkeypatch: pytest.MonkeyPatch,
    mode: WriteMode,
    failure: Callable[[Any], Exception],
    after: list[tuple[Any, ...]],
) -> None:
    """Whether it happened or not: nothing is guessed, nothing is lost, nothing comes twice."""
    ref = house.ref(mode, DAILY, "t", *(("id",) if mode == "merge" else ()))
    before = [(D22, 1, "a"), (D22, 2, "a"), (D23, 1, "a")]
    house.publish(house.frame(*before), ref, D22, D23)
    real = IcebergCatalog.swap
    happens = False

    def losing(catalog: IcebergCatalog, name: Any, operations: Any, read: Any, made: Any) -> None:
        real(catalog, name, Losing(operations, failure(catalog.java), happens), read, made)

    monkeypatch.setattr(IcebergCatalog, "swap", losing)
    with pytest.raises(CommitFailed, match="was executed and is not done"):
        house.publish(house.frame((D22, 2, "b")), ref, D22)
    assert house.store.get("c2") is not None
    assert house.rows(ref) == before

    happens = True
    assert recover([ref.id], house.store, house.context) == ("c2",)
    assert house.rows(ref) == after
    assert (house.snapshots(), house.staged()) == (2, [])
    assert house.live_files() <= house.data_files()
