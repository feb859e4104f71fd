"""A project that loads landed files into tables, with what must hold for it after any crash.

Files land one after the other, each with rows of its own; a run takes those that are new and
appends them to every output, with the watermark, in one commit. So the truth is simple: a
table holds every row of the files up to the watermark, once. `check` asks the oracle for
that, and the folders for rubbish.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from tests.spark_jobs.crash_table.oracle import (
    Oracle,
    Rows,
    entry_folders,
    live_files,
    newest_metadata,
)
from tests.spark_jobs.iceberg.house import staged_below
from tidegate.domain.model import Dataset, PartitionScheme, Program, SqlQuery, TimeDimension
from tidegate.domain.published import PublishedPartition
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.spark_jobs.iceberg.catalog.catalog import STAGING_NAMESPACE
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.repair.orphans import expire_dead_attempts, find_orphans, remove_orphans
from tidegate.spark_jobs.runner import run_program

DAYS = ("2013-12-22", "2013-12-23")
DAILY = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-01"))
ROWS_OF_A_FILE = 3
NUMBERS_OF_A_FILE = 10
"""A file of number n holds the ids from n times this on."""

_apps = count(1)


class Project:
    """One app with one landed dataset and some outputs.

    Args:
        catalog: the folder of the session's Iceberg catalog, which other tests use too.
        outputs: the format of each dataset that is written, in order.
    """

    def __init__(self, folder: Path, spark: SparkSession, catalog: Path, outputs: Mapping[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.spark, self.folder, self.catalog, self.outputs = spark, folder, catalog, dict(outputs)
        self.app = f"crash_{next(_apps)}"
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.url = f"sqlite:///{folder / 'store.db'}"
        self.oracle = Oracle()
        self.landed: list[int] = []
        self._staged_by_others = self._staging_tables()

    # --- what a run is -------------------------------------------------------------------

    def store(self) -> SqlCommitStepStore:
        """Connections do not survive a fork, so each user opens its own."""
        return SqlCommitStepStore(open_sql_store(self.url).engine)

    def land(self, number: int) -> None:
        """Lands the file of a number, whole or not at all."""
        folder = self.folder / "landing" / f"day={DAYS[number % len(DAYS)]}"
        folder.mkdir(parents=True, exist_ok=True)
        hidden = folder / f".f{number:05}.parquet"
        pq.write_table(pa.table({"id": ids_of(number)}), hidden)
        hidden.rename(folder / f"f{number:05}.parquet")
        self.landed.append(number)

    def load(self, commit: str, spark: SparkSession | None = None) -> tuple[PublishedPartition, ...]:
        """One run, as a job's attempt starts it: of queries or of a function, by its commit."""
        of_queries = crc32(commit.encode()) % 2 == 0
        landed = Dataset(name="landed", partitions=DAILY, path="landing")
        return run_program(
            spark or self.spark,
            self.warehouse,
            self.store(),
            app=self.app,
            program=Program(
                name="load",
                run="" if of_queries else "tests.spark_jobs.crash_table.program.load",
                sql=tuple(self._queries()) if of_queries else (),
                reads=("landed",),
                writes=tuple(self.outputs),
                incremental={"landed": True},
            ),
            datasets={dataset.name: dataset for dataset in (landed, *self._written())},
            params=Params(partitions=DAYS, job=commit, args={"outputs": list(self.outputs)}),
            commit=commit,
        )

    def _queries(self) -> Iterator[SqlQuery]:
        """A query for each output: of what has landed, and each further one of the output before it."""
        table = "landed"
        for name in self.outputs:
            yield SqlQuery(output=name, file=f"{name}.sql", text=f"SELECT day, id FROM {table}")
            table = name

    def clear(self) -> None:
        """What the recovery job does, an hour later, about runs that died and were never tried again."""
        store, refs = self.store(), [dataset_ref(self.app, dataset) for dataset in self._written()]
        expire_dead_attempts(store, datetime.now(UTC) + timedelta(hours=1))
        orphans = find_orphans(refs, self.warehouse, store, lambda: self.spark)
        remove_orphans(orphans, refs, self.warehouse, lambda: self.spark)

    def _written(self) -> list[Dataset]:
        return [
            Dataset(name=name, partitions=DAILY, format=kind, write="append")
            for name, kind in self.outputs.items()
        ]

    # --- what is there -------------------------------------------------------------------

    def table(self, name: str) -> Path:
        """The folder of an output."""
        return (
            (self.catalog if self.outputs[name] == "iceberg" else self.folder / "warehouse") / self.app / name
        )

    def rows(self, name: str) -> Rows:
        """What an output holds now."""
        read = self.oracle.iceberg if self.outputs[name] == "iceberg" else self.oracle.parquet
        return read(self.table(name))

    def files_read(self) -> list[int]:
        """The numbers of the files that the watermark names as read."""
        marks = self.store().watermarks(f"{self.app}/load", f"{self.app}/landed")
        return sorted(number for mark in marks.values() for number in _numbers_in(json.loads(mark.position)))

    def check(self, files: Sequence[int]) -> None:
        """Exactly the rows of these files are in every output, and the watermark says so."""
        for name in self.outputs:
            assert self.rows(name) == rows_of(files), f"{name} holds other rows"
        assert self.files_read() == sorted(files), "the watermark names other files"
        assert self.store().list_unfinished() == ()

    def rubbish(self) -> list[str]:
        """Files and tables that no state of an output names: what no process will ever read or remove."""
        found = [f"staging table {name}" for name in self._staging_tables() - self._staged_by_others]
        found += [f"staging {name}" for name in staged_below(self.catalog, f"{self.app}/*/")]
        for name, kind in self.outputs.items():
            table = self.table(name)
            found += _iceberg_rubbish(table) if kind == "iceberg" else _parquet_rubbish(table)
        return found

    def _staging_tables(self) -> set[str]:
        folder = self.catalog / STAGING_NAMESPACE
        return {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()


def ids_of(number: int) -> list[int]:
    """The ids in a landed file."""
    return [number * NUMBERS_OF_A_FILE + row for row in range(ROWS_OF_A_FILE)]


def rows_of(files: Sequence[int]) -> Rows:
    """The rows of some landed files, each once."""
    return Counter(id for number in files for id in ids_of(number))


def _numbers_in(position: object) -> list[int]:
    """The landed files that a position names, wherever in it their names are."""
    if isinstance(position, str):
        name = position.rpartition("/")[2]
        return [int(name[1:6])] if name.endswith(".parquet") else []
    if isinstance(position, dict):
        return [number for pair in position.items() for part in pair for number in _numbers_in(part)]
    if isinstance(position, list):
        return [number for part in position for number in _numbers_in(part)]
    return []


def _iceberg_rubbish(table: Path) -> list[str]:
    """Data files that no snapshot names. Nothing expires in these tests, so each has one that does."""
    metadata = newest_metadata(table)
    named = {
        file for one in metadata.get("snapshots", []) for file in live_files(metadata, one["snapshot-id"])
    }
    files = (str(file) for file in table.glob("data/**/*.parquet"))
    return [f"data file {file}" for file in files if file not in named]


def _parquet_rubbish(table: Path) -> list[str]:
    """Staging, and folders that no version names. What was never linked goes with the next prune."""
    found = [f"staged file {file}" for file in table.glob("_staging/**/*") if file.is_file()]
    versions = [json.loads(file.read_text()) for file in table.glob("_versions/[0-9]*.json")]
    named = {
        str(table / folder)
        for version in versions
        for entry in version["partitions"].values()
        for folder in entry_folders(entry)
    }
    folders = {str(file.parent) for file in table.glob("data/**/*.parquet")}
    return found + [f"folder {folder}" for folder in sorted(folders - named)]
