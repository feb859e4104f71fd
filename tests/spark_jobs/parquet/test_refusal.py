"""A Parquet table refuses an abandoned commit, also of a driver that wakes up after its abandonment."""

from pathlib import Path

import pytest

from tests.spark_jobs.staging import daily, read_rows, stage_rows
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import RefusableStep, Verdict
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.iceberg.table.log import (
    ABANDONED_COMMITS,
    LOG_LENGTH,
    Publish,
    PublishLog,
    encode_log,
)
from tidegate.spark_jobs.parquet.output import StagedParquet
from tidegate.spark_jobs.parquet.version_log import head
from tidegate.spark_jobs.parquet.view import stale

TABLE = daily("table", "append")
FIRST = "2013-12-22"


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(path=tmp_path / "warehouse", project=tmp_path)


def staged(warehouse: Warehouse, commit: str, token: int) -> StagedParquet:
    return stage_rows(warehouse, TABLE, {FIRST: [token]}, commit=commit, token=token)


def publish(warehouse: Warehouse, output: StagedParquet) -> None:
    for step in (*output.folder_steps(), output.version_step(), *output.view_steps()):
        step.execute(CommitContext(files=warehouse.files))


@pytest.mark.parametrize("published", [True, False])
def test_an_abandoned_commit_is_not_published_and_the_next_one_is(
    warehouse: Warehouse, published: bool
) -> None:
    if published:
        publish(warehouse, staged(warehouse, "c1", 1))
    late, context = staged(warehouse, "c2", 2), CommitContext(files=warehouse.files)
    step = late.version_step()
    assert isinstance(step, RefusableStep)
    for _ in range(2):
        step.refuse(context)

    publish(warehouse, late)

    root = TABLE.root(warehouse)
    answer, now = step.verify(context), head(warehouse.files, root)
    assert (answer.verdict, "refuses the commit" in answer.reason) == (Verdict.UNKNOWN, True)
    assert (now.is_published, now.commits()) == (published, ("c1",) if published else ())
    assert stale(warehouse.files, root) is None
    publish(warehouse, staged(warehouse, "c3", 3))
    assert read_rows(warehouse, TABLE) == {FIRST: [1, 3] if published else [3]}


def test_a_commit_that_was_published_is_not_refused(warehouse: Warehouse) -> None:
    output, context = staged(warehouse, "c1", 1), CommitContext(files=warehouse.files)
    publish(warehouse, output)
    step = output.version_step()
    assert isinstance(step, RefusableStep)

    step.refuse(context)

    assert step.verify(context).verdict is Verdict.DONE
    assert head(warehouse.files, TABLE.root(warehouse)).number == 1


def test_the_log_of_an_iceberg_table_keeps_the_newest_refusals_within_its_limit() -> None:
    log = PublishLog()
    for number in range(300):
        log = log.with_abandoned(f"{number:0100}")
        log = log.with_publish(Publish(commit=f"{number:0200}", token=number, snapshot=number))

    assert len(log.abandoned) == ABANDONED_COMMITS
    assert log.abandoned[-1] == f"{299:0100}"
    assert len(encode_log(log)) < LOG_LENGTH + 200
