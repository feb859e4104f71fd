"""A table that lost publishes after their last step: fsck names the watermarks that have passed the rows."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.effort import only
from tests.spark_jobs.incremental.test_runs import D22, DATASETS, LOAD, LOAD_FILES, House
from tidegate.domain.model import App, Program
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref
from tidegate.spark_jobs.repair.fsck import Examined, fsck

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]


def findings(house: House, load: Program) -> list[tuple[str, str]]:
    """What fsck finds, without the link of a Parquet table that leads to a lost version."""
    app = App(name=house.app, datasets=DATASETS, programs={load.name: load})
    examined = Examined(
        apps=(app,),
        warehouse=house.warehouse,
        store=house.store,
        context=CommitContext(files=house.warehouse.files, spark=lambda: house.spark),
        now=datetime.now(UTC),
    )
    return [(one.where, one.what) for one in fsck(examined) if one.kind != "view"]


def lost(house: House, load: Program, how: str) -> None:
    if load is LOAD:
        house.spark.sql(f"DROP TABLE tidegate.{house.app}.lake PURGE")
        if how == "created again":
            house.spark.sql(f"CREATE TABLE tidegate.{house.app}.lake (day string, id bigint) USING iceberg")
        return
    root = Path(dataset_ref(house.app, DATASETS["files"]).root(house.warehouse))
    if how == "dropped":
        shutil.rmtree(root)
    else:
        sorted((root / "_versions").iterdir())[-1].unlink()


@pytest.mark.parametrize(
    ("load", "how"),
    only(
        [
            (LOAD, "dropped"),
            (LOAD, "created again"),
            (LOAD_FILES, "dropped"),
            (LOAD_FILES, "restored to its version before"),
        ],
        (LOAD, "created again"),
        (LOAD_FILES, "restored to its version before"),
    ),
)
def test_the_watermark_is_named(tmp_path: Path, spark: SparkSession, load: Program, how: str) -> None:
    house = House(tmp_path, spark)
    for number, commit in enumerate(("first", "last")):
        house.land(D22, number)
        house.run(load, D22, commit=commit)
    assert findings(house, load) == []

    lost(house, load, how)

    ((where, what),) = findings(house, load)
    assert where == f"{house.app}/{load.name} in {house.app}/landed {D22}"
    assert "but the rows read up to there are gone" in what
    assert "does not list commit last, so the table was dropped" in what
