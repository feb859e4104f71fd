"""The dataset of an asset: its name, its format and its write mode, from the asset's key and metadata.

    AssetKey(["shop", "orders"])       shop/orders
    AssetKey(["orders"])               <app>/orders, where the IO manager has a setting `app`
    AssetKey(["shop", "eu", "orders"]) shop/eu__orders

The keys of the metadata are the words of the YAML after "tidegate/".

The partition columns of an asset's table, from the asset's partitions definition. A table has one string
column for each dimension, which holds the dimension's part of the partition key, spelled as in Dagster. A
time window with one of the usual cycles has the same keys as a dataset of the YAML, so that dates and
timestamps are spelled as keys; with any other definition the column must hold the keys.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast, get_args

import msgspec
from dagster import (
    AssetKey,
    MetadataValue,
    MultiPartitionsDefinition,
    PartitionsDefinition,
    TimeWindowPartitionsDefinition,
)

from tidegate.dagster_defs.deployed.partitions import CLOCKS
from tidegate.dagster_defs.io_manager.checks import read_checks
from tidegate.domain.column_type import ColumnTypeError, is_reserved, parse_type, type_text
from tidegate.domain.model import (
    Dataset,
    DeclaredColumn,
    OnForeign,
    OnNewColumn,
    PartitionScheme,
    TimeDimension,
    WriteMode,
)
from tidegate.domain.model.dataset import PARTITION_TYPE
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.time.cycle import DAYS_OF_WEEK
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.publication.formats import formats

PARTITION_EXPR = "partition_expr"
"""Dagster's own metadata for the partition column; a mapping by dimension for several dimensions."""
DEFAULT_COLUMN = "partition"
"""The column of a definition with a single dimension that is not a time window."""

_COLUMN = re.compile(r"[A-Za-z_]\w*")
C = TypeVar("C", bound=str)


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


PREFIX = "tidegate/"
WRITE, MERGE_KEYS, ON_FOREIGN, FORMAT, DATASET, COLUMNS, ON_NEW_COLUMN, CHECKS = KEYS = tuple(
    f"{PREFIX}{key}"
    for key in (
        "write",
        "merge_keys",
        "on_foreign",
        "format",
        "dataset",
        "columns",
        "on_new_column",
        "checks",
    )
)
"""The metadata of an asset that this IO manager reads, beside Dagster's own `partition_expr`."""

INNER_SEPARATOR = "__"
"""Joins the parts of an asset key after the first one."""

MODES: tuple[WriteMode, ...] = get_args(WriteMode)
ON_FOREIGN_VALUES: tuple[OnForeign, ...] = get_args(OnForeign)
ON_NEW_COLUMN_VALUES: tuple[OnNewColumn, ...] = get_args(OnNewColumn)


def dataset_of(
    key: AssetKey,
    metadata: Mapping[str, Any],
    partitions: PartitionsDefinition | None,
    *,
    app: str,
    default_format: str,
) -> DatasetRef:
    """Return the dataset that an asset is published to.

    Args:
        app: the app of an asset whose key has one part.
        default_format: the format of an asset whose metadata names none.

    Raises:
        OutputError: the metadata is wrong.
    """
    name = key.to_user_string()
    given = {entry: _plain(value) for entry, value in metadata.items()}
    for entry in given:
        if entry.startswith(PREFIX) and entry not in KEYS:
            raise OutputError(f'{name}: unknown metadata "{entry}"', did_you_mean(entry, KEYS, "entries"))
    app, dataset = _id(name, key, given.get(DATASET), app)
    format = given.get(FORMAT, default_format)
    if not isinstance(format, str) or format not in formats():
        raise OutputError(
            f"{name}: {FORMAT} must be {' or '.join(formats())}, got {format!r:.100}",
            f'write "{FORMAT}": "{next(iter(formats()))}"',
        )
    write, merge_keys = _write(name, given, partitioned=partitions is not None)
    scheme = scheme_of(name, partitions, given.get(PARTITION_EXPR))
    declared = Dataset(name=dataset, partitions=scheme, columns=_columns(name, given, scheme))
    return DatasetRef(
        app=app,
        name=dataset,
        format=format,
        scheme=scheme,
        write=write,
        merge_keys=merge_keys,
        on_foreign=_choice(name, given, ON_FOREIGN, ON_FOREIGN_VALUES),
        columns=declared.all_columns(),
        on_new_column=_choice(name, given, ON_NEW_COLUMN, ON_NEW_COLUMN_VALUES),
        checks=(
            *read_checks(name, given.get(CHECKS, ())),
            *(check for column in declared.columns if (check := column.null_check())),
        ),
        asset="" if list(key.path) == [app, dataset] else key.to_escaped_user_string(),
    )


def _id(asset: str, key: AssetKey, given: object, app: str) -> tuple[str, str]:
    """Return app and name of an asset's dataset."""
    if given is not None:
        parts = given.split("/") if isinstance(given, str) else []
        if len(parts) != 2 or not all(parts):
            raise OutputError(
                f"{asset}: {DATASET} must be an app and a dataset, got {given!r:.100}",
                f'write for example "{DATASET}": "shop/orders"',
            )
        return parts[0], parts[1]
    first, *rest = key.path
    return (first, INNER_SEPARATOR.join(rest)) if rest else (app, first)


def _write(asset: str, given: Mapping[str, Any], *, partitioned: bool) -> tuple[WriteMode, tuple[str, ...]]:
    default: WriteMode = "overwrite_partitions" if partitioned else "full"
    mode, keys = given.get(WRITE, default), given.get(MERGE_KEYS, ())
    if mode not in MODES:
        raise OutputError(
            f"{asset}: {WRITE} must be {', '.join(MODES[:-1])} or {MODES[-1]}, got {mode!r:.100}",
            f'write "{WRITE}": "{default}"',
        )
    names = (keys,) if isinstance(keys, str) else tuple(keys) if isinstance(keys, list | tuple) else None
    if names is None or not all(isinstance(column, str) and column for column in names):
        raise OutputError(
            f"{asset}: {MERGE_KEYS} must be a list of columns, got {keys!r:.100}",
            f'write for example "{MERGE_KEYS}": ["id"]',
        )
    if mode == "merge" and not names:
        raise OutputError(
            f"{asset}: merging needs the columns that identify a row",
            f'write for example "{MERGE_KEYS}": ["id"]',
        )
    if mode != "merge" and names:
        raise OutputError(
            f"{asset}: merge keys belong to merge, got {mode}", f'write "{WRITE}": "merge", or delete them'
        )
    if mode == "overwrite_partitions" and not partitioned:
        raise OutputError(
            f"{asset}: an asset without partitions has no partitions to overwrite",
            f'write "{WRITE}": "full", or give the asset partitions',
        )
    return mode, names


def _choice(asset: str, given: Mapping[str, Any], key: str, values: tuple[C, ...]) -> C:
    """Return one of the values of an entry; without the entry the first one, which is the default."""
    found = given.get(key, values[0])
    if found not in values:
        raise OutputError(
            f"{asset}: {key} must be {' or '.join(values)}, got {found!r:.100}",
            f'write "{key}": "{values[0]}", or delete it',
        )
    return found


def _columns(
    asset: str, given: Mapping[str, Any], scheme: PartitionScheme | None
) -> tuple[DeclaredColumn, ...]:
    """Return the declared columns of an asset.

    Raises:
        OutputError: they are not a mapping of names to types, or to mappings with a type.
    """
    written = given.get(COLUMNS, {})
    if not isinstance(written, Mapping):
        raise _no_column(asset, f"a mapping, got {written!r:.100}")
    found: list[DeclaredColumn] = []
    for name, value in cast("Mapping[str, Any]", written).items():
        fields = dict(value) if isinstance(value, Mapping) else {"type": value}
        try:
            column = msgspec.convert({**fields, "name": name}, DeclaredColumn)
            column = msgspec.structs.replace(column, type=type_text(parse_type(column.type)))
        except (ColumnTypeError, msgspec.ValidationError) as error:
            raise _no_column(asset, f"names with their types; {name!r:.100}: {error}") from error
        unknown = fields.keys() - set(DeclaredColumn.__struct_fields__)
        if unknown:
            raise _no_column(asset, f"names with their types; {name!r:.100} has {min(unknown)!r:.100}")
        if is_reserved(name) or name.lower() in {each.name.lower() for each in found}:
            raise _no_column(asset, f"different names that are not reserved, got {name!r:.100}")
        if scheme is not None and name in scheme.dimension_names() and column.type != PARTITION_TYPE:
            raise _no_column(asset, f"{name} as {PARTITION_TYPE}, since it is a partition column")
        found.append(column)
    return tuple(found)


def _no_column(asset: str, what: str) -> OutputError:
    example = '{"id": "bigint", "delay": {"type": "int", "nullable": False}}'
    return OutputError(f"{asset}: {COLUMNS} must be {what}", f'write for example "{COLUMNS}": {example}')


def _plain(value: object) -> Any:
    """Return the value of a metadata entry, which Dagster may have wrapped."""
    return value.value if isinstance(value, MetadataValue) else value
