"""The partition columns of an output: added, formatted as keys, and checked against the keys of the run.

In every table format, a partition column is a string formatted like its key, so that
"007" is not 7 and an instant falls into the period of its dimension's own time zone. A run
writes only the partitions that it was launched for.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import DateType, StringType, TimestampNTZType, TimestampType

from tidegate.spark_jobs.datasets.column_names import spelling
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.java.jvm import call_with, expression_of, is_before_4, java_classes
from tidegate.spark_jobs.programs.own_session import frame_of_plan

NO_VALUE = "(null)"
SHOWN_KEYS = 10
"""How many surplus keys a message names."""
CYCLES_WITH_TIME = ("minute", "hour")
"""Cycles whose keys hold a time of day; the key of a longer cycle is a date."""
SORT = "Sort"
DISTRIBUTE = ("Repartition", "RepartitionByExpression", "RebalancePartitions")
"""Parts of a plan by which a program says in which tasks its rows are."""
KEEP_ARRANGED = ("Project", "Filter", "SubqueryAlias", "View", "GlobalLimit", "LocalLimit", "WithCTE")
"""Parts of a plan that leave rows in their tasks and in their order."""

LEAST_TASK = "spark.sql.adaptive.coalescePartitions.minPartitionSize"
"""How many bytes of a shuffle adaptive execution gives to a task at least; a megabyte by default."""


def refuse_surplus(ref: DatasetRef, keys: tuple[str, ...], rows: Mapping[str, int]) -> None:
    """Raise OutputError when there are rows outside the run's partitions.

    Args:
        rows: number of rows that the program returned, by partition.
    """
    surplus = sorted(rows.keys() - set(keys))
    if surplus:
        raise OutputError(
            f"{ref.name}: the program returned rows outside the partitions of its run: "
            f"{', '.join(f'{key} ({rows[key]} rows)' for key in surplus[:SHOWN_KEYS])}"
            f"{', …' if len(surplus) > SHOWN_KEYS else ''}; the run writes {', '.join(keys)}",
            "let the program return only rows of params.partitions",
        )


def with_partition_columns(frame: DataFrame, ref: DatasetRef, keys: tuple[str, ...]) -> DataFrame:
    """Return the frame with every partition column as a string formatted like its key.

    A column is known in any case, and has the name of its dimension in the result.
    """
    missing = [name for name in ref.dimensions() if spelling(name, frame.columns) is None]
    if missing and len(keys) != 1:
        raise OutputError(
            f"{ref.name}: the program's output has no column {', '.join(missing)}, and the run writes "
            f"{len(keys)} partitions",
            "return the partition columns; they are optional only when the run writes one partition",
        )
    for name in ref.dimensions():
        if not _is_text(frame, name):
            value = sf.lit(ref.parts(keys[0])[name]) if name in missing else _formatted(frame, ref, name)
            frame = frame.withColumn(name, value)
    return frame


def _is_text(frame: DataFrame, name: str) -> bool:
    """Return whether a column is a string already, and the only one of its name in any case."""
    same = [field for field in frame.schema.fields if field.name.lower() == name.lower()]
    return [(field.name, field.dataType) for field in same] == [(name, StringType())]


def _formatted(frame: DataFrame, ref: DatasetRef, name: str) -> Column:
    """Return a partition column formatted like its keys; strings stay unchanged."""
    spelled = spelling(name, frame.columns) or name
    column, kind = frame[f"`{spelled}`"], frame.schema[spelled].dataType
    time = ref.scheme.time if ref.scheme else None
    if time is None or time.name != name or not isinstance(kind, DateType | TimestampType | TimestampNTZType):
        return column.cast("string")
    if time.cycle not in CYCLES_WITH_TIME:
        wall = sf.from_utc_timestamp(column, time.timezone) if isinstance(kind, TimestampType) else column
        return sf.date_format(wall, "yyyy-MM-dd")
    if not isinstance(kind, TimestampType):
        return sf.date_format(column, "yyyy-MM-dd-HH:mm")
    # Instants are in UTC, keys in the wall time of their dimension. When the clock is set back by an
    # hour, the key of the second pass through that hour ends with the UTC offset.
    wall = sf.from_utc_timestamp(column, time.timezone)
    hour_before = sf.from_utc_timestamp(column - sf.expr("INTERVAL 1 HOUR"), time.timezone)
    minutes = sf.floor((sf.unix_seconds(wall) - sf.unix_seconds(column)) / 60)
    offset = sf.format_string(
        "%s%02d%02d",
        sf.when(minutes < 0, "-").otherwise("+"),
        sf.floor(sf.abs(minutes) / 60),
        sf.abs(minutes) % 60,
    )
    key = sf.date_format(wall, "yyyy-MM-dd-HH:mm")
    return sf.when(hour_before == wall, sf.concat(key, offset)).otherwise(key)


def by_partition(
    frame: DataFrame, columns: Sequence[str], keys: Sequence[str], *, rebalance: bool = True
) -> DataFrame:
    """Return rows of which those of a partition are written by one task, so that each has one file.

    With adaptive execution Spark spreads a partition that is large over several tasks. Rows that the program
    has distributed itself stay in their tasks, and rows that it has sorted stay so within each file.

    Args:
        rebalance: False where the writer brings the rows of a partition together.
    """
    if len(keys) < 2 or not columns:
        return frame
    spark, jdf = frame.sparkSession, cast(Any, frame)._jdf
    java = java_classes(spark)
    plan = jdf.queryExecution().analyzed()
    arranged = _arranged(plan)
    if (not rebalance) if arranged is None else arranged.nodeName() != SORT:
        return frame
    by, to_seq = (
        [jdf.col(f"`{name}`") for name in columns],
        java.org.apache.spark.api.python.PythonUtils.toSeq,
    )
    plans = java.org.apache.spark.sql.catalyst.plans.logical
    if arranged is None:
        none = java.scala.Option.empty()
        # PySpark's `hint` takes no columns.
        made = plans.RebalancePartitions(to_seq([expression_of(spark, one) for one in by]), plan, none, none)
    elif arranged.references().subsetOf(plan.outputSet()):
        # Else Spark would sort by partition alone.
        order = arranged.order()
        first = _orders(frame, by, columns)
        given = [*first, *(order.apply(n) for n in range(order.size()))]
        made = call_with(plans.Sort, to_seq(given), False, plan, newer=java.scala.Option.empty())
    else:
        return frame
    return frame_of_plan(spark, made)


@contextmanager
def in_all_tasks(spark: SparkSession, keys: Sequence[str]) -> Iterator[None]:
    """Let few rows of several partitions be written by as many tasks as work at once, while a block runs.

    Each partition is at least a file, which costs the same with one row as with a thousand: one task would
    create them one after the other.
    """
    if len(keys) < 2 or spark.conf.get(LEAST_TASK, None) is not None:
        yield
        return
    spark.conf.set(LEAST_TASK, "1")
    try:
        yield
    finally:
        spark.conf.unset(LEAST_TASK)


def _orders(frame: DataFrame, by: Sequence[Any], columns: Sequence[str]) -> list[Any]:
    """Return the ascending orders of some columns, as expressions of Spark's plans."""
    if is_before_4():
        return [expression_of(frame.sparkSession, one.asc()) for one in by]
    # There an expression of a column has no order before it is analysed.
    made = cast(Any, frame.sortWithinPartitions(*(f"`{name}`" for name in columns)))
    order = made._jdf.queryExecution().analyzed().order()
    return [order.apply(n) for n in range(order.size())]


def _arranged(plan: Any) -> Any | None:
    """Return the part of a plan by which a program has sorted or distributed its rows; None if it has not."""
    while (name := plan.nodeName()) in KEEP_ARRANGED:
        # Of a query WITH others, the last one is the query itself.
        plan = plan.children().last()
    return plan if name == SORT or name in DISTRIBUTE else None


def in_partitions(dimensions: Sequence[str], wanted: Sequence[Sequence[str]]) -> Column:
    """Return the condition that a row is in one of some partitions, given by their values in order."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for values in wanted:
        groups.setdefault(tuple(values[:-1]), []).append(values[-1])
    conditions = (
        " AND ".join(
            (
                *(
                    f"`{name}` = {text_literal(value)}"
                    for name, value in zip(dimensions, first, strict=False)
                ),
                among(dimensions[-1], last),
            )
        )
        for first, last in groups.items()
    )
    return sf.expr(" OR ".join(conditions) or "false")


def among(column: str, texts: Iterable[str]) -> str:
    """Return in SQL that a column of texts has one of these; at least one.

    Each literal of a `Column` would be a call into the JVM.
    """
    return f"`{column}` IN ({', '.join(map(text_literal, texts))})"


def text_literal(text: str) -> str:
    """Return a text in SQL; settings of a session change what a backslash means, and not this."""
    return f"CAST(X'{text.encode().hex()}' AS STRING)"
