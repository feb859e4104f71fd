"""What small publishes, and publishes of many partitions, cost beside Spark's own write of the same rows.

Eight thousand rows of eight columns are read from Parquet by two tasks and appended to 1, 8, 100, 400 and
1,000 partitions: by Spark's own writer, and by Tidegate with all steps of a run. The two alternate in one
session, so that other load affects both. The aim is for the median of the ratios of their rounds, in seconds
of the processor, with those of each `chmod` that Hadoop starts; beside it are the ratio by the clock and the
data files of a publish.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from benchmarks.aims import verdict
from benchmarks.processor import seconds_of
from benchmarks.publishing.publish import DAILY, Bench
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef

ROWS = 8_000
TASKS = 2
FIRST = datetime(2014, 1, 1, tzinfo=UTC)


class Case(NamedTuple):
    """A number of partitions, how often it is measured, and the largest ratio to Spark's own write."""

    partitions: int
    rounds: int
    short: int
    parquet: float
    iceberg: float


CASES = (
    Case(1, 21, 7, 1.10, 1.15),
    Case(8, 21, 7, 1.15, 1.15),
    Case(100, 11, 3, 1.20, 1.08),
    Case(400, 5, 1, 1.20, 1.08),
    Case(1_000, 3, 1, 1.20, 1.00),
)


class Taken(NamedTuple):
    """What a write takes: seconds of the clock, and of the processor."""

    clock: float
    processor: float


def main(*, short: bool = False) -> int:
    """Measure and print.

    Returns:
        The number of missed aims.
    """
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        bench.spark.sql("CREATE NAMESPACE IF NOT EXISTS tidegate.bench")
        try:
            for case in CASES:
                for format in ("parquet", "iceberg"):
                    missed += _measured(bench, case, format, case.short if short else case.rounds)
        finally:
            bench.spark.stop()
    return missed


def _measured(bench: Bench, case: Case, format: str, rounds: int) -> int:
    days = tuple((FIRST + timedelta(days=n)).date().isoformat() for n in range(case.partitions))
    rows = _source(bench, case.partitions)
    name = f"{format}_{case.partitions}"
    ref = DatasetRef(app="bench", name=name, format=format, scheme=DAILY, write="append")
    files = 0

    def ours(_: int) -> None:
        nonlocal files
        publication = bench.publication([ref])
        publication.stage(rows, ref, days)
        files = sum(part.files for part in publication.publish())

    ways = (_sparks_own(bench, rows, f"plain_{name}", format), ours)
    taken: tuple[list[Taken], list[Taken]] = ([], [])
    for number in range(rounds + 1):
        for which in (0, 1) if number % 2 else (1, 0):
            found = _timed(ways[which], number)
            if number:  # the first round warms everything up
                taken[which].append(found)
    clocks, processors = (
        [tuple(getattr(one, kind) for one in pair) for pair in zip(*taken, strict=True)]
        for kind in Taken._fields
    )
    print(
        f"{format}, {case.partitions} partitions: {files} files; Spark {_median(clocks, 0):.3f} s "
        f"({_median(processors, 0):.2f} s of the processor), ours {_median(clocks, 1):.3f} s "
        f"({_median(processors, 1):.2f} s); ratio by the clock {_ratio(clocks):.2f}",
        flush=True,
    )
    aim = case.parquet if format == "parquet" else case.iceberg
    what = f"{format}, {case.partitions} partitions, processor time to that of Spark's own write"
    return verdict(what, _ratio(processors), aim)


def _sparks_own(bench: Bench, rows: DataFrame, name: str, format: str) -> Callable[[int], None]:
    if format == "parquet":
        return lambda n: rows.write.partitionBy("day").parquet(f"{bench.folder}/{name}/{n}")
    rows.limit(0).writeTo(f"tidegate.bench.{name}").partitionedBy(sf.col("day")).create()
    return lambda _: rows.writeTo(f"tidegate.bench.{name}").append()


def _source(bench: Bench, partitions: int) -> DataFrame:
    """Return rows that two tasks read, each of them rows of all partitions."""
    place = f"{bench.folder}/rows_{partitions}"
    if not Path(place).exists():
        bench.spark.range(0, ROWS, 1, TASKS).select(
            sf.date_add(sf.lit(FIRST.date()), (sf.col("id") % partitions).cast("int"))
            .cast("string")
            .alias("day"),
            sf.col("id").cast("int").alias("flight"),
            sf.concat(sf.lit("N"), sf.hash("id").cast("string")).alias("tailnum"),
            (sf.hash("id") % 24).alias("hour"),
            (sf.rand(7) * 200 - 20).cast("int").alias("dep_delay"),
            (sf.rand(8) * 200 - 20).alias("arr_delay"),
            sf.lit("EWR").alias("origin"),
            sf.timestamp_seconds("id").alias("at"),
        ).write.parquet(place)
    return bench.spark.read.parquet(place)


def _timed(write: Callable[[int], None], number: int) -> Taken:
    before, began = seconds_of([os.getpid()], ended=True), time.perf_counter()
    write(number)
    return Taken(time.perf_counter() - began, seconds_of([os.getpid()], ended=True) - before)


def _median(pairs: list[tuple[float, ...]], which: int) -> float:
    return statistics.median(pair[which] for pair in pairs)


def _ratio(pairs: list[tuple[float, ...]]) -> float:
    return statistics.median(ours / plain for plain, ours in pairs)


if __name__ == "__main__":
    sys.exit(main())
