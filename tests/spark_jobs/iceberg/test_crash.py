"""Publishing Iceberg, killed at every change it makes: nothing is lost, nothing comes twice.

Each case kills a real driver with SIGKILL just before its n-th change: by a transaction of
the commit store, or by a call of Java that changes something. Then the run is made again. The
tables go on from case to case, so that every kill happens to a table with a past. In the
sweep the driver is a forked process that talks to our JVM, which survives it; in the named cases
the JVM is killed too.
"""

import os
import signal
import threading
from collections.abc import Callable
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.crashes.processes import SIGKILL, in_child, kill_self
from tests.crashes.strikes import before_remote_change, each_call, each_java
from tests.effort import every, pick
from tests.interpreted import INTERPRETED
from tests.spark_jobs.iceberg.house import staged_below
from tests.spark_jobs.staging import begin, parts_of
from tidegate.domain.model import PartitionScheme, TimeDimension
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.errors import CommitUnknown
from tidegate.spark_jobs.iceberg.catalog.catalog import STAGING_NAMESPACE, IcebergCatalog
from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings
from tidegate.spark_jobs.iceberg.staging.files import FOLDER
from tidegate.spark_jobs.publication.table import Publication, read, top_token
from tidegate.spark_jobs.session.session import SparkSettings, session

pytestmark = [pytest.mark.spark, pytest.mark.endurance]  # dozens of drivers are killed one after the other

MAXIMUM_CHANGES = 200
EVERY = every(5)
"""The driver dies before each n-th change."""
CHANGING_JAVA = (
    "addAll", "append", "commit", "create", "createNamespace", "createOrOverwrite",
    "delete", "dropTable", "save",
)  # fmt: skip

DAY = "2013-12-22"
DAILY = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-01"))
ADDED = DatasetRef(app="crash", name="added", format="iceberg", scheme=DAILY, write="append")
MERGED = DatasetRef(
    app="crash", name="merged", format="iceberg", scheme=DAILY, write="merge", merge_keys=("id",)
)
TABLES = (ADDED, MERGED)


class Project:
    """Runs that write two tables in one commit."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.spark = spark
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self._url = f"sqlite:///{folder / 'store.db'}"
        # The tests of a worker share a catalog; what others have left staged is not this one's rubbish.
        self._staged_by_others = self._staged()

    def store(self) -> SqlCommitStepStore:
        return SqlCommitStepStore(open_sql_store(self._url).engine)

    def write(self, number: int, spark: SparkSession | None = None) -> None:
        """What a run does: recover, see whether it was done, stage, publish."""
        own = spark or self.spark
        store, commit, datasets = self.store(), f"c{number}", [ref.id for ref in TABLES]
        context = CommitContext(files=self.warehouse.files, spark=lambda: own)
        recover(datasets, store, context)
        if parts_of(commit, store, context) is not None:
            return
        seen = max(top_token(ref, self.warehouse, lambda: own) for ref in TABLES)
        token = begin(store, commit, datasets, seen)
        publication = Publication(
            self.warehouse, store, commit=commit, token=token, job=commit, spark=lambda: own
        )
        for ref in TABLES:
            publication.stage(self.rows(own, ref, number), ref, (DAY,))
        publication.publish()

    def rows(self, spark: SparkSession, ref: DatasetRef, number: int) -> DataFrame:
        if ref is MERGED:
            # One row that comes again and again, and a new one.
            return spark.range(2).selectExpr(f"'{DAY}' day", f"id * {number} id", f"{number} value")
        return spark.range(1).selectExpr(f"'{DAY}' day", f"{number} id")

    def seen(self) -> dict[str, list[Any]]:
        """What readers see, each table as it is."""
        found: dict[str, list[Any]] = {}
        for ref in TABLES:
            frame = read(self.spark, ref, self.warehouse)
            columns = ["id", "value"] if ref is MERGED else ["id"]
            found[ref.name] = sorted(tuple(row) for row in frame.select(*columns).collect()) if frame else []
        return found

    def expected(self, last: int) -> dict[str, list[Any]]:
        """What they must see after the commits 1 to `last`."""
        return {
            "added": [(number,) for number in range(1, last + 1)],
            "merged": [(0, last), *((number, number) for number in range(1, last + 1))],
        }

    def check(self, last: int) -> None:
        """Exactly the commits so far, and nothing that is unfinished or staged."""
        assert self.seen() == self.expected(last)
        assert self._staged() <= self._staged_by_others
        assert self.store().list_unfinished() == ()

    def _staged(self) -> set[str]:
        """What is staged in the catalog, in tables and without them."""
        warehouse = Path(self.spark.conf.get("spark.sql.catalog.tidegate.warehouse").removeprefix("file:"))
        return {*IcebergCatalog(self.spark).names(STAGING_NAMESPACE), *staged_below(warehouse, "*/*/")}

    def lose_staging(self) -> None:
        """Another program removes what is staged for the tables."""
        catalog = IcebergCatalog(self.spark)
        for name in catalog.names(STAGING_NAMESPACE):
            catalog.drop((STAGING_NAMESPACE, name))
        for ref in TABLES:
            catalog.files.delete(f"{catalog.table((ref.app, ref.name)).location()}/data/{FOLDER}")

    def check_history(self, last: int) -> None:
        """One snapshot for each commit so far, and not a data file that belongs to none."""
        catalog = IcebergCatalog(self.spark)
        for ref in TABLES:
            table = catalog.table((ref.app, ref.name))
            assert len(list(table.snapshots())) == last
            stand = {
                row[0] for row in self.spark.sql(f"SELECT file_path FROM {_sql(ref)}.all_files").collect()
            }
            left = {file for file in catalog.files.below(f"{table.location()}/data") if ".parquet" in file}
            assert {file.removeprefix("file:") for file in left if not file.endswith(".crc")} <= stand


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Project:
    made = Project(tmp_path_factory.mktemp("crash"), spark)
    made.write(1)
    made.check(1)
    made.check_history(1)
    return made


NUMBERS = count(2)
"""Numbers of the commits of this module, in the order in which its tests make them."""


def in_own_thread(work: Callable[[], object]) -> Callable[[], None]:
    """Work for a forked process: a thread of its own has a connection of its own to our JVM."""

    def run() -> None:
        failures: list[BaseException] = []

        def guarded() -> None:
            try:
                work()
            except BaseException as failure:  # noqa: BLE001 -- reported to the thread that waits
                failures.append(failure)

        thread = threading.Thread(target=guarded)
        thread.start()
        thread.join()
        if failures:
            raise failures[0]

    return run


@pytest.mark.soak  # at each named point: crash_table/test_crash_table.py; before any call: its test_sweep.py
def test_a_driver_killed_before_any_of_its_changes(project: Project) -> None:
    """P0 to P9: after each kill every table is whole, and the next run makes it right."""
    outcomes: set[str] = set()
    for wanted in range(1, MAXIMUM_CHANGES, EVERY):
        number = next(NUMBERS)

        def dying(wanted: int = wanted, number: int = number) -> None:
            # The lock is the JVM's and dies with it; ours lives on. The cases below kill the JVM too.
            IcebergCatalog.exclusive = lambda *_: nullcontext()
            before_remote_change(wanted, CHANGING_JAVA)(kill_self)
            project.write(number)

        code = in_child(in_own_thread(dying))
        seen, before, after = project.seen(), project.expected(number - 1), project.expected(number)
        for name in seen:
            assert seen[name] in (before[name], after[name]), f"half a table {name} before change {wanted}"
        outcomes.add("".join("n" if seen[name] == after[name] else "o" for name in sorted(seen)))

        project.write(number)
        project.check(number)
        if code == 0:
            # What any dead process left would still be there.
            project.check_history(number)
            break
        assert code == SIGKILL
    else:
        raise AssertionError("the sweep does not end")
    # The table that is appended to comes last: to repeat its step alone would add its rows twice.
    assert outcomes == {"oo", "on", "nn"}, "the sweep must have met every stage of the publish"


@pytest.mark.parametrize(("swap", "moment"), pick([(1, "commit"), (2, "lock")], 1))
def test_driver_and_jvm_killed_around_the_swap(
    project: Project, iceberg_warehouse: Path, swap: int, moment: str
) -> None:
    number = next(NUMBERS)

    def dying() -> None:
        own = session(
            SparkSettings(
                master="local[1]",
                conf={"spark.driver.memory": "1g", **INTERPRETED},
                iceberg=IcebergSettings(warehouse=str(iceberg_warehouse)),
            )
        )
        jvm: Any = own.sparkContext._gateway

        def strike() -> None:
            os.kill(jvm.proc.pid, signal.SIGKILL)
            kill_self()

        # The driver dies while it holds the lock of the first swap, or between the first and the second.
        locks: list[str] = []

        def java(called: str) -> None:
            if called == "lock":
                locks.append("lock")
            if called == moment and len(locks) == swap:
                strike()

        each_java(java)
        project.write(number, own)

    assert in_child(dying) == SIGKILL
    assert project.store().get(f"c{number}") is not None
    context = CommitContext(files=project.warehouse.files, spark=lambda: project.spark)
    assert recover([ADDED.id], project.store(), context) == (f"c{number}",)
    project.check(number)
    project.check_history(number)


@pytest.mark.soak  # of a step: test_verify_has_three_answers in test_table.py, of runs: crash_table
def test_lost_staging_fails_loudly_and_keeps_the_promise(project: Project) -> None:
    """P10: no run may publish over it as if nothing had been promised."""
    number = next(NUMBERS)

    def dying() -> None:
        each_call(IcebergCatalog, "exclusive", lambda *_: _die_once_put(project, number))
        project.write(number)

    assert in_child(in_own_thread(dying)) == SIGKILL
    assert project.store().get(f"c{number}") is not None
    project.lose_staging()

    for _ in range(2):
        with pytest.raises(
            CommitUnknown, match=r"step \d of \d .*does not list the commit, and .* does not exist"
        ):
            project.write(number + 1)
    assert project.store().get(f"c{number}") is not None
    assert project.seen() == project.expected(number - 1)


def _die_once_put(project: Project, number: int) -> None:
    if project.store().get(f"c{number}") is not None:
        kill_self()


def _sql(ref: DatasetRef) -> str:
    return f"tidegate.{ref.app}.{ref.name}"
