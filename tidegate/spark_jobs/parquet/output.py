"""Parquet tables that programs write: staging, the steps that publish it, and reading.

    <root>/_staging/<commit>/<token>/…         staged rows, which no reader sees
    <root>/_data/day=2013-12-22/<commit>/…     published folders, including old ones
    <root>/_versions/<number>.json             the folders of each partition
    <root>/current                             a link to the newest version, for other readers (view.py)

The publishing step applies the write mode to the existing rows: `merge` writes the rows
that it keeps (merge.py), all other modes only refer to folders (version_log.py). Staging is the
same for all.
"""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import AtomicType, StructType

from tidegate.domain.model import WriteMode
from tidegate.domain.published import PublishedPartition
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.step import CommitStep, PublishStep
from tidegate.spark_jobs.commit.steps.delete_staging import DeleteStaging
from tidegate.spark_jobs.datasets.columns import ColumnClash, union_columns
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, commit_folder
from tidegate.spark_jobs.datasets.landed import landed_folders
from tidegate.spark_jobs.datasets.merge_keys import (
    key_columns,
    refuse_incomparable,
    refuse_missing,
    refuse_repeated,
)
from tidegate.spark_jobs.datasets.partition_columns import refuse_surplus, with_partition_columns
from tidegate.spark_jobs.datasets.table_state import TableState
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.parquet.folders.read_folders import read_folders
from tidegate.spark_jobs.parquet.partition_entry import PartitionEntry
from tidegate.spark_jobs.parquet.staging import StagedFolder, seal, write_by_key
from tidegate.spark_jobs.parquet.steps.merge import PublishMerge
from tidegate.spark_jobs.parquet.steps.show_version import ShowVersion
from tidegate.spark_jobs.parquet.steps.version import PublishVersion
from tidegate.spark_jobs.parquet.version_log import TableVersion, head

DATA_FOLDER = "_data"
"""Hidden from readers of the dataset's folder, since it has the files of several versions."""
STAGING_FOLDER = "_staging"


class StagedParquet(Value, kw_only=True):
    """The staged output of one dataset.

    Attributes:
        base: the table's version when it was staged.
        keys: every partition that the run writes, including those without rows.
        folders: the partitions that have rows.
        state: the table when the run began; None for a publish without conflicts.
        reads: whether the program reads this table.
    """

    ref: DatasetRef
    root: str
    commit: str
    token: int
    base: int
    schema: str
    keys: tuple[str, ...]
    folders: dict[str, StagedFolder]
    state: TableState
    reads: bool = False

    def folder_steps(self) -> tuple[CommitStep, ...]:
        return tuple(staged.step(f"{self.root}/{self._path(key)}") for key, staged in self.folders.items())

    def version_step(self) -> PublishStep:
        if self.ref.write == "merge":
            return PublishMerge(
                root=self.root,
                commit=self.commit,
                token=self.token,
                base=self.base,
                schema=self.schema,
                partitions={key: self._entry(key) for key in self.folders},
                columns=key_columns(self.ref),
                dimensions=self.ref.dimensions(),
                staging=staging_folder(self.root, self.commit, self.token),
                state=self.state,
                reads=self.reads,
            )
        return PublishVersion(
            root=self.root,
            commit=self.commit,
            token=self.token,
            base=self.base,
            schema=self.schema,
            partitions={key: self._entry(key) for key in self.keys},
            mode=write_mode(self.ref),
            state=self.state,
            reads=self.reads,
        )

    def view_steps(self) -> tuple[CommitStep, ...]:
        return (ShowVersion(root=self.root, commit=self.commit),)

    def cleaning_step(self) -> CommitStep:
        return DeleteStaging(folder=f"{self.root}/{STAGING_FOLDER}/{commit_folder(self.commit)}")

    def result(self) -> tuple[PublishedPartition, ...]:
        entries = {key: self._entry(key) for key in self.keys}
        return tuple(
            PublishedPartition(
                dataset=self.ref.name, key=key, rows=entry.rows, bytes=entry.bytes, files=entry.files
            )
            for key, entry in entries.items()
        )

    def files(self, spark: SparkSession) -> tuple[str, ...]:
        return tuple(
            f"{staged.folder}/{name}" for staged in self.folders.values() for name in staged.marker.files
        )

    def rows(self, spark: SparkSession) -> AbstractContextManager[DataFrame]:
        staging = staging_folder(self.root, self.commit, self.token)
        return nullcontext(read_folders(spark, self.schema, [staging] if self.folders else []))

    def _path(self, key: str) -> str:
        middle = self.ref.data_folder(key)
        return "/".join(part for part in (DATA_FOLDER, middle, commit_folder(self.commit)) if part)

    def _entry(self, key: str) -> PartitionEntry:
        staged = self.folders.get(key)
        if staged is None:
            return PartitionEntry(path=None, commit=self.commit, token=self.token, rows=0, bytes=0, files=0)
        return staged.entry(self._path(key), self.token)


def write_mode(ref: DatasetRef) -> WriteMode:
    """Return the write mode; overwriting the only partition of a table replaces the whole table."""
    return "full" if ref.scheme is None and ref.write == "overwrite_partitions" else ref.write


def stage(
    frame: DataFrame,
    ref: DatasetRef,
    keys: tuple[str, ...],
    warehouse: Warehouse,
    *,
    commit: str,
    token: int,
    state: TableState | None = None,
    reads: bool = False,
) -> StagedParquet:
    """Run the program's plan and write its rows where no reader sees them.

    Args:
        state: the table when the run began; None for its current state.
        reads: whether the program reads this table.

    Raises:
        OutputError: the columns do not fit the table, or rows lie outside `keys`, or two rows
            of a merge have the same keys.
    """
    root, files = ref.root(warehouse), warehouse.files
    files.moves_folders_whole(root)  # raises where publishing is not safe
    base = head(files, root)
    frame = with_partition_columns(frame, ref, keys)
    _refuse_landed(ref, base, warehouse)
    frame = _as_in_table(ref, base, frame)
    if ref.write == "merge":
        refuse_missing(ref, frame)
        existing = StructType.fromJson(json.loads(base.schema)) if base.schema else None
        refuse_incomparable(ref, frame, existing)
    folder = staging_folder(root, commit, token)
    rows = write_by_key(frame, ref.dimensions(), keys, files, folder)
    refuse_surplus(ref, keys, rows)
    if ref.write == "merge" and rows:
        refuse_repeated(ref, read_folders(frame.sparkSession, frame.schema.json(), [folder]))
    return StagedParquet(
        ref=ref, root=root, commit=commit, token=token, base=base.number, schema=frame.schema.json(),
        keys=keys, folders=seal(files, folder, keys, rows, commit=commit, token=token),
        state=state or table_state(base), reads=reads,
    )  # fmt: skip


def table_state(version: TableVersion) -> TableState:
    """Return a version as the state of its table."""
    return TableState(token=version.top_token(), number=version.number)


def staging_folder(root: str, commit: str, token: int) -> str:
    """Return the staging folder of one attempt. Every attempt has its own token, so they never mix."""
    return f"{root}/{STAGING_FOLDER}/{commit_folder(commit)}/{token}"


def read_table(
    spark: SparkSession,
    ref: DatasetRef,
    version: TableVersion,
    warehouse: Warehouse,
    selects: Callable[[str], bool],
) -> DataFrame:
    """Return the rows of the selected partitions, as of one version of the table."""
    root = ref.root(warehouse)
    folders = [
        f"{root}/{folder}"
        for key, entry in sorted(version.partitions.items())
        if selects(key)
        for folder in entry.folders
    ]
    return read_folders(spark, version.schema, folders, version.narrower(root))


def _refuse_landed(ref: DatasetRef, base: TableVersion, warehouse: Warehouse) -> None:
    """Refuse to add to landed files, which are no longer read once a program publishes beside them."""
    if base.is_published or ref.path is None or ref.write not in ("append", "merge"):
        return
    root = ref.root(warehouse)
    if landed_folders(warehouse.files, ref, root, lambda _: False):
        raise OutputError(
            f"{ref.name}: {root} holds files that were landed from outside, and the write mode {ref.write} "
            "can only keep rows that programs wrote",
            "give the program's output a dataset of its own, and read the landed one",
        )


def _as_in_table(ref: DatasetRef, base: TableVersion, frame: DataFrame) -> DataFrame:
    """Return the output with the names and the wider types of the table, unless it replaces the whole table.

    Where columns are declared, those that are not declared any more stay even then, without values.

    Raises:
        OutputError: a column has a type whose values the table's type does not have, nor the other way round.
    """
    if not base.schema:
        return frame
    if write_mode(ref) == "full":
        return _with_former(base, frame) if ref.columns else frame
    try:
        union = StructType.fromJson(json.loads(union_columns(base.schema, frame.schema.json())))
    except ColumnClash as clash:
        raise OutputError(
            f"{ref.id}: the columns of the output do not go with those of the table: {clash}",
            "cast the columns to the types that the table has",
        ) from clash
    known = {field.name.lower(): field for field in union.fields}
    fields = [(field, known[field.name.lower()]) for field in frame.schema.fields]
    if all(own.name == field.name and own.dataType == field.dataType for own, field in fields):
        return frame
    # A nested type that has grown stays as it is: its files are read with their own columns.
    return frame.select(
        *(
            (
                frame[f"`{own.name}`"].cast(field.dataType)
                if isinstance(field.dataType, AtomicType)
                else frame[f"`{own.name}`"]
            ).alias(field.name)
            for own, field in fields
        )
    )


def _with_former(base: TableVersion, frame: DataFrame) -> DataFrame:
    """Return the output with the columns of the table that it does not have, all of them null."""
    own = {name.lower() for name in frame.columns}
    table = StructType.fromJson(json.loads(base.schema))
    former = [field for field in table.fields if field.name.lower() not in own]
    return frame.select(
        *(frame[f"`{name}`"] for name in frame.columns),
        *(sf.lit(None).cast(field.dataType).alias(field.name) for field in former),
    )
