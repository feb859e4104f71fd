"""Attempts and sequences as every test of a commit step store begins and puts them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Engine, Table, select

from tests.worlds.samples import verdict
from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import Put, WatermarkMove
from tidegate.scheduler.store.sql import commit_tables

HOSTILE_NAMES = ("a:b", "a_b", "x/y", "_hidden", ".h", "é漢字", "it's", "a" * 300)

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)

COMMIT_TABLES = [table for table in vars(commit_tables).values() if isinstance(table, Table)]

LEASE = timedelta(seconds=120)

FAILED = verdict("app/a", "rows", "0 rows, at least 1")


def begin(store: CommitStepStore, commit: str = "c1", at_least: int = 0) -> int:
    """Opens an attempt at noon."""
    return store.begin(commit, ["app/a"], until=NOON + LEASE, at_least=at_least)


def put(
    store: CommitStepStore,
    commit: str,
    body: str = "steps",
    datasets: Sequence[str] = ("app/a",),
    moves: Sequence[WatermarkMove] = (),
) -> Put:
    """Puts a sequence in an attempt of its own."""
    return store.put(commit, datasets, begin(store, commit), body, moves)


def content(engine: Engine) -> list[list[tuple[Any, ...]]]:
    """Everything that is in the tables of commits."""
    with engine.connect() as connection:
        return [
            sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
            for table in COMMIT_TABLES
        ]
