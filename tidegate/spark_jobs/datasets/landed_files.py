"""The columns of landed files: their footers are read, and merged by name as Iceberg merges columns.

    files ─► footers ─► kinds of files ─► one set of columns ─► a scan for each way of reading ─► rows

Spark takes the columns of one file, and those that only others have are gone without a message. Here a column
is in the result if any file has it, with a type that has the values of all: `int` in one file and `bigint` in
another is `bigint`. A file without the column has no values in it. Timestamps of pandas in nanoseconds become
microseconds where nothing is lost. What cannot be read is refused, with the file and the column.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, cast
from urllib.parse import unquote

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from tidegate.spark_jobs.datasets.columns import (
    NO_TYPE,
    ColumnClash,
    columns_as_written,
    label,
    union_columns,
)
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, folder_value
from tidegate.spark_jobs.datasets.file_reader import file_reader, rows_at
from tidegate.spark_jobs.datasets.row_refusal import refusal
from tidegate.spark_jobs.errors import SourceError
from tidegate.spark_jobs.java.cause import about_partition, decoded
from tidegate.spark_jobs.java.jvm import call_with, java_classes

FOOTERS_AT_ONCE = 1_000
"""How many footers the JVM reads before their texts are handed over: some 2 kB each."""
SEPARATOR = "\x01"
NANOS = "TIMESTAMP(NANOS,"
SPARKS_OWN = "org.apache.spark.sql.parquet.row.metadata"
EMPTY = '{"fields":[],"type":"struct"}'
_LOCATION = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?(/.*)", re.DOTALL)
_FOOTER = re.compile(r"Footer\{(.*?), (ParquetMeta.*)", re.DOTALL)


@dataclass(kw_only=True, slots=True)
class FileKind:
    """Files with the same columns.

    Attributes:
        columns: Spark's JSON of them.
        nanos: the columns, in lower case, whose timestamps are nanoseconds.
    """

    columns: str
    nanos: frozenset[str] = frozenset()
    files: list[str] = field(default_factory=list[str])


def read_files(spark: SparkSession, ref: DatasetRef, root: str, files: Sequence[str]) -> DataFrame:
    """Return the rows of some landed files, with the partition columns that the names of their folders give.

    Args:
        root: the folder of the dataset.
        files: absolute paths below it; at least one.

    Raises:
        SourceError: a file cannot be read, or two have incompatible types in a column.
    """
    kinds = list(_kinds(spark, ref, files))
    from_folders = {name.lower() for file in files for name, _ in _folders(root, file)} | {
        name.lower() for name in ref.dimensions()
    }
    for kind in kinds:
        kind.columns = _without(kind.columns, from_folders)
    columns = _merged(spark, ref, kinds)
    scans: dict[tuple[str, tuple[str, ...]], tuple[FileKind, list[str]]] = {}
    for kind in kinds:
        how = "" if _reads_as(columns, kind) else f"{kind.columns} {sorted(kind.nanos)}"
        for file in kind.files:
            named = tuple(name for name, _ in _folders(root, file))
            scans.setdefault((how, named), (kind, []))[1].append(file)
    frames = [
        _scan(spark, root, some, columns, kind if how else None) for (how, _), (kind, some) in scans.items()
    ]
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)


def _scan(
    spark: SparkSession, root: str, files: Sequence[str], columns: str, kind: FileKind | None
) -> DataFrame:
    """Return the rows of files that are read alike.

    Args:
        kind: how; None for the merged columns as they are.
    """
    wanted: list[dict[str, Any]] = json.loads(columns)["fields"]
    present, own = wanted, dict[str, dict[str, Any]]()
    if kind is not None:
        there = {each["name"].lower(): each for each in json.loads(kind.columns)["fields"]}
        own = {name: each for name, each in there.items() if each["type"] != NO_TYPE}
        written = json.loads(columns_as_written(columns, kind.columns))["fields"]
        present = [
            {**each, "type": "long"} if each["name"].lower() in kind.nanos else each
            for each in written
            if each["name"].lower() in own
        ]
    typed = StructType.fromJson({"type": "struct", "fields": present})
    frame = rows_at(file_reader(spark).option("basePath", root).schema(typed), files)
    if kind is None:
        return frame
    types = StructType.fromJson(json.loads(columns))
    read = {each.lower(): each for each in typed.fieldNames()}
    made: list[Column] = []
    for each in types.fields:
        name = read.get(each.name.lower())
        column = sf.lit(None) if name is None else sf.col(_quoted(name))
        if name is not None and name.lower() in kind.nanos:
            column = _microseconds(name, kind.files[0])
        made.append(column.cast(each.dataType).alias(each.name))
    known = {each.lower() for each in typed.fieldNames()}
    return frame.select(*made, *(_quoted(name) for name in frame.columns if name.lower() not in known))


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _microseconds(name: str, file: str) -> Column:
    """Return a column of nanoseconds as timestamps. Its evaluation fails where it would lose some."""
    column = sf.col(_quoted(name))
    lost = refusal(
        sf.lit(f"the column {name} of {file}, or of a file like it, has the nanoseconds "),
        column.cast("string"),
        sf.lit(", which microseconds cannot keep; write the column in microseconds, and land the file again"),
    )
    micros = sf.timestamp_micros(sf.expr(f"{_quoted(name)} div 1000"))
    return sf.when(column % 1_000 != 0, lost.cast("timestamp")).otherwise(micros)


def _merged(spark: SparkSession, ref: DatasetRef, kinds: Sequence[FileKind]) -> str:
    """Return the columns of all files; where types clash, those of files without values do not count."""
    while True:
        try:
            return reduce(union_columns, (kind.columns for kind in kinds), EMPTY)
        except ColumnClash as clash:
            name = clash.column.partition(".")[0].lower()
            typed = [kind for kind in kinds if _type_of(kind, name) not in (None, NO_TYPE)]
            filled = [(kind, _filled(spark, kind, name)) for kind in typed]
            if all(file is not None for _, file in filled):
                raise _clash(ref, clash, [(kind, str(file)) for kind, file in filled]) from clash
            for kind, file in filled:
                if file is None:
                    kind.columns = _with_type(kind.columns, name, NO_TYPE)


def _clash(ref: DatasetRef, clash: ColumnClash, filled: Sequence[tuple[FileKind, str]]) -> SourceError:
    """Return the error of the first two files whose columns cannot be merged."""
    columns, first = EMPTY, dict[str, str]()
    for kind, file in filled:
        try:
            columns = union_columns(columns, kind.columns)
        except ColumnClash as found:
            one = first.get(found.existing, filled[0][1])
            return SourceError(
                f"{ref.id}: the column {found.column} is {found.existing} in {one}, and {found.incoming} in "
                f"{file}",
                "write it with one type in all files, and land one of the two again",
            )
        first.setdefault(_label_at(kind.columns, clash.column), file)
    return SourceError(f"{ref.id}: {clash}", "write the column with one type in all files")


def _label_at(columns: str, column: str) -> str:
    """Return the type of a column, perhaps within others, as messages name it; "" where there is none."""
    kind: Any = json.loads(columns)
    for part in column.lower().split("."):
        fields = kind.get("fields", ()) if isinstance(kind, dict) else ()
        kind = next((each["type"] for each in fields if each["name"].lower() == part), "")
    return label(kind) if kind else ""


def _type_of(kind: FileKind, name: str) -> Any:
    fields = json.loads(kind.columns)["fields"]
    return next((each["type"] for each in fields if each["name"].lower() == name), None)


def _with_type(columns: str, name: str, kind: str) -> str:
    fields = json.loads(columns)["fields"]
    changed = [{**each, "type": kind} if each["name"].lower() == name else each for each in fields]
    return json.dumps({"type": "struct", "fields": changed})


def _filled(spark: SparkSession, kind: FileKind, name: str) -> str | None:
    """Return one of the files that have a value in a column; None if none has."""
    (column,) = (each for each in json.loads(kind.columns)["fields"] if each["name"].lower() == name)
    written = {**column, "type": "long"} if name in kind.nanos else column
    typed = StructType.fromJson({"type": "struct", "fields": [written]})
    frame = rows_at(file_reader(spark).option("recursiveFileLookup", True).schema(typed), kind.files)
    found = frame.where(sf.col(_quoted(column["name"])).isNotNull()).select(sf.input_file_name()).head()
    if found is None:
        return None
    known = {_path(file): file for file in kind.files}
    return known.get(unquote(_path(str(found[0]))), kind.files[0])


def _reads_as(columns: str, kind: FileKind) -> bool:
    """Return whether files can be read with the merged columns, of which they may lack some."""
    return not kind.nanos and f'"{NO_TYPE}"' not in kind.columns and _same(columns, kind.columns)


def _same(columns: str, written: str) -> bool:
    return columns_as_written(columns, written) == union_columns(columns, columns)


def _without(columns: str, names: Iterable[str]) -> str:
    """Return the columns that files have beside those that the names of their folders give."""
    gone = frozenset(names)
    kept = [each for each in json.loads(columns)["fields"] if each["name"].lower() not in gone]
    return union_columns(EMPTY, json.dumps({"type": "struct", "fields": kept}))


def _folders(root: str, file: str) -> Iterator[tuple[str, str]]:
    """Yield name and value of the folders of a file that are named so."""
    for name in file.removeprefix(f"{root}/").split("/")[:-1]:
        value = folder_value(name)
        if value is not None:
            yield value


def _kinds(spark: SparkSession, ref: DatasetRef, files: Sequence[str]) -> Iterator[FileKind]:
    """Yield the kinds of files, in the order of their first files."""
    context: Any = spark.sparkContext
    conf = context._jsc.hadoopConfiguration()
    statuses, given = _statuses(spark, files), {_path(file): file for file in files}
    kinds: dict[str, FileKind] = {}
    for first in range(0, len(files), FOOTERS_AT_ONCE):
        some = statuses.slice(first, first + FOOTERS_AT_ONCE)
        try:
            footers = call_with(_format(spark).readParquetFootersInParallel, conf, some, False, newer=False)
        except (PySparkException, Py4JJavaError) as error:
            raise _unreadable(spark, ref, files) or error from error
        texts = str(footers.mkString(SEPARATOR)).split(SEPARATOR)
        for number, text in enumerate(texts):
            found = _FOOTER.fullmatch(text)
            assert found is not None, "the text of a footer of Parquet"
            file = given[_path(found[1])]
            if found[2] not in kinds:
                kinds[found[2]] = _kind(spark, ref, footers.apply(number), file)
            kinds[found[2]].files.append(file)
    order = {file: number for number, file in enumerate(files)}
    for kind in kinds.values():
        kind.files.sort(key=order.__getitem__)
    yield from sorted(kinds.values(), key=lambda kind: order[kind.files[0]])


def _kind(spark: SparkSession, ref: DatasetRef, footer: Any, file: str) -> FileKind:
    """Return the columns of a file, given its footer."""
    java: Any = java_classes(spark)
    parquet = java.org.apache.spark.sql.execution.datasources.parquet
    session: Any = spark._jsparkSession
    converter = parquet.ParquetToSparkSchemaConverter(session.sessionState().conf())
    facts = footer.getParquetMetadata().getFileMetaData()
    if facts.getKeyValueMetaData().containsKey(SPARKS_OWN):
        return FileKind(columns=str(_format(spark).readSchemaFromFooter(footer, converter).json()))
    columns: list[dict[str, Any]] = []
    nanos: set[str] = set()
    for each in facts.getSchema().getFields():
        name, text = str(each.getName()), str(each.toString())
        if NANOS in text and not each.isPrimitive():
            raise _refused(
                ref, file, name, "timestamps in nanoseconds within it", "write them in microseconds"
            )
        one = java.java.util.ArrayList()
        one.add(each)
        try:
            made = converter.convert(java.org.apache.parquet.schema.MessageType("root", one))
        except (PySparkException, Py4JJavaError) as error:
            raise _of_no_type(ref, file, name, text) from error
        (column,) = json.loads(str(made.json()))["fields"]
        # Spark 4 has a type for it, and refuses to read one without the name of its file.
        if "TIME(" in text and "time(" in json.dumps(column["type"]):
            raise _of_no_type(ref, file, name, text)
        if NANOS in text:
            nanos.add(name.lower())
            column["type"] = "timestamp" if f"{NANOS}true" in text else "timestamp_ntz"
        columns.append(column)
    if not columns:
        raise SourceError(f"{ref.id}: {file} has no columns", "remove it, or land it with its columns")
    return FileKind(columns=json.dumps({"type": "struct", "fields": columns}), nanos=frozenset(nanos))


def _of_no_type(ref: DatasetRef, file: str, column: str, text: str) -> SourceError:
    instead = (
        "write times of a day as text, or as a number of microseconds"
        if "TIME(" in text
        else "write it as a type that Spark reads"
    )
    return _refused(ref, file, column, f"a type that Spark does not read, {text}", instead)


def _refused(ref: DatasetRef, file: str, column: str, what: str, instead: str) -> SourceError:
    return SourceError(f"{ref.id}: the column {column} of {file} has {what}", f"{instead}, and land it again")


def _format(spark: SparkSession) -> Any:
    """Return Spark's own reader of footers, a Scala object."""
    parquet: Any = java_classes(spark).org.apache.spark.sql.execution.datasources.parquet
    return getattr(getattr(parquet, "ParquetFileFormat$"), "MODULE$")


def _statuses(spark: SparkSession, files: Sequence[str]) -> Any:
    """Return Hadoop's facts of files, as Spark lists them; a Scala sequence in any order."""
    reader = file_reader(spark).option("recursiveFileLookup", True).schema("none string")
    listed: Any = reader.parquet(*files)._jdf
    return listed.queryExecution().analyzed().relation().location().allFiles()


def _unreadable(spark: SparkSession, ref: DatasetRef, files: Sequence[str]) -> SourceError | None:
    """Return the error of the first file whose footer cannot be read."""
    java: Any = java_classes(spark)
    parquet, context = java.org.apache.parquet.hadoop, cast(Any, spark.sparkContext)
    conf = context._jsc.hadoopConfiguration()
    for file in files:
        try:
            source = parquet.util.HadoopInputFile.fromPath(java.org.apache.hadoop.fs.Path(file), conf)
            parquet.ParquetFileReader.open(source).close()
        except Py4JJavaError as error:
            why, shown = str(error.java_exception.getMessage()).splitlines()[0], decoded(file)
            return SourceError(
                f"{ref.id}: {shown} cannot be read as Parquet, it was cut or is of another format:"
                f" {why:.300}{about_partition(shown)}",
                "write it as Parquet and land it again, or remove it; a file that is being written, or that "
                'is not data, has a name that begins with "." or "_"',
            )
    return None


def _path(location: str) -> str:
    """Return a location without its scheme and authority: Hadoop writes "file:/x" for "/x"."""
    found = _LOCATION.fullmatch(location)
    return found[1] if found else location
