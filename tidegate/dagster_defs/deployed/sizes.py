"""Rows and bytes of a materialisation, as Dagster's metadata: what is written here is read back here.

A publish says them under our names and under those by which Dagster's catalog draws them. The first name that
a materialisation has counts, so a number is never counted twice.
"""

from collections.abc import Sequence

from dagster import AssetMaterialization, IntMetadataValue

BYTES_KEYS = ("bytes", "dagster/size_bytes", "size_bytes")
ROWS_KEYS = ("rows", "dagster/partition_row_count", "dagster/row_count", "row_count")
"""The metadata with the size of a partition, the best first: `dagster/row_count` of others may be of all
partitions. Ours is of what was materialised."""


def size_metadata(rows: int | None, bytes_: int | None, partition: str | None) -> dict[str, int]:
    """Return the metadata of the size of a partition; without the numbers that are not known.

    Args:
        partition: its key; None or "" for a dataset without partitions.
    """
    found = {
        "rows": rows,
        "bytes": bytes_,
        "dagster/row_count": rows,
        "dagster/size_bytes": bytes_,
        **({"dagster/partition_row_count": rows} if partition else {}),
    }
    return {name: number for name, number in found.items() if number is not None}


def first_number(materialization: AssetMaterialization, names: Sequence[str]) -> int | None:
    """Return the number under the first of some names that is one; None for a report without."""
    for name in names:
        value = materialization.metadata.get(name)
        if isinstance(value, IntMetadataValue) and value.value is not None:
            return value.value
    return None
