"""A table and a dataset of a Hive metastore: listed, measured, and maintained by all operations."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark_jobs.iceberg.house import D22, D23
from tests.spark_jobs.iceberg.other_catalogs import metastore_options, other_catalog
from tests.spark_jobs.maintenance.yard import EXPIRE, MANIFESTS, ORPHANS, REWRITE, Later, Yard
from tidegate.domain.maintenance.reported import Ending
from tidegate.domain.model.dataset import CATALOG
from tidegate.spark_jobs.maintenance.listing import list_tables

pytestmark = [pytest.mark.spark, pytest.mark.soak]  # of other catalogs: test_races.py

FILES = 5


@pytest.fixture
def hive(spark: SparkSession, tmp_path: Path) -> Iterator[Yard]:
    with other_catalog(spark, metastore_options(spark, str(tmp_path))) as session:
        yield Yard(tmp_path, session)


def test_a_table_and_a_dataset_of_a_metastore(hive: Yard) -> None:
    hive.make()
    for number in range(FILES):
        hive.insert((D22, number), (D23, 100 + number))
    ref = hive.ref("append", name="d")
    for number in range(FILES):
        hive.publish(hive.frame((D22, number, "x")), ref, D22)
    rows, published = hive.all_rows(), hive.rows(ref)
    names = (hive.full_name, f"{CATALOG}.{hive.app}.d")
    assert set(names) <= set(list_tables(hive.spark, [CATALOG]).tables)

    for one, files, left in ((None, 2 * FILES, 2), (ref, FILES, 1)):
        assert hive.health(one).values["files"] == files
        ended = hive.run(REWRITE, one)
        assert (ended.ending, ended.before["files"], ended.after["files"]) == (Ending.SUCCEEDED, files, left)
        assert hive.run(MANIFESTS, one).ending is Ending.SUCCEEDED
    hive.clock = Later(8)
    for one in (None, ref):
        ended = hive.run(EXPIRE, one, retain_last=1)
        assert (ended.ending, ended.after["snapshots"]) == (Ending.SUCCEEDED, 1)
        assert hive.run(ORPHANS, one).ending is Ending.SUCCEEDED
    assert (hive.all_rows(), hive.rows(ref)) == (rows, published)
