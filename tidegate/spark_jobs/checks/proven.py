"""Which checks no row can break, by what Parquet's metadata of the staged files shows.

    not_null ──► there is no null
    range ──► neither the least nor the largest number breaks it
    values, matches, range of texts ──► no value of the dictionaries breaks it
    unique ──► the spread of its numbers, see `distinct_numbers`

Only a check that passes is proven. A check that may be broken, or of which the files do not show enough, is
judged by the rows, which then say how many break it. The condition that judges the rows judges the values
that are shown, so both mean the same.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from tidegate.domain.model import Check, NotNullCheck, RangeCheck
from tidegate.spark_jobs.checks.conditions import field_of
from tidegate.spark_jobs.checks.distinct_numbers import Spread
from tidegate.spark_jobs.checks.footers import VALUES, Stored, read_columns
from tidegate.spark_jobs.checks.literals import FLOATING, INTEGRAL

BOUNDED = (*INTEGRAL, *FLOATING)
LISTED = (StringType, *INTEGRAL)

Shown = tuple[float | str, ...]
"""Values of a column of which one breaks a check if any of its rows does."""


class Proof(NamedTuple):
    """What needs no query.

    Attributes:
        passed: the names of the checks that no row breaks.
        spreads: of columns of unique numbers, by name in small letters.
    """

    passed: frozenset[str] = frozenset()
    spreads: Mapping[str, Spread] = {}


def prove(
    spark: SparkSession,
    files: Sequence[str],
    columns: StructType,
    total: int,
    scalar: Sequence[tuple[Check, Column]],
    numbers: Collection[str],
) -> Proof:
    """Return what the files prove.

    Args:
        files: all files of the staged rows; empty where they are not known.
        total: the number of rows.
        scalar: checks, each with the condition under which a row breaks it.
        numbers: columns of whole numbers whose spread is wanted, by name in small letters.
    """
    fields = {name.lower(): field_of(name, columns) for check, _ in scalar for name in check.columns_read}
    fields |= {name: field_of(name, columns) for name in numbers}
    listed = {
        fields[name.lower()].name
        for check, _ in scalar
        for name in check.columns_read
        if not isinstance(check, NotNullCheck) and not _is_bounded(check, fields[name.lower()])
    }
    names = {field.name for field in fields.values()}
    stored = read_columns(spark, files, names, listed, len(columns.fields))
    # A column that some file does not have has fewer rows there.
    known = {name: stored[at.name] for name, at in fields.items() if at.name in stored}
    known = {name: one for name, one in known.items() if one.rows == total}
    spreads = {name: spread for name in numbers if name in known and (spread := _spread(known[name]))}
    return Proof(_unbroken(spark, scalar, fields, known), spreads)


def _is_bounded(check: Check, field: StructField) -> bool:
    return isinstance(check, RangeCheck) and isinstance(field.dataType, BOUNDED)


def _spread(stored: Stored) -> Spread | None:
    if stored.nulls is None or stored.bounds is None:
        return None
    least, most = stored.bounds
    return Spread(int(least), int(most), stored.rows - stored.nulls)


def _unbroken(
    spark: SparkSession,
    scalar: Sequence[tuple[Check, Column]],
    fields: Mapping[str, StructField],
    known: Mapping[str, Stored],
) -> frozenset[str]:
    passed: set[str] = set()
    asked: dict[str, Column] = {}
    rows: dict[str, set[float | str]] = {}
    for check, when in scalar:
        read = [name.lower() for name in check.columns_read]
        if isinstance(check, NotNullCheck):
            if all(name in known and known[name].nulls == 0 for name in read):
                passed.add(check.name)
            continue
        shown = {name: _shown(check, fields[name], known.get(name)) for name in read}
        if all(values is not None for values in shown.values()):
            asked[check.name] = when
            for name, values in shown.items():
                rows.setdefault(name, set()).update(values or ())
    if sum(map(len, rows.values())) > VALUES:
        return frozenset(passed)
    return frozenset(passed) | _passed(spark, asked, {name: fields[name] for name in rows}, rows)


def _shown(check: Check, field: StructField, stored: Stored | None) -> Shown | None:
    """Return values of a column that decide a check; None if they are not known."""
    if stored is None:
        return None
    if stored.is_null:
        return ()
    if _is_bounded(check, field):
        return stored.bounds
    if stored.values is None or not isinstance(field.dataType, LISTED):
        return None
    return tuple(stored.values)


def _passed(
    spark: SparkSession,
    asked: Mapping[str, Column],
    fields: Mapping[str, StructField],
    rows: Mapping[str, Collection[float | str]],
) -> frozenset[str]:
    """Return the checks that none of some values of their columns breaks."""
    if not any(rows.values()):
        return frozenset(asked)
    found = _values_frame(spark, fields, rows).select(*asked.values()).collect()
    return frozenset(name for at, name in enumerate(asked) if not any(row[at] for row in found))


def _values_frame(
    spark: SparkSession, fields: Mapping[str, StructField], rows: Mapping[str, Collection[float | str]]
) -> DataFrame:
    """Return a row for each value of a column, with null in the others.

    Spark judges a table of literals while it plans the query: no job is started.
    """
    given: dict[str, float | str] = {}
    lines: list[str] = []
    for at, name in enumerate(fields):
        for value in rows[name]:
            mark = f"v{len(given)}"
            given[mark] = value
            lines.append(_line(f":{mark}" if at == other else "NULL" for other in range(len(fields))))
    casts = ", ".join(f"CAST(c{at} AS {f.dataType.simpleString()})" for at, f in enumerate(fields.values()))
    columns = _line(f"c{at}" for at in range(len(fields)))
    frame = spark.sql(f"SELECT {casts} FROM VALUES {', '.join(lines)} AS t{columns}", args=given)
    return frame.toDF(*(field.name for field in fields.values()))


def _line(parts: Iterable[str]) -> str:
    return f"({', '.join(parts)})"
