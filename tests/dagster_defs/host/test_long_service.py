"""A host in long service: a hundred thousand runs in a soak, and neither its memory nor its files grow.

The runs are created for real and nothing executes them: each is reported as successful in Dagster.
"""

import os
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest
from dagster import DagsterEvent, DagsterEventType, DagsterInstance, DagsterRunStatus

from tests.dagster_defs.host.world import HostWorld, loaded_here
from tests.dagster_defs.instance import report_day
from tests.effort import EFFORT
from tests.tally import reach
from tidegate.scheduler.model.job import JobState

pytestmark = [pytest.mark.dagster, pytest.mark.endurance]

RUNS = 100_000 if EFFORT >= 5 else 40
DAYS_AT_ONCE = 20
LOOPS_MAX = 10
"""A loop launches nothing where a busy machine has let the lease of the host lapse in the middle of it."""

GROWTH_MB_MAX = 64
"""Of the process in the second half of the runs; a leak of a kilobyte a run would be 50 in a soak."""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[HostWorld]:
    with loaded_here(tmp_path) as made:
        yield made


def memory_mb() -> float:
    """The resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def files(world: HostWorld) -> set[Path]:
    """All files of the project, but for SQLite's own beside its databases."""
    found = (path for path in world.live.folder.rglob("*") if path.is_file())
    return {path for path in found if not path.name.endswith(("-wal", "-shm", "-journal", ".log"))}


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def end_all(instance: DagsterInstance) -> int:
    """Report the queued runs as successful, and return how many these are."""
    queued = [run for run in instance.get_runs(limit=DAYS_AT_ONCE) if run.status is DagsterRunStatus.QUEUED]
    for run in queued:
        for kind in (DagsterEventType.RUN_START, DagsterEventType.RUN_SUCCESS):
            instance.report_dagster_event(DagsterEvent(kind.value, run.job_name), run.run_id)
    return len(queued)


@pytest.mark.timeout(4 * 3600)
def test_neither_memory_nor_files_grow_with_the_runs(world: HostWorld) -> None:
    host, days = world.host(), cycle(f"2023-03-{number:02}" for number in range(1, 29))
    made, half = 0, None
    while made < RUNS:
        for _ in range(DAYS_AT_ONCE):
            report_day(world.instance, next(days))
        ended = 0
        for _ in range(LOOPS_MAX):
            host.loop()
            if ended := end_all(world.instance):
                break
        assert ended, world.said[-3:]
        made += ended
        host.loop()
        if half is None and made >= RUNS / 2:
            half = (memory_mb(), files(world), open_files())

    assert half is not None
    assert memory_mb() - half[0] < GROWTH_MB_MAX
    assert files(world) == half[1]
    assert open_files() <= half[2] + 2
    assert world.instance.get_runs_count() >= RUNS
    assert {job.state for job in world.live.jobs("clean_as_it_comes")} == {JobState.SUCCEEDED}
    reach("runs by one host", made)
