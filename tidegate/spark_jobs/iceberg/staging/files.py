"""Stages rows as data files which no table has yet, written by Iceberg's own writer.

    <table>/data/_<name>/day=2013-12-22/…        the data files, in their final place
    <table>/data/_tidegate_staged/<name>         notes that files are staged under this name
    <table>/data/_tidegate_staged/<name>.avro    the list of the data files, a manifest of Iceberg's

The files have the field ids and partitions of the table, so publishing adds them as they are: no row is
written twice, the table's history does not show staging, and attempts never share a folder. The note
exists before the first data file, so that all that a dead run leaves is found; a recovery publishes what the
list names. Iceberg's `remove_orphan_files` skips folders with a leading underscore, so it never removes
unpublished files.
"""

import base64
import binascii
import re
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, TableName, sql_name
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.iceberg.catalog.half_done import STAGING_TABLE
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.iceberg.catalog.table_cache import cached_table
from tidegate.spark_jobs.iceberg.staging.names import (
    data_folder,
    data_root,
    first_spec,
    like_table,
    of_commit,
    root_and_properties,
)
from tidegate.spark_jobs.iceberg.table.data_files import DataFile, data_files
from tidegate.spark_jobs.iceberg.table.table import columns_of, draft_table

FOLDER = "_tidegate_staged"
LISTED = ".avro"
_NAME = re.compile(rf"(?:{STAGING_TABLE.pattern})(?:{re.escape(LISTED)})?")


@dataclass(frozen=True, kw_only=True, slots=True)
class StagedFiles:
    """Data files that an attempt has staged, as Iceberg's own objects.

    Attributes:
        files: a Java list of the data files.
        listed: the same as values, in order.
        schema: their columns, with the field ids of the table.
        spec: their partitions.
        io: Iceberg's FileIO that reads them.
        manifest: their list, see `StagingFolder.save`; "" for those of a staging table.
        snapshot: id of the staging table's snapshot; 0 without one.
        root: the folder of the table's data.
        table: the table in memory for which this process has written them; None for any other files.
    """

    files: Any
    listed: tuple[DataFile, ...]
    schema: Any
    spec: Any
    io: Any
    root: str = ""
    manifest: str = ""
    snapshot: int = 0
    table: Any | None = None


class StagingFolder:
    """What attempts have staged for one table.

    Attributes:
        root: the folder of the table's data.
    """

    def __init__(self, catalog: IcebergCatalog, root: str, io: Any | None) -> None:
        """Args:
        root: the folder of the table's data.
        io: Iceberg's FileIO of the table; None for a store that Hadoop supports.
        """
        self.root = root
        self._catalog = catalog
        self._io = io

    def place(self, name: str) -> str:
        """Return the file that exists as long as something may be staged under a name."""
        return f"{self.root}/{FOLDER}/{name}"

    def begin(self, name: str, io: Any) -> None:
        """Note that files are going to be staged under a name."""
        # Not every store keeps a file without content.
        self._catalog.files.write(self.place(name), name, io)

    def save(self, name: str, files: Any, spec: Any, io: Any) -> str:
        """Write the list of the files that were staged under a name, and return it; see `read_manifest`.

        Args:
            files: a Java list of Iceberg's data files.
        """
        api = self._catalog.api
        with java_failures(f"write {self.place(name)}{LISTED}"):
            # The id of the snapshot is that of the commit that adds the files, which there is not yet.
            number = self._catalog.java.java.lang.Long.valueOf(0)
            place = self._catalog.files.output(f"{self.place(name)}{LISTED}", io)
            writer = api.ManifestFiles.write(2, spec, place, number)
            writer.addAll(files)
            writer.close()
            return base64.b64encode(api.ManifestFiles.encode(writer.toManifestFile())).decode()

    def names(self) -> tuple[str, ...]:
        """Return the names under which something may be staged, in any order.

        A process that was taken for dead may write its list after its note was removed.
        """
        found = self._catalog.files.entries_in(f"{self.root}/{FOLDER}", _NAME, self._io)
        return tuple(dict.fromkeys(file.removesuffix(LISTED) for file in found))

    def names_of(self, table: TableName, commit: str) -> tuple[str, ...]:
        """Return the names under which something may be staged for a commit, by all its attempts."""
        return of_commit(self.names(), table, commit)

    def remove(self, name: str, published: frozenset[str] | None = frozenset()) -> None:
        """Remove what is staged under a name, except for published files.

        Args:
            published: see `remove_unpublished`.
        """
        remove_unpublished(self._catalog, data_folder(self.root, name), self._io, published)
        self._catalog.files.delete(f"{self.place(name)}{LISTED}", self._io)
        # Last, as it shows that the others may exist.
        self._catalog.files.delete(self.place(name), self._io)


def staging_folder(catalog: IcebergCatalog, name: TableName, root: str = "") -> StagingFolder | None:
    """Return the staging folder of a table; None if nothing was staged for it.

    Args:
        root: the folder of its data, if known.
    """
    if root and catalog.hadoop_warehouse is not None:
        return StagingFolder(catalog, root, None)
    table = table_or_draft(catalog, name)
    return None if table is None else StagingFolder(catalog, root or data_root(table), table.io())


def table_or_draft(catalog: IcebergCatalog, name: TableName) -> Any | None:
    """Return a table, or a draft of one that does not exist yet, which is where it would be created.

    Returns:
        None when there is not even its namespace, which staging creates.
    """
    table = catalog.table(name)
    if table is None and catalog.has_namespace(name[0]):
        with java_failures(f"plan {sql_name(name)}"):
            no_columns = catalog.api.Schema(catalog.java.java.util.ArrayList())
        table = draft_table(catalog, name, no_columns, ()).table()
    return table


def stage_files(
    catalog: IcebergCatalog,
    name: str,
    table: Any,
    rows: DataFrame,
    dimensions: int,
    schema: Any | None = None,
    *,
    folders: Collection[Sequence[str]] = (),
    properties: Mapping[str, str] | None = None,
) -> StagedFiles:
    """Write rows into new data files for `table`.

    Columns that the rows do not have get null values.

    Args:
        dimensions: the number of partition columns.
        schema: the columns; None for those of the table.
        folders: `partition_folders` of the partitions that may have rows.
        properties: those of `table`, if known.

    Raises:
        OSError: Iceberg failed.
    """
    wide = table.schema() if schema is None else schema
    columns, numbered_alike = columns_of(catalog, wide)
    with java_failures(f"stage {name}"):
        location, io = str(table.location()), table.io()
        known = catalog.properties(table) if properties is None else properties
        root, own = root_and_properties(name, known, location)
        folder, place = StagingFolder(catalog, root, io), (location, io, own)
        private = _private_table(catalog, name, table, wide, place, numbered_alike=numbered_alike)
    folder.begin(name, io)
    with catalog.files.with_folders(data_folder(root, name), folders, io):
        written = _write(catalog, private, picked(rows, columns))
    spec = private.spec()
    manifest = folder.save(name, written, spec, io)
    with java_failures(f"list the files of {name}"):
        listed = data_files(catalog, written, dimensions)
    made = StagedFiles(files=written, listed=listed, schema=wide, spec=spec, io=io, manifest=manifest)
    return replace(made, root=root, table=private)


def _private_table(
    catalog: IcebergCatalog,
    name: str,
    table: Any,
    wide: Any,
    place: tuple[str, Any, Mapping[str, str]],
    *,
    numbered_alike: bool,
) -> Any:
    """Return a table in memory with the partitions and field ids of `table`, which is in no catalog.

    Args:
        place: its folder and FileIO, which are those of `table`, and its properties.
    """
    location, io, given = place
    api, properties = catalog.api, catalog.java.java.util.HashMap()
    for key, value in given.items():
        properties.put(key, value)
    like = table.operations().current()
    spec = like.spec()
    first = first_spec(catalog, spec, numbered_alike=numbered_alike)
    fresh = api.TableMetadata.newTableMetadata(wide, first, location, properties)
    alike = like_table(catalog, fresh, wide, spec, like.sortOrder())
    locations = api.LocationProviders.locationsFor(location, properties)
    return api.BaseTable(api.StaticTableOperations(alike, io, locations), name)


def _write(catalog: IcebergCatalog, private: Any, rows: DataFrame) -> Any:
    """Write rows as Iceberg's rewriting of files does, which commits nothing, and return a Java list."""
    written, key = catalog.api.spark.FileRewriteCoordinator.get(), str(uuid.uuid4())
    with cached_table(catalog.cache, key, private):
        try:
            writer = rows.write.format("iceberg").option("rewritten-file-scan-task-set-id", key)
            writer.mode("append").save(key)
            with java_failures("collect the written files"):
                return catalog.java.java.util.ArrayList(written.fetchNewFiles(private, key))
        finally:
            written.clearRewrite(private, key)


@contextmanager
def rows_of_staged(catalog: IcebergCatalog, staged: StagedFiles) -> Iterator[DataFrame]:
    """Return the rows of files that this process has staged, as Iceberg's rewriting reads files.

    No table has the files yet, and none is made for them. The frame is valid inside the context.
    """
    api, key, table = catalog.api, str(uuid.uuid4()), staged.table
    assert table is not None, "the files were staged by this process"
    with java_failures("read the staged files"):
        schema = api.SchemaParser.toJson(staged.schema)
        spec = api.PartitionSpecParser.toJson(staged.spec)
        every = api.expressions.ResidualEvaluator.unpartitioned(api.expressions.Expressions.alwaysTrue())
        gateway: Any = catalog.spark.sparkContext._gateway
        none = gateway.new_array(api.DeleteFile, 0)
        tasks = catalog.java.java.util.ArrayList()
        for file in each(staged.files):
            tasks.add(api.BaseFileScanTask(file, none, schema, spec, every))
        sets = api.spark.ScanTaskSetManager.get()
        sets.stageTasks(table, key, tasks)
    try:
        with cached_table(catalog.cache, key, table):
            yield catalog.spark.read.format("iceberg").option("scan-task-set-id", key).load(key)
    finally:
        sets.removeTasks(table, key)


def read_manifest(catalog: IcebergCatalog, manifest: str, io: Any, dimensions: int) -> StagedFiles | None:
    """Return the staged files of a list; None when the list does not exist any more.

    Args:
        dimensions: the number of partition columns.

    Raises:
        OSError: it cannot be read.
    """
    with java_failures("read the list of staged files"):
        found = catalog.api.ManifestFiles.decode(_bytes(manifest))
        if not io.newInputFile(found.path()).exists():
            return None
        reader = catalog.api.ManifestFiles.read(found, io)
        try:
            spec = reader.spec()
            files = catalog.listed(reader)
        finally:
            reader.close()
        return StagedFiles(
            files=files,
            listed=data_files(catalog, files, dimensions),
            schema=spec.schema(),
            spec=spec,
            io=io,
            manifest=manifest,
        )


def manifest_path(catalog: IcebergCatalog, manifest: str) -> str:
    """Return the location of a list of staged files."""
    with java_failures("read the list of staged files"):
        return str(catalog.api.ManifestFiles.decode(_bytes(manifest)).path())


def _bytes(manifest: str) -> bytes:
    try:
        return base64.b64decode(manifest, validate=True)
    except binascii.Error as error:
        raise OSError(f"the list of staged files cannot be read: {error}") from error


def picked(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Return rows with these columns; those that they do not have are null."""
    if tuple(rows.columns) == tuple(columns):
        return rows
    have = {column.lower(): column for column in rows.columns}
    return rows.select(
        *(
            sf.col(f"`{have[c.lower()]}`").alias(c) if c.lower() in have else sf.lit(None).alias(c)
            for c in columns
        )
    )


def remove_unpublished(
    catalog: IcebergCatalog, folder: str, io: Any | None, published: Collection[str] | None
) -> None:
    """Remove the data files in a staging folder that were not published.

    Args:
        published: locations of the data files to keep; None when they are unknown: then all files are kept.
    """
    if published is None:
        return
    # By what follows the folder, whose name is unique: its place may have another name by now (a link).
    inside = f"/{folder.rstrip('/').rpartition('/')[2]}/"
    kept = frozenset(tail for location in published if (tail := location.rpartition(inside)[2]) != location)
    if not kept:
        catalog.files.delete(folder, io)
    elif catalog.files.count_below(folder, io) > len(kept):
        for file in catalog.files.below(folder, io):
            if file.rpartition(inside)[2] not in kept:
                catalog.files.delete(file, io)
