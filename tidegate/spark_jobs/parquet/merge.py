"""Merging by keys: what is left of the rows that stand in a partition once staged rows replace some.

The other rows, the survivors, are written into a folder of their own; they and the staged
rows are the partition then. All is made for one version of the table, and stands only if
the next version is put upon that very one. A partition in which nothing is replaced keeps
its folders, and the staged one is added.
"""

import uuid
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_

import msgspec
from pyspark.sql import DataFrame, SparkSession

from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.datasets.columns import united_columns
from tidegate.spark_jobs.files.filesystem import FileSystem
from tidegate.spark_jobs.parquet.folders import read_folders
from tidegate.spark_jobs.parquet.staging import StagedFolder, seal, write_by_key
from tidegate.spark_jobs.parquet.version_log import PartitionEntry, TableVersion

SURVIVORS_MARK = "+"
"""Stands in the name of a survivors' folder, between the commit and the version it was made for."""


def merged_partitions(
    context: CommitContext,
    root: str,
    now: TableVersion,
    coming: Mapping[str, PartitionEntry],
    *,
    schema: str,
    columns: Sequence[str],
    dimensions: Sequence[str],
    staging: str,
) -> dict[str, PartitionEntry]:
    """The partitions of a merge, made for one version.

    Args:
        context: its session is not started where nothing stands that could be replaced.
        coming: the partitions that were staged, each in one folder that stands in its place.
        schema: Spark's JSON of the staged columns.
        columns: rows with equal values in all of these are the same row; no value equals no value.
        staging: the run's staging folder; what is written there goes with it.

    Raises:
        ColumnClash: a column would have two types.
    """
    before = {key: now.partitions[key] for key in coming if key in now.partitions}
    merged = {key: before[key].joined_by(entry) if key in before else entry for key, entry in coming.items()}
    standing = {key: entry for key, entry in before.items() if entry.folders}
    if not standing:
        return merged
    # A name that nobody else has: another process may finish the same sequence at the same time.
    attempt = f"{now.number}{SURVIVORS_MARK}{uuid.uuid4().hex}"
    folder = f"{staging}/{SURVIVORS_MARK}{attempt}"
    try:
        left = write_survivors(
            context.spark(),
            context.files,
            root,
            standing,
            coming,
            schema=united_columns(now.schema, schema),
            columns=columns,
            dimensions=dimensions,
            folder=folder,
        )
    except Exception:
        # Another process may have finished the sequence, and swept the staging that this brings back.
        context.files.delete(folder)
        raise
    for key, entry in standing.items():
        survivors = left.get(key)
        if survivors is None:
            token = max(entry.token, coming[key].token)
            merged[key] = msgspec.structs.replace(coming[key], token=token)
        elif survivors.rows != entry.rows:
            path = f"{coming[key].path}{SURVIVORS_MARK}{attempt}"
            survivors.step(f"{root}/{path}").execute(context)
            merged[key] = survivors.entry(path, token=entry.token).joined_by(coming[key])
    return merged


def write_survivors(
    spark: SparkSession,
    files: FileSystem,
    root: str,
    standing: Mapping[str, PartitionEntry],
    coming: Mapping[str, PartitionEntry],
    *,
    schema: str,
    columns: Sequence[str],
    dimensions: Sequence[str],
    folder: str,
) -> dict[str, StagedFolder]:
    """Writes the standing rows that no coming one replaces, and seals them as the commit's.

    Raises:
        OSError: Spark has failed, or rows stand where they do not belong.
    """

    def rows(entries: Mapping[str, PartitionEntry]) -> DataFrame:
        paths = [f"{root}/{path}" for key in sorted(standing) for path in entries[key].folders]
        return read_folders(spark, schema, paths)

    before, new = rows(standing), rows(coming).select(*(f"`{c}`" for c in columns)).distinct()
    same = reduce(and_, (before[f"`{c}`"].eqNullSafe(new[f"`{c}`"]) for c in columns))
    keys = tuple(standing)
    left = write_by_key(before.join(new, same, "left_anti"), dimensions, keys, files, folder)
    strays = left.keys() - standing.keys()
    if strays:
        raise OSError(f"{root}: rows of {', '.join(sorted(strays))} stand in the folders of other partitions")
    one = next(iter(coming.values()))
    return seal(files, folder, keys, left, commit=one.commit, token=one.token)
