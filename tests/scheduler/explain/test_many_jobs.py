"""`why` of a schedule with more jobs than it explains: the first ones, and all counted by reason."""

from tests.worlds.world import World, at
from tidegate.cli.operate.why import count_lines
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.why import JOBS_EXPLAINED, explain


def keys_of(found: tuple[Explanation, ...]) -> list[str]:
    return [each.job.key for each in found if each.job is not None]


def test_of_a_schedule_the_first_ones_in_launch_order_are_explained_and_all_are_counted() -> None:
    world = World(
        "s: {program: q, for_each: partition, constraints: [{concurrency: {max: 2}}], status: active,"
        " trigger: {partitions: {dataset: raw, count: 1}}}"
    )
    days = [f"2026-02-{day:02d}" for day in range(1, 25)]
    for minute, day in enumerate(reversed(days)):
        world.arrive(f"10:{minute:02d}", "raw", day)
        world.tick(f"10:{minute:02d}")

    with world.store.reading() as reader:
        found = explain(reader, "a/s", at("11:00"))
        every = explain(reader, "a/s", at("11:00"), every=True)

    keys = keys_of(every)
    assert (len(keys), keys) == (24, sorted(days, reverse=True)), "the one that was ready first goes first"
    assert keys_of(found) == keys[:JOBS_EXPLAINED]
    assert {tuple(each.open_jobs.items()) for each in found} == {
        (("PENDING_LAUNCH", 2), ("W-CONCURRENCY", 22)),
    }
    assert all(not each.open_jobs for each in every)
    assert list(count_lines(found)) == [
        "the first 20 of 24 jobs, in launch order: 22 W-CONCURRENCY, 2 PENDING_LAUNCH; `--all` explains each"
    ]
    assert list(count_lines(every)) == []
