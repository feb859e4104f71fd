"""What ten checks cost, compared with the write of the same rows in the same run.

Ten million flight-like rows of eight columns are read from Parquet and staged in eight partitions. Then two
checks of `rows`, seven of columns and one `unique` are judged on the staged rows. The aim is the median of
the rounds of (write + checks) / write, for each format.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from benchmarks.aims import verdict
from benchmarks.publishing.publish import DAILY, DAYS, Bench
from tidegate.domain.model import (
    Bounds,
    Check,
    MatchesCheck,
    NotNullCheck,
    RangeCheck,
    RowsCheck,
    UniqueCheck,
    ValuesCheck,
)
from tidegate.spark_jobs.checks.judge import judge_staged
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.publication.formats import format_of

ROWS, SHORT_ROWS = 10_000_000, 2_000_000
ROUNDS, SHORT_ROUNDS = 5, 2
LIMIT = 1.15
"""The largest ratio of the write with its checks to the write alone."""

CHECKS: tuple[Check, ...] = (
    RowsCheck(name="rows", min=1),
    RowsCheck(name="not_too_many", max=10_000_000, severity="warn"),
    NotNullCheck(name="not_null", columns=("flight_id",)),
    NotNullCheck(name="not_null_two", columns=("carrier", "origin")),
    ValuesCheck(name="origin", values={"origin": ("EWR", "JFK", "LGA")}),
    RangeCheck(name="delay", range={"delay": Bounds(min=-120, max=2_000)}),
    RangeCheck(name="distance", range={"distance": Bounds(min=0, max=6_000)}),
    RangeCheck(name="air_time", range={"air_time": Bounds(min=0)}),
    MatchesCheck(name="carrier", matches={"carrier": "[A-Z0-9]{2}"}),
    UniqueCheck(name="unique", columns=("flight_id",)),
)


def main(*, short: bool = False) -> int:
    """Measure and print.

    Returns:
        The number of missed aims.
    """
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        try:
            rows = _source(bench, SHORT_ROWS if short else ROWS)
            for format in ("parquet", "iceberg"):
                ratio = _ratio(bench, rows, format, SHORT_ROUNDS if short else ROUNDS)
                missed += verdict(f"{format}: the write with ten checks over the write alone", ratio, LIMIT)
        finally:
            bench.spark.stop()
    return missed


def _source(bench: Bench, rows: int) -> DataFrame:
    place = str(bench.folder / "source")
    made = bench.spark.range(rows).select(
        sf.col("id").alias("flight_id"),
        sf.element_at(sf.array(*map(sf.lit, DAYS)), (sf.col("id") % len(DAYS) + 1).cast("int")).alias("day"),
        sf.element_at(
            sf.array(*map(sf.lit, ("UA", "B6", "DL", "9E"))), (sf.rand(1) * 4 + 1).cast("int")
        ).alias("carrier"),
        sf.element_at(sf.array(*map(sf.lit, ("EWR", "JFK", "LGA"))), (sf.rand(2) * 3 + 1).cast("int")).alias(
            "origin"
        ),
        (sf.rand(3) * 300 - 20).cast("int").alias("delay"),
        (sf.rand(4) * 5_000).alias("distance"),
        (sf.rand(5) * 600).cast("int").alias("air_time"),
        sf.concat(sf.lit("N"), (sf.rand(6) * 4_000).cast("int")).alias("tail_number"),
    )
    made.write.parquet(place)
    return bench.spark.read.parquet(place)


def _ratio(bench: Bench, rows: DataFrame, format: str, rounds: int) -> float:
    ref = DatasetRef(app="bench", name=format, format=format, scheme=DAILY, checks=CHECKS)
    ratios: list[float] = []
    for number in range(rounds + 1):
        began = time.perf_counter()
        commit = f"{format}{number}"
        staged = format_of(ref).stage(
            rows, ref, DAYS, bench.warehouse,
            commit=commit, token=number + 1, job="", facts={}, state=None, reads=False,
        )  # fmt: skip
        written = time.perf_counter()
        verdicts = judge_staged([staged], lambda: bench.spark)
        judged = time.perf_counter()
        assert len(verdicts) == len(CHECKS)
        assert all(each.passed for each in verdicts), verdicts
        write, checks = written - began, judged - written
        format_of(ref).discard(ref, bench.warehouse, lambda: bench.spark, commit=commit, token=number + 1)
        print(f"{format}: write {write:.1f} s, checks {checks:.1f} s", flush=True)
        # The first round compiles what the others use.
        if number:
            ratios.append((write + checks) / write)
    return statistics.median(ratios)


if __name__ == "__main__":
    sys.exit(main())
