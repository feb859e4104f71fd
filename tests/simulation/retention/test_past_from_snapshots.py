"""A past that begins with a snapshot is what the store held, although the journal before it was pruned."""

from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest

from tests.doubles.faulty_store import FaultyStore
from tests.doubles.reference.store import ReferenceStore
from tests.effort import much
from tests.simulation.chance.world import ChanceWorld
from tests.simulation.test_past_of_chance import held, shown
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.model.job import FINISHED
from tidegate.scheduler.model.keep import Keep
from tidegate.scheduler.retention import journal
from tidegate.scheduler.retention.prune import prune
from tidegate.scheduler.store.engine_reader import EngineReader

DEEDS_BETWEEN = 10
STRETCHES = 8
LONG = timedelta(days=90)
KEEP = Keep(journal=timedelta(0), events=LONG, finished_jobs=LONG, launches=LONG)


class Unjudged(ChanceWorld):
    """A world whose oracle does not read the journal, which is pruned."""

    def judge(self) -> None:
        """What the past shows is judged elsewhere."""


def test_a_past_from_a_snapshot_is_what_the_store_held() -> None:
    assert compare(5) > STRETCHES / 2


@pytest.mark.endurance  # each history takes a second and more
@pytest.mark.parametrize("seed", range(much(2)))
def test_so_it_is_when_runs_fail_and_are_started_again(seed: int) -> None:
    compare(seed, retries=True)


def compare(seed: int, *, retries: bool = False) -> int:
    """Live on and prune the journal, and look back; return how often a past began with a snapshot."""
    world, began = Unjudged(FaultyStore(ReferenceStore()), seed, retries=retries), 0
    latest = world.now
    for _ in range(STRETCHES):
        world.live(DEEDS_BETWEEN)
        with world.store.reading() as reader:
            latest = max((entry.at for entry in reader.journal()), default=latest)
            began += reader.snapshot(latest) is not None
            past = store_at(reader, latest)
            now = held(reader, latest)
            with past.reading() as then:
                same(seed, then, now, held(then, latest), reader)
        with patch.object(journal, "ENTRIES_BETWEEN", 1):
            prune(world.store, KEEP, latest)
    return began


def same(
    seed: int, then: EngineReader, now: dict[str, Any], past: dict[str, Any], present: EngineReader
) -> None:
    """Compare a past with the present: what is open, and whatever is asked of a job that is over."""
    jobs = {job.id: job for job in present.jobs()}
    for name in now:
        if name not in ("jobs", "launches"):
            assert past[name] == now[name], f"seed {seed}: {name}"
    for id, job in jobs.items():
        if job.state not in FINISHED:
            assert past["jobs"][id] == shown(job), f"seed {seed}: {id}"
        else:
            (found,) = then.jobs(ids=[id])
            assert shown(found) == shown(job), f"seed {seed}: {id}"
