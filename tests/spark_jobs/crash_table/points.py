"""The points of the crash table at which a driver is struck, and how it is struck there.

    P0  before put            P5  published, staging still there    P10  staging lost
    P1  inside put            P6  before a watermark                P11  during recovery
    P2  before step 1         P7  between state and pointer         P12  a zombie goes on
    P3  between steps         P8  before remove
    P4  inside a copy         P9  inside remove

A point is installed in a process of its own, which it changes for good: from then on that
process is struck when it gets there, by SIGKILL or, for a zombie, by SIGSTOP. No exception is
raised, nothing is cleaned up, as when the machine is switched off.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.crashes.strikes import Strike, after, before, before_commit_of, before_java
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.spark_jobs.commit.steps.delete_staging import DeleteStaging
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog
from tidegate.spark_jobs.iceberg.steps.drop_staging_tables import DropStagingTables
from tidegate.spark_jobs.iceberg.steps.publish_iceberg import PublishIceberg
from tidegate.spark_jobs.parquet.folders.copy_folder import CopyFolder
from tidegate.spark_jobs.parquet.steps.version import PublishVersion

BOTH = ("parquet", "iceberg")
OLD_HINT, NO_HINT = "swapped, hint is old", "swapped, no hint"


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """One row of the crash table.

    Attributes:
        row: its number.
        where: what is just about to happen.
        install: makes the process be struck there.
        promised: the sequence has been put by then, so it is published, by whomever.
        finished: it has been removed again by then.
        formats: those of the outputs in which there is such a point.
        copies: the file system moves no folder whole, so that folders are copied.
    """

    row: str
    where: str
    install: Callable[[Strike], None]
    promised: bool = True
    finished: bool = False
    formats: tuple[str, ...] = BOTH
    copies: bool = False

    def __str__(self) -> str:
        return f"{self.row} {self.where}"


class Copying(LocalFiles):
    """A file system that, like an object store, can move no folder whole."""

    def moves_folders_whole(self, folder: str) -> bool:
        """Never."""
        return False


def share_jvm() -> None:
    """For a driver that shares the JVM of the tests: the lock on a table is the JVM's, and ours lives on.

    In its place comes one that dies with the driver, as a JVM of its own would.
    """
    IcebergCatalog.exclusive = _locked


@contextmanager
def _locked(*_: object) -> Iterator[None]:
    with Path(__file__).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def before_link(folder: str) -> Callable[[Strike], None]:
    """Strikes when a file in such a folder is written under a name that no reader reads, before its link."""

    def install(strike: Strike) -> None:
        real = os.link

        def link(source: Any, target: Any, **how: Any) -> None:
            if f"/{folder}/" in str(target):
                strike()
            real(source, target, **how)

        os.link = link

    return install


def inside_copy(strike: Strike) -> None:
    """Strikes when half of a file has been copied."""

    def copy(_: object, source: str, target: str) -> None:
        content = Path(source).read_bytes()
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        Path(target).write_bytes(content[: len(content) // 2])
        strike()

    LocalFiles.copy = copy


def after_swap(hint: str) -> Callable[[Strike], None]:
    """Strikes when a table has its new metadata, and the hint to the newest one is still old, or gone."""

    def install(strike: Strike) -> None:
        def executed(step: PublishIceberg, context: Any) -> None:
            table = Path(IcebergCatalog(context.spark()).table(step.table).location().removeprefix("file:"))
            file = table / "metadata" / "version-hint.text"
            old = file.read_text()
            real(step, context)
            file.unlink()
            # Its checksum would betray that it was not Hadoop who wrote it.
            file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
            if hint == OLD_HINT:
                file.write_text(old)
            strike()

        real = PublishIceberg.execute
        PublishIceberg.execute = executed

    return install


PUBLISH = {"parquet": PublishVersion, "iceberg": PublishIceberg}
CLEAN = {"parquet": DeleteStaging, "iceberg": DropStagingTables}


def _in(kind: str, row: str, where: str, install: Callable[[Strike], None], **more: Any) -> Point:
    return Point(row=row, where=where, install=install, formats=(kind,), **more)


POINTS: tuple[Point, ...] = (
    _in("iceberg", "P0", "while staging", before_java("save", 2), promised=False),
    _in("parquet", "P0", "while staging", before_java("parquet", 2), promised=False),
    Point(row="P0", where="before put", install=before(SqlCommitStepStore, "put"), promised=False),
    Point(
        row="P1", where="inside put", install=before_commit_of("INSERT INTO commit_sequences"), promised=False
    ),
    Point(row="P2", where="before step 1", install=after(SqlCommitStepStore, "put")),
    _in("parquet", "P3", "between two folders", before(LocalFiles, "_move", 2)),
    *(_in(kind, "P3", "between two tables", before(PUBLISH[kind], "execute", 2)) for kind in BOTH),
    _in("parquet", "P4", "half a file copied", inside_copy, copies=True),
    _in("parquet", "P4", "between two copies", before(LocalFiles, "copy", 2), copies=True),
    _in("parquet", "P5", "all copied", after(CopyFolder, "execute", 4), copies=True),
    *(_in(kind, "P5", "staging not removed", before(CLEAN[kind], "execute")) for kind in BOTH),
    *(_in(kind, "P5", "staging half removed", before(CLEAN[kind], "execute", 2)) for kind in BOTH),
    Point(row="P6", where="before the watermarks", install=before(SetWatermark, "execute_all")),
    Point(row="P6", where="inside the watermarks", install=before_commit_of("UPDATE commit_watermarks")),
    Point(row="P6", where="after the watermarks", install=after(SetWatermark, "execute_all")),
    _in("parquet", "P7", "version written, not linked", before_link("_versions")),
    *(_in("iceberg", "P7", hint, after_swap(hint)) for hint in (OLD_HINT, NO_HINT)),
    Point(row="P8", where="before remove", install=before(SqlCommitStepStore, "remove")),
    Point(row="P9", where="inside remove", install=before_commit_of("UPDATE commit_sequences SET body")),
    Point(row="P9", where="after remove", install=after(SqlCommitStepStore, "remove"), finished=True),
)
"""P10 to P12 are tests of their own, and P13 of withheld publishes is in test_withheld.py."""


def points_of(kind: str) -> list[Point]:
    """The rows for outputs of a format."""
    return [point for point in POINTS if kind in point.formats]
