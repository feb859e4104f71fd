"""Keys that wait cost an event and an end nothing, crons of one minute no statement: counted in SQLite."""

from contextlib import closing
from pathlib import Path

from tests.counted import Cost, cost
from tests.worlds.world import World
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore

FEW, MANY = 30, 600
KEYS = """
pairs: {program: q, for_each: partition, status: active, timeout: 90d,
  trigger: {all: [{partitions: {dataset: raw}}, {partitions: {dataset: out}}]}}
queued: {program: r, for_each: partition, status: active, timeout: 90d,
  trigger: {partitions: {dataset: other}}, constraints: [{concurrency: {max: 1}}]}
closed: {program: q, batching: each, status: active, timeout: 90d,
  trigger: {partitions: {dataset: hourly}}, constraints: [{concurrency: {max: 1}}]}
"""


def days(count: int) -> list[str]:
    """So many keys of days."""
    return [f"{2013 + n // 336}-{n // 28 % 12 + 1:02d}-{n % 28 + 1:02d}" for n in range(count)]


def waiting(store: SqlStore, count: int) -> World:
    """A store in which so many keys wait for another dataset, for a slot, and as jobs that nothing joins."""
    world = World(KEYS, store=store)
    world.arrive("01:00", "raw", *days(count))
    world.arrive("01:00", "other", *days(count))
    world.arrive("01:00", "hourly", *(f"{day}-00:00" for day in days(count)))
    world.tick("01:00")
    return world


def costs(path: Path, count: int) -> dict[str, Cost]:
    """What one event and one end cost beside so many waiting keys."""
    with closing(open_sql_store(f"sqlite:///{path}/{count}.db")) as store:
        world, found = waiting(store, count), {}
        for minute, dataset in enumerate(("raw", "other", "hourly"), start=10):
            world.arrive(f"01:{minute}", dataset, "2013-01-01-23:00" if dataset == "hourly" else days(2)[1])
            found[dataset] = cost(store.engine, lambda at=f"01:{minute}": world.tick(at))
        (job,) = world.jobs("queued", JobState.PENDING_LAUNCH)
        found["end"] = cost(store.engine, lambda: world.run("01:20", "r", "succeeded", "run", job.id))
        found["tick after it"] = cost(store.engine, lambda: world.tick("01:20"))
        return found


def test_one_event_and_one_end_cost_the_same_however_many_keys_wait(tmp_path: Path) -> None:
    few, many = costs(tmp_path, FEW), costs(tmp_path, MANY)
    for what, beside_few in few.items():
        beside_many = many[what]
        assert beside_many.statements == beside_few.statements, what
        assert beside_many.rows == beside_few.rows, what
        assert beside_many.steps < beside_few.steps * 1.3, what


def test_crons_that_are_due_together_cost_no_statement_each(tmp_path: Path) -> None:
    def statements(crons: int) -> int:
        limits = "constraints: [{concurrency: {max: 99}}]"
        text = "".join(
            f'c{number}: {{program: q, status: active, trigger: {{cron: "5 1 * * *"}}, {limits}}}\n'
            for number in range(crons)
        )
        with closing(open_sql_store(f"sqlite:///{tmp_path}/crons{crons}.db")) as store:
            world = World(text, store=store)
            world.tick("01:00")
            found = cost(store.engine, lambda: world.tick("01:05"))
            assert len(world.jobs("c0", JobState.PENDING_LAUNCH)) == 1
            return found.statements

    assert statements(12) == statements(3)
