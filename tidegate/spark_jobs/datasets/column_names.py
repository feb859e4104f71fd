"""The names of columns, which are compared as Spark compares them: in any case."""

from collections.abc import Iterable, Iterator

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from tidegate.domain.column_type import OURS, RESERVED, is_reserved
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import OutputError


def refuse_names(ref: DatasetRef, frame: DataFrame) -> None:
    """Refuse the columns of an output that a table cannot have.

    Raises:
        OutputError: a column has a reserved name, or two have names that differ only in case.
    """
    taken = [name for name in frame.columns if is_reserved(name)]
    if taken:
        raise OutputError(
            f"{ref.name}: the program's output has the column {', '.join(taken)}, whose name is reserved",
            f"rename it; reserved are {', '.join(RESERVED)}, and names that begin with {OURS}",
        )
    for one, other in alike(frame.schema):
        raise OutputError(
            f"{ref.name}: the program's output has the columns {one} and {other}, "
            "which are one name to Spark",
            "rename or drop one of them",
        )


def spelling(name: str, names: Iterable[str]) -> str | None:
    """Return how one of some names is spelled there; None if none of them is this name in any case."""
    return next((one for one in names if one.lower() == name.lower()), None)


def alike(columns: StructType, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the pairs of columns, also of nested ones, whose names are equal or differ only in case."""
    known: dict[str, str] = {}
    for field in columns.fields:
        whole = f"{prefix}{field.name}"
        if field.name.lower() in known:
            yield known[field.name.lower()], whole
        known.setdefault(field.name.lower(), whole)
        yield from _alike_inside(field.dataType, whole)


def _alike_inside(kind: DataType, name: str) -> Iterator[tuple[str, str]]:
    match kind:
        case StructType():
            yield from alike(kind, f"{name}.")
        case ArrayType():
            yield from _alike_inside(kind.elementType, name)
        case MapType():
            yield from _alike_inside(kind.keyType, name)
            yield from _alike_inside(kind.valueType, name)
        case _:
            pass
