"""A store that was restored from a backup which was made while a run worked: no row is lost or comes twice.

Such a store has given the token of that run, so the table's token says nothing. It knows neither the commit
nor its watermarks.
"""

import copy
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.effort import only
from tests.spark_jobs.incremental import orders_feed
from tests.spark_jobs.incremental.test_runs import D22, LOAD, LOAD_FILES, House
from tidegate.domain.model import Program
from tidegate.spark_jobs.errors import StoreBehind

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]


@pytest.fixture
def house(tmp_path: Path, spark: SparkSession, load: Program) -> House:
    """One file is loaded by the commit "early"; the store is that of a backup made during its run."""
    house = House(tmp_path, spark)
    backups = list[MemoryCommitStepStore]()
    orders_feed.MEANWHILE[:] = [lambda: backups.append(copied(house.store))]
    house.land(D22, 1)
    house.run(load, D22, commit="early")
    (house.store,) = backups
    assert house.store.last_token() == 1
    house.land(D22, 2)
    return house


def copied(store: MemoryCommitStepStore) -> MemoryCommitStepStore:
    backup = MemoryCommitStepStore()
    for name, value in vars(store).items():
        if isinstance(value, dict | int):
            setattr(backup, name, copy.copy(value))
    return backup


LOADS = [(load, commit) for load in (LOAD, LOAD_FILES) for commit in ("early", "late")]


@pytest.mark.parametrize(("load", "commit"), only(LOADS, (LOAD, "early"), (LOAD_FILES, "late")))
def test_neither_the_same_work_nor_other_work_goes_on(house: House, load: Program, commit: str) -> None:
    output = load.writes[0]
    with pytest.raises(StoreBehind, match="early has published into it, but the schedule store has no") as no:
        house.run(load, D22, commit=commit)
    assert house.rows(output) == [(1, D22)]
    assert house.marks(load) == {}
    assert no.value.hint.endswith(f"tidegate commits adopt {house.app}/{output}")
