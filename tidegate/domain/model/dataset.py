"""Datasets and how they are cut into partitions, and the programs that read and write them.

What a partition key looks like is `domain.partition_key`; how cycles nest is `domain.time.cycle`.
"""

from typing import Literal

from tidegate.domain.model.place import At
from tidegate.domain.value import Value

Cycle = Literal["minute", "hour", "day", "week", "month", "year"]
WriteMode = Literal["append", "overwrite_partitions", "merge", "full"]


class TimeDimension(Value, kw_only=True):
    """A dimension of partitions with one partition for each step of a cycle.

    Attributes:
        name: the column that holds the key; the cycle's own name where the YAML gives none.
        cycle: length of one partition.
        start: first partition key, for example "2013-01-01".
        timezone: zone in which the cycle begins and ends.
    """

    name: str
    cycle: Cycle
    start: str
    timezone: str = "UTC"


class StaticDimension(Value, kw_only=True):
    """A dimension with a fixed list of keys, for example the three airports of a feed."""

    name: str
    keys: tuple[str, ...]


class PartitionScheme(Value, kw_only=True):
    """How a dataset is cut into partitions: one time dimension, one static one, or both.

    The key of a partition in one dimension is that dimension's key. In two dimensions it is
    Dagster's: the keys joined by "|" in the alphabetical order of the dimensions' names.
    """

    time: TimeDimension | None = None
    static: StaticDimension | None = None

    def dimension_names(self) -> tuple[str, ...]:
        """The dimensions in the order in which they stand in a partition key."""
        return tuple(sorted(d.name for d in (self.time, self.static) if d is not None))


class Dataset(Value, kw_only=True):
    """A named table or file set.

    Attributes:
        path: where the files stand, relative to the project; None lets the warehouse decide.
        write: what a publish does with the rows that stand there; None for the mode that
            replaces what the run writes: `overwrite_partitions`, or `full` without partitions.
        merge_keys: for `merge`, the columns that name a row within its partition.
    """

    name: str
    format: Literal["parquet", "iceberg"] = "parquet"
    partitions: PartitionScheme | None = None
    path: str | None = None
    write: WriteMode | None = None
    merge_keys: tuple[str, ...] = ()
    description: str = ""
    at: At | None = None

    def write_mode(self) -> WriteMode:
        """The mode that holds, given or not."""
        return self.write or ("full" if self.partitions is None else "overwrite_partitions")


class Program(Value, kw_only=True):
    """What is launched: a PySpark function that reads datasets and writes datasets.

    Attributes:
        run: dotted path of the function, for example "tidegate.demo.flights.join_delays".
        incremental: those of `reads` of which it gets only what is new since its last commit: True where
            the dataset's format tells what is new, else the dotted path of a module that does.
    """

    name: str
    run: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    incremental: dict[str, bool | str] = {}
    description: str = ""
    at: At | None = None
