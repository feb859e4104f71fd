"""Merges staged rows into partitions by keys: keeps the existing rows that no staged row replaces.

The kept rows, the survivors, are written into a folder of their own; with the staged
rows they form the partition. The result is computed for one version of the table and is valid only if
the next version is put directly after that one. A partition in which nothing is replaced keeps
its folders, and the staged folder is added.
"""

import uuid
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_

import msgspec
from pyspark.sql import DataFrame, SparkSession

from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.datasets.columns import are_read_as, union_columns
from tidegate.spark_jobs.files.filesystem import FileSystem
from tidegate.spark_jobs.parquet.folders.read_folders import read_folders
from tidegate.spark_jobs.parquet.partition_entry import PartitionEntry
from tidegate.spark_jobs.parquet.staging import StagedFolder, seal, write_by_key
from tidegate.spark_jobs.parquet.version_log import SURVIVORS_MARK, TableVersion


def merged_partitions(
    context: CommitContext,
    root: str,
    now: TableVersion,
    incoming: Mapping[str, PartitionEntry],
    *,
    schema: str,
    columns: Sequence[str],
    dimensions: Sequence[str],
    staging: str,
) -> dict[str, PartitionEntry]:
    """Return the partitions of a merge into one version.

    Args:
        context: its session is started only if there are rows that could be replaced.
        incoming: the staged partitions, each in one folder at its final place.
        schema: Spark's JSON of the staged columns.
        columns: columns that identify a row; missing values are equal to each other.
        staging: the run's staging folder, which is removed with the survivors staged in it.

    Raises:
        ColumnClash: a column would have two types.
    """
    before = {key: now.partitions[key] for key in incoming if key in now.partitions}
    merged = {
        key: before[key].joined_by(entry) if key in before else entry for key, entry in incoming.items()
    }
    existing = {key: entry for key, entry in before.items() if entry.folders}
    if not existing:
        return merged
    # A unique name: another process may finish the same sequence at the same time.
    attempt = f"{now.number}{SURVIVORS_MARK}{uuid.uuid4().hex}"
    folder = f"{staging}/{SURVIVORS_MARK}{attempt}"
    wide = union_columns(now.schema, schema)
    written = {path: now.columns_of(path) for entry in existing.values() for path in entry.folders}
    written |= {path: schema for entry in incoming.values() for path in entry.folders}
    try:
        left = write_survivors(
            context.spark(),
            context.files,
            root,
            existing,
            incoming,
            schema=wide,
            narrower={f"{root}/{path}": own for path, own in written.items() if not are_read_as(wide, own)},
            columns=columns,
            dimensions=dimensions,
            folder=folder,
        )
    except Exception:
        # Another process may have finished the sequence and removed the staging, which this recreates.
        context.files.delete(folder)
        raise
    for key, entry in existing.items():
        survivors = left.get(key)
        if survivors is None:
            token = max(entry.token, incoming[key].token)
            merged[key] = msgspec.structs.replace(incoming[key], token=token)
        elif survivors.rows != entry.rows:
            path = f"{incoming[key].path}{SURVIVORS_MARK}{attempt}"
            survivors.step(f"{root}/{path}").execute(context)
            merged[key] = survivors.entry(path, token=entry.token).joined_by(incoming[key])
    return merged


def write_survivors(
    spark: SparkSession,
    files: FileSystem,
    root: str,
    existing: Mapping[str, PartitionEntry],
    incoming: Mapping[str, PartitionEntry],
    *,
    schema: str,
    narrower: Mapping[str, str],
    columns: Sequence[str],
    dimensions: Sequence[str],
    folder: str,
) -> dict[str, StagedFolder]:
    """Write the existing rows that no incoming row replaces, and seal their folders for the commit.

    Args:
        narrower: see `read_folders`.

    Raises:
        OSError: Spark has failed, or a folder holds rows of another partition.
    """

    def rows(entries: Mapping[str, PartitionEntry]) -> DataFrame:
        paths = [f"{root}/{path}" for key in sorted(existing) for path in entries[key].folders]
        return read_folders(spark, schema, paths, narrower)

    before, new = rows(existing), rows(incoming).select(*(f"`{c}`" for c in columns)).distinct()
    same = reduce(and_, (before[f"`{c}`"].eqNullSafe(new[f"`{c}`"]) for c in columns))
    keys = tuple(existing)
    left = write_by_key(before.join(new, same, "left_anti"), dimensions, keys, files, folder)
    strays = left.keys() - existing.keys()
    if strays:
        raise OSError(f"{root}: rows of {', '.join(sorted(strays))} are in the folders of other partitions")
    one = next(iter(incoming.values()))
    return seal(files, folder, keys, left, commit=one.commit, token=one.token)
