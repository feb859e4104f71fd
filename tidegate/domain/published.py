"""What a publish amounts to, partition by partition."""

from typing import NamedTuple

from tidegate.domain.value import Value


class PublishedPartition(Value, kw_only=True):
    """One partition that a run has written.

    Attributes:
        dataset: its name within the app.
        key: partition key; "" for a dataset without partitions.
        rows: number of rows.
        bytes: size of the data files.
        files: number of data files; 0 for a partition that is now empty.
    """

    dataset: str
    key: str
    rows: int
    bytes: int
    files: int


class PartitionFact(NamedTuple):
    """One published partition as it is reported to the engine and to Dagster; JSON has it as an array.

    Attributes:
        dataset: "app/dataset".
        key: partition key; "" for a dataset without partitions.
        rows: number of rows.
        bytes: size of the data files.
    """

    dataset: str
    key: str
    rows: int
    bytes: int
