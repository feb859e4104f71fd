"""Published partitions: the values that a run reports after its publish."""

from collections.abc import Iterable
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
        asset: asset key in Dagster, its parts joined by "/" and a slash in one escaped by "\\"; "" for the
            asset [app, dataset].
    """

    dataset: str
    key: str
    rows: int
    bytes: int
    asset: str = ""

    @property
    def materialised(self) -> str:
        """The asset under which Dagster's log has it, from which the id of its event is made."""
        return self.asset or self.dataset


def escaped_key(parts: Iterable[str]) -> str:
    """Return an asset key as one text, as Dagster escapes it: different keys are different texts."""
    return "/".join(part.replace("\\", "\\\\").replace("/", "\\/") for part in parts)
