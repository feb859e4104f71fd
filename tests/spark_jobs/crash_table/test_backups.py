"""A backup that is made while runs publish and are killed: in which order, and what a restore needs.

A history of runs, of which one is killed, is copied at each of its moments: the store and the tables. A
backup copies parts of it at several of those moments, as a copying program at work meanwhile does. Found
here, and written down in docs/operating.md: the store first; the tables after it, twice into the same copy,
which deletes nothing in between; after a restore, tables go back to the newest publish that the store knows,
and orphaned staging is removed. Then the jobs of the restored store run again, and every row is there once.
"""

import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pyspark.sql import SparkSession

from tests.crashes.processes import SIGKILL, end, kill_self
from tests.effort import much
from tests.spark_jobs.crash_table import driver
from tests.spark_jobs.crash_table.project import Project, rows_of
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.spark_jobs.commit.state import New, look_up
from tidegate.spark_jobs.commit.steps.delete_staging import DeleteStaging
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.errors import TableBehind
from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.spark_jobs.iceberg.steps.drop_staging_tables import DropStagingTables
from tidegate.spark_jobs.iceberg.steps.publish_iceberg import PublishIceberg
from tidegate.spark_jobs.parquet.steps.version import PublishVersion

pytestmark = [pytest.mark.spark, pytest.mark.endurance, pytest.mark.iceberg]

OUTPUTS = {"files": "parquet", "lake": "iceberg"}
COMMITS = ("c1", "c2", "c3")
KILLED = "c2"
"""Its first attempt dies between its promise and the end of it; the next one finishes it."""
STATE = ("_versions", "metadata")
"""Of a table, the folders that say what it has; all others have the rows."""
CALLS = (
    (SqlCommitStepStore, "begin"),
    (SqlCommitStepStore, "put"),
    (SqlCommitStepStore, "remove"),
    (LocalFiles, "_move"),
    (PublishVersion, "execute"),
    (PublishIceberg, "execute"),
    (SetWatermark, "execute_all"),
    (DeleteStaging, "execute"),
    (DropStagingTables, "execute"),
)
"""Before and after each call there is a moment."""


class Backup(NamedTuple):
    """When each part was copied: the store, and what tables say and have, in a first and a second copy."""

    store: int
    state: int
    rows: int
    state_again: int
    rows_again: int


class History:
    """What a project was at each moment of some runs."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project, self._folder = project, folder
        folder.mkdir()

    def moments(self) -> list[Path]:
        """The copies, the oldest first."""
        return sorted(self._folder.iterdir())

    def run(self, commit: str, die: int | None = None) -> None:
        """One run in a process of its own, with a copy at each moment.

        Args:
            die: it is killed at this moment of its own.
        """

        def prepare() -> None:
            own = count(1)

            def look() -> None:
                self._copy()
                if next(own) == die:
                    kill_self()

            for owner, name in CALLS:
                around(owner, name, look)

        child = driver.start(lambda: self.project.load(commit), prepare)
        assert end(child) == (0 if die is None else SIGKILL)

    def restore(self, backup: Backup) -> None:
        """Put a backup into the place of the project."""
        moments, project = self.moments(), self.project
        for name in OUTPUTS:
            shutil.rmtree(project.table(name), ignore_errors=True)
        for state, rows in ((backup.state, backup.rows), (backup.state_again, backup.rows_again)):
            for name in OUTPUTS:
                merge(moments[rows] / name, project.table(name), lambda part: part not in STATE)
                merge(moments[state] / name, project.table(name), lambda part: part in STATE)
        for ending in ("", "-wal", "-shm"):
            Path(f"{self._store()}{ending}").unlink(missing_ok=True)
        shutil.copy(moments[backup.store] / "store.db", self._store())

    def _copy(self) -> None:
        to = self._folder / f"{len(self.moments()):03}"
        to.mkdir()
        with (
            closing(sqlite3.connect(self._store())) as live,
            closing(sqlite3.connect(to / "store.db")) as copy,
        ):
            live.backup(copy)
        for name in OUTPUTS:
            merge(self.project.table(name), to / name, lambda part: True)

    def _store(self) -> str:
        return self.project.url.removeprefix("sqlite:///")


def around(owner: Any, name: str, look: Callable[[], None]) -> None:
    """Look before and after each call of a method, in this process."""
    real = getattr(owner, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        look()
        returned = real(*args, **kwargs)
        look()
        return returned

    setattr(owner, name, call)


def merge(table: Path, into: Path, wanted: Callable[[str], bool]) -> None:
    """Copy the wanted folders of a table over what is there."""
    for part in table.iterdir() if table.is_dir() else ():
        if wanted(part.name) and part.is_dir():
            shutil.copytree(part, into / part.name, dirs_exist_ok=True, symlinks=True)


def take_back(project: Project) -> None:
    """What docs/operating.md says of tables after a restore, for each output."""
    store = project.store()

    def is_known(commit: str) -> bool:
        return bool(commit) and not isinstance(look_up(commit, store), New)

    for name, kind in OUTPUTS.items():
        table = project.table(name)
        states = parquet_states(table) if kind == "parquet" else iceberg_states(table)
        for commit, state in states:
            if is_known(commit):
                break
            state.unlink()
            for beside in (f".{state.name}.crc", "version-hint.text", ".version-hint.text.crc"):
                (state.parent / beside).unlink(missing_ok=True)
        # A folder has the name of its commit, and the forgotten commit comes again.
        for folder in (*table.glob("_data/*/*"), *table.glob("_staging/*")):
            if not is_known(folder.name):
                shutil.rmtree(folder)


def parquet_states(table: Path) -> Iterator[tuple[str, Path]]:
    """The versions of a table, the newest first, each with its commit."""
    for version in sorted(table.glob("_versions/[0-9]*.json"), reverse=True):
        yield json.loads(version.read_text())["commit"], version


def iceberg_states(table: Path) -> Iterator[tuple[str, Path]]:
    """The same of an Iceberg table of a catalog in a folder."""
    files = table.glob("metadata/v*.metadata.json")
    for file in sorted(files, key=lambda file: int(file.name[1:].partition(".")[0]), reverse=True):
        metadata = json.loads(file.read_text())
        current = metadata.get("current-snapshot-id")
        summaries = [one["summary"] for one in metadata["snapshots"] if one["snapshot-id"] == current]
        yield "".join(one.get("tidegate.commit", "") for one in summaries), file


@pytest.fixture(scope="module")
def history(
    tmp_path_factory: pytest.TempPathFactory, spark: SparkSession, iceberg_warehouse: Path
) -> History:
    """Three files land, and three runs load them; one of them dies and is tried again."""
    folder = tmp_path_factory.mktemp("backups")
    history = History(Project(folder / "project", spark, iceberg_warehouse, OUTPUTS), folder / "moments")
    for number, commit in enumerate(COMMITS, 1):
        history.project.land(number)
        if commit == KILLED:
            history.run(commit, die=8)
        history.run(commit)
    history.project.check([1, 2, 3])
    return history


def test_a_backup_at_any_moment_is_restored_without_a_row_lost_or_twice(history: History) -> None:
    project, moments = history.project, len(history.moments())
    chance = random.Random(2013)
    for _ in range(much(2)):
        store = chance.randrange(moments)
        state, rows = chance.randrange(store, moments), chance.randrange(store, moments)
        first = max(state, rows)
        again = chance.randrange(first, moments), chance.randrange(first, moments)
        backup = Backup(store, state, rows, *again)
        history.restore(backup)
        take_back(project)
        # `tidegate commits fsck --clean`
        project.clear()
        # What the restored store has as jobs runs again, and then what is new for it.
        for commit in (*COMMITS, "later"):
            project.load(commit)
        files = project.landed
        for name in OUTPUTS:
            assert project.rows(name) == rows_of(files), f"{backup}: {name} has other rows"
        project.check(files)


def test_tables_that_are_older_than_the_store_lack_rows_that_it_counts_as_read(history: History) -> None:
    last = len(history.moments()) - 1
    history.restore(Backup(last, 0, 0, 0, 0))
    with pytest.raises(TableBehind):
        history.project.load("later")
