"""The partition columns of an asset's table, from the asset's partitions definition.

A table has one string column for each dimension, which holds the dimension's part of the partition key,
spelled as in Dagster. A time window with one of the usual cycles has the same keys as a dataset of the YAML,
so that dates and timestamps are spelled as keys; with any other definition the column must hold the keys.
"""

import re
from collections.abc import Mapping, Sequence

from dagster import MultiPartitionsDefinition, PartitionsDefinition, TimeWindowPartitionsDefinition

from tidegate.dagster_defs.deployed.partitions import CLOCKS
from tidegate.domain.model import PartitionScheme, TimeDimension
from tidegate.domain.time.cycle import DAYS_OF_WEEK
from tidegate.spark_jobs.errors import OutputError

PARTITION_EXPR = "partition_expr"
"""Dagster's own metadata for the partition column; a mapping by dimension for several dimensions."""
DEFAULT_COLUMN = "partition"
"""The column of a definition with a single dimension that is not a time window."""

_COLUMN = re.compile(r"[A-Za-z_]\w*")


class AssetScheme(PartitionScheme, kw_only=True):
    """The partition columns of an asset, in the order of the parts of a key."""

    columns: tuple[str, ...]

    def dimension_names(self) -> tuple[str, ...]:
        """Return the names of the columns in their order in a partition key."""
        return self.columns


def scheme_of(asset: str, definition: PartitionsDefinition | None, expr: object = None) -> AssetScheme | None:
    """Return the partition columns of an asset; None for an asset without partitions.

    Args:
        asset: its name, for messages.
        expr: the value of `partition_expr` in its metadata: a column, or columns by dimension.

    Raises:
        OutputError: `expr` does not name columns of these partitions.
    """
    if definition is None:
        return None
    if isinstance(definition, MultiPartitionsDefinition):
        # Keys join the dimensions in this order.
        parts = sorted(definition.partitions_defs, key=lambda part: part.name)
        named = _named(asset, expr, [part.name for part in parts])
        times = [_time(part.partitions_def, named[part.name]) for part in parts]
        columns = tuple(named[part.name] for part in parts)
    else:
        found = _time(definition, DEFAULT_COLUMN)
        column = found.cycle if found is not None else DEFAULT_COLUMN
        if expr is not None:
            column = _column(asset, expr)
        times, columns = [_time(definition, column)], (column,)
    if len({column.lower() for column in columns}) < len(columns):
        raise OutputError(
            f"{asset}: two dimensions have the partition column {columns[0]}",
            f"give each dimension a column of its own in the metadata {PARTITION_EXPR}",
        )
    known = [time for time in times if time is not None]
    return AssetScheme(columns=columns, time=known[0] if len(known) == 1 else None)


def _named(asset: str, expr: object, dimensions: Sequence[str]) -> dict[str, str]:
    """Return the column of each dimension: the dimension's name unless the metadata has another."""
    if expr is None:
        return {name: name for name in dimensions}
    if not isinstance(expr, Mapping) or not expr.keys() <= set(dimensions):
        raise OutputError(
            f"{asset}: {PARTITION_EXPR} must be a mapping from {' and '.join(dimensions)} to columns,"
            f" got {expr!r:.200}",
            f'write for example "{PARTITION_EXPR}": {{"{dimensions[0]}": "{dimensions[0]}"}}',
        )
    return {name: _column(asset, expr.get(name, name)) for name in dimensions}


def _column(asset: str, expr: object) -> str:
    if not isinstance(expr, str) or not _COLUMN.fullmatch(expr):
        raise OutputError(
            f"{asset}: {PARTITION_EXPR} must be the name of a column, got {expr!r:.200}",
            f'write for example "{PARTITION_EXPR}": "day", and let the asset return that column',
        )
    return expr


def _time(definition: PartitionsDefinition, column: str) -> TimeDimension | None:
    """Return the time dimension with the keys of the definition; None if there is none.

    With it, dates and instants in its column are spelled as keys.
    """
    if not isinstance(definition, TimeWindowPartitionsDefinition):
        return None
    spelled = (definition.cron_schedule, definition.fmt)
    for cycle, clock in CLOCKS.items():
        for number, day in enumerate(DAYS_OF_WEEK):
            if spelled == (clock.cron.format(week_starts=number), clock.format):
                return TimeDimension(
                    name=column,
                    cycle=cycle,
                    start=definition.start.strftime(definition.fmt),
                    timezone=definition.timezone,
                    week_starts=day,
                )
    return None
