"""The names under which attempts of commits stage rows, and the private tables that are like the real one."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote_plus

from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, TableName
from tidegate.spark_jobs.iceberg.table.table import FORMAT_VERSION

DIGEST_DIGITS = 32
DATA_PATH = "write.data.path"
WRITE_PROPERTIES = "write."
ELSEWHERE = ("data.path", "folder-storage.", "location-provider.", "metadata.", "object-storage.", "wap.")
"""The write properties, without `write.`, that set where data and metadata files are stored."""


def staging_prefix(table: TableName, commit: str) -> str:
    """Return the prefix of the names of all that is staged for a commit into a table."""
    digest = hashlib.sha256("\0".join((*table, commit)).encode()).hexdigest()[:DIGEST_DIGITS]
    return f"s{digest}_"


def staging_name(table: TableName, commit: str, token: int) -> str:
    """Return the name of what one attempt stages."""
    return f"{staging_prefix(table, commit)}{token}"


def of_commit(names: Iterable[str], table: TableName, commit: str) -> tuple[str, ...]:
    """Return those of some names that attempts of a commit into a table use, sorted."""
    prefix = staging_prefix(table, commit)
    return tuple(sorted(name for name in names if name.startswith(prefix)))


def data_root(table: Any) -> str:
    """Return the folder of a table's data files."""
    return str(table.properties().get(DATA_PATH) or f"{table.location()}/data")


def data_folder(root: str, name: str) -> str:
    """Return the folder of the data files that are staged under a name."""
    return f"{root}/_{name}"


def partition_folders(dimensions: Iterable[str], values: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the folders, each in the one before, that Iceberg's writer uses for a partition."""
    # As Java's URLEncoder, which leaves other characters than Python.
    return tuple(
        "=".join(quote_plus(text, safe="*").replace("~", "%7E") for text in pair)
        for pair in zip(dimensions, values, strict=True)
    )


def root_and_properties(name: str, known: Mapping[str, str], location: str) -> tuple[str, dict[str, str]]:
    """Return `data_root`, and the properties of a private table whose data files become files of `table`.

    Args:
        name: the name under which they are staged.
        known: the properties of `table`.
        location: its folder.
    """
    root = known.get(DATA_PATH) or f"{location}/data"
    return root, _inherited(known) | {"format-version": FORMAT_VERSION, DATA_PATH: data_folder(root, name)}


def first_spec(catalog: IcebergCatalog, spec: Any, *, numbered_alike: bool) -> Any:
    """Return the partitions with which a private table begins that gets those of `spec`; see `like_table`.

    Args:
        numbered_alike: whether a new table would give the columns the field ids that they have.
    """
    # Where they are equal, so are the partitions and their number, and the files fit the real table as they
    # are. Otherwise the partitions come with the field ids.
    return spec if numbered_alike else catalog.api.PartitionSpec.unpartitioned()


def like_table(catalog: IcebergCatalog, fresh: Any, schema: Any, spec: Any, order: Any | None = None) -> Any:
    """Return metadata of a private table with given field ids, partitions and sort order.

    Args:
        fresh: new metadata, which numbers its columns for itself.
        order: None for unsorted rows.
    """
    alike = (
        catalog.api.TableMetadata.buildFrom(fresh)
        .setCurrentSchema(schema, schema.highestFieldId())
        .setDefaultPartitionSpec(spec)
    )
    return (alike if order is None else alike.setDefaultSortOrder(order)).build()


def _inherited(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of a table that define how, but not where, its files are written."""
    elsewhere = tuple(f"{WRITE_PROPERTIES}{name}" for name in ELSEWHERE)
    return {
        name: value
        for name, value in properties.items()
        if name.startswith(WRITE_PROPERTIES) and not name.startswith(elsewhere)
    }
