"""`kill -9` of a real engine process, again and again, alone and beside another one.

An ordinary run kills the one that is alone on SQLite, and one of two on PostgreSQL; a soak both on both.
"""

import random
from pathlib import Path

import pytest

from tests.chaos.child import Child, Say
from tests.chaos.engine import Engine, judge, prepare
from tests.databases import POSTGRES, SQL_KINDS
from tests.effort import much, only
from tests.tally import reach

pytestmark = pytest.mark.endurance  # some seconds: every process opens the store again, and dies
KILLS = much(2)
ROUNDS = 40
"""More than the killed ones get through; the last one goes on to the end."""
STEPS_MAX = 25
"""A process is killed after at most so many steps, in the middle of the one that follows."""


def engine(url: str, log: Path, rounds: int) -> Child:
    def work(say: Say) -> None:
        Engine(url, log, say).play(rounds)

    return Child(work)


@pytest.mark.parametrize("sql_url", only(SQL_KINDS, "sqlite"), indirect=True)
def test_an_engine_that_is_killed_loses_and_doubles_nothing(sql_url: str, tmp_path: Path) -> None:
    dice, log = random.Random(3), tmp_path / "outside.log"
    prepare(sql_url)
    kills = 0
    while kills < KILLS:
        victim = engine(sql_url, log, ROUNDS)
        assert victim.heard(dice.randint(1, STEPS_MAX))
        kills += victim.kill()
    reach("real processes killed", kills)

    assert engine(sql_url, log, ROUNDS).wait() == 0

    assert sum(job.state == "ended" for job in judge(sql_url, log, ROUNDS).known.jobs.values()) > ROUNDS


@pytest.mark.parametrize("sql_url", only(SQL_KINDS, POSTGRES), indirect=True)
def test_one_of_two_engines_is_killed(sql_url: str, tmp_path: Path) -> None:
    dice, log = random.Random(4), tmp_path / "outside.log"
    prepare(sql_url)
    survivor = engine(sql_url, log, ROUNDS)
    kills = 0
    while kills < 3 and survivor.heard(1):
        victim = engine(sql_url, log, ROUNDS)
        if victim.heard(dice.randint(1, STEPS_MAX)):
            kills += victim.kill()
    reach("real processes killed", kills)

    assert survivor.wait() == 0

    judge(sql_url, log, ROUNDS)
