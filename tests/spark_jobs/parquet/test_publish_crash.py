"""A publish killed at every point, and two publishers at once: the table is right afterwards.

Each case forks a process and kills it with SIGKILL just before its n-th system call or SQL
statement that changes anything, for n = 1, 2, … until a publish gets through. Then
a fresh process recovers and, where nothing had been promised, publishes again.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crashes.processes import SIGKILL, in_child, in_children, kill_self
from tests.crashes.strikes import before_change
from tests.effort import every, much, only, pick, some
from tests.spark_jobs.parquet.publish_cases import APPEND, D24, FULL, MERGE, REPLACE, Case
from tests.spark_jobs.staging import (
    Rows,
    begin,
    linked_rows,
    parts_of,
    read_rows,
    stage_rows,
    write_survivors,
)
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.spark_jobs.commit import publish as publishing
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.errors import CommitUnknown
from tidegate.spark_jobs.parquet import merge as parquet_merge
from tidegate.spark_jobs.parquet import prune
from tidegate.spark_jobs.parquet.version_log import version_numbers
from tidegate.spark_jobs.publication.table import prune_table, sequence_of

pytestmark = pytest.mark.slow  # processes, and files of many versions

MAXIMUM_CALLS = 400
"""More than any publish below makes; reaching it means that the sweep does not end."""

EVERY = every(7)
"""The publisher dies before each n-th change; each mode begins at another one."""

EVERY_OF_RECOVERY = every(4)
"""A recovery dies before each n-th change; the next one has less to do, so it dies soon again."""


SOME_CASES = pytest.mark.parametrize(
    "case", some([REPLACE, FULL, MERGE, APPEND], 2), ids=lambda case: case.write
)
"""Of the two that move folders and the two that combine rows, one each; all in a soak."""

MODES = [REPLACE, APPEND, MERGE]
"""Each way of combining what is written with what was there: a publish of `full` is one of REPLACE.

In `make test` a publish of REPLACE is killed, and the recovery of one of MERGE, which does the same steps.
"""

TABLES = ("table", "totals")


class Project:
    """A warehouse and a schedule store in one folder."""

    def __init__(self, folder: Path, case: Case) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.case = case
        self.refs = tuple(case.ref(name) for name in TABLES)
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.files = self.warehouse.files
        self.context = CommitContext(files=self.files, spark=lambda: None)
        self._url = f"sqlite:///{folder / 'store.db'}"

    def store(self) -> SqlCommitStepStore:
        """Connections do not survive a fork, so each user opens its own."""
        return SqlCommitStepStore(open_sql_store(self._url).engine)

    def write(self, commit: str, outputs: dict[str, Rows]) -> None:
        """What a run does, but for Spark: recover, see whether it was done, stage, publish, prune."""
        store = self.store()
        recover(["test/table", "test/totals"], store, self.context)
        if parts_of(commit, store, self.context) is not None:
            return
        token = begin(store, commit, [self.case.ref(name).id for name in outputs])
        try:
            tables = [
                stage_rows(self.warehouse, self.case.ref(name), rows, commit=commit, token=token)
                for name, rows in outputs.items()
            ]
        except FileNotFoundError:
            # Another attempt has published, and removed the staging of all of them.
            assert parts_of(commit, store, self.context) is not None
            return
        publish(sequence_of(commit, token, tables), store, self.context)
        for name in outputs:
            prune_table(self.case.ref(name), self.warehouse, store)

    def read(self) -> dict[str, Rows]:
        return {ref.name: read_rows(self.warehouse, ref) for ref in self.refs}

    def shown(self) -> dict[str, list[int]]:
        """What a reader sees that follows the link of each table."""
        return {ref.name: linked_rows(self.warehouse, ref) for ref in self.refs}

    def versions(self) -> list[int]:
        return [len(version_numbers(self.files, ref.root(self.warehouse))) for ref in self.refs]

    def staging(self) -> list[str]:
        return [
            entry.name
            for ref in self.refs
            for entry in self.files.list(f"{ref.root(self.warehouse)}/_staging")
        ]


@pytest.fixture
def case() -> Case:
    """What a test works on that does not name others."""
    return REPLACE


@pytest.fixture
def project(tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch) -> Project:
    # A merge needs Spark, which no forked child can start in no time.
    monkeypatch.setattr(parquet_merge, "write_survivors", write_survivors)
    made = Project(tmp_path / "project", case)
    # In a child: a connection to SQLite that is inherited, and closed there, breaks those of its siblings.
    assert in_child(lambda: made.write("c0", case.before)) == 0
    assert made.read() == case.before
    return made


def killed_before(call: int, work: Callable[[], object]) -> Callable[[], object]:
    """Work that dies just before its n-th change of a file or of the database."""

    def dying() -> None:
        before_change(call)(kill_self)
        work()

    return dying


def all_of(rows: Rows) -> list[int]:
    """The values of all partitions."""
    return sorted(value for values in rows.values() for value in values)


def promise_and_die(project: Project) -> None:
    """Leaves the sequence c1 in the store, with none of its steps done."""

    def dying() -> None:
        publishing.finish = lambda *_: kill_self()
        project.write("c1", project.case.written)

    assert in_child(dying) == SIGKILL
    assert project.store().get("c1") is not None
    assert project.read() == project.case.before


def kill_points(work: Callable[[], object]) -> int:
    """How often the work was killed, each time later, until it got through."""
    for kills, call in enumerate(range(1, MAXIMUM_CALLS, EVERY_OF_RECOVERY)):
        if in_child(killed_before(call, work)) == 0:
            return kills
    raise AssertionError(f"still killed at call {MAXIMUM_CALLS}")


def killed_publish(folder: Path, case: Case, call: int) -> tuple[str, bool]:
    """Kill a publish before its n-th change, and publish again.

    Returns:
        For each table "n" or "o", as its rows were new or old after the kill, and whether it came that far.
    """
    project = Project(folder, case)

    code = in_child(killed_before(call, lambda: project.write("c1", case.written)))
    seen = project.read()

    # Each table is whole, the old one or the new one, whatever had happened.
    for name in TABLES:
        assert seen[name] in (case.before[name], case.after[name]), f"half a table after call {call}"
        assert project.shown()[name] in (all_of(case.before[name]), all_of(case.after[name])), call
    outcome = "".join("n" if seen[name] == case.after[name] else "o" for name in TABLES)

    assert in_child(lambda: project.write("c1", case.written)) == 0
    assert project.read() == case.after, f"after call {call}"
    assert project.shown() == {name: all_of(rows) for name, rows in case.after.items()}
    assert project.versions() == [2, 2], f"published twice after call {call}"
    assert project.staging() == [], f"rubbish after call {call}"
    assert project.store().list_unfinished() == ()
    assert code in (0, SIGKILL)
    return outcome, code == SIGKILL


@pytest.mark.endurance  # a hundred processes are killed one after the other
@pytest.mark.parametrize("case", only(MODES, REPLACE), ids=lambda case: case.write)
def test_a_publish_killed_at_any_point_happens_once(project: Project, case: Case, tmp_path: Path) -> None:
    """P0 to P9 of the crash table."""
    outcomes = dict[int, str]()

    def is_killed(call: int) -> bool:
        folder = tmp_path / str(call)
        shutil.copytree(project.folder, folder, symlinks=True)
        outcomes[call], killed = killed_publish(folder, case, call)
        return killed

    # Each mode begins at another change, so that together they meet all of what the modes share.
    calls = range(1 + 2 * MODES.index(case) % EVERY, MAXIMUM_CALLS, EVERY)
    assert not all(is_killed(call) for call in calls), "the sweep does not end"
    # Between the tables there are few changes: each of them is met, however many come before.
    old = max(call for call, seen in outcomes.items() if seen == "oo")
    for call in range(old + 1, min(call for call, seen in outcomes.items() if seen == "nn")):
        if call not in outcomes:
            is_killed(call)
    assert {*outcomes.values()} == {"oo", "no", "nn"}, "the sweep must have met every stage of the publish"


@pytest.mark.endurance  # many processes, one killed after the other
@pytest.mark.parametrize("case", only([REPLACE, MERGE], MERGE), ids=lambda case: case.write)
def test_a_recovery_killed_at_any_point_is_recovered(project: Project, case: Case) -> None:
    """P11: the writer dies right after its promise, and then each process that keeps it, again and again."""
    promise_and_die(project)

    points = kill_points(lambda: recover(["test/table"], project.store(), project.context))

    assert points > 5
    assert project.read() == case.after
    assert project.versions() == [2, 2]
    assert project.store().result("c1") is not None
    assert project.store().list_unfinished() == ()


def test_a_dataset_is_not_written_before_its_unfinished_publish_is_finished(project: Project) -> None:
    """The run that died wrote two datasets; the next writer of one of them finishes both."""
    promise_and_die(project)

    project.write("c2", {"totals": {"": [100]}})

    assert project.read() == {"table": REPLACE.after["table"], "totals": {"": [100]}}


def test_lost_staging_fails_loudly_and_keeps_the_promise(project: Project) -> None:
    """P10: no run may publish over it as if nothing had been promised."""
    promise_and_die(project)
    for ref in project.refs:
        project.files.delete(f"{ref.root(project.warehouse)}/_staging")

    for _ in range(2):
        with pytest.raises(CommitUnknown, match=r"commit c1, step \d of \d .*neither the staged folder"):
            project.write("c2", {"totals": {"": [100]}})

    assert project.store().get("c1") is not None
    assert project.read()["totals"] == project.case.before["totals"]


@pytest.mark.endurance  # two processes publish often enough for a prune
def test_publishers_of_different_partitions_keep_each_others_rows(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes publish at the same time, often enough that old versions are pruned meanwhile."""
    monkeypatch.setattr(prune, "KEEP_VERSIONS", 8)
    monkeypatch.setattr(prune, "SURPLUS_VERSIONS", 4)
    states: list[Rows] = []
    codes = in_children(
        *(lambda day=day: _publish_often(project, day) for day in ("2013-12-25", "2013-12-26")),
        meanwhile=lambda: states.append(project.read()["table"]),
    )

    assert codes == [0, 0]
    last = [PUBLISHES - 1] * 3
    assert project.read()["table"] == {**project.case.before["table"], "2013-12-25": last, "2013-12-26": last}
    assert project.versions()[0] < 2 * PUBLISHES, "old versions are pruned"
    # A reader beside them has seen whole states only, and time has never run backwards.
    for key in ("2013-12-25", "2013-12-26"):
        seen = [state[key] for state in states if key in state]
        assert seen and all(len(rows) == 3 and len(set(rows)) == 1 for rows in seen)
        assert seen == sorted(seen)


PUBLISHES = much(9)
"""Of each of two processes: here a table is pruned when it has 12 versions."""


def _publish_often(project: Project, day: str) -> None:
    for number in range(PUBLISHES):
        project.write(f"{day}-{number}", {"table": {day: [number] * 3}})


@pytest.mark.endurance  # many processes, one killed after the other or all at once
@SOME_CASES
def test_one_commit_published_by_three_at_once_happens_once(project: Project, case: Case) -> None:
    codes = in_children(*(lambda: project.write("c1", case.written) for _ in range(3)))

    assert codes == [0, 0, 0]
    assert project.read() == case.after
    assert project.versions() == [2, 2]
    assert project.store().list_unfinished() == ()


@pytest.mark.endurance  # two processes publish one after the other
@pytest.mark.parametrize("case", pick([APPEND, MERGE], 1), ids=lambda case: case.write)
def test_two_processes_add_to_one_partition_at_once_and_lose_nothing(project: Project, case: Case) -> None:
    states: list[list[int]] = []
    writers = (100_000, 200_000)
    codes = in_children(
        *(lambda first=first: _add_often(project, first) for first in writers),
        meanwhile=lambda: states.append(list(project.read()["table"].get(D24, []))),
    )

    assert codes == [0, 0]
    added = [row for first in writers for number in range(ADDS) for row in _added(first, number)]
    if case is MERGE:  # the row that they all write is there once
        added = [row for row in added if row >= 10] + [5]
    assert sorted(project.read()["table"][D24]) == sorted(added)
    # A reader beside them has seen whole publishes only, and never fewer than before.
    counts = [sum(row >= 10 for row in rows) for rows in states]
    assert all(count % 2 == 0 for count in counts) and counts == sorted(counts)


def _added(first: int, number: int) -> list[int]:
    """Two rows that no other run writes, and one that all write."""
    return [first + number * 20, first + number * 20 + 10, 5]


ADDS = much(8)
"""Of each of two processes that add to one partition."""


def _add_often(project: Project, first: int) -> None:
    for number in range(ADDS):
        project.write(f"{first}-{number}", {"table": {D24: _added(first, number)}})
