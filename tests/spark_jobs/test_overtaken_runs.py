"""Runs that overtake each other: no publish takes away rows that its run has not read.

The same for both formats. A run that fails with a conflict has changed nothing, and its next attempt, with
the same commit id, reads again and publishes. Where both formats share the code, a test runs with one of
them, and with the other in a soak.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.effort import only
from tests.spark_jobs.commit.notes import NOON
from tests.spark_jobs.shared_table import COUNT, D22, MEANWHILE, Shared
from tidegate.domain.model import WriteMode
from tidegate.domain.model.table_format import DatasetFormat
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.commit.sequence import decode_sequence
from tidegate.spark_jobs.commit.step import RefusableStep
from tidegate.spark_jobs.errors import CommitAbandoned
from tidegate.spark_jobs.files.filesystem import FileSystem
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, TableName
from tidegate.spark_jobs.parquet import version_log
from tidegate.spark_jobs.parquet.steps import merge as publish_merge
from tidegate.spark_jobs.parquet.steps import version as publish_version
from tidegate.spark_jobs.parquet.version_log import TableVersion

pytestmark = pytest.mark.spark

FORMATS: tuple[DatasetFormat, ...] = ("iceberg", "parquet")
Make = Callable[[WriteMode], Shared]


@pytest.fixture
def make(request: pytest.FixtureRequest, tmp_path: Path, spark: SparkSession) -> Make:
    return lambda write: Shared(tmp_path, spark, write, request.param)


def with_formats(*usual: DatasetFormat) -> pytest.MarkDecorator:
    """The formats of a test; in a soak it has both."""
    return pytest.mark.parametrize("make", only(FORMATS, *usual), indirect=True)


def pairs(*usual: tuple[DatasetFormat, WriteMode], modes: tuple[WriteMode, ...]) -> pytest.MarkDecorator:
    """The formats and modes of a test; in a soak it has each mode in both."""
    cases = only([(format, mode) for format in FORMATS for mode in modes], *usual)
    return pytest.mark.parametrize(("make", "write"), cases, indirect=["make"])


@with_formats(*FORMATS)
def test_a_merge_of_old_rows_does_not_replace_newer_ones(make: Make) -> None:
    shared = make("merge")
    shared.feed((D22, 1, 10), (D22, 2, 20))
    shared.run()

    def newer() -> None:
        shared.feed((D22, 1, 11), (D22, 2, 21), (D22, 3, 31))
        shared.run(commit="quick")

    shared.feed((D22, 1, 10), (D22, 2, 20), (D22, 4, 40))
    MEANWHILE.append(newer)
    assert "rows with the same merge keys have changed in" in shared.refused("slow")
    assert shared.rows() == [(D22, 1, 11), (D22, 2, 21), (D22, 3, 31)]

    shared.run(commit="slow")
    assert shared.rows() == [(D22, 1, 11), (D22, 2, 21), (D22, 3, 31)]
    assert (shared.store.attempts(), shared.store.list_unfinished()) == ((), ())


@with_formats("iceberg")  # of Parquet: parquet/test_modes.py, overtaken in the same partition
def test_merges_of_other_rows_do_not_disturb_each_other(make: Make) -> None:
    shared = make("merge")
    shared.feed((D22, 1, 10), (D22, 2, 20))
    shared.run()

    def beside() -> None:
        shared.feed((D22, 2, 22), (D22, 3, 33))
        shared.run()

    shared.feed((D22, 1, 11), (D22, 4, 44))
    MEANWHILE.append(beside)
    shared.run()
    assert shared.rows() == [(D22, 1, 11), (D22, 2, 22), (D22, 3, 33), (D22, 4, 44)]


@with_formats("iceberg")
def test_a_merge_that_was_put_is_withdrawn_when_newer_rows_came_before_its_publish(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = make("merge")
    shared.feed((D22, 1, 10))

    def dies_before_its_first_step() -> None:
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr("tidegate.spark_jobs.commit.publish.finish", _die)
            shared.run(commit="slow")
        shared.feed((D22, 1, 11))

    MEANWHILE.append(dies_before_its_first_step)
    shared.run(commit="quick")
    assert shared.store.list_unfinished() == ("slow",)
    before = shared.rows()

    assert recover([shared.ref.id], shared.store, shared.context) == ()

    (record,) = shared.store.abandoned()
    assert (record.commit, shared.store.list_unfinished()) == ("slow", ())
    assert "withdrawn: " in record.note and "rows with the same merge keys have changed" in record.note
    assert shared.rows() == before == [(D22, 1, 10)]
    shared.run(commit="slow")
    shared.run(commit="slow")
    assert shared.rows() == [(D22, 1, 11)]
    assert shared.store.result("slow~2") is not None


@pairs(("iceberg", "append"), ("parquet", "merge"), modes=("append", "merge"))
def test_a_driver_that_sleeps_in_its_publish_is_refused_by_the_table_after_its_commit_was_abandoned(
    make: Make, write: WriteMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = make(write)
    shared.feed((D22, 1, 10))

    def abandoned_meanwhile() -> None:
        """What `tidegate commits abandon` does when the lease of a sleeping process has run out."""
        body, state = shared.store.get("slow"), shared.store.recovery_state("slow")
        assert body is not None and state is not None
        for step in decode_sequence(body).steps:
            if isinstance(step, RefusableStep):
                step.refuse(shared.context)
        shared.store.release("slow", state.owner)
        assert shared.store.abandon("slow", "it hangs", NOON)
        shared.feed((D22, 1, 11))
        shared.run(commit="slow")

    _before_the_swap(monkeypatch, shared, abandoned_meanwhile)
    with pytest.raises(CommitAbandoned):
        shared.run(commit="slow")

    assert shared.rows() == [(D22, 1, 11)]


@pairs(
    ("iceberg", "overwrite_partitions"),
    ("parquet", "merge"),
    modes=("overwrite_partitions", "merge"),
)
def test_two_runs_that_count_up_the_rows_of_their_table_lose_no_count(make: Make, write: WriteMode) -> None:
    shared = make(write)
    shared.run(COUNT)
    MEANWHILE.append(lambda: shared.run(COUNT, commit="quick"))
    message = shared.refused("slow", COUNT)
    assert "commit quick has written" in message and "this program reads what it writes" in message
    assert shared.rows() == [(D22, 1, 2)]
    shared.run(COUNT, commit="slow")
    shared.run(COUNT, commit="slow")
    assert shared.rows() == [(D22, 1, 3)]


@with_formats("parquet")
def test_a_count_is_withdrawn_at_its_swap_when_another_one_came_after_its_put(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = make("overwrite_partitions")
    shared.run(COUNT)
    other = shared.staged_beside("quick", (D22, 1, 2))
    _before_the_swap(monkeypatch, shared, other.publish)
    assert "commit quick has written" in shared.refused("slow", COUNT)
    assert shared.rows() == [(D22, 1, 2)]
    shared.run(COUNT, commit="slow")
    assert shared.rows() == [(D22, 1, 3)]
    assert shared.store.result("slow~2") is not None


def _die(*_: Any) -> None:
    raise KeyboardInterrupt


def _before_the_swap(monkeypatch: pytest.MonkeyPatch, shared: Shared, work: Callable[[], object]) -> None:
    """Does the work once, when a publish has computed all and is about to change the table."""
    left, swap, put = [work], IcebergCatalog.swap, version_log.put_version

    def late_swap(catalog: IcebergCatalog, name: TableName, *made: Any) -> None:
        if name == shared.ref.place and left:
            left.pop()()
        swap(catalog, name, *made)

    def late_put(files: FileSystem, root: str, version: TableVersion) -> bool:
        if root == shared.ref.root(shared.warehouse) and left:
            left.pop()()
        return put(files, root, version)

    monkeypatch.setattr(IcebergCatalog, "swap", late_swap)
    for module in (publish_merge, publish_version):
        monkeypatch.setattr(module, "put_version", late_put)
