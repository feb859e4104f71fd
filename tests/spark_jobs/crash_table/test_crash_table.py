"""The crash table, P0 to P12, on real tables of both formats: a driver dies, and the next run makes it right.

Each case kills a real driver with SIGKILL at its point. Then a reader must see whole states, and
the next runs exactly what the table promises: what was not promised is read again from the old
watermark, what was promised is finished and not read again. The tables go on from case to case,
so that every kill happens to a table with a past. What holds afterwards is judged by the oracle.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from pyiceberg.table import StaticTable
from pyspark.sql import SparkSession

from tests import tally
from tests.crashes.processes import SIGKILL, end, kill_self
from tests.effort import only
from tests.spark_jobs.crash_table import driver
from tests.spark_jobs.crash_table.points import BOTH, NO_HINT, OLD_HINT, Copying, Point, after, points_of
from tests.spark_jobs.crash_table.project import Project, rows_of
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.spark_jobs.commit.clock import SystemClock
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.errors import CommitUnknown
from tidegate.spark_jobs.iceberg.catalog.catalog import STAGING_NAMESPACE
from tidegate.spark_jobs.iceberg.staging.files import FOLDER

pytestmark = [pytest.mark.spark, pytest.mark.endurance]  # dozens of drivers are killed one after the other

LONG = timedelta(hours=1)
"""Longer than any lease."""


class Case:
    """A project between two of its commits: `done` is what every output holds."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.done: list[int] = []
        self.files = project.warehouse
        self._numbers = count(1)
        self._commits = count(1)

    def commit(self) -> str:
        """The id of the next commit."""
        return f"c{next(self._commits)}"

    def land(self, files: int = 1) -> list[int]:
        """Lands so many files, and gives their numbers; two in a row are of different days."""
        numbers = [next(self._numbers) for _ in range(files)]
        for number in numbers:
            self.project.land(number)
        return numbers

    def loaded(self, commit: str, files: list[int], *, tidy: bool = True) -> None:
        """A run that must end well, after which exactly these files have been added.

        Args:
            tidy: no other process is at work, so that nothing staged may be left.
        """
        self.project.load(commit)
        self.done += files
        self.project.check(self.done)
        assert not tidy or self.project.rubbish() == []

    def killed(self, commit: str, point: Point, new: list[int]) -> None:
        """A run that is killed at a point. Readers see whole states, and the promise is kept or not."""
        kind = dict.fromkeys(self.project.outputs.values())
        child = driver.start(lambda: self.project.load(commit), lambda: point.install(kill_self))
        assert end(child) == SIGKILL, f"{point} of {[*kind]} was not met"
        tally.reach("kills of Spark writers")
        self.sees_whole_states(new)
        assert (self.project.store().get(commit) is not None) == (point.promised and not point.finished)

    def sees_whole_states(self, new: list[int]) -> None:
        """Every output holds what it held before these files, or what it will hold after them."""
        before, after = rows_of(self.done), rows_of([*self.done, *new])
        for name in self.project.outputs:
            assert self.project.rows(name) in (before, after), f"half a commit in {name}"

    def recover(self) -> None:
        """What a run does before all else."""
        project = self.project
        context = CommitContext(
            files=project.warehouse.files, spark=lambda: project.spark, watermarks=project.store()
        )
        recover([f"{project.app}/{name}" for name in project.outputs], project.store(), context)


@pytest.fixture(scope="module")
def cases(
    tmp_path_factory: pytest.TempPathFactory, spark: SparkSession, iceberg_warehouse: Path
) -> Callable[[str], Case]:
    """The case of each format, whose tables go on from test to test."""

    @cache
    def made(kind: str) -> Case:
        outputs = {"one": kind, "two": kind}
        case = Case(Project(tmp_path_factory.mktemp(kind), spark, iceberg_warehouse, outputs))
        case.loaded(case.commit(), case.land(2))
        return case

    return made


@pytest.fixture
def case(kind: str, cases: Callable[[str], Case]) -> Case:
    """The case of a test's `kind`."""
    return cases(kind)


class LaterClock:
    """The clock of this process, which can be put forward by an hour, so that every lease has run out."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self, *_: object) -> datetime:
        return datetime.now(UTC) + self.ahead

    def put_forward(self) -> None:
        self.ahead += LONG


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> LaterClock:
    made = LaterClock()
    monkeypatch.setattr(SystemClock, "now", made.now)
    return made


ROWS = [(kind, point) for kind in BOTH for point in {point.row: point for point in points_of(kind)}.values()]
OWN = [
    (kind, point)
    for kind, point in ROWS
    if len(point.formats) == 1
    and (kind, point.row) not in (("parquet", "P3"), ("parquet", "P5"), ("iceberg", "P7"))
]
"""Of Parquet, parquet/test_publish_crash.py has those two; P7 of Iceberg is a test of its own."""
IN_TURNS = [
    (kind, point)
    for kind, point in ROWS
    if len(point.formats) > 1 and (kind == BOTH[0]) == (int(point.row[1]) % 2)
]
"""Where a point is the same for both formats, one of them."""
POINTS = [(kind, point) for kind in BOTH for point in points_of(kind)]
CASES = only(POINTS, *OWN, *IN_TURNS)
"""The last point of each row. The others are met in a soak, and before some change of the sweeps:
iceberg/test_crash.py, parquet/test_publish_crash.py."""


@pytest.mark.parametrize(("kind", "point"), CASES, ids=str)
def test_killed(case: Case, point: Point) -> None:
    """P0 to P9."""
    project = case.project
    files = project.warehouse
    if point.copies:
        project.warehouse = replace(files, files=Copying())
    commit, new = case.commit(), case.land(2)
    case.killed(commit, point, new)
    later = case.land()

    # The job is tried again under the same commit id.
    case.loaded(commit, new if point.promised else [*new, *later])
    if point.promised:
        case.loaded(case.commit(), later)
    project.warehouse = files


@pytest.mark.parametrize("kind", ["iceberg"])
@pytest.mark.parametrize("where", only((OLD_HINT, NO_HINT), NO_HINT))
def test_readers_of_the_folder_find_what_a_killed_run_has_published(case: Case, where: str) -> None:
    """P7, without another publish: pyiceberg follows the hint, which the recovery has made right."""
    commit, new = case.commit(), case.land(2)
    points = {point.where: point for point in points_of("iceberg")}
    case.killed(commit, points[where], new)
    case.recover()
    for name in case.project.outputs:
        rows = StaticTable.from_metadata(str(case.project.table(name))).scan().to_arrow()
        assert Counter(rows["id"].to_pylist()) == rows_of([*case.done, *new])
    case.loaded(commit, new)


@pytest.mark.parametrize("kind", only(BOTH, "parquet"))  # the record is that of the store
def test_a_torn_record_was_never_put(case: Case) -> None:
    """P1, as a database that is not atomic would leave it: half a row, which fits no checksum."""
    commit, new = case.commit(), case.land(2)
    point = Point(row="P1", where="torn", install=after(SqlCommitStepStore, "put"))
    case.killed(commit, point, new)
    tear(case.project, commit)
    assert case.project.store().list_unfinished() == ()
    later = case.land()
    case.loaded(commit, [*new, *later])


def tear(project: Project, commit: str) -> None:
    """Cuts the record of a sequence in half."""
    with sqlite3.connect(project.url.removeprefix("sqlite:///")) as database:
        cut = "UPDATE commit_sequences SET body = substr(body, 1, length(body) / 2) WHERE id = ?"
        assert database.execute(cut, (commit,)).rowcount == 1
    database.close()


@pytest.mark.parametrize("kind", only(BOTH, "parquet"))
def test_lost_staging_fails_loudly_and_keeps_the_promise(case: Case) -> None:
    """P10: no run may go on as if nothing had been promised."""
    commit, new = case.commit(), case.land(2)
    point = Point(row="P10", where="before step 1", install=after(SqlCommitStepStore, "put"))
    case.killed(commit, point, new)
    with hidden_staging(case.project):
        for attempt in (commit, case.commit()):
            with pytest.raises(CommitUnknown, match=r"step \d+ of \d+"):
                case.project.load(attempt)
        assert case.project.store().get(commit) is not None
        case.sees_whole_states([])
        assert case.project.files_read() == case.done
    # A person has brought it back.
    case.loaded(commit, new)


@contextmanager
def hidden_staging(project: Project) -> Iterator[None]:
    """Whatever is staged is gone, until the block ends."""
    folders = [
        folder
        for name, kind in project.outputs.items()
        for folder in (
            (project.catalog / STAGING_NAMESPACE, project.table(name) / "data" / FOLDER)
            if kind == "iceberg"
            else (project.table(name) / "_staging",)
        )
    ]
    there = [folder for folder in dict.fromkeys(folders) if folder.is_dir()]
    for folder in there:
        folder.rename(folder.with_name(".lost"))
    yield
    for folder in there:
        folder.with_name(".lost").rename(folder)


LAST_POINTS = (
    "before the watermarks",
    "inside the watermarks",
    "after the watermarks",
    "staging not removed",
    "staging half removed",
    "before remove",
    "inside remove",
)
DURING_RECOVERY = {
    "parquet": (
        "between two folders",
        "version written, not linked",
        "between two tables",
        *LAST_POINTS,
    ),
    "iceberg": ("between two tables", OLD_HINT, NO_HINT, *LAST_POINTS),
}
"""In the order in which a publish gets there: each recovery finds done what came before."""


@pytest.mark.parametrize("kind", only(BOTH, "iceberg"))  # of Parquet: parquet/test_publish_crash.py
def test_killed_during_recovery_again_and_again(case: Case, kind: str) -> None:
    """P11: the recovering process dies as well, at one point after the other."""
    commit, new = case.commit(), case.land(2)
    case.killed(commit, Point(row="P2", where="", install=after(SqlCommitStepStore, "put")), new)
    points = {point.where: point for point in points_of(kind)}
    for where in DURING_RECOVERY[kind]:
        child = driver.start(case.recover, lambda where=where: points[where].install(kill_self))
        assert end(child) == SIGKILL, f"{where} was not met"
        tally.reach("kills of Spark writers")
        case.sees_whole_states(new)
        assert case.project.store().get(commit) is not None
    case.loaded(commit, new)


HANGING = ("before put", "before step 1", "between two tables", "before the watermarks", "before remove")
ZOMBIES = [
    (kind, point) for kind in BOTH for point in points_of(kind) if point.where in HANGING or point.row == "P7"
]
PAIRS = [(*zombie, same) for zombie in ZOMBIES for same in (True, False)]
CHOSEN = (("iceberg", "before put", False), ("parquet", "version written, not linked", True))
AWAKE = only(PAIRS, *(pair for pair in PAIRS if (pair[0], pair[1].where, pair[2]) in CHOSEN))
"""Each zombie, and whether the other one works under the same commit id.

One has read in vain, and one finds its promise kept. In test_two_drivers.py two put the same commit.
"""


@pytest.mark.parametrize(("kind", "point", "same"), AWAKE, ids=str)
def test_a_zombie_goes_on(case: Case, point: Point, same: bool, clock: LaterClock) -> None:
    """P12: it hangs for longer than its lease, another one does the work, and then it wakes up."""
    commit, new = case.commit(), case.land(2)
    with driver.stopping(lambda: case.project.load(commit), lambda: point.install(driver.stop)) as zombie:
        tally.reach("zombie drivers")
        clock.put_forward()
        later = case.land()
        # The same commit gives what it has promised, another one finishes that and reads on.
        added = new if same and point.promised else [*new, *later]
        case.loaded(commit if same else case.commit(), added, tidy=False)

        driver.go_on(zombie)
        # Its publish is done, or it learns that its watermark has moved: then it has read in vain.
        assert end(zombie) == (0 if same or point.promised else driver.CLEAN)
    case.project.check(case.done)
    assert case.project.rubbish() == []
    case.loaded(case.commit(), [number for number in later if number not in added])
