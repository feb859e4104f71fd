"""The cost of publishing through commit steps, compared with the same rows written by Spark alone.

Two million flight-like rows of eight columns are read from Parquet and written in eight partitions: by
Spark's own writer, which guarantees nothing after a crash, and by Tidegate. The two writers of a format
alternate in the same session, so that other load affects both; the median of the ratios of their rounds
counts. The Iceberg table has the log of two hundred publishes, as every one has after a while. Then
sequences alone: one with a thousand files compared with a thousand plain renames, and a hundred unfinished
sequences finished by a recovery compared with a hundred published directly.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from benchmarks.aims import verdict
from tidegate.domain.commits import Put
from tidegate.domain.model import PartitionScheme, TimeDimension
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings
from tidegate.spark_jobs.iceberg.table.log import (
    PROPERTY,
    RECENT_PUBLISHES,
    Publish,
    PublishLog,
    encode_log,
)
from tidegate.spark_jobs.publication.table import Publication
from tidegate.spark_jobs.session.session import SparkSettings, session

ROWS = 2_000_000
PARTITIONS = 8
ROUNDS, SHORT_ROUNDS = 21, 3
FILES = 1_000
UNFINISHED = 100
LIMITS = {"iceberg": 1.05, "parquet": 1.15}
"""The maximum ratio of Tidegate's write time to Spark's."""
RECOVERY_LIMIT_SECONDS = 4.0
"""Of the unfinished sequences of Iceberg."""

LEASE = timedelta(hours=1)

DAILY = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-01"))
DAYS = tuple(f"2013-03-{10 + n:02}" for n in range(PARTITIONS))


class Died(BaseException):
    """The simulated crash of a run that has just put its sequence."""


class DyingStore(SqlCommitStepStore):
    """A store that raises `Died` after it has put a sequence."""

    def put(self, *given: Any, **named: Any) -> Put:
        super().put(*given, **named)
        raise Died


class Bench:
    """The warehouse, store and session of all measurements."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        engine = open_sql_store(f"sqlite:///{folder / 'store.db'}").engine
        self.store = SqlCommitStepStore(engine)
        self.dying = DyingStore(engine)
        self.spark = session(
            SparkSettings(
                master="local[2]",
                conf={"spark.driver.memory": "4g"},
                iceberg=IcebergSettings(warehouse=str(folder / "iceberg")),
            )
        )
        self.context = CommitContext(
            files=self.warehouse.files, spark=lambda: self.spark, watermarks=self.store
        )
        self._commits = 0

    def publication(self, refs: Sequence[DatasetRef], store: SqlCommitStepStore | None = None) -> Publication:
        self._commits += 1
        commit, kept = f"c{self._commits}", store or self.store
        token = kept.begin(commit, [ref.id for ref in refs], until=datetime.now(UTC) + LEASE)
        return Publication(self.warehouse, kept, commit=commit, token=token, spark=lambda: self.spark)

    def ours(self, ref: DatasetRef, rows: DataFrame) -> None:
        """Write one output with all steps of a run."""
        publication = self.publication([ref])
        publication.stage(rows, ref, DAYS)
        publication.publish()


def main(*, short: bool = False) -> int:
    """Measure and print.

    Returns:
        The number of missed aims.
    """
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        try:
            missed = _writes(bench, SHORT_ROUNDS if short else ROUNDS)
            _thousand_files(bench)
            if not short:
                _recovery(bench, "parquet")
            seconds = _recovery(bench, "iceberg")
            missed += verdict(
                f"recovery of {UNFINISHED} Iceberg sequences", seconds, RECOVERY_LIMIT_SECONDS, " s"
            )
        finally:
            bench.spark.stop()
    return missed


def _writes(bench: Bench, rounds: int) -> int:
    rows = _source(bench)
    ways: dict[str, Callable[[int], None]] = {
        "parquet, Spark": lambda n: rows.write.partitionBy("day").parquet(f"{bench.folder}/plain/{n}"),
        "parquet, ours": lambda _: bench.ours(DatasetRef(app="bench", name="parquet", scheme=DAILY), rows),
        "iceberg, Spark": lambda _: rows.writeTo("tidegate.bench.plain").overwritePartitions(),
        "iceberg, ours": lambda _: bench.ours(
            DatasetRef(app="bench", name="iceberg", format="iceberg", scheme=DAILY), rows
        ),
    }
    bench.spark.sql("CREATE NAMESPACE IF NOT EXISTS tidegate.bench")
    rows.limit(0).writeTo("tidegate.bench.plain").partitionedBy(sf.col("day")).create()
    times: dict[str, list[float]] = {way: [] for way in ways}
    for format_ in LIMITS:
        pair = [way for way in ways if way.startswith(f"{format_}, ")]
        for number in range(rounds + 1):
            # Which of the two is first changes from round to round.
            for way in pair if number % 2 else reversed(pair):
                began = time.perf_counter()
                ways[way](number)
                if number:  # the first round warms everything up
                    times[way].append(time.perf_counter() - began)
            if format_ == "iceberg" and not number:
                _with_a_past(bench)
    medians = {way: statistics.median(found) for way, found in times.items()}
    print(f"{ROWS:,} rows, 8 columns, {PARTITIONS} partitions, median of {rounds} rounds")
    missed = 0
    for format_, limit in LIMITS.items():
        plain, ours = medians[f"{format_}, Spark"], medians[f"{format_}, ours"]
        pairs = [o / p for o, p in zip(times[f"{format_}, ours"], times[f"{format_}, Spark"], strict=True)]
        ratio = statistics.median(pairs)
        print(
            f"  {format_}: Spark {plain:.2f} s, ours {ours:.2f} s, ratio of the rounds {ratio:.2f} "
            f"(from {min(pairs):.2f} to {max(pairs):.2f})"
        )
        missed += verdict(f"{format_}, ours to Spark's own write", ratio, limit)
    print(f"  iceberg beside parquet, both ours: {medians['iceberg, ours'] / medians['parquet, ours']:.2f}")
    return missed


def _with_a_past(bench: Bench) -> None:
    """Give the Iceberg table the log of one that has been published into for months."""
    log = PublishLog()
    for number in range(1, RECENT_PUBLISHES + 1):
        log = log.with_publish(Publish(commit=f"past{number}", token=1, snapshot=number, keys=DAYS[:1]))
    bench.spark.sql(
        f"ALTER TABLE tidegate.bench.iceberg SET TBLPROPERTIES ('{PROPERTY}' = '{encode_log(log)}')"
    )


def _source(bench: Bench) -> DataFrame:
    """Return rows that are cheap to read and costly to write, read from files as in a program."""
    days = sf.array(*(sf.lit(day) for day in DAYS))
    made = bench.spark.range(ROWS).select(
        days[(sf.col("id") % PARTITIONS).cast("int")].alias("day"),
        sf.element_at(
            sf.array(sf.lit("EWR"), sf.lit("JFK"), sf.lit("LGA")), (sf.hash("id") % 3 + 3) % 3 + 1
        ).alias("origin"),
        sf.col("id").cast("int").alias("flight"),
        sf.concat(sf.lit("N"), sf.hash("id").cast("string")).alias("tailnum"),
        (sf.hash("id") % 24).alias("hour"),
        (sf.rand(7) * 200 - 20).cast("int").alias("dep_delay"),
        (sf.rand(8) * 200 - 20).alias("arr_delay"),
        (sf.lit(datetime(2013, 3, 10, tzinfo=UTC)) + sf.make_dt_interval(secs=sf.col("id"))).alias("at"),
    )
    where = f"{bench.folder}/source"
    made.write.parquet(where)
    return bench.spark.read.parquet(where)


def _thousand_files(bench: Bench) -> None:
    ref = DatasetRef(app="bench", name="thousand", scheme=DAILY)
    first = datetime(2014, 1, 1, tzinfo=UTC)
    days = tuple((first + timedelta(days=n)).date().isoformat() for n in range(FILES))
    rows = bench.spark.createDataFrame([(day, 1) for day in days], "day string, value int").coalesce(1)
    publication = bench.publication([ref])
    publication.stage(rows, ref, days)
    began = time.perf_counter()
    published = publication.publish()
    ours = time.perf_counter() - began
    assert sum(part.files for part in published) == FILES
    plain = bench.folder / "renames"
    for number in range(FILES):
        (plain / f"staged/{number}").mkdir(parents=True)
    (plain / "done").mkdir()
    began = time.perf_counter()
    for number in range(FILES):
        (plain / f"staged/{number}").rename(plain / f"done/{number}")
        _sync(plain / "done")
        _sync(plain / "staged")
    renames = time.perf_counter() - began
    print(
        f"one sequence with {FILES:,} files in {FILES:,} partitions, staged already: {ours:.2f} s; "
        f"as many plain renames, each made durable: {renames:.2f} s; ratio {ours / renames:.1f}"
    )


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _recovery(bench: Bench, format_: str) -> float:
    """Print and return the seconds of a recovery of unfinished sequences."""
    day = DAYS[0]
    rows = bench.spark.createDataFrame([(day, 1)], "day string, value int").coalesce(1)

    def publications(kind: str, store: SqlCommitStepStore) -> list[tuple[DatasetRef, Publication]]:
        found: list[tuple[DatasetRef, Publication]] = []
        for number in range(UNFINISHED):
            ref = DatasetRef(app="bench", name=f"{format_}_{kind}_{number}", format=format_, scheme=DAILY)
            publication = bench.publication([ref], store)
            publication.stage(rows, ref, (day,))
            found.append((ref, publication))
        return found

    dead = publications("dead", bench.dying)
    for _, publication in dead:
        try:
            publication.publish()
        except Died:
            continue
        raise AssertionError("the run did not die")
    alive = publications("alive", bench.store)
    began = time.perf_counter()
    for _, publication in alive:
        publication.publish()
    published = time.perf_counter() - began
    began = time.perf_counter()
    finished = recover([ref.id for ref, _ in dead], bench.store, bench.context)
    recovered = time.perf_counter() - began
    assert len(finished) == UNFINISHED and bench.store.list_unfinished() == ()
    print(
        f"{UNFINISHED} unfinished sequences of {format_}, a partition each: recovered in {recovered:.2f} s; "
        f"as many published undisturbed, one after the other: {published:.2f} s"
    )
    return recovered


if __name__ == "__main__":
    sys.exit(main())
