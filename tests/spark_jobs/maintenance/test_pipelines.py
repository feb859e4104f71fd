"""Maintenance beside runs that publish into the same table, and beside programs that follow it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.effort import only
from tests.spark_jobs.iceberg.house import D22, D23, D24
from tests.spark_jobs.maintenance.yard import EXPIRE, MANIFESTS, REWRITE, Later, Steered, Yard, few_tasks
from tests.spark_jobs.shared_table import COPY, COUNT, MEANWHILE, Shared
from tidegate.domain.maintenance.reported import Ending
from tidegate.domain.model import Program, WriteMode
from tidegate.spark_jobs.commit.lease import AttemptLease
from tidegate.spark_jobs.commit.positions import set_watermarks
from tidegate.spark_jobs.commit.sequence import watermark_resource
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.datasets.increment import IncrementalRead
from tidegate.spark_jobs.iceberg.new_rows import read_new_snapshots
from tidegate.spark_jobs.maintenance.iceberg import idle_parts
from tidegate.spark_jobs.maintenance.operation import run_operation
from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest, TableTarget
from tidegate.spark_jobs.programs.params import Params

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

CONSUMER = "test/load"


def maintain(shared: Shared, *, expire: bool = True) -> None:
    """All that changes snapshots, in the order of a day."""
    context = MaintenanceContext(
        spark=lambda: shared.spark, warehouse=shared.warehouse, store=shared.store, clock=Later(1)
    )
    table = TableTarget(name=shared.ref.id, ref=shared.ref)
    options: dict[Any, dict[str, Any]] = {
        REWRITE: {"rewrite_all": True},
        MANIFESTS: {},
    }
    if expire:
        options[EXPIRE] = {"older_than": 0, "retain_last": 1}
    for operation, chosen in options.items():
        request = OperationRequest(table=table, operation=operation, options=chosen)
        with few_tasks(shared.spark, operation):
            ended = run_operation(context, request, Steered())
        assert ended.ending is Ending.SUCCEEDED, ended.detail


RUNS = [
    pytest.param(format, write, program, rows, id=f"{format}-{name}")
    for name, write, program, rows in (
        ("overwrite", "overwrite_partitions", COPY, [(D22, 1, 11)]),
        ("merge", "merge", COPY, [(D22, 1, 11), (D22, 2, 20)]),
        ("append", "append", COPY, [(D22, 1, 10), (D22, 1, 11), (D22, 2, 20)]),
        ("reads what it writes", "overwrite_partitions", COUNT, [(D22, 1, 11), (D22, 2, 21)]),
    )
    for format in ("iceberg", "parquet")
]


@pytest.mark.parametrize(
    ("format", "write", "program", "rows"),
    only(RUNS, *(RUNS[place] for place in (0, 3, 5, 7))),  # each kind in one format
)
def test_maintenance_during_a_run_is_not_a_conflict(
    tmp_path: Path,
    spark: SparkSession,
    format: Any,
    write: WriteMode,
    program: Program,
    rows: list[tuple[Any, ...]],
) -> None:
    shared = Shared(tmp_path, spark, write, format)
    shared.feed((D22, 1, 10), (D22, 2, 20))
    shared.run()
    shared.feed((D22, 1, 11))
    # What a run reads is younger than any sensible age; here nothing is.
    MEANWHILE.append(lambda: maintain(shared, expire=program is COPY))
    shared.run(program)
    assert shared.rows() == rows
    assert (shared.store.attempts(), shared.store.list_unfinished()) == ((), ())


class Follower:
    """A program that reads what is new of a dataset, and commits how far it has read."""

    def __init__(self, yard: Yard, ref: DatasetRef) -> None:
        self.yard = yard
        self.ref = ref

    def read(self, *keys: str) -> list[tuple[Any, ...]]:
        store = self.yard.store
        marks = store.watermarks(CONSUMER, self.ref.id)
        found = read_new_snapshots(
            self.yard.spark,
            IncrementalRead(
                consumer=CONSUMER,
                ref=self.ref,
                warehouse=self.yard.warehouse,
                params=Params(),
                positions={part: mark.position for part, mark in marks.items()},
                selects=lambda key: not keys or key in keys,
                selects_all=not keys,
            ),
        )
        assert found.frame is not None
        rows = sorted(tuple(row) for row in found.frame.collect())
        commit = f"read-{store.last_token()}"
        steps = tuple(
            SetWatermark(
                consumer=CONSUMER,
                source=self.ref.id,
                part=part,
                number=(marks[part].number if part in marks else 0) + 1,
                position=position,
                commit=commit,
            )
            for part, position in found.positions.items()
        )
        if steps:
            set_watermarks(store, self.yard.context, steps)
        return rows


@pytest.fixture
def append(yard: Yard) -> Callable[..., DatasetRef]:
    """Publishes a row into each of some days."""
    numbers = iter(range(100))

    def add(*days: str) -> DatasetRef:
        ref, number = yard.ref("append"), next(numbers)
        yard.publish(yard.frame(*((day, number, "a") for day in days)), ref, *days)
        return ref

    return add


def test_a_follower_reads_each_row_once_whatever_is_compacted_and_expired(
    yard: Yard, append: Callable[..., DatasetRef]
) -> None:
    yard.clock = Later(30)
    ref = append(D22)
    follower, read = Follower(yard, ref), list[tuple[Any, ...]]()
    for _ in range(2):
        append(D22, D23)
        yard.run(REWRITE, ref, rewrite_all=True)
        ended = yard.run(EXPIRE, ref, retain_last=1)
        assert ended.ending is Ending.SUCCEEDED, ended.detail
        append(D22)
        yard.run(REWRITE, ref, rewrite_all=True)
        read += follower.read()
        yard.run(EXPIRE, ref, retain_last=1)
    assert sorted(read) == yard.all_rows()
    assert len(read) == 7
    assert yard.snapshots() == 1
    assert follower.read() == []


def test_what_a_follower_has_not_read_stays_and_the_result_says_why(
    yard: Yard, append: Callable[..., DatasetRef]
) -> None:
    yard.clock = Later(30)
    ref = append(D22)
    follower = Follower(yard, ref)
    follower.read()
    append(D22)
    append(D23)
    current = append(D24) and yard.table().currentSnapshot().snapshotId()
    ended = yard.run(EXPIRE, ref, retain_last=1)
    assert ended.results["snapshots_expired"] == 1
    assert set(ended.results["kept"].values()) == {f"{CONSUMER} has not read it yet"}
    assert (ended.results["snapshots_kept"], yard.snapshots()) == (2, 3)
    assert str(current) not in ended.results["kept"], "the current one never expires"
    assert [row[1] for row in follower.read()] == [1, 2, 3]
    assert yard.run(EXPIRE, ref, retain_last=1).results["snapshots_expired"] == 2


def test_partitions_to_which_nothing_comes_keep_no_snapshot(
    yard: Yard, append: Callable[..., DatasetRef]
) -> None:
    yard.clock = Later(30)
    ref = append(D22, D23, D24)
    follower = Follower(yard, ref)
    for day in (D22, D23):
        follower.read(day)
    append(D22)
    follower.read(D22)
    append(D24)
    append(D23)
    append(D22)
    ended = yard.run(EXPIRE, ref, retain_last=1)
    # D23 has brought nothing before its row came, and the days that were never read need no history.
    assert (ended.results["snapshots_expired"], yard.snapshots()) == (3, 2)
    assert [row[:2] for row in follower.read(D23)] == [(D23, 3)]
    assert [row[:2] for row in follower.read(D22)] == [(D22, 4)]
    assert [row[:2] for row in follower.read(D24)] == [(D24, 0), (D24, 2)]
    assert yard.run(EXPIRE, ref, retain_last=1).results["snapshots_expired"] == 1
    append(D22)
    assert [follower.read(day) for day in (D23, D24)] == [[], []]
    assert [row[:2] for row in follower.read(D22)] == [(D22, 5)]


def test_the_watermarks_of_a_run_that_is_at_work_are_left_alone(
    yard: Yard, append: Callable[..., DatasetRef]
) -> None:
    yard.clock = Later(30)
    ref = append(D22, D23)
    follower = Follower(yard, ref)
    follower.read(D22)
    append(D23)
    append(D23)
    marks = yard.store.watermarks(CONSUMER, ref.id)
    with AttemptLease(yard.store, "at work", (watermark_resource(CONSUMER, ref.id),)):
        ended = yard.run(EXPIRE, ref, retain_last=1)
        assert yard.store.watermarks(CONSUMER, ref.id) == marks
        assert (ended.changed, ended.results["snapshots_kept"]) == (True, 1)
    assert yard.run(EXPIRE, ref, retain_last=1).results["snapshots_expired"] == 1


def test_a_watermark_that_its_reader_moves_meanwhile_is_not_set_back(
    yard: Yard, append: Callable[..., DatasetRef], monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.clock = Later(30)
    ref, moves, read = append(D22, D23), idle_parts._moves, list[tuple[Any, ...]]()
    follower = Follower(yard, ref)
    follower.read(D22)
    append(D23)
    append(D23)
    append(D22)

    def late(*args: Any) -> dict[str, int]:
        read.extend(follower.read(D22))
        return moves(*args)

    monkeypatch.setattr(idle_parts, "_moves", late)
    assert yard.run(EXPIRE, ref, retain_last=1).ending is Ending.SUCCEEDED
    assert [row[:2] for row in read] == [(D22, 3)]
    assert follower.read(D22) == []
