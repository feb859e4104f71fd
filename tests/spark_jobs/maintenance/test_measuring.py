"""The health of real tables: every measure, in few Spark jobs, and one broken table beside others."""

from pathlib import Path

import pytest

from tests.spark_jobs.iceberg.house import D22, D23, D24
from tests.spark_jobs.maintenance.yard import DAY, Later, Yard
from tidegate.domain.maintenance.measures import MEASURES
from tidegate.domain.maintenance.reported import Health
from tidegate.domain.model import HealthRules
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.maintenance.file_counts import FileCounts, extrapolated, values_of
from tidegate.spark_jobs.maintenance.iceberg import health
from tidegate.spark_jobs.maintenance.measuring import TableToMeasure, measure_many
from tidegate.spark_jobs.maintenance.request import Gone, TableTarget

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]


def fill(yard: Yard) -> None:
    """Three files in one partition, and one in each of two others."""
    yard.make(properties="'format-version' = '2', 'write.delete.mode' = 'merge-on-read'")
    yard.insert((D22, 1), (D22, 2), (D23, 1))
    yard.insert((D22, 3), (D22, 4), (D24, 1))
    yard.insert((D22, 5), (D22, 6))


def test_every_measure_of_a_table(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(yard)
    yard.sql(f"DELETE FROM T WHERE id = 1 AND day = '{D22}'")
    yard.clock = Later(2)
    found = yard.health(small_file=10_000, large_file=100_000)
    sizes = [
        row[0]
        for row in yard.spark.sql(f"SELECT file_size_in_bytes FROM {yard.full_name}.data_files").collect()
    ]
    lengths = [row[0] for row in yard.spark.sql(f"SELECT length FROM {yard.full_name}.manifests").collect()]
    ages = {name: found.values.pop(name) for name in ("oldest_snapshot_age", "newest_snapshot_age")}
    assert found.values == {
        "files": 5,
        "small_files": 5,
        "small_file_percent": 100,
        "large_file_percent": 0,
        "total_size": sum(sizes),
        "delete_files": 1,
        "delete_ratio": 1 / 8,
        "snapshots": 4,
        "partitions": 3,
        "partition_skew": 1.8,
        "manifests": 4,
        "manifest_size": sum(lengths),
    }
    assert {*found.values, *ages} == {*MEASURES}
    assert 2 * DAY < ages["newest_snapshot_age"] < ages["oldest_snapshot_age"] < 2 * DAY + 600
    assert (found.failure, found.note, found.measured_at.tzinfo is None) == ("", "", False)

    # At equality a file is neither small nor large.
    least, most = min(sizes), max(sizes)
    exact = yard.health(small_file=least, large_file=most).values
    assert (exact["small_files"], exact["large_file_percent"]) == (0, 0)
    beyond = yard.health(small_file=least + 1, large_file=most - 1).values
    assert (beyond["small_files"], beyond["large_file_percent"]) == (
        sizes.count(least),
        100 * sizes.count(most) / 5,
    )

    # A larger table is counted by Spark, with the same result.
    monkeypatch.setattr(health, "DRIVER_FILES", 0)
    by_spark = yard.health(small_file=10_000, large_file=100_000).values
    assert {name: by_spark[name] for name in found.values} == found.values

    sampled = yard.health(small_file=10_000, sample=3)
    assert (sampled.values["files"], sampled.values["small_files"]) == (5, 5)
    assert sampled.note.startswith("from 3 of 5 files: percentages are within 35.8 points")
    assert sampled.values["total_size"] == pytest.approx(sum(sizes), rel=0.1)


def test_a_table_without_files(yard: Yard) -> None:
    yard.make(cut="")
    found = yard.health().values
    assert found.keys() == MEASURES.keys() - {"partition_skew", "oldest_snapshot_age", "newest_snapshot_age"}
    assert set(found.values()) == {0}
    yard.insert((D22, 1))
    yard.sql("DELETE FROM T WHERE id = 1")
    assert (yard.health().values["files"], yard.health().values["snapshots"]) == (0, 2)


def test_a_broken_table_does_not_spoil_the_others(yard: Yard) -> None:
    fill(yard)
    yard.sql(f"CREATE TABLE tidegate.{yard.app}.broken (id int) USING iceberg")
    folder = Path(str(yard.table("broken").location()).removeprefix("file:"))
    for file in (folder / "metadata").glob("*.json"):
        file.write_text("{")
    ref = yard.ref("append", name="none")
    parquet = DatasetRef(app=yard.app, name="files")
    yard.publish(yard.frame((D22, 1, "a")), parquet)
    (yard.warehouse.project / "landed").mkdir()  # pyright: ignore[reportOperatorIssue] -- a path here
    landed = DatasetRef(app=yard.app, name="landed", path="landed")
    targets = [
        TableTarget(name=f"tidegate.{yard.app}.broken"),
        yard.target(),
        TableTarget(name=f"tidegate.{yard.app}.absent"),
        TableTarget(name="tidegate.absent.t"),
        TableTarget(name="nowhere.a.t"),
        TableTarget(name="alone"),
        *(TableTarget(name=one.id, ref=one) for one in (ref, parquet, landed)),
        TableTarget(name="absent/files", ref=DatasetRef(app="absent", name="files")),
    ]
    wanted = [TableToMeasure(table=target, rules=HealthRules()) for target in targets]
    found = measure_many(yard.spark, wanted, yard.clock.now(), warehouse=yard.warehouse)
    assert list(found) == [target.name for target in targets]
    gone = [name for name, one in found.items() if isinstance(one, Gone)]
    assert gone == [f"tidegate.{yard.app}.absent", "tidegate.absent.t", ref.id, "absent/files"]
    failed = {name: one.failure for name, one in found.items() if isinstance(one, Health) and one.failure}
    assert list(failed) == [f"tidegate.{yard.app}.broken", "nowhere.a.t", "alone", landed.id]
    assert "Spark has no catalog nowhere" in failed["nowhere.a.t"]
    assert "is not the name of a table" in failed["alone"]
    assert "is landed from outside" in failed[landed.id]
    measured = [found[name] for name in (yard.full_name, parquet.id)]
    assert [one.values["files"] for one in measured if isinstance(one, Health)] == [5, 1]


@pytest.mark.parametrize(
    ("sample", "files", "counts", "note"),
    [
        (FileCounts(files=100, small=50, size=1000, partitions=4, fullest=40), 100, (50, 1000, 4, 40), ""),
        (FileCounts(), 0, (0, 0, 0, 0), ""),
        (
            FileCounts(files=100, small=50, size=1000, partitions=4, fullest=40),
            10_000,
            (5000, 100_000, 4, 4000),
            "from 100 of 10000 files: percentages are within 9.8 points, if these files are like the others; "
            "there are at least 4 partitions",
        ),
    ],
    ids=["all of it", "nothing", "a hundredth"],
)
def test_a_sample_is_extrapolated(sample: FileCounts, files: int, counts: tuple[int, ...], note: str) -> None:
    whole, said = extrapolated(sample, files)
    assert (whole.small, whole.size, whole.partitions, whole.fullest) == counts
    assert said == note
    assert values_of(whole).get("partition_skew") == (1.6 if files else None)
