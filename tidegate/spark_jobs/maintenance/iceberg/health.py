"""The health of an Iceberg table, from its metadata: no data file is opened.

Snapshots and manifests are read by the driver, and so are the files of a small table or of a sample. The
files of any other table are counted by one Spark job over the metadata table `files`, and delete files by
another if there are any.

    delete_ratio = rows in delete files / rows in data files

Rows in position delete files and deletion vectors are deleted rows; a row of an equality delete file is a
condition, and counts as one. A file with several deletion vectors counts once.
"""

from datetime import datetime
from typing import Any

from pyspark.sql import functions as sf

from tidegate.domain.maintenance.reported import Health
from tidegate.domain.model import HealthRules
from tidegate.spark_jobs.maintenance.file_counts import FileCounts, count_files, extrapolated, values_of
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable
from tidegate.spark_jobs.maintenance.iceberg.manifest_files import (
    Manifest,
    manifests_of,
    read_delete_files,
    read_files,
)

DRIVER_FILES = 200
"""So many files are read from the manifests one by one in less time than a Spark job takes."""


def measure_iceberg(table: CatalogTable, rules: HealthRules, now: datetime) -> Health:
    """Measure a table as it is now.

    Raises:
        TableGone, SourceError: see `CatalogTable.load`.
    """
    java = table.load()
    snapshot = java.currentSnapshot()
    metadata = java.operations().current()
    values: dict[str, float] = {"snapshots": int(metadata.snapshots().size())}
    if snapshot is None:
        empty = values_of(FileCounts()) | _delete_values(0, 0, 0) | _manifest_values(())
        return Health(measured_at=now, values=values | empty)
    manifests = manifests_of(java, snapshot)
    oldest = table.api.util.SnapshotUtil.oldestAncestor(java)
    values["newest_snapshot_age"] = _age(snapshot, now)
    values["oldest_snapshot_age"] = _age(oldest, now)
    counts, note = _count(table, java, snapshot, manifests, rules)
    deletes, deleted = _count_deletes(table, java, snapshot, manifests)
    values |= values_of(counts) | _delete_values(deletes, deleted, counts.rows) | _manifest_values(manifests)
    return Health(measured_at=now, values=values, note=note)


def _count(
    table: CatalogTable, java: Any, snapshot: Any, manifests: list[Manifest], rules: HealthRules
) -> tuple[FileCounts, str]:
    known = [one.files for one in manifests if not one.deletes]
    total = None if None in known else sum(count or 0 for count in known)
    if total is not None and total <= DRIVER_FILES:
        return count_files(read_files(table.api, java, manifests), rules), ""
    if total is not None and rules.sample is not None and rules.sample < total:
        sample = count_files(read_files(table.api, java, manifests, rules.sample), rules)
        return extrapolated(sample, total)
    return _count_by_spark(table, snapshot, rules), ""


def _count_by_spark(table: CatalogTable, snapshot: Any, rules: HealthRules) -> FileCounts:
    files = _metadata(table, "files", snapshot).where("content = 0")
    partition = [sf.col("spec_id"), *([sf.col("partition")] if "partition" in files.columns else [])]
    size = sf.col("file_size_in_bytes")
    by_partition = files.groupBy(*partition).agg(
        sf.count(sf.lit(1)).alias("files"),
        sf.count(sf.when(size < rules.small_file, 1)).alias("small"),
        sf.count(sf.when(size > rules.large_file, 1)).alias("large"),
        sf.sum(size).alias("size"),
        sf.sum("record_count").alias("rows"),
    )
    found = by_partition.agg(
        *(sf.coalesce(sf.sum(name), sf.lit(0)) for name in ("files", "small", "large", "size", "rows")),
        sf.count(sf.lit(1)),
        sf.coalesce(sf.max("files"), sf.lit(0)),
    ).first()
    assert found is not None, "an aggregate without groups has one row"
    return FileCounts(*(int(count) for count in found))


def _count_deletes(
    table: CatalogTable, java: Any, snapshot: Any, manifests: list[Manifest]
) -> tuple[int, int]:
    """Return the number of delete files, and of the rows in them."""
    mine = [one for one in manifests if one.deletes and one.files != 0]
    if not mine:
        return 0, 0
    if None not in (counts := [one.files for one in mine]) and sum(n or 0 for n in counts) <= DRIVER_FILES:
        found = read_delete_files(table.api, java, mine)
        return len({file.location for file in found}), sum(file.rows for file in found)
    files = _metadata(table, "files", snapshot).where("content != 0")
    row = files.agg(sf.countDistinct("file_path"), sf.coalesce(sf.sum("record_count"), sf.lit(0))).first()
    assert row is not None, "an aggregate without groups has one row"
    return int(row[0]), int(row[1])


def _metadata(table: CatalogTable, name: str, snapshot: Any) -> Any:
    """Return a metadata table as of a snapshot."""
    reader = table.spark.read.format("iceberg").option("snapshot-id", str(snapshot.snapshotId()))
    return reader.load(f"{table.sql}.{name}")


def _delete_values(files: int, deleted: int, rows: int) -> dict[str, float]:
    return {"delete_files": files, "delete_ratio": deleted / rows if rows else 0}


def _manifest_values(manifests: list[Manifest] | tuple[()]) -> dict[str, float]:
    return {"manifests": len(manifests), "manifest_size": sum(one.length for one in manifests)}


def _age(snapshot: Any, now: datetime) -> float:
    """Return the age of a snapshot in seconds; one that clocks date in the future is new."""
    return max(0.0, now.timestamp() - int(snapshot.timestampMillis()) / 1000)
