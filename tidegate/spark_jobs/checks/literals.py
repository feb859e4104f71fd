"""The values and bounds of a check as literals of the column's type, and what cannot be one.

A value is a literal only if it is a value of that type: 1.5 is none of `int`, and "soon" none of `date`. What
Spark would make of them by a cast (1, or null) would let wrong rows pass.
"""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from math import ceil, floor
from typing import Any, cast

from pyspark.sql import Column, Row, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import (
    AtomicType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from tidegate.domain.model.check import Scalar
from tidegate.domain.wording import shown

INTEGRAL = (ByteType, ShortType, IntegerType, LongType)
FLOATING = (FloatType, DoubleType)
NUMERIC = (*INTEGRAL, *FLOATING, DecimalType)
DATED = (DateType, TimestampType, TimestampNTZType)
LONG = range(-(2**63), 2**63)


class NoLiteral(ValueError):
    """A value or bound is not of the type of its column; the message says why."""


def values_of(spark: SparkSession, column: DataType, values: Sequence[Scalar]) -> list[Column]:
    """Return the values that a column may have, as literals of its type.

    Raises:
        NoLiteral: one of them is not a value of that type.
    """
    found = [_value(column, value) for value in values]
    _refuse_lost(spark, column, [value for value in values if _is_cast(column, value)])
    return found


def bound_of(spark: SparkSession, column: DataType, bound: float | str, *, least: bool) -> Column:
    """Return a bound of the values of a column, to compare them with.

    Args:
        least: whether it is the lower one.

    Raises:
        NoLiteral: values of that type cannot be compared with it.
    """
    if isinstance(column, NUMERIC):
        number = _number(bound)
        if isinstance(column, INTEGRAL):
            return _whole(ceil(number) if least else floor(number))
        return sf.lit(number) if isinstance(column, DecimalType) else sf.lit(float(number)).cast(column)
    if not isinstance(column, (StringType, *DATED)) or not isinstance(bound, str):
        raise NoLiteral(f"{column.simpleString()} cannot be compared with {shown(bound)}")
    _refuse_lost(spark, column, [bound])
    return sf.lit(bound).cast(column)


def _value(column: DataType, value: Scalar) -> Column:
    refused = NoLiteral(f"{shown(value)} is not a value of {column.simpleString()}")
    if not isinstance(column, AtomicType):
        raise NoLiteral(f"{column.simpleString()} cannot be compared with {shown(value)}")
    if isinstance(value, bool):
        if not isinstance(column, BooleanType | StringType):
            raise refused
        return sf.lit(value).cast(column)
    if isinstance(column, NUMERIC):
        number = _number(value)
        if isinstance(column, INTEGRAL):
            if number != int(number):
                raise refused
            return _whole(int(number))
        if isinstance(column, DecimalType):
            if number != round(number, column.scale):
                raise refused
            return sf.lit(number)
        # 0.0 and -0.0 are one value; a set of literals would tell them apart.
        return sf.lit(float(number) + 0.0).cast(column)
    if isinstance(value, int | float) and not isinstance(column, StringType):
        raise refused
    return sf.lit(value).cast(column)


def _number(value: float | str) -> Decimal:
    try:
        return Decimal(value if isinstance(value, str) else repr(value))
    except InvalidOperation:
        raise NoLiteral(f"{shown(value)} is not a number") from None


def _whole(number: int) -> Column:
    return sf.lit(number if number in LONG else Decimal(number))


def _is_cast(column: DataType, value: Scalar) -> bool:
    """Return whether only Spark knows if a value is one of the type."""
    return isinstance(value, str) and not isinstance(column, NUMERIC)


def _refuse_lost(spark: SparkSession, column: DataType, texts: list[Scalar]) -> None:
    """Refuse texts that Spark cannot read as values of a type."""
    if not texts or isinstance(column, StringType):
        return
    kind = column.simpleString()
    asked = {f"t{at}": text for at, text in enumerate(texts)}
    casts = ", ".join(f"try_cast(:{name} AS {kind}) IS NULL" for name in asked)
    lost = [
        text for text, is_lost in zip(texts, _first(spark, f"SELECT {casts}", asked), strict=True) if is_lost
    ]
    if lost:
        raise NoLiteral(f"{shown(lost[0])} is not a value of {kind}")


def _first(spark: SparkSession, query: str, given: dict[str, Any]) -> Row:
    return cast(Row, spark.sql(query, args=given).first())
