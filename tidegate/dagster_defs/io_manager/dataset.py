"""The dataset of an asset: its name, its format and its write mode, from the asset's key and metadata.

    AssetKey(["shop", "orders"])       shop/orders
    AssetKey(["orders"])               <app>/orders, where the IO manager has a setting `app`
    AssetKey(["shop", "eu", "orders"]) shop/eu__orders

The keys of the metadata are the words of the YAML after "tidegate/".
"""

from collections.abc import Mapping
from typing import Any, get_args

from dagster import AssetKey, MetadataValue, PartitionsDefinition

from tidegate.dagster_defs.io_manager.scheme import PARTITION_EXPR, scheme_of
from tidegate.domain.model import OnForeign, WriteMode
from tidegate.domain.suggest import did_you_mean
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.publication.formats import formats

PREFIX = "tidegate/"
WRITE, MERGE_KEYS, ON_FOREIGN, FORMAT, DATASET = (
    f"{PREFIX}{key}" for key in ("write", "merge_keys", "on_foreign", "format", "dataset")
)
KEYS = (WRITE, MERGE_KEYS, ON_FOREIGN, FORMAT, DATASET)
"""The metadata of an asset that this IO manager reads, beside Dagster's own `partition_expr`."""

INNER_SEPARATOR = "__"
"""Joins the parts of an asset key after the first one."""

MODES: tuple[WriteMode, ...] = get_args(WriteMode)
ON_FOREIGN_VALUES: tuple[OnForeign, ...] = get_args(OnForeign)


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
    return DatasetRef(
        app=app,
        name=dataset,
        format=format,
        scheme=scheme_of(name, partitions, given.get(PARTITION_EXPR)),
        write=write,
        merge_keys=merge_keys,
        on_foreign=_on_foreign(name, given),
        asset="" if list(key.path) == [app, dataset] else name,
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


def _on_foreign(asset: str, given: Mapping[str, Any]) -> OnForeign:
    found = given.get(ON_FOREIGN, "refuse")
    if found not in ON_FOREIGN_VALUES:
        raise OutputError(
            f"{asset}: {ON_FOREIGN} must be {' or '.join(ON_FOREIGN_VALUES)}, got {found!r:.100}",
            f'write "{ON_FOREIGN}": "refuse", or delete it',
        )
    return found


def _plain(value: object) -> Any:
    """Return the value of a metadata entry, which Dagster may have wrapped."""
    return value.value if isinstance(value, MetadataValue) else value
