"""It is to catch up with every missed run, and after the outage one ran and the others were skipped.

Lint says so before it happens; without `otherwise: skip` every missed fire is run.
"""

import pytest

from tests.worlds.world import DATASETS, World
from tidegate.compiler.compile import compile_files
from tidegate.scheduler.model.job import JobState

HOURLY = 'h: {{program: q, trigger: {{cron: "0 * * * *", catch_up: all}}, constraints: [{}], status: active}}'
SKIPS = [
    "concurrency: {max: 1, otherwise: skip}",
    "rate: {max: 1, per: 1d, otherwise: skip}",
    "load: {max_active_runs: 1, otherwise: skip}",
]


def warned(schedule: str) -> list[str]:
    found = compile_files({"a.yaml": f"{DATASETS}  {schedule}\n".encode()})
    return [each.code for each in found.diagnostics if each.code == "L425"]


@pytest.mark.parametrize("skip", SKIPS)
def test_lint_warns_of_what_would_discard_all_but_one(skip: str) -> None:
    assert warned(HOURLY.format(f"{{{skip}}}")) == ["L425"]


@pytest.mark.parametrize("skip", SKIPS)
def test_it_is_true(skip: str) -> None:
    world = World(HOURLY.format(f"{{{skip}}}"), start="00:10")
    world.tick("00:30")
    world.tick("05:30")
    states = [job.state for job in world.jobs("h")]
    assert states.count(JobState.PENDING_LAUNCH) == 1
    assert states.count(JobState.DISCARDED) == 4


@pytest.mark.parametrize("skip", SKIPS)
def test_what_waits_catches_up_with_all_and_is_not_warned_of(skip: str) -> None:
    waits = HOURLY.format(f"{{{skip.replace(', otherwise: skip', '')}}}")
    assert warned(waits) == []
    world = World(waits, start="00:10")
    world.tick("00:30")
    world.tick("05:30")
    assert len(world.jobs("h", JobState.DISCARDED)) == 0
    assert len(world.jobs("h")) == 5
