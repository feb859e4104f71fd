"""After the store was restored from a backup, other tables went on, and then rows came twice into ours.

The tokens of a restored store are too small for a table, until runs of other datasets have raised them. So
what counts is whether the store knows the newest publish of that table.
"""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark_jobs.incremental.test_restored_store import copied
from tests.spark_jobs.incremental.test_runs import D22, LOAD, LOAD_FILES, LOAD_TOO, House
from tidegate.domain.model import Program
from tidegate.spark_jobs.errors import StoreBehind

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]


@pytest.mark.parametrize(
    "load",
    [
        Program(name="again", run=LOAD.run, reads=("landed",), writes=("lake",)),
        Program(name="again_files", run=LOAD.run, reads=("landed",), writes=("files",)),
    ],
    ids=["iceberg", "parquet"],
)
def test_runs_of_other_tables_do_not_lift_the_guard(
    tmp_path: Path, spark: SparkSession, load: Program
) -> None:
    house = House(tmp_path, spark)
    house.land(D22, 1)
    house.run(load, D22, commit="in the backup")
    backup = copied(house.store)
    house.run(load, D22, commit="forgotten")
    house.store = backup
    rows = house.rows(load.writes[0])
    with pytest.raises(StoreBehind, match="its newest token is 2"):
        house.run(load, D22, commit="next")

    other = LOAD_FILES if load.writes == ("lake",) else LOAD
    for what in (other, LOAD_TOO, other):
        house.run(what, D22)
    assert house.store.last_token() > 2

    for commit in ("next", "forgotten"):
        with pytest.raises(StoreBehind, match="forgotten has published into it, but the schedule store has"):
            house.run(load, D22, commit=commit)
    assert house.rows(load.writes[0]) == rows
