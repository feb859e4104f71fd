"""Published partitions: the values that a run reports after its publish."""

from typing import NamedTuple

from tidegate.domain.value import Value


class PublishedPartition(Value, kw_only=True):
    """A partition that a run has written.

    Attributes:
        dataset: its name within the app.
        key: partition key; "" for a dataset without partitions.
        rows: number of rows.
        bytes: size of the data files.
        files: number of data files; 0 for an empty partition.
    """

    dataset: str
    key: str
    rows: int
    bytes: int
    files: int


class PartitionFact(NamedTuple):
    """A published partition as reported to the engine and to Dagster; an array in JSON.

    Attributes:
        dataset: "app/dataset".
        key: partition key; "" for a dataset without partitions.
        rows: number of rows.
        bytes: size of the data files.
        asset: asset key in Dagster, its parts joined by "/"; "" for the asset [app, dataset].
    """

    dataset: str
    key: str
    rows: int
    bytes: int
    asset: str = ""
