"""What Parquet's own metadata of the staged files shows of their columns, read without a Spark job.

    footer of each row group ──► rows, nulls, least and largest number
    its dictionary, where all its pages refer to one ──► each value that is there

Read are a few bytes of each file. A column of which a file shows less than this is left out or has None:
nothing is guessed, and the rows are asked instead. Numbers without bounds are among them: Parquet gives none
where one of them is NaN.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tidegate.spark_jobs.files.scheme import scheme_of
from tidegate.spark_jobs.java.jvm import java_classes

FILES = 32
"""The most files that are looked at, one after the other; Spark's tasks read those of more files faster."""
NEAR = frozenset({"", "file", "hdfs", "viewfs"})
"""Where a read takes a millisecond. Of an object store it takes some tens, and a file needs several."""
COLUMNS = 5_000
"""The most columns of all these files together: their footers come to Python as texts."""
VALUES = 100
"""The most values of a dictionary that is read."""
WRITER = "parquet-mr "
"""The library whose bounds are known to be missing where there is NaN. Spark and Iceberg write with it."""
DICTIONARY = frozenset({"PLAIN_DICTIONARY", "RLE_DICTIONARY"})
"""The encodings of pages whose values are all in the dictionary."""

_ENTRY = re.compile(
    r"^[0-9]+ => (?:Binary\{.*\[(?P<bytes>[-0-9, ]*)\]\}|(?P<number>-?[0-9]+))$", re.MULTILINE
)
"""A value of a dictionary as its `toString` has it: a text by its bytes, or a whole number."""


class Stored(NamedTuple):
    """What the files show of one column.

    Attributes:
        rows: the number of rows with null and without.
        nulls: of those the ones with null; None where a file does not say it.
        bounds: the least and the largest number, which there are; None if unknown, or if all rows have null.
        values: each value that is not null; None if unknown.
    """

    rows: int
    nulls: int | None
    bounds: tuple[float, float] | None
    values: frozenset[int | str] | None

    @property
    def is_null(self) -> bool:
        """Whether no row has a value."""
        return self.nulls == self.rows


def read_columns(
    spark: SparkSession, files: Sequence[str], names: Collection[str], listed: Collection[str], width: int
) -> dict[str, Stored]:
    """Return what files show of some columns, by name; one that a file does not have is left out.

    Args:
        names: as they are spelled in the files; of columns that are not nested.
        listed: those of them whose values are wanted.
        width: how many columns the files have.
    """
    if not names or not 0 < len(files) <= FILES or len(files) * width > COLUMNS:
        return {}
    if not NEAR.issuperset(map(scheme_of, files)):
        return {}
    try:
        found = [chunk for file in files for chunk in _chunks(spark, file, names, listed)]
    except (Py4JError, PySparkException, ValueError):
        # Whatever is wrong with a file, the query of its rows reports it.
        return {}
    return {name: _together([stored for one, stored in found if one == name]) for name in names}


def _together(chunks: Sequence[Stored]) -> Stored:
    filled = [chunk for chunk in chunks if not chunk.is_null]
    nulls = [chunk.nulls for chunk in chunks if chunk.nulls is not None]
    bounds = [chunk.bounds for chunk in filled if chunk.bounds is not None]
    values = [chunk.values for chunk in filled if chunk.values is not None]
    bounded = len(bounds) == len(filled) > 0
    return Stored(
        rows=sum(chunk.rows for chunk in chunks),
        nulls=sum(nulls) if len(nulls) == len(chunks) else None,
        bounds=(min(least for least, _ in bounds), max(most for _, most in bounds)) if bounded else None,
        values=frozenset[int | str]().union(*values) if len(values) == len(filled) else None,
    )


def _chunks(
    spark: SparkSession, file: str, names: Collection[str], listed: Collection[str]
) -> Iterator[tuple[str, Stored]]:
    """Yield what a file shows of each column in each of its row groups."""
    java: Any = java_classes(spark)
    context: Any = spark.sparkContext
    parquet = java.org.apache.parquet.hadoop
    path, conf = java.org.apache.hadoop.fs.Path(file), context._jsc.hadoopConfiguration()
    reader = parquet.ParquetFileReader.open(parquet.util.HadoopInputFile.fromPath(path, conf))
    try:
        footer = reader.getFooter()
        text = json.loads(parquet.metadata.ParquetMetadata.toJSON(footer))
        known = str(text["fileMetaData"].get("createdBy")).startswith(WRITER)
        for at, group in enumerate(text["blocks"]):
            for number, column in enumerate(group["columns"]):
                name = ".".join(column["path"])
                if len(column["path"]) > 1 or name not in names:
                    continue
                read = name in listed and _is_listed(column)
                values = _values(reader, footer, at, number) if read else None
                # Newer versions of the library leave them out of this text.
                shown = column.get("statistics") or _statistics(footer, at, number)
                yield name, _stored(int(column["valueCount"]), shown, values, known=known)
    finally:
        reader.close()


def _statistics(footer: Any, group: int, column: int) -> Mapping[str, Any]:
    """Return what is known of a column in a row group, by the names of the text of a footer."""
    found = footer.getBlocks().get(group).getColumns().get(column).getStatistics()
    if found is None:
        return {}
    shown: dict[str, Any] = {"numNullsSet": found.isNumNullsSet(), "numNulls": found.getNumNulls()}
    if found.hasNonNullValue():
        shown |= {"min": found.genericGetMin(), "max": found.genericGetMax()}
    return shown


def _stored(
    rows: int, shown: Mapping[str, Any], values: frozenset[int | str] | None, *, known: bool
) -> Stored:
    bounds: tuple[Any, Any] = (shown.get("min"), shown.get("max"))
    return Stored(
        rows=rows,
        nulls=int(shown["numNulls"]) if shown.get("numNullsSet") else None,
        bounds=bounds if known and _are_bounds(bounds) else None,
        values=values,
    )


def _are_bounds(bounds: tuple[Any, Any]) -> bool:
    # Where there are none, these texts have 0 and 0; a column of zeros looks alike.
    return all(type(bound) in (int, float) for bound in bounds) and any(bounds)


def _is_listed(column: Mapping[str, Any]) -> bool:
    encodings = (column.get("encodingStats") or {}).get("dataEncodings")
    return bool(encodings) and DICTIONARY.issuperset(encodings)


def _values(reader: Any, footer: Any, group: int, column: int) -> frozenset[int | str] | None:
    """Return the values of a column in a row group; None if there are many, or no texts or numbers."""
    described = footer.getFileMetaData().getSchema().getColumns().get(column)
    page = reader.getDictionaryReader(footer.getBlocks().get(group)).readDictionaryPage(described)
    if page is None:
        return None
    dictionary = page.getEncoding().initDictionary(described, page)
    number = int(dictionary.getMaxId()) + 1
    if number > VALUES:
        return None
    values = [*_entries(str(dictionary.toString()))]
    return frozenset(values) if len(values) == number else None


def _entries(text: str) -> Iterable[int | str]:
    for entry in _ENTRY.finditer(text):
        if entry["number"] is not None:
            yield int(entry["number"])
        else:
            # Java's bytes are from -128 to 127.
            yield bytes(int(byte) % 256 for byte in entry["bytes"].split(",") if byte.strip()).decode()
