"""Frames of other libraries that a program returns: written as Parquet, from where Spark reads them.

pandas, polars, DuckDB and pyarrow hand over a table as an Arrow stream (`__arrow_c_stream__`). PySpark 3.5
takes none, so pyarrow writes it, batch by batch, into a folder of the run below the warehouse, which every
executor sees. The folder is that of the run's checkpoints: the run removes it, and what a killed run leaves,
recovery and `tidegate commits fsck --clean` remove.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.wording import full_name
from tidegate.spark_jobs.errors import ProgramError
from tidegate.spark_jobs.files.filesystem import FileSystem, make_folders
from tidegate.spark_jobs.java.jvm import java_classes

if TYPE_CHECKING:
    import pyarrow as pa

STREAM = "__arrow_c_stream__"
"""What an object has that hands over an Arrow stream."""

_NO_INDEX = "__index_level_"
"""An index of pandas without a name, which is not a column for its user."""


class ArrowFrames:
    """The frames of one run that came as Arrow streams; leaving it removes their files.

    Args:
        spark: starts the session that reads them.
        folder: of this run, below the warehouse; it need not exist.
    """

    def __init__(self, spark: Callable[[], SparkSession], files: FileSystem, folder: str) -> None:
        self._spark, self._files, self._folder = spark, files, folder
        self._written = False

    def __enter__(self) -> "ArrowFrames":
        return self

    def __exit__(self, *_: object) -> None:
        if self._written:
            self._files.delete(self._folder)

    def frame(self, program: str, dataset: str, returned: Any) -> DataFrame:
        """Return what a program returned for a dataset as a frame of Spark.

        Raises:
            ProgramError: it is not a table, or has a column that cannot be published.
        """
        spark, place = self._spark(), f"{self._folder}/{dataset}.parquet"
        self._written = True
        local = self._files.local_path(place)
        try:
            if local is not None:
                make_folders(local.parent)
                _write(returned, local)
            else:
                with tempfile.TemporaryDirectory(prefix="tidegate-arrow-") as folder:
                    file = Path(folder) / "rows.parquet"
                    _write(returned, file)
                    _upload(spark, file, place)
        except ImportError as error:
            raise ProgramError(
                f"program {program} returned {full_name(returned)} for {dataset}, which pyarrow writes",
                "install pyarrow in the environment of the runs, or return a pyspark.sql.DataFrame",
            ) from error
        except _Unfit as error:
            raise ProgramError(f"program {program} returned for {dataset} {error}", error.hint) from error
        return spark.read.parquet(str(place))


class _Unfit(Exception):
    """A table that cannot be published."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.hint = hint


def _write(returned: Any, file: Path) -> None:
    """Write an Arrow stream into a file, batch by batch."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with pa.RecordBatchReader.from_stream(returned) as reader:
            names = [name for name in reader.schema.names if not name.startswith(_NO_INDEX)]
            schema = pa.schema([_fit(reader.schema.field(name)) for name in names])
            # A value that microseconds cannot have raises: none is changed silently.
            with parquet.ParquetWriter(file, schema, coerce_timestamps="us") as writer:
                for batch in reader:
                    writer.write_batch(batch.select(names).cast(schema))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        text = str(error).split("\n")[0]
        raise _Unfit(
            f"a table that cannot be written: {text}", "convert the column in the program"
        ) from error


def _fit(field: "pa.Field[Any]") -> "pa.Field[Any]":
    """Return a column as it is written.

    Raises:
        _Unfit: Spark has no such type.
    """
    import pyarrow as pa

    kind = field.type
    if pa.types.is_null(kind):
        hint = "give it a type in the program: nothing says which type a column of nulls has"
        raise _Unfit(f"the column {field.name} without a type", hint)
    if pa.types.is_time(kind) or pa.types.is_duration(kind) or pa.types.is_interval(kind):
        raise _Unfit(
            f"the column {field.name} of type {kind}", "convert it to a number, a text or a timestamp"
        )
    if pa.types.is_float16(kind):
        kind = pa.float32()
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.field(field.name, kind, nullable=True)


def _upload(spark: SparkSession, file: Path, place: str) -> None:
    java: Any = java_classes(spark)
    context: Any = spark.sparkContext
    path = java.org.apache.hadoop.fs.Path
    target = path(place)
    target.getFileSystem(context._jsc.hadoopConfiguration()).copyFromLocalFile(path(str(file)), target)
