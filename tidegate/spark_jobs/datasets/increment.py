"""The new rows of a dataset since a program's last commit: the request and the result.

A source has parts, each with a watermark: a position, which is a text that only the
kind of source interprets. A table format reads new rows through `TableFormat.read_new`, a user-defined
source through `incremental.offsets`. The rows must be exactly those
between the old positions and the new ones, no matter how often they are read:
the positions are committed together with the program's output for these rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.programs.params import Params


def _nothing_to_check() -> None:
    """Accept: most kinds of source read data that cannot change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IncrementalRead:
    """A request for the new rows of a dataset.

    Attributes:
        consumer: "app/program"; shown in messages.
        positions: how far the consumer has read, by part; a part that it never read, or whose
            watermark was reset, is missing.
        reset: the parts whose watermark a person has reset to the beginning.
        selects: whether the run reads a partition of the dataset.
        selects_all: whether the run reads every partition, including future ones.
        reported: the partitions of the dataset that the run was launched for.
    """

    consumer: str
    ref: DatasetRef
    warehouse: Warehouse
    params: Params
    positions: Mapping[str, str] = field(default_factory=dict[str, str])
    reset: frozenset[str] = frozenset()
    selects: Callable[[str], bool] = lambda _: True
    selects_all: bool = True
    reported: tuple[str, ...] = ()

    def watermark(self, part: str) -> str:
        """Return a label of a part's watermark for messages."""
        return f"the watermark of {self.consumer} in {self.ref.id}{f', part {part}' if part else ''}"

    def remedy(self, part: str, position: str) -> str:
        """Return the command that sets a part's watermark to `position`."""
        named = f" --part '{part}'" if part else ""
        return f"tidegate watermarks reset {self.consumer} {self.ref.id}{named} --to '{position}'"


@dataclass(frozen=True, kw_only=True, slots=True)
class Increment:
    """The result of an incremental read.

    Attributes:
        frame: the new rows; None while the columns are unknown.
        positions: the new positions of the parts whose watermark moves.
        check: called after the rows were used and before they are published; raises when the rows
            may not match `positions`.
    """

    frame: DataFrame | None
    positions: Mapping[str, str] = field(default_factory=dict[str, str])
    check: Callable[[], None] = _nothing_to_check
