"""What is new of a dataset since a program's last commit: the question, and the answer.

A source is cut into parts, each with a watermark: a position, which is a text that only the
kind of source understands. A table format answers through `TableFormat.read_new`, a source of the
user's own through `incremental.offsets`. The rows must be exactly those
between the old positions and the new ones, however often and whenever they are looked at:
the positions are committed together with what the program makes of the rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.programs.params import Params


def _nothing_to_check() -> None:
    """Most kinds read what cannot change."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IncrementalRead:
    """The question.

    Attributes:
        consumer: "app/program"; named in messages.
        positions: how far the consumer has read, by part; a part that it never read, or whose
            watermark was reset, is missing.
        reset: the parts whose watermark stands at the beginning because somebody has put it there.
        takes: whether the run reads a partition of the dataset.
        takes_all: whether it reads every partition, also those that come one day.
    """

    consumer: str
    ref: DatasetRef
    warehouse: Warehouse
    params: Params
    positions: Mapping[str, str] = field(default_factory=dict[str, str])
    reset: frozenset[str] = frozenset()
    takes: Callable[[str], bool] = lambda _: True
    takes_all: bool = True

    def watermark(self, part: str) -> str:
        """The watermark of a part, in words."""
        return f"the watermark of {self.consumer} in {self.ref.id}{f', part {part}' if part else ''}"

    def remedy(self, part: str, position: str) -> str:
        """The command that puts a watermark somewhere else."""
        named = f" --part '{part}'" if part else ""
        return f"tidegate watermarks reset {self.consumer} {self.ref.id}{named} --to '{position}'"


@dataclass(frozen=True, kw_only=True, slots=True)
class Increment:
    """The answer.

    Attributes:
        frame: the new rows; None as long as nobody knows the columns.
        positions: how far has been read with these rows, for the parts whose watermark moves.
        check: called once the rows have been used and before they are published; raises when they may
            not have been those of `positions`.
    """

    frame: DataFrame | None
    positions: Mapping[str, str] = field(default_factory=dict[str, str])
    check: Callable[[], None] = _nothing_to_check
