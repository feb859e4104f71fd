"""The outbox: the next offers, in their order, at a price that does not grow with what waits behind them."""

from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import text, update

from tests.crashes.statements import listening
from tests.worlds.samples import NOON, at, job
from tidegate.domain.model import Priority
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.model.job import Job, JobState, LaunchPlan
from tidegate.scheduler.model.launch_order import OFFERS_MAX
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.migrations.versions import rev_0107_outbox
from tidegate.scheduler.store.sql.open import open_sql_store

STEP = 10
"""SQLite reports every so many steps."""

FEW, MANY = 200, 5_000
LIMIT = 50


def decided(id: str, schedule: str = "a/s", **fields: Any) -> Job:
    """A job whose launch is decided."""
    launch = LaunchPlan(program="p", args={"long": "x" * 200})
    return job(id, schedule, state=JobState.PENDING_LAUNCH, launch=launch, **fields)


def test_the_outbox_has_its_jobs_in_the_order_of_offers(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_jobs(
            [
                decided("low", priority=Priority.LOW),
                decided("rejected", priority=Priority.HIGH, offers=1, rejected=1),
                decided("late", satisfied_at=at(2)),
                decided("high", priority=Priority.HIGH, satisfied_at=at(9)),
                decided("again", offers=3),
                decided("alone", offers=2),
                decided("dead", offers=OFFERS_MAX, rejected=OFFERS_MAX - 1),
                decided("not due", next_check_at=at(5)),
                decided("gave back", offers=1, rejected=1, gave_back=True),
                decided("of another app", "b/s"),
                job("launched", state=JobState.LAUNCHED),
                job("waiting"),
            ]
        )
    with store.reading() as reader:
        found = [each.id for each in reader.jobs_to_offer(["a"], NOON)]
        assert found == ["dead", "alone", "again", "high", "late", "low", "rejected"]
        assert [each.id for each in reader.jobs_to_offer(["a"], NOON, 2)] == found[:2]
        assert {each.id for each in reader.jobs_to_offer(["a"])} == {*found, "not due"}
        assert [each.id for each in reader.jobs_to_offer(["b", "c"], at(5))] == ["of another app"]
        assert reader.jobs_to_offer([], at(5)) == ()


def test_behind_dead_letters_and_a_suspect_others_are_offered(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_jobs(
            [
                *(decided(f"dead {number}", offers=OFFERS_MAX) for number in range(5)),
                decided("alone", offers=2),
                *(decided(f"new {number}") for number in range(3)),
            ]
        )

        def offered(limit: int) -> list[str]:
            return [each.job for each in offer_launches(transaction, NOON, "a", limit)]

        assert offered(2) == ["alone"]
        assert {each.id for each in transaction.jobs(states=(JobState.FAILED,))} == {
            f"dead {number}" for number in range(5)
        }
        assert offered(2) == ["new 0", "new 1"]


def steps_of_an_offer(store: Any, waiting: int) -> tuple[int, int]:
    """Return what an offer costs SQLite beside jobs that wait behind it, and the statements."""
    with store.transaction() as transaction:
        transaction.put_jobs([decided(f"j{number:06}") for number in range(waiting)])
    steps, statements = list[int](), list[str]()

    def count(connection: Any, _: Any, statement: str, *__: Any) -> None:
        statements.append(statement)
        connection.connection.dbapi_connection.set_progress_handler(lambda: steps.append(STEP), STEP)

    with listening(store.engine, count), store.transaction() as transaction:
        assert len(offer_launches(transaction, NOON, "a", LIMIT)) == LIMIT
    return sum(steps), len(statements)


def test_an_offer_costs_the_same_however_many_launches_wait_behind_it(tmp_path: Path) -> None:
    found = list[tuple[int, int]]()
    for waiting in (FEW, MANY):
        with closing(open_sql_store(f"sqlite:///{tmp_path}/{waiting}.db")) as store:
            found.append(steps_of_an_offer(store, waiting))
    (few, statements), (many, as_many) = found
    assert 0 < many < few * 1.1
    assert statements == as_many


def test_what_an_older_version_has_decided_is_offered_after_the_upgrade(tmp_path: Path) -> None:
    with closing(open_sql_store(f"sqlite:///{tmp_path}/store.db")) as store:
        with store.transaction() as transaction:
            transaction.put_jobs(
                [decided("a1"), decided("a2"), decided("b", offers=1, rejected=1, gave_back=True)]
            )
            transaction.put_jobs([job("waiting")])
        with store.engine.begin() as connection:
            connection.execute(update(tables.jobs).values(queue=None, launch_rank=None))
            connection.execute(text(rev_0107_outbox.OUTBOX))
        with store.transaction() as transaction:
            transaction.put_jobs([decided("new", satisfied_at=at(9))])
            offered = [each.job for each in offer_launches(transaction, NOON, "a", 9)]
    assert offered == ["new", "a1", "a2"]
