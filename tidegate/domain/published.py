"""What a publish amounts to, partition by partition: the facts that are reported as an event."""

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
