"""Operations whose process dies by SIGKILL: the table is whole at once, and the next run goes on.

The process is forked from the tests and talks to their JVM. Nothing is cleaned up: leases stay, and so does
what was written and not committed. A table goes on from kill to kill, so each happens to one with a past.
"""

from pathlib import Path
from typing import Any

import pytest

from tests import tally
from tests.crashes.processes import SIGKILL, end, kill_self
from tests.crashes.strikes import Install, after, before, before_java
from tests.spark_jobs.crash_table import driver
from tests.spark_jobs.iceberg.house import D22, D23, DAILY
from tests.spark_jobs.maintenance.yard import EXPIRE, MANIFESTS, ORPHANS, REWRITE, Later, Yard
from tidegate.domain.maintenance.reported import Ended, Ending
from tidegate.domain.model import Operation
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.commit.steps.delete_staging import DeleteStaging
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.spark_jobs.maintenance import slicing
from tidegate.spark_jobs.maintenance.iceberg import remove_orphan_files
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable
from tidegate.spark_jobs.parquet.steps.compaction import PublishCompaction
from tidegate.spark_jobs.parquet.steps.show_version import ShowVersion
from tidegate.spark_jobs.parquet.version_log import head, read_version, version_numbers

pytestmark = [
    pytest.mark.spark,
    pytest.mark.endurance,
    pytest.mark.iceberg,
]  # processes are killed one after the other

MERGE_ON_READ = (
    "'format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = 'partition'"
)


@pytest.fixture(autouse=True)
def small_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each partition is a slice of its own, and each orphan a lot."""
    monkeypatch.setattr(slicing, "LEAST_SLICE_BYTES", 1)
    monkeypatch.setattr(remove_orphan_files, "LOT_FILES", 1)


class Kills:
    """Runs of one operation on one table, in processes that die."""

    def __init__(
        self, yard: Yard, operation: Operation, ref: DatasetRef | None = None, **options: Any
    ) -> None:
        self.yard, self.operation, self.ref, self.options = yard, operation, ref, options

    def at(self, *points: Install) -> None:
        """Kill a run at each of some points, after which each row is there once."""
        rows = self.rows()
        for number, install in enumerate(points, start=1):
            code = end(driver.start(self.run, lambda install=install: self._begin(install)))
            assert code == SIGKILL, f"{self.operation} was not killed at the point {number}"
            assert self.rows() == rows, f"{self.operation}, killed at the point {number}"
            tally.reach("kills of operations")

    def run(self) -> Ended:
        """What the run of an operation does: it recovers what others have left, and works."""
        yard = self.yard
        if self.ref is not None:
            recover([self.ref.id], yard.store, yard.context)
        return yard.run(self.operation, self.ref, **self.options)

    def goes_on(self) -> Ended:
        """The next run, which ends well and changes no row."""
        rows = self.rows()
        ended = self.run()
        assert (ended.ending, ended.detail) == (Ending.SUCCEEDED, "")
        assert self.rows() == rows
        return ended

    def rows(self) -> list[Any]:
        """What a reader finds; in Parquet it is the same below the link for readers that do not know us."""
        if self.ref is None:
            return self.yard.all_rows()
        rows = self.yard.rows(self.ref)
        if self.ref.format == "parquet":
            assert self.yard.linked(self.ref) == rows
        return rows

    def _begin(self, install: Install) -> None:
        if isinstance(self.yard.store, SqlCommitStepStore):
            # Connections do not survive a fork.
            self.yard.store = sql_store(self.yard)
        install(kill_self)


def sql_store(yard: Yard) -> Any:
    return SqlCommitStepStore(open_sql_store(f"sqlite:///{yard.warehouse.project}/store.db").engine)


def fill(yard: Yard) -> None:
    yard.make(properties=MERGE_ON_READ)
    yard.insert(("2013-12-31", 50))
    for number in range(5):
        yard.insert(*((day, id) for day in (D22, D23) for id in (number, 100 + number)))
    # Of several files in each partition, so they are in files of deletes that belong to none of them.
    yard.sql("DELETE FROM T WHERE id IN (1, 2)")
    yard.insert((D22, 7), (D23, 7))


def files_of(yard: Yard) -> tuple[str, ...]:
    """All files of the table, also those of its metadata."""
    return yard.catalog.files.below(yard.table().location())


def of_some_snapshot(yard: Yard) -> set[str]:
    return {row[0] for row in yard.spark.sql(f"SELECT file_path FROM {yard.full_name}.all_files").collect()}


@pytest.mark.soak  # test_rewrite.py stops it at each call, live/test_maintenance.py kills a run
def test_compaction_of_an_iceberg_table(yard: Yard) -> None:
    fill(yard)
    kills = Kills(yard, REWRITE)
    kills.at(before_java("save"), before(CatalogTable, "swap"))
    assert yard.health().values["files"] == 13
    kills.at(after(CatalogTable, "swap"))
    assert yard.health().values["files"] == 8, "one of two slices was committed, and not reported"
    kills.at(before_java("removeDanglingDeleteFiles"))
    assert [yard.health().values[name] for name in ("files", "delete_files")] == [3, 2]
    assert Kills(yard, REWRITE, rewrite_all=True).goes_on().after["delete_files"] == 0
    assert len(yard.data_files() - of_some_snapshot(yard)) == 1, (
        "what was written before a kill, and not committed"
    )
    yard.clock = Later(5)
    assert Kills(yard, ORPHANS).goes_on().results["orphan_files_removed"] > 1, "and its metadata"
    assert yard.data_files() == of_some_snapshot(yard)


@pytest.mark.soak  # test_rewrite.py, test_expire.py and test_orphans.py stop them at each call
def test_manifests(yard: Yard) -> None:
    fill(yard)
    kills = Kills(yard, MANIFESTS)
    kills.at(before_java("rewriteManifests"), before_java("execute"))
    assert yard.snapshots() == 8
    kills.at(before_java("rewrittenManifests"))
    assert yard.snapshots() == 9, "it was committed, and not reported"
    assert not kills.goes_on().changed


@pytest.mark.soak
def test_expiry_and_orphans(yard: Yard) -> None:
    """Of a dataset: its files are in folders that Iceberg never sweeps, and where compaction has put them."""
    ref = yard.ref("append")
    for number in range(3):
        yard.publish(yard.frame((D22, number, "a"), (D23, number, "b")), ref, D22, D23)
    yard.run(REWRITE, ref, rewrite_all=True)
    yard.clock = Later(8)
    kills = Kills(yard, EXPIRE, ref, retain_last=1)
    kills.at(before_java("expireFiles"))
    assert yard.snapshots() > 1
    kills.at(before_java("execute"))
    assert yard.snapshots() == 1
    assert len(yard.data_files() - yard.live_files()) == 6, (
        "no snapshot has them, and nothing has deleted them"
    )
    assert not kills.goes_on().changed

    orphans, before_any = Kills(yard, ORPHANS, ref), len(files_of(yard))
    orphans.at(before_java("deleteFiles"), before_java("deleteFiles", 2), before_java("deleteFiles", 4))
    assert len(files_of(yard)) == before_any - 1 - 3
    assert orphans.goes_on().changed
    assert yard.data_files() == yard.live_files()

    yard.publish(yard.frame((D22, 8, "a")), ref, D22)
    yard.run(REWRITE, ref, rewrite_all=True)
    kills.at(before_java("deletedDataFilesCount"))
    assert (yard.snapshots(), yard.data_files()) == (1, yard.live_files()), "done, and not reported"
    assert not kills.goes_on().changed


class TestParquet:
    """A dataset that is appended to: five files in each of two days."""

    @pytest.fixture
    def ref(self, yard: Yard) -> DatasetRef:
        ref = DatasetRef(app=yard.app, name="t", scheme=DAILY, write="append")
        yard.store = sql_store(yard)
        for number in range(5):
            yard.publish(yard.frame((D22, number, "a"), (D23, number, "b")), ref, D22, D23)
        return ref

    def test_compaction(self, yard: Yard, ref: DatasetRef) -> None:
        kills = Kills(yard, REWRITE, ref)
        kills.at(
            before_java("parquet"),
            before(SqlCommitStepStore, "put"),
            after(SqlCommitStepStore, "put"),
        )
        assert len(yard.store.list_unfinished()) == 1
        kills.at(
            before(LocalFiles, "_move"),
            before(PublishCompaction, "execute"),
            before(ShowVersion, "execute"),
            before(DeleteStaging, "execute"),
            before(SqlCommitStepStore, "remove"),
            # The second slice.
            after(SqlCommitStepStore, "remove", 2),
        )
        root = Path(ref.root(yard.warehouse))
        assert not list(root.glob("_staging/*/*")), "what dead processes have staged is gone"
        assert not kills.goes_on().changed
        now = head(yard.warehouse.files, str(root)).partitions
        assert {key: entry.files for key, entry in now.items()} == {D22: 1, D23: 1}

    @pytest.mark.soak  # test_parquet.py stops it at each call
    def test_expiry(self, yard: Yard, ref: DatasetRef) -> None:
        files, root = yard.warehouse.files, ref.root(yard.warehouse)
        yard.run(REWRITE, ref)
        versions = version_numbers(files, root)
        yard.clock = Later(8)
        kills = Kills(yard, EXPIRE, ref, retain_last=1)
        for number in (1, 3, 5, 4):
            kills.at(before(LocalFiles, "delete", number))
            left = [read_version(files, root, one) for one in version_numbers(files, root)]
            entries = [entry for one in left if one is not None for entry in one.partitions.values()]
            assert all(files.exists(f"{root}/{folder}") for entry in entries for folder in entry.folders)
        assert version_numbers(files, root) == versions[-1:], "and three folders are deleted of those before"
        assert kills.goes_on().results["folders_deleted"] == 7
        assert not kills.goes_on().changed
