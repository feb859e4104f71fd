"""SIGKILL at every point of an incremental load: each landed row is published once, in the end.

The source, the watermarks, the sequence and its steps are the code under test; only the rows are
read and staged by pyarrow instead of Spark, so that hundreds of processes can be killed. P0
to P9 of the crash table with a watermark in it, and P6 above all: between publish and watermark.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.crashes import strikes
from tests.crashes.processes import SIGKILL, in_child, in_children, kill_self
from tests.effort import only, some
from tests.spark_jobs.staging import DAILY, daily, parts_of, read_rows, stage_rows
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.lease import AttemptLease
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.commit.steps.delete_staging import DeleteStaging
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.datasets import landed
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.key_selection import KeySelection
from tidegate.spark_jobs.errors import CommitConflict
from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.spark_jobs.incremental.reads import IncrementalReads
from tidegate.spark_jobs.parquet.steps.version import PublishVersion
from tidegate.spark_jobs.parquet.version_log import version_numbers
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication.table import sequence_of

pytestmark = pytest.mark.endurance  # each point is a process of its own that is killed

D22, D23 = "2013-12-22", "2013-12-23"
LANDED = DatasetRef(app="test", name="landed", scheme=DAILY, path="landing/landed")
TABLE = daily("table", "append")


class Paths:
    """Plays Spark where files are read: remembers their paths, which are all that is wanted."""

    schema = None

    def __init__(self) -> None:
        self.paths: tuple[str, ...] = ()

    @property
    def read(self) -> Self:
        return self

    def option(self, *_: str) -> Self:
        return self

    def parquet(self, *paths: str) -> Self:
        self.paths = paths
        return self

    def createDataFrame(self, *_: object) -> "Paths":
        return Paths()

    def withColumn(self, *_: object) -> Self:
        return self

    def __getitem__(self, _: str) -> Self:
        return self

    def cast(self, _: str) -> Self:
        return self


@pytest.fixture(autouse=True)
def without_footers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns of the files do not matter here."""
    monkeypatch.setattr(landed, "read_files", lambda spark, _ref, _root, files: spark.parquet(*files))


class Project:
    """A feed, a table that it is appended to, and the schedule store, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self._url = f"sqlite:///{folder / 'store.db'}"
        self._landed = 0

    def store(self) -> SqlCommitStepStore:
        return SqlCommitStepStore(open_sql_store(self._url).engine)

    def land(self, key: str, *values: int) -> None:
        self._landed += 1
        folder = self.folder / "landing" / "landed" / f"day={key}"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"value": list(values)}), folder / f"{self._landed}.parquet")

    def load(self, commit: str, *keys: str) -> None:
        """What a run of a program does that appends what is new of the feed."""
        store = self.store()
        context = CommitContext(files=self.warehouse.files, watermarks=store)
        new = IncrementalReads(store, self.warehouse, consumer="test/load", params=Params())
        touched = [TABLE.id, new.resource(LANDED)]
        recover(touched, store, context)
        if parts_of(commit, store, context) is not None:
            return
        with AttemptLease(store, commit, touched) as token:
            spark = cast(SparkSession, Paths())
            frame = cast(Any, new.read(spark, LANDED, True, KeySelection(DAILY, keys)))
            rows = {key: [] for key in keys} | self._rows(() if frame is None else frame.paths)
            table = stage_rows(self.warehouse, TABLE, rows, commit=commit, token=token)
            new.check()
            publish(sequence_of(commit, token, [table], new.steps(commit)), store, context)

    def _rows(self, paths: tuple[str, ...]) -> dict[str, list[int]]:
        rows: dict[str, list[int]] = {}
        for path in paths:
            key = Path(path).parent.name.removeprefix("day=")
            rows.setdefault(key, []).extend(pq.read_table(path, partitioning=None)["value"].to_pylist())
        return rows

    def landed(self) -> Counter[tuple[str, int]]:
        files = (self.folder / "landing" / "landed").rglob("*.parquet")
        return Counter(
            (key, value)
            for file in files
            for key, values in self._rows((str(file),)).items()
            for value in values
        )

    def table(self) -> Counter[tuple[str, int]]:
        return Counter(
            (key, value) for key, values in read_rows(self.warehouse, TABLE).items() for value in values
        )

    def numbers(self) -> dict[str, int]:
        return {part: mark.number for part, mark in self.store().watermarks("test/load", LANDED.id).items()}

    def publishes(self) -> int:
        return len(version_numbers(self.warehouse.files, TABLE.root(self.warehouse)))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.land(D22, 1, 1)
    assert in_child(lambda: project.load("c0", D22)) == 0
    project.land(D22, 2)
    project.land(D23, 3)
    return project


POINTS: dict[str, tuple[type, str]] = {
    "the new rows have been looked up": (IncrementalReads, "read"),
    "what was staged is checked": (IncrementalReads, "check"),
    "the sequence is put": (SqlCommitStepStore, "put"),
    "a folder is moved": (LocalFiles, "_move"),
    "readers see the rows": (PublishVersion, "execute"),
    "the watermarks move": (SetWatermark, "execute_all"),
    "the watermarks are written": (SqlCommitStepStore, "set_watermarks"),
    "staging is deleted": (DeleteStaging, "execute"),
    "the sequence is removed": (SqlCommitStepStore, "remove"),
}


def killed(work: Callable[[], object], point: str, *, before: bool, times: int) -> Callable[[], None]:
    """The work, by a process that dies right before, or right after, a point is passed for the n-th time."""
    install = (strikes.before if before else strikes.after)(*POINTS[point], times)

    def dying() -> None:
        install(kill_self)
        work()

    return dying


BEFORE_AND_AFTER = [(point, before) for point in POINTS for before in (True, False)]
BEFORE_EACH = [(point, True) for point in POINTS]
AFTER_SOME = [("a folder is moved", False), ("the sequence is removed", False)]
"""After one point is before the next one, but between two folders and at the end."""


@pytest.mark.parametrize("times", some([1, 2], 1))
@pytest.mark.parametrize(("point", "before"), only(BEFORE_AND_AFTER, *BEFORE_EACH, *AFTER_SOME))
def test_a_load_that_is_killed_loses_and_repeats_nothing(
    project: Project, point: str, before: bool, times: int
) -> None:
    code = in_child(killed(lambda: project.load("c1", D22, D23), point, before=before, times=times))
    assert code == SIGKILL or times > 1

    # What readers see is the state before or the state after; more has landed before anyone comes back.
    assert project.table() in (Counter({(D22, 1): 2}), project.landed())
    project.land(D22, 4)
    assert in_child(lambda: project.load("c2", D22, D23)) == 0
    assert in_child(lambda: project.load("c1", D22, D23)) == 0

    assert project.table() == project.landed()
    assert project.store().list_unfinished() == ()


def test_between_publish_and_watermark_only_the_watermarks_are_left_to_do(project: Project) -> None:
    """P6."""
    assert (
        in_child(killed(lambda: project.load("c1", D22, D23), "the watermarks move", before=True, times=1))
        == SIGKILL
    )
    assert (project.table(), project.publishes()) == (project.landed(), 2)
    assert project.numbers() == {D22: 1}

    store = project.store()
    recover([TABLE.id], store, CommitContext(files=project.warehouse.files, watermarks=store))

    assert (project.table(), project.publishes()) == (project.landed(), 2)
    assert project.numbers() == {D22: 2, D23: 1}


def test_a_recovery_that_is_killed_is_recovered(project: Project) -> None:
    """P11, before the two watermarks of one commit, and after them."""
    load = lambda: project.load("c1", D22, D23)  # noqa: E731 -- one line, named where it is used
    assert in_child(killed(load, "readers see the rows", before=False, times=1)) == SIGKILL
    for before, numbers in ((True, {D22: 1}), (False, {D22: 2, D23: 1})):
        assert in_child(killed(load, "the watermarks are written", before=before, times=1)) == SIGKILL
        assert project.numbers() == numbers, "both or none"
    assert in_child(load) == 0
    assert project.table() == project.landed()
    assert project.numbers() == {D22: 2, D23: 1}


def test_of_loads_at_once_each_row_is_published_by_one(project: Project) -> None:
    def load(commit: str) -> None:
        try:
            project.load(commit, D22, D23)
        except CommitConflict:
            # Nothing of it was published; it is run again, as its job would be.
            project.load(commit, D22, D23)

    assert in_children(*(lambda number=number: load(f"c{number}") for number in (1, 2, 3))) == [0, 0, 0]
    assert project.table() == project.landed()
    assert project.store().list_unfinished() == ()
