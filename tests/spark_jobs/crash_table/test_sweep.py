"""Dozens of drivers killed by chance, over many commits, while files land and a reader looks on.

A seed says what lands, and before which of its calls each driver dies; now and then a driver is
killed together with its JVM, in the middle of whatever that does. Each run writes an Iceberg and
a Parquet table in one commit. In the end both hold exactly the rows of the landed files up to
the watermark, each landed file came in one piece with one commit, the same in both tables, and
the reader has seen nothing else.
A seed that fails is printed; it is added to seeds.txt with a word on what it found.
"""

from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests import tally
from tests.crashes.processes import SIGKILL, end, kill_self
from tests.effort import much
from tests.spark_jobs.crash_table import driver
from tests.spark_jobs.crash_table.chance import at_call, tell_calls
from tests.spark_jobs.crash_table.oracle import Rows
from tests.spark_jobs.crash_table.project import Project, ids_of, rows_of
from tests.spark_jobs.crash_table.watcher import Seen, Watcher
from tests.spark_jobs.crash_table.whole_driver import WholeDriver
from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings

# Dozens of drivers are killed.
pytestmark = [pytest.mark.spark, pytest.mark.endurance, pytest.mark.iceberg]

KEPT = Path(__file__).with_name("seeds.txt")
USUAL = range(1, 1 + much(1))
KILLS = min(30, much(5))
"""Of each seed, those with the JVM included."""
WHOLE_EVERY = 8
"""Every so many kills takes the JVM as well: each costs the start of another one."""
PREPARED_BEFORE = 6
"""How many kills before it such a driver is started."""
OUTPUTS = {"lake": "iceberg", "files": "parquet"}


def seeds() -> list[int]:
    """The seeds that have failed once, and the usual ones."""
    kept = [int(line.split()[0]) for line in KEPT.read_text().splitlines() if line[:1].isdigit()]
    return [*dict.fromkeys((*kept, *USUAL))]


class Sweep:
    """One history: runs that are killed, and runs that are not."""

    def __init__(self, seed: int, project: Project, whole: WholeDriver) -> None:
        self.project, self.whole = project, whole
        self.chance = Random(seed)
        self.calls = 0
        self.kills = 0
        self._files = 0
        self._commits = 0
        self._commit = ""

    def play(self, kills: int) -> None:
        """Runs until so many drivers have been killed."""
        self.first_run(self.project.folder / "calls")
        while self.kills < kills:
            self.land()
            if not self._commit or self.chance.random() < 0.3:
                # The job was abandoned after its crash, or has ended well: here comes the next one.
                self.next_commit()
            coming = self.kills + PREPARED_BEFORE - 1
            if coming % WHOLE_EVERY == WHOLE_EVERY - 1 and coming < kills:
                self.whole.prepare()
            if self.kills % WHOLE_EVERY == WHOLE_EVERY - 1:
                killed = self.whole.run_and_kill(self._commit, self.chance.random())
            else:
                killed = self.run_and_kill(self.chance.randint(1, self.calls))
            self.kills += killed
            if not killed:
                self._commit = ""

    def first_run(self, note: Path) -> None:
        """A run that is left alone, and counts the calls that one makes."""
        self.land()
        self.next_commit()

        def work() -> None:
            self.project.load(self._commit)
            tell_calls(note)

        assert end(driver.start(work, lambda: at_call(0, kill_self))) == 0
        self.calls = int(note.read_text())
        self._commit = ""

    def run_and_kill(self, call: int) -> bool:
        """One run that dies before a call, if it gets so far. Whether it died."""
        commit = self._commit
        child = driver.start(lambda: self.project.load(commit), lambda: at_call(call, kill_self))
        code = end(child)
        assert code in (0, SIGKILL), f"commit {commit}, to be killed before call {call}, failed"
        return code != 0

    def land(self) -> None:
        """Up to three files land, or none."""
        for _ in range(self.chance.randrange(4)) if self._files else range(2):
            self._files += 1
            self.project.land(self._files)

    def next_commit(self) -> None:
        """The next job."""
        self._commits += 1
        self._commit = f"c{self._commits}"


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", seeds())
def test_drivers_killed_by_chance(
    seed: int, tmp_path: Path, spark: SparkSession, iceberg_warehouse: Path
) -> None:
    project = Project(tmp_path / "project", spark, iceberg_warehouse, OUTPUTS)
    watcher = Watcher(
        {name: (kind, project.table(name)) for name, kind in OUTPUTS.items()}, tmp_path / "seen.json"
    )
    whole = WholeDriver(project, IcebergSettings(warehouse=str(iceberg_warehouse)))
    sweep = Sweep(seed, project, whole)
    print(f"seed {seed}: add it to {KEPT.name} if it fails")
    watcher.start()
    try:
        sweep.play(KILLS)
    finally:
        seen = watcher.stop()
        whole.close()
    tally.reach("kills of Spark writers", sweep.kills)

    # What is unfinished now is finished by the next run, as ever.
    project.load("last")
    assert project.store().list_unfinished() == ()
    states = {name: states_of(project, name) for name in OUTPUTS}
    read = project.files_read()
    assert read == project.landed
    for name in OUTPUTS:
        assert project.rows(name) == rows_of(read), f"{name} is not the landed files up to the watermark"
        assert_whole_files(states[name])
        assert_only_such(seen[name], states[name])
        tally.reach("looks of a reader", seen[name].looks)
    assert states["lake"] == states["files"], "the commits of the two tables differ"
    project.clear()
    assert project.rubbish() == []


def states_of(project: Project, name: str) -> list[Rows]:
    """Every state that a table has had, by its own history; those after empty commits left out."""
    table = project.table(name)
    if OUTPUTS[name] == "iceberg":
        states = project.oracle.iceberg_states(table)
    else:
        versions = sorted(table.glob("_versions/[0-9]*.json"))
        states = [project.oracle.parquet_version(table, version) for version in versions]
    return [state for before, state in zip([Rows(), *states], states, strict=False) if state != before]


def assert_whole_files(states: list[Rows]) -> None:
    """From each state to the next, rows are only added, and those of whole landed files."""
    for before, after in zip([Rows(), *states], states, strict=False):
        assert before <= after
        added = after - before
        files = {id // 10 for id in added}
        assert added == Rows(id for file in files for id in ids_of(file)), "half a landed file"


def assert_only_such(seen: Seen, states: list[Rows]) -> None:
    """The reader has seen only these states, and time has not run backwards for it."""
    assert seen.looks >= len(states)
    places = [-1 if not state else states.index(state) for state in seen.states]
    assert places == sorted(places)
