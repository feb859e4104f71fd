"""Checks the merge keys of an output: the columns must exist and identify each row uniquely.

The same for every format. Two rows with equal keys would make the result
undefined, so they are refused before anything is published.
"""

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, AtomicType, DataType, MapType, NullType, StructType

from tidegate.spark_jobs.datasets.column_names import spelling
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import OutputError

SHOWN_ROWS = 5
"""How many repeated merge keys a message shows."""


def key_columns(ref: DatasetRef) -> tuple[str, ...]:
    """Return the columns that identify a row. Missing values are equal to each other."""
    return tuple(dict.fromkeys((*ref.dimensions(), *ref.merge_keys)))


def refuse_missing(ref: DatasetRef, frame: DataFrame) -> None:
    """Raise OutputError when the output lacks one of the merge keys."""
    have = {column.lower() for column in frame.columns}
    missing = [column for column in ref.merge_keys if column.lower() not in have]
    if missing:
        raise OutputError(
            f"{ref.name}: the program's output has no column {', '.join(missing)}, which is a merge key",
            "return the column, or change merge_keys of the dataset",
        )


def refuse_incomparable(ref: DatasetRef, frame: DataFrame, existing: StructType | None) -> None:
    """Refuse a merge that could not be computed once it is promised.

    Args:
        existing: the columns of the table; None for one that was never published.

    Raises:
        OutputError: a key cannot be compared with itself, or with that of the table, or rows cannot.
    """
    table = {} if existing is None else {each.name.lower(): each.dataType for each in existing.fields}
    for name in key_columns(ref):
        kind = frame.schema[spelling(name, frame.columns) or name].dataType
        known = table.get(name.lower())
        wrong = None
        if has_map(kind):
            wrong = f"is {kind.simpleString()}, and maps cannot be compared"
        elif known is not None and not _is_plain(kind, known) and _shape(kind) != _shape(known):
            wrong = f"is {known.simpleString()} in the table and {kind.simpleString()} in the output"
        if wrong is not None:
            raise OutputError(
                f"{ref.name}: the merge key {name} {wrong}",
                "merge by columns of plain types, such as fields of the struct",
            )
    if _is_json(frame.schema):
        return
    try:
        frame.select(sf.to_json(sf.struct("*")))
    except AnalysisException as error:
        why = str(error).splitlines()[0]
        raise OutputError(
            f"{ref.name}: a merge compares rows, and those of the output cannot be compared: {why}",
            "leave the column out, or return it as text",
        ) from error


def _is_plain(*kinds: DataType) -> bool:
    return all(isinstance(kind, AtomicType) for kind in kinds)


def _is_json(kind: DataType) -> bool:
    """Return whether Spark is known to write a type as JSON; of any other it has to be asked."""
    match kind:
        case ArrayType():
            return _is_json(kind.elementType)
        case MapType():
            return _is_json(kind.keyType) and _is_json(kind.valueType)
        case StructType():
            return all(_is_json(each.dataType) for each in kind.fields)
        case _:
            return isinstance(kind, AtomicType | NullType)


def has_map(kind: DataType) -> bool:
    """Return whether a type has maps, which Spark does not compare."""
    match kind:
        case MapType():
            return True
        case ArrayType():
            return has_map(kind.elementType)
        case StructType():
            return any(has_map(each.dataType) for each in kind.fields)
        case _:
            return False


def _shape(kind: DataType) -> str:
    return kind.simpleString().lower()


def refuse_repeated(ref: DatasetRef, staged: DataFrame) -> None:
    """Raise OutputError when two rows have the same keys.

    Args:
        staged: the output as it was written, so that the program's plan does not run again.
    """
    names = key_columns(ref)
    columns = [sf.col(f"`{name}`") for name in names]
    repeated = staged.groupBy(*columns).count().where("count > 1").limit(SHOWN_ROWS).collect()
    if repeated:
        shown = "; ".join(", ".join(f"{name}={row[name]}" for name in names) for row in repeated)
        raise OutputError(
            f"{ref.name}: the program returned several rows with the same merge keys: {shown}",
            "return one row for each, or add a column to merge_keys",
        )
