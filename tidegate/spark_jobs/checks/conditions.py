"""When a row breaks a check: one condition a kind, built from the columns of the rows.

What the columns show is found here, before a run stages its rows and again for the staged ones: a check with
a column that there is not, or of a type that it cannot compare, fails the run and is never "passed".
"""

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any, assert_never

from pyspark.errors.exceptions.captured import IllegalArgumentException
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StringType, StructField, StructType

from tidegate.domain.model import (
    Bounds,
    ChangeCheck,
    Check,
    MatchesCheck,
    NotNullCheck,
    RangeCheck,
    ReferenceCheck,
    RowsCheck,
    RunCheck,
    SqlCheck,
    UniqueCheck,
    ValuesCheck,
)
from tidegate.spark_jobs.checks.literals import FLOATING, NoLiteral, bound_of, values_of
from tidegate.spark_jobs.datasets.column_names import spelling
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.datasets.merge_keys import has_map
from tidegate.spark_jobs.errors import NotJudged
from tidegate.spark_jobs.java.jvm import java_classes


def condition(spark: SparkSession, ref: DatasetRef, check: Check, columns: StructType) -> Column | None:
    """Return when a row breaks a check; None for a kind that does not judge rows one by one.

    Raises:
        NotJudged: the check cannot be judged with these columns.
    """
    try:
        return _condition(spark, check, columns)
    except (NoLiteral, _NoSuchColumn) as error:
        raise not_judged(ref, check, str(error)) from error


def not_judged(ref: DatasetRef, check: Check, why: str) -> NotJudged:
    """Return the error of a check that cannot be judged."""
    place = f" ({check.at})" if check.at is not None else ""
    return NotJudged(
        f"{ref.id}: the check {check.name}{place} cannot be judged: {why}",
        "correct the check, or the output of the program; nothing is published",
    )


class _NoSuchColumn(ValueError):
    pass


def _condition(spark: SparkSession, check: Check, columns: StructType) -> Column | None:
    fields = {name: field_of(name, columns) for name in check.columns_read}
    match check:
        case RowsCheck() | ChangeCheck() | ReferenceCheck() | SqlCheck() | RunCheck():
            return None
        case NotNullCheck():
            return any_of(_column(field).isNull() for field in fields.values())
        case UniqueCheck():
            for field in fields.values():
                if has_map(field.dataType):
                    raise NoLiteral(
                        f"{field.name} is {field.dataType.simpleString()}, and maps cannot be compared"
                    )
            return None
        case ValuesCheck():
            return any_of(_outside(spark, fields[name], values) for name, values in check.values.items())
        case RangeCheck():
            return any_of(_beyond(spark, fields[name], bounds) for name, bounds in check.range.items())
        case MatchesCheck():
            return any_of(_unlike(spark, fields[name], text) for name, text in check.matches.items())
        case _:
            assert_never(check)


def _outside(spark: SparkSession, field: StructField, values: Any) -> Column:
    literals = values_of(spark, field.dataType, values)
    column = _column(field)
    # -0.0 and 0.0 are one value, which a set of literals would tell apart.
    plain = column + sf.lit(0.0).cast(field.dataType) if isinstance(field.dataType, FLOATING) else column
    return column.isNotNull() & ~plain.isin(literals)


def _beyond(spark: SparkSession, field: StructField, bounds: Bounds) -> Column:
    column, kind = _column(field), field.dataType
    beyond: list[Column] = [sf.isnan(column)] if isinstance(kind, FLOATING) else []
    if bounds.min is not None:
        beyond.append(column < bound_of(spark, kind, bounds.min, least=True))
    if bounds.max is not None:
        beyond.append(column > bound_of(spark, kind, bounds.max, least=False))
    return column.isNotNull() & any_of(beyond)


def _unlike(spark: SparkSession, field: StructField, pattern: str) -> Column:
    if not isinstance(field.dataType, StringType):
        raise NoLiteral(f"{field.name} is {field.dataType.simpleString()}, and only a text matches a pattern")
    java: Any = java_classes(spark)
    try:
        java.java.util.regex.Pattern.compile(pattern)
    except IllegalArgumentException as error:
        why = str(error).partition("\n")[0]
        raise NoLiteral(f"{pattern!r} is not a regular expression: {why}") from error
    column = _column(field)
    return column.isNotNull() & ~column.rlike(rf"\A(?:{pattern})\z")


def any_of(conditions: Iterable[Column]) -> Column:
    """Return whether one of some conditions is met; there is at least one."""
    return reduce(or_, conditions)


def column_of(name: str, columns: StructType) -> Column:
    """Return a column by its name in any case, which is one of these."""
    return _column(field_of(name, columns))


def _column(field: StructField) -> Column:
    return sf.col("`" + field.name.replace("`", "``") + "`")


def field_of(name: str, columns: StructType) -> StructField:
    """Return a column by its name in any case.

    Raises:
        ValueError: there is none; the message says which there are.
    """
    spelled = spelling(name, columns.fieldNames())
    if spelled is None:
        raise _NoSuchColumn(f"there is no column {name}; there are {', '.join(columns.fieldNames())}")
    return columns[spelled]
