"""What commits cost the database: few statements for each publish, whatever its size and the history."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, text

from tests.crashes.statements import listening
from tests.store.commits.sequences import LEASE, NOON, begin, put
from tidegate.domain.commits import WatermarkMove
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.schema import bring_up_to_date

STEPS = 1_000
BODY = json.dumps([{"kind": "publish_folder", "source": f"{'x' * 200}/{n}"} for n in range(STEPS)])
MOVES: list[WatermarkMove] = [("app/p", "app/s", f"2026-01-01-{n}", 1) for n in range(STEPS)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlCommitStepStore]:
    engine = create_engine(f"sqlite:///{tmp_path}/commits.db")
    bring_up_to_date(engine, create=True)
    yield SqlCommitStepStore(engine)
    engine.dispose()


@contextmanager
def statements(store: SqlCommitStepStore) -> Iterator[list[tuple[str, Any]]]:
    """The statements that are sent, with their parameters."""
    sent: list[tuple[str, Any]] = []

    def note(connection: object, cursor: object, statement: str, parameters: Any, *_: object) -> None:
        sent.append((statement, parameters))

    engine: Engine = store._engine
    with listening(engine, note):
        yield sent


def test_a_publish_costs_the_same_few_statements_whatever_its_size(store: SqlCommitStepStore) -> None:
    def publish(commit: str, body: str, moves: list[WatermarkMove]) -> int:
        with statements(store) as sent:
            token = begin(store, commit)
            assert store.put(commit, ["app/a"], token, body, moves) == "stored"
            store.take(commit, "me", now=NOON, until=NOON + LEASE)
            store.remove(commit, "result")
        return len(sent)

    small = publish("c1", "steps", [("app/q", "app/s", "", 1)])
    # Two of them look for what is withheld and ends by the put.
    assert small <= 27
    assert publish("c2", BODY, MOVES) == small


def test_what_is_asked_often_uses_an_index(store: SqlCommitStepStore) -> None:
    questions: list[Callable[[], object]] = [
        lambda: store.list_unfinished("app/a"),
        store.list_unfinished,
        lambda: store.get("c1"),
        lambda: store.result("c1"),
        lambda: store.renew(1, NOON),
        lambda: store.take("c1", "me", now=NOON, until=NOON + LEASE),
        lambda: store.watermarks("app/p", "app/s"),
        lambda: store.watermarks("app/p", "app/s", ""),
        store.abandoned,
        lambda: store.output_records("c1"),
    ]
    put(store, "c1")
    for ask in questions:
        with statements(store) as sent:
            ask()
        for statement, parameters in sent:
            with store._engine.connect() as connection:
                plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
                steps = [row.detail for row in plan]
            assert not [step for step in steps if step.startswith("SCAN") and "INDEX" not in step], statement
            assert not [step for step in steps if step == "TEMP B-TREE FOR ORDER BY"], statement


@pytest.mark.store  # a hundred large sequences are written first
def test_a_hundred_large_unfinished_sequences_are_listed_at_once(store: SqlCommitStepStore) -> None:
    for number in range(100):
        put(store, f"c{number}", BODY, [f"app/{number}"])
    with store._engine.begin() as connection:
        connection.execute(
            text(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
                " INSERT INTO commit_sequences (id, token, datasets, body, result, checksum)"
                " SELECT 'old' || i, -i, '[]', '', '[]', '' FROM n"
            )
        )
    taken: dict[str, timedelta] = {}
    for name, ask in {
        "all": store.list_unfinished,
        "of one dataset": lambda: store.list_unfinished("app/7"),
        "put": lambda: put(store, "new", BODY),
    }.items():
        start = perf_counter()
        assert ask()
        taken[name] = timedelta(seconds=perf_counter() - start)
    assert taken["all"] < timedelta(seconds=5)
    assert taken["of one dataset"] < timedelta(seconds=0.5)
    assert taken["put"] < timedelta(seconds=1)
