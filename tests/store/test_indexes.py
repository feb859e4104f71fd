"""A tick costs what is due, not what is stored: SQLite's own plan of every hot question.

The plan is asked of the very statements that the store sends, so a query that loses its
index fails here and not in production.
"""

from collections.abc import Callable, Generator
from typing import Any

import pytest

from tests.crashes.statements import listening
from tests.store.samples import NOON, delivery, event
from tidegate.scheduler.model.job import WAITING, JobState
from tidegate.scheduler.store.protocol import Transaction
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore

HOT: list[tuple[str, Callable[[Transaction], Any]]] = [
    ("due schedules", lambda tx: tx.due_schedules(NOON, 100)),
    ("schedules by ref", lambda tx: tx.schedules(refs=["a/s"])),
    ("schedules of an app", lambda tx: tx.schedules(app="a")),
    ("subscriptions", lambda tx: tx.subscriptions(["k"])),
    ("unrouted events", lambda tx: tx.unrouted_events(100)),
    ("mark routed", lambda tx: tx.mark_routed(["e"])),
    ("newest events", lambda tx: tx.events(limit=10)),
    ("due jobs", lambda tx: tx.due_jobs(NOON, 100)),
    ("waiting jobs of schedules", lambda tx: tx.jobs(schedules=["a/s"], states=WAITING)),
    ("outbox of an app", lambda tx: tx.jobs(app="a", states=[JobState.PENDING_LAUNCH])),
    ("outbox", lambda tx: tx.jobs(states=[JobState.PENDING_LAUNCH])),
    ("newest jobs", lambda tx: tx.jobs(limit=10)),
    ("deliveries", lambda tx: tx.deliveries(["j"])),
    ("deliveries of events", lambda tx: tx.deliveries_of_events(["e"])),
    ("new deliveries", lambda tx: tx.add_deliveries([delivery(event("e"), job="j")])),
    ("slots", lambda tx: tx.slots(["r"])),
    ("release", lambda tx: tx.release_slots("j")),
    ("wake", lambda tx: tx.wake(["r"], NOON)),
    ("launches", lambda tx: tx.launches(["a/p"], NOON)),
    ("take a launch back", lambda tx: tx.remove_launch("j")),
    ("gauges by name", lambda tx: tx.gauges(["g"])),
    ("removed deliveries", lambda tx: tx.remove_deliveries([delivery(event("e"), job="j")])),
    ("history", lambda tx: tx.history(["a/p"])),
    ("runs of jobs", lambda tx: tx.runs(jobs=["j"])),
    ("active runs", lambda tx: tx.runs(active=True)),
    ("claim", lambda tx: tx.claim("j", 1, "r", NOON)),
    ("journal of a schedule", lambda tx: tx.journal(schedule="a/s", limit=10)),
    ("journal of a job", lambda tx: tx.journal(job="j")),
    ("newest journal", lambda tx: tx.journal(limit=10)),
]

GIVEN = "SCAN given VIRTUAL TABLE"
"""The list of names that the statement itself brings along."""

BOUNDED_BY_LIMIT = {"newest events", "newest jobs", "newest journal"}
"""They walk an index from its end and stop at their limit."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Generator[SqlStore, None, None]:
    """A store that holds one event."""
    opened = open_sql_store(f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db")
    with opened.transaction() as transaction:
        transaction.add_events([event("e")])
    yield opened
    opened.close()


@pytest.mark.parametrize(("name", "ask"), HOT, ids=[name for name, _ in HOT])
def test_no_question_of_a_tick_scans_a_table(
    store: SqlStore, name: str, ask: Callable[[Transaction], Any]
) -> None:
    plans: list[str] = []

    def explain(connection: Any, cursor: Any, statement: str, parameters: Any, *rest: Any) -> None:
        if statement.startswith(("SELECT", "UPDATE", "DELETE")):
            given = parameters[0] if parameters and isinstance(parameters, list) else parameters
            plan = cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", given)
            plans.extend(row[3] for row in plan)

    with listening(store.engine, explain), store.transaction() as transaction:
        ask(transaction)
    assert plans
    scans = [
        line
        for line in plans
        if (line.startswith("SCAN") and not line.startswith(GIVEN)) or "TEMP B-TREE" in line
    ]
    if name in BOUNDED_BY_LIMIT:
        scans = [line for line in scans if "USING INDEX" not in line and line != "SCAN journal"]
    assert scans == []
