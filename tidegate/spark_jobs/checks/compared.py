"""Checks that compare the staged rows with other data: earlier numbers of rows, and another dataset.

`change` reads the newest events of the store, no table. `reference` joins the rows with the other dataset as
readers see it, which is not what the program was given of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import median

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType, StructType

from tidegate.domain.model import ChangeCheck, PartitionScheme, ReferenceCheck
from tidegate.domain.model.check import LEAST_KNOWN
from tidegate.domain.partition_key import format_time_key, join_key, parse_time_key, split_key, start_of
from tidegate.domain.time.cycle import advance
from tidegate.domain.wording import plural
from tidegate.spark_jobs.checks.conditions import column_of, field_of, not_judged
from tidegate.spark_jobs.checks.literals import DATED, NUMERIC
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.datasets.declared_columns import declared_schema
from tidegate.spark_jobs.datasets.merge_keys import has_map
from tidegate.spark_jobs.programs.params import Params

TARGET = "__tidegate_target_"
"""Begins the names of the columns that a reference leads to, beside those of the rows."""


def _no_events(dataset: str, keys: Sequence[str], newest: int) -> Mapping[str, tuple[int, ...]]:
    return {}


def _no_rows(ref: DatasetRef) -> DataFrame | None:
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Beside:
    """What checks compare the staged rows with, and give to the queries and functions of users.

    Attributes:
        reported: returns the rows of the newest events, see `CommitStepStore.reported_rows`.
        read: returns a dataset as readers see it now; None if it never had data.
        reads: the datasets that the run may read, by name as the app calls them.
        inputs: the rows that the run was given of them; None for one that never had data.
        params: of the run.
    """

    reported: Callable[[str, Sequence[str], int], Mapping[str, tuple[int, ...]]] = _no_events
    read: Callable[[DatasetRef], DataFrame | None] = _no_rows
    reads: Mapping[str, DatasetRef] = field(default_factory=dict[str, DatasetRef])
    inputs: Mapping[str, DataFrame | None] = field(default_factory=dict[str, DataFrame | None])
    params: Params = field(default_factory=Params)


NOTHING_BESIDE = Beside()


def medians_before(
    ref: DatasetRef, check: ChangeCheck, keys: Sequence[str], beside: Beside
) -> dict[str, Fraction]:
    """Return the median of the rows before each partition; none of one with fewer than three known.

    Of periods it is over the newest event of each before it, with the same key in the other dimension; else
    over the newest events of the partition itself.
    """
    periodic = ref.scheme is not None and ref.scheme.time is not None
    if ref.scheme is None or not periodic:
        found = beside.reported(ref.id, keys, check.over)
        known = {key: list(found.get(key, ())) for key in keys}
    else:
        before = {key: keys_before(ref.scheme, key, check.over) for key in keys}
        found = beside.reported(ref.id, sorted({one for each in before.values() for one in each}), 1)
        known = {key: [rows for one in before[key] for rows in found.get(one, ())] for key in keys}
    return {key: Fraction(median(rows)) for key, rows in known.items() if len(rows) >= LEAST_KNOWN}


def keys_before(scheme: PartitionScheme, key: str, most: int) -> tuple[str, ...]:
    """Return the keys of the periods before a key, newest first, with its key in the other dimension."""
    time, parts = scheme.time, split_key(scheme, key)
    if time is None:
        return ()
    start, found = parse_time_key(parts[time.name], time).start, list[str]()
    while len(found) < most:
        start = advance(start, time.cycle, -1, time.timezone, time.week_starts)
        if start < start_of(time):
            break
        found.append(join_key(scheme, {**parts, time.name: format_time_key(start, time)}))
    return tuple(found)


def far_from(check: ChangeCheck, rows: int, before: Fraction) -> bool:
    """Return whether a number of rows is further from the median before it than the check allows."""
    return abs(rows - before) > check.share * before


def change_of(rows: int, before: Fraction) -> str:
    """Say how a number of rows compares with the median before it."""
    return f"{plural(rows, 'row')}, the median before is {float(before):g}"


def rows_without_target(rows: DataFrame, ref: DatasetRef, check: ReferenceCheck, beside: Beside) -> DataFrame:
    """Return the rows whose values are in no row of the other dataset; with a null among them a row passes.

    Raises:
        NotJudged: the other dataset is not read, has no such column, or one of another type.
    """
    spark = rows.sparkSession
    other = refuse_reference(spark, ref, check, rows.schema, beside)
    pairs = [*zip(check.columns, check.target, strict=True)]
    targets = [column_of(to, other.schema).alias(f"{TARGET}{at}") for at, (_, to) in enumerate(pairs)]
    columns = [column_of(name, rows.schema) for name in check.columns]
    known, same = sf.lit(True), sf.lit(True)
    for at, column in enumerate(columns):
        known = known & column.isNotNull()
        same = same & (column == sf.col(f"{TARGET}{at}"))
    return rows.where(known).join(other.select(*targets), same, "left_anti")


def refuse_reference(
    spark: SparkSession, ref: DatasetRef, check: ReferenceCheck, columns: StructType, beside: Beside
) -> DataFrame:
    """Return the other dataset of a reference, if these columns can be compared with it.

    Raises:
        NotJudged: they cannot.
    """
    target = beside.reads.get(check.dataset)
    if target is None:
        raise not_judged(ref, check, f"{check.dataset} is not among the datasets that the run reads")
    other = beside.read(target)
    if other is None and target.columns:
        other = spark.createDataFrame([], declared_schema(target.columns))
    if other is None:
        raise not_judged(ref, check, f"{check.dataset} never had any data, so it has no columns")
    for name, to in zip(check.columns, check.target, strict=True):
        try:
            one, another = field_of(name, columns), field_of(to, other.schema)
        except ValueError as error:
            raise not_judged(ref, check, str(error)) from error
        if has_map(one.dataType) or not _comparable(one.dataType, another.dataType):
            types = f"{one.dataType.simpleString()}, and {to} of {check.dataset} is"
            why = f"{name} is {types} {another.dataType.simpleString()}: they cannot be compared"
            raise not_judged(ref, check, why)
    return other


def _comparable(one: DataType, other: DataType) -> bool:
    return (
        one.simpleString() == other.simpleString()
        or (isinstance(one, NUMERIC) and isinstance(other, NUMERIC))
        or (isinstance(one, DATED) and isinstance(other, DATED))
    )
