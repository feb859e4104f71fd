"""A publish killed at every point, and two publishers at once: the table is right afterwards.

Each case forks a process and kills it with SIGKILL just before its n-th system call or SQL
statement that changes anything, for n = 1, 2, … until a publish gets through. Then
a fresh process recovers and, where nothing had been promised, publishes again.
"""

import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from scheduler.store.commit_steps import SqlCommitStepStore
from scheduler.store.open_sql import open_sql_store
from spark_jobs.commit import publish as publishing
from spark_jobs.commit.context import CommitContext
from spark_jobs.commit.publish import publish, recover, resolve
from spark_jobs.errors import CommitUnknown
from spark_jobs.io.dataset_ref import DatasetRef, Warehouse
from spark_jobs.io.table import prune_table, sequence_of
from spark_jobs.io.version_log import version_numbers
from tests.spark_jobs.staging import (
    Rows,
    begin,
    daily,
    in_child,
    in_children,
    kill_self,
    read_rows,
    stage_rows,
    whole,
)

SIGKILL = -9
CHANGING_CALLS = ("link", "rename", "mkdir", "rmdir", "unlink", "fsync")
MAXIMUM_CALLS = 400
"""More than any publish below makes; reaching it means that the sweep does not end."""

TABLE, TOTALS = daily("table"), whole("totals")
BEFORE: dict[str, Rows] = {
    "table": {"2013-12-21": [1], "2013-12-22": [2], "2013-12-23": [3]},
    "totals": {"": [6]},
}
# One partition replaced, one cleared, one new; and a table without partitions beside it.
WRITTEN: dict[str, Rows] = {
    "table": {"2013-12-22": [20, 21], "2013-12-23": [], "2013-12-24": [40]},
    "totals": {"": [82]},
}
AFTER: dict[str, Rows] = {"table": {**BEFORE["table"], **WRITTEN["table"]}, "totals": WRITTEN["totals"]}


class Project:
    """A warehouse and a schedule store in one folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.files = self.warehouse.files
        self.context = CommitContext(files=self.files)
        self._url = f"sqlite:///{folder / 'store.db'}"

    def store(self) -> SqlCommitStepStore:
        """Connections do not survive a fork, so each user opens its own."""
        return SqlCommitStepStore(open_sql_store(self._url).engine)

    def write(self, commit: str, outputs: dict[str, Rows]) -> None:
        """What a run does, but for Spark: recover, see whether it was done, stage, publish, prune."""
        store = self.store()
        recover(["test/table", "test/totals"], store, self.context)
        if resolve(commit, store, self.context) is not None:
            return
        token = begin(store, commit, [self.ref(name).id for name in outputs])
        try:
            tables = [
                stage_rows(self.warehouse, self.ref(name), rows, commit=commit, token=token)
                for name, rows in outputs.items()
            ]
        except FileNotFoundError:
            # Another attempt has published, and removed the staging of all of them.
            assert resolve(commit, store, self.context) is not None
            return
        publish(sequence_of(commit, token, tables), store, self.context)
        for name in outputs:
            prune_table(self.ref(name), self.warehouse, store)

    def read(self) -> dict[str, Rows]:
        return {ref.name: read_rows(self.warehouse, ref) for ref in (TABLE, TOTALS)}

    def versions(self) -> list[int]:
        return [len(version_numbers(self.files, ref.root(self.warehouse))) for ref in (TABLE, TOTALS)]

    def staging(self) -> list[str]:
        return [
            entry.name
            for ref in (TABLE, TOTALS)
            for entry in self.files.list(f"{ref.root(self.warehouse)}/_staging")
        ]

    @staticmethod
    def ref(name: str) -> DatasetRef:
        return TABLE if name == "table" else TOTALS


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "project")
    made.write("c0", BEFORE)
    assert made.read() == BEFORE
    return made


def killed_before(call: int, work: Callable[[], object]) -> Callable[[], object]:
    """Work that dies just before its n-th change of a file or of the database."""

    def dying() -> None:
        count = itertools.count(1)

        def counted(*_: object) -> None:
            if next(count) == call:
                kill_self()

        for name in CHANGING_CALLS:
            _count_calls(name, counted)
        event.listen(Engine, "before_cursor_execute", counted)
        event.listen(Engine, "commit", counted)
        work()

    return dying


def promise_and_die(project: Project) -> None:
    """Leaves the sequence c1 in the store, with none of its steps done."""

    def dying() -> None:
        publishing.finish = lambda *_: kill_self()
        project.write("c1", WRITTEN)

    assert in_child(dying) == SIGKILL
    assert project.store().exists("c1")
    assert project.read() == BEFORE


def _count_calls(name: str, counted: Callable[..., None]) -> None:
    real = getattr(os, name)

    def call(*args: object, **kwargs: object) -> object:
        counted()
        return real(*args, **kwargs)

    setattr(os, name, call)


def kill_points(work: Callable[[], object]) -> int:
    """How many points at which the work can be killed there are; does the work."""
    for call in range(1, MAXIMUM_CALLS):
        if in_child(killed_before(call, work)) == 0:
            return call - 1
    raise AssertionError(f"still killed at call {MAXIMUM_CALLS}")


@pytest.mark.slow  # a hundred processes are killed one after the other
def test_a_publish_killed_at_any_point_happens_once(project: Project, tmp_path: Path) -> None:
    """P0 to P9 of the crash table."""
    before, outcomes = project.folder, set[str]()
    for call in range(1, MAXIMUM_CALLS):
        shutil.copytree(before, tmp_path / str(call))
        project = Project(tmp_path / str(call))

        code = in_child(killed_before(call, lambda project=project: project.write("c1", WRITTEN)))
        seen = project.read()

        # Each table is whole, the old one or the new one, whatever had happened.
        for name in ("table", "totals"):
            assert seen[name] in (BEFORE[name], AFTER[name]), f"half a table after call {call}"
        outcomes.add("".join("n" if seen[name] == AFTER[name] else "o" for name in ("table", "totals")))

        assert in_child(lambda project=project: project.write("c1", WRITTEN)) == 0
        assert project.read() == AFTER, f"after call {call}"
        assert project.versions() == [2, 2], f"published twice after call {call}"
        assert project.staging() == [], f"rubbish after call {call}"
        assert project.store().list_unfinished() == ()
        if code == 0:
            break
        assert code == SIGKILL
    else:
        raise AssertionError("the sweep does not end")
    assert outcomes == {"oo", "no", "nn"}, "the sweep must have met every stage of the publish"


def test_a_recovery_killed_at_any_point_is_recovered(project: Project) -> None:
    """P11: the writer dies right after its promise, and then whoever keeps it, again and again."""
    promise_and_die(project)

    points = kill_points(lambda: recover(["test/table"], project.store(), project.context))

    assert points > 5
    assert project.read() == AFTER
    assert project.versions() == [2, 2]
    assert project.store().result("c1") is not None
    assert project.store().list_unfinished() == ()


def test_a_dataset_is_not_written_before_its_unfinished_publish_is_finished(project: Project) -> None:
    """The run that died wrote two datasets; the next writer of one of them finishes both."""
    promise_and_die(project)

    project.write("c2", {"totals": {"": [100]}})

    assert project.read() == {"table": AFTER["table"], "totals": {"": [100]}}


def test_lost_staging_fails_loudly_and_keeps_the_promise(project: Project) -> None:
    """P10: nobody may publish over it as if nothing had been promised."""
    promise_and_die(project)
    project.files.delete(f"{TABLE.root(project.warehouse)}/_staging")
    project.files.delete(f"{TOTALS.root(project.warehouse)}/_staging")

    for _ in range(2):
        with pytest.raises(CommitUnknown, match=r"commit c1, step \d of \d .*neither the staged folder"):
            project.write("c2", {"totals": {"": [100]}})

    assert project.store().exists("c1")
    assert project.read()["totals"] == BEFORE["totals"]


@pytest.mark.slow  # two processes publish often enough for a prune
def test_publishers_of_different_partitions_keep_each_others_rows(project: Project) -> None:
    """Two processes publish at the same time, often enough that old versions are pruned meanwhile."""
    states: list[Rows] = []
    codes = in_children(
        *(lambda day=day: _publish_often(project, day) for day in ("2013-12-25", "2013-12-26")),
        meanwhile=lambda: states.append(project.read()["table"]),
    )

    assert codes == [0, 0]
    last = [PUBLISHES - 1] * 3
    assert project.read()["table"] == {**BEFORE["table"], "2013-12-25": last, "2013-12-26": last}
    assert project.versions()[0] < 2 * PUBLISHES, "old versions are pruned"
    # A reader beside them has seen whole states only, and time has never run backwards.
    for key in ("2013-12-25", "2013-12-26"):
        seen = [state[key] for state in states if key in state]
        assert seen and all(len(rows) == 3 and len(set(rows)) == 1 for rows in seen)
        assert seen == sorted(seen)


PUBLISHES = 60


def _publish_often(project: Project, day: str) -> None:
    for number in range(PUBLISHES):
        project.write(f"{day}-{number}", {"table": {day: [number] * 3}})


def test_one_commit_published_by_three_at_once_happens_once(project: Project) -> None:
    codes = in_children(*(lambda: project.write("c1", WRITTEN) for _ in range(3)))

    assert codes == [0, 0, 0]
    assert project.read() == AFTER
    assert project.versions() == [2, 2]
    assert project.store().list_unfinished() == ()
