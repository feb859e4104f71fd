"""Withheld publishes of real tables: what others change while a person thinks, and what a release says then.

Of Parquet without Spark: test_release.py.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.effort import only
from tests.spark_jobs.frames import frame_of
from tests.spark_jobs.shared_table import COLUMNS, D22, D23, Row, Shared
from tests.spark_jobs.staging import begin
from tests.store.commits.sequences import FAILED
from tidegate.domain.model import OnForeign, WriteMode
from tidegate.domain.model.table_format import DatasetFormat
from tidegate.spark_jobs.errors import PublishWithheld, WithheldRefused
from tidegate.spark_jobs.publication.release import release_withheld
from tidegate.spark_jobs.publication.table import Publication, states_of
from tidegate.spark_jobs.repair.orphans import find_orphans

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

Make = Callable[..., Shared]


@pytest.fixture
def make(tmp_path: Path, spark: SparkSession) -> Make:
    def made(write: WriteMode, format: DatasetFormat = "iceberg", on_foreign: OnForeign = "refuse") -> Shared:
        return Shared(tmp_path, spark, write, format, on_foreign)

    return made


def withhold(shared: Shared, *rows: Row, commit: str = "slow") -> None:
    """A run that is withheld."""
    states = states_of([shared.ref], shared.warehouse, shared.store, lambda: shared.spark, commit)
    token = begin(shared.store, commit, [shared.ref.id])
    publication = Publication(
        shared.warehouse, shared.store, commit=commit, token=token, states=states, judge=lambda _: [FAILED]
    )
    publication.stage(frame_of(shared.spark, rows, COLUMNS), shared.ref, (D22,))
    with pytest.raises(PublishWithheld):
        publication.publish()


def release(shared: Shared, commit: str = "slow") -> None:
    refs = {shared.ref.id: shared.ref}
    release_withheld(commit, shared.store, shared.warehouse, shared.context, refs)


def refused(shared: Shared, commit: str = "slow") -> str:
    before = shared.rows()
    with pytest.raises(WithheldRefused) as refusal:
        release(shared, commit)
    assert shared.rows() == before
    assert (len(shared.store.list_withheld()), shared.store.attempts()) == (1, ())
    return refusal.value.message


def test_it_stays_staged_without_a_reader_and_is_released(make: Make) -> None:
    shared = make("overwrite_partitions")
    withhold(shared, (D22, 1, 10))
    assert find_orphans([shared.ref], shared.warehouse, shared.store, lambda: shared.spark) == ()
    assert shared.staged() != []
    release(shared)
    assert shared.rows() == [(D22, 1, 10)]
    assert shared.staged() == []
    assert find_orphans([shared.ref], shared.warehouse, shared.store, lambda: shared.spark) == ()


def test_another_writer_was_faster(make: Make) -> None:
    shared = make("overwrite_partitions")
    shared.feed((D22, 1, 1))
    shared.run()
    withhold(shared, (D22, 1, 10))
    shared.sql(f"INSERT INTO T VALUES ('{D23}', 5, 5)")
    shared.sql(f"INSERT INTO T VALUES ('{D22}', 9, 9)")
    message = refused(shared)
    assert "which Tidegate has not written" in message and f"partition {D22}" in message


def test_another_writer_may_be_faster_where_the_dataset_says_so(make: Make) -> None:
    shared = make("overwrite_partitions", on_foreign="replace")
    shared.feed((D22, 1, 1))
    shared.run()
    withhold(shared, (D22, 1, 10))
    shared.sql(f"INSERT INTO T VALUES ('{D22}', 9, 9)")
    release(shared)
    assert shared.rows() == [(D22, 1, 10)]


@pytest.mark.parametrize("format", only(("iceberg", "parquet"), "iceberg", "parquet"))
def test_of_a_merge_only_rows_with_the_same_keys_are_faster(make: Make, format: DatasetFormat) -> None:
    shared = make("merge", format)
    shared.feed((D22, 1, 1), (D22, 2, 2))
    shared.run()
    withhold(shared, (D22, 1, 10))
    shared.feed((D22, 2, 22))
    shared.run()
    release(shared)
    assert shared.rows() == [(D22, 1, 10), (D22, 2, 22)]

    withhold(shared, (D22, 2, 20), commit="slower")
    shared.feed((D22, 2, 222))
    shared.run()
    assert "rows with the same merge keys have changed" in refused(shared, "slower")


@pytest.mark.parametrize(
    ("change", "because"),
    [
        (("ALTER TABLE T RENAME COLUMN value TO worth",), "the column value with the field id"),
        (("ALTER TABLE T DROP COLUMN value",), "others have dropped the column value"),
        (
            ("ALTER TABLE T DROP COLUMN value", "ALTER TABLE T ADD COLUMN value int"),
            "the column value has the field id",
        ),
        (("ALTER TABLE T ADD PARTITION FIELD id",), "is partitioned by"),
    ],
)
def test_a_changed_column_or_partition_refuses_it(make: Make, change: tuple[str, ...], because: str) -> None:
    shared = make("append")
    shared.feed((D22, 1, 1))
    shared.run()
    withhold(shared, (D22, 2, 2))
    shared.sql(*change)
    with pytest.raises(WithheldRefused, match=because):
        release(shared)
    assert len(shared.store.list_withheld()) == 1


def test_an_added_column_does_not(make: Make) -> None:
    shared = make("append")
    shared.feed((D22, 1, 1))
    shared.run()
    withhold(shared, (D22, 2, 2))
    shared.sql("ALTER TABLE T ADD COLUMN more int")
    release(shared)
    assert shared.rows() == [(D22, 1, 1), (D22, 2, 2)]


def test_a_lost_staged_file_is_found_before_the_put(make: Make, iceberg_warehouse: Path) -> None:
    shared = make("append")
    withhold(shared, (D22, 1, 10))
    for file in list(iceberg_warehouse.glob(f"{shared.app}/table/data/**/*.parquet")):
        file.unlink()
    assert "of its staged data files do not exist" in refused(shared)
