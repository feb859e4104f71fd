"""The seeded simulation: random histories, failures included, must keep every promise.

A seed that fails is printed with its steps; it is added to seeds.txt with a word on what it found.
`make soak` plays fresh seeds for as long as one likes.
"""

import itertools
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.dump import dump
from tests.doubles.quick_sqlite import quick_sqlite, wipe
from tests.effort import only
from tests.simulation.chance.app import NUMBERS, accepted
from tests.simulation.chance.schedule import chance_schedule
from tests.simulation.history import FAULT_RATE, STEPS, history
from tests.simulation.kept_seeds import kept_seeds
from tests.simulation.paced import compare_paces, inputs
from tests.simulation.people.paced import inputs_of_people
from tests.simulation.people.world import history as history_of_people
from tests.tally import reach
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.open import open_store

pytestmark = pytest.mark.slow  # whole histories

FEW = range(5)
KINDS = {
    *("cron", "partitions", "size", "run", "elapsed", "all", "any", "at_least", "sequence"),
    *("quiet", "quiet_at_most", "wait_at_most", "collect_within", "calendar", "nth_business_day"),
    *("keys", "complete", "distinct", "bytes", "rows", "last_run", "last_event"),
    *("delay", "window", "since_last_run", "rate", "load", "concurrency", "gauge", "max_active_runs"),
    *("for_each", "batching", "max_batch", "timeout", "args", "skip", "first_event"),
    *("discard", "drain", "hold", "backlog", "reset", "carry", "low", "high", "none", "latest"),
}


def words(plain: Any) -> Iterator[str]:
    """Every key and every text in a piece of JSON."""
    match plain:
        case dict():
            for key, value in plain.items():
                yield key
                yield from words(value)
        case list():
            for value in plain:
                yield from words(value)
        case str():
            yield plain
        case _:
            pass


def test_the_histories_speak_the_whole_language() -> None:
    spoken = {
        word for number in range(NUMBERS // 2) if accepted(number) for word in words(chance_schedule(number))
    }
    assert spoken >= KINDS


@pytest.mark.parametrize("seed", FEW)
def test_the_promises_are_kept_through_failures_before_and_after_commits(seed: int) -> None:
    store = history(MemoryStore(), seed, rate=FAULT_RATE, after_commit=True).store
    assert store.crashes > 0


@pytest.mark.parametrize("seed", [0, 6, 15, 27])
def test_they_are_kept_when_runs_fail_and_are_started_again(seed: int) -> None:
    store = history(MemoryStore(), seed, rate=FAULT_RATE, after_commit=True, retries=True).store
    with store.reading() as reader:
        assert any(job.attempt > 1 and job.retried for job in reader.jobs())
        assert any(job.recovered and job.failed_run for job in reader.jobs())


@pytest.mark.parametrize(("seed", "steps"), kept_seeds())
@pytest.mark.parametrize("rate", only([0.0, FAULT_RATE], FAULT_RATE))
def test_what_failed_once_fails_no_more(seed: int, steps: int, rate: float) -> None:
    history(MemoryStore(), seed, steps=steps, rate=rate, after_commit=True)


@pytest.mark.parametrize("seed", FEW)
def test_a_failure_before_the_commit_leaves_no_trace(seed: int) -> None:
    failed = history(MemoryStore(), seed, rate=FAULT_RATE).store
    assert failed.crashes > 0
    assert dump(failed) == dump(history(MemoryStore(), seed).store)


@pytest.mark.parametrize("seed", FEW[:2])
def test_a_database_has_the_same_history_as_memory(seed: int, sql_url: str) -> None:
    store = open_store(sql_url)
    try:
        in_sql = history(store, seed, steps=60, rate=FAULT_RATE).store
        assert dump(in_sql) == dump(history(MemoryStore(), seed, steps=60).store)
    finally:
        store.close()


def test_fresh_seeds_for_as_long_as_asked(soak_minutes: float, tmp_path: Path) -> None:
    until = time.monotonic() + soak_minutes * 60
    on_disk = quick_sqlite(tmp_path)
    played = Counter[str]()
    for seed in itertools.count(random.SystemRandom().randrange(1_000_000_000)):
        if time.monotonic() >= until:
            break
        # Short histories fail in ways that are easier to understand, long ones in more of them.
        steps = random.Random(seed).choice((STEPS // 4, STEPS, 4 * STEPS))
        match seed % 10:
            case 0:
                what = "on SQLite"
                wipe(on_disk)
                history(on_disk, seed, steps=steps, rate=FAULT_RATE, after_commit=True)
            case 1 | 2:
                what = "at two paces"
                given = inputs if seed % 20 < 10 else inputs_of_people
                compare_paces(seed, ("600 s", "at random"), given=given)
            case 3 | 4:
                what = "with overrides and deadlines"
                history_of_people(MemoryStore(), seed, steps=steps, after_commit=True)
            case _:
                what = "in memory"
                often = seed % 2 == 0
                history(MemoryStore(), seed, steps=steps, rate=FAULT_RATE, after_commit=True, retries=often)
        played[what] += 1
    on_disk.close()
    for what, count in played.items():
        reach(f"fresh histories {what}", count)
