"""Random histories of commits: SQL says at each step what the store in memory says.

The drawn names and instants are few, so histories are full of retries, of leases that end at the very
moment, and of runs that read the same watermark.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from sqlalchemy import Engine, delete

from tests.databases import new_url
from tests.doubles.commit_store import MemoryCommitStepStore
from tests.effort import much
from tests.store.commits.sequences import COMMIT_TABLES, FAILED, NOON
from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import NewWatermark
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store

NAMES = ("c1", "c1~2", "c1.r2", "c2", "c3")
COMMITS = st.sampled_from(NAMES)
DATASETS = st.lists(st.sampled_from(["app/a", "app/b"]), max_size=2, unique=True)
OWNERS = st.sampled_from(["one", "two"])
TOKENS = st.integers(1, 12)
INSTANTS = st.integers(0, 3).map(lambda minutes: NOON + timedelta(minutes=minutes))
MOVES = st.tuples(
    st.sampled_from(["app/p", "app/q"]), st.just("app/s"), st.sampled_from(["", "JFK"]), st.integers(1, 3)
)
TEXTS = st.sampled_from(["one", "two"])


class CommitMachine(RuleBasedStateMachine):
    """Does the same to a store in SQL and to one in memory."""

    engine: Engine

    def __init__(self) -> None:
        super().__init__()
        with self.engine.begin() as connection:
            for table in reversed(COMMIT_TABLES):
                connection.execute(delete(table))
        self.sql = SqlCommitStepStore(self.engine)
        self.memory = MemoryCommitStepStore()
        self.open: dict[int, str] = {}

    def both(self, call: Callable[[CommitStepStore], Any]) -> Any:
        """The answer of both, which must be the same."""
        answer = call(self.memory)
        assert call(self.sql) == answer
        return answer

    @rule(commit=COMMITS, datasets=DATASETS, until=INSTANTS, at_least=st.integers(0, 3))
    def begin(self, commit: str, datasets: list[str], until: datetime, at_least: int) -> None:
        token = self.both(lambda store: store.begin(commit, datasets, until=until, at_least=at_least))
        assert self.both(lambda store: store.last_token()) == token
        self.open[token] = commit

    @rule(token=TOKENS, until=INSTANTS)
    def renew(self, token: int, until: datetime) -> None:
        self.both(lambda store: store.renew(token, until))

    @rule(token=TOKENS)
    def end(self, token: int) -> None:
        self.both(lambda store: store.end(token))

    @rule(token=TOKENS, now=INSTANTS)
    def expire(self, token: int, now: datetime) -> None:
        self.both(lambda store: store.expire(token, now))

    @rule(
        token=TOKENS,
        datasets=DATASETS,
        body=TEXTS,
        moves=st.lists(MOVES, max_size=2, unique_by=lambda m: m[:3]),
    )
    def put(self, token: int, datasets: list[str], body: str, moves: list[Any]) -> None:
        commit = self.open.get(token, "c1")
        self.both(lambda store: store.put(commit, datasets, token, body, moves))

    @rule(
        token=TOKENS,
        datasets=DATASETS,
        body=TEXTS,
        moves=st.lists(MOVES, max_size=2, unique_by=lambda m: m[:3]),
        now=INSTANTS,
    )
    def withhold(self, token: int, datasets: list[str], body: str, moves: list[Any], now: datetime) -> None:
        commit = self.open.get(token, "c1")
        self.both(lambda store: store.withhold(commit, datasets, token, body, moves, [FAILED], now))

    @rule(
        token=TOKENS,
        datasets=DATASETS,
        body=TEXTS,
        moves=st.lists(MOVES, max_size=2, unique_by=lambda m: m[:3]),
        seen=st.lists(COMMITS),
    )
    def put_withheld(
        self, token: int, datasets: list[str], body: str, moves: list[Any], seen: list[str]
    ) -> None:
        commit = self.open.get(token, "c1")
        self.both(lambda store: store.put_withheld(commit, datasets, token, body, moves, seen))

    @rule(commit=COMMITS)
    def abandon_withheld(self, commit: str) -> None:
        self.both(lambda store: store.abandon_withheld(commit))

    @rule(commit=COMMITS, owner=OWNERS, now=INSTANTS, until=INSTANTS)
    def take(self, commit: str, owner: str, now: datetime, until: datetime) -> None:
        self.both(lambda store: store.take(commit, owner, now=now, until=until))

    @rule(commit=COMMITS, owner=OWNERS)
    def release(self, commit: str, owner: str) -> None:
        self.both(lambda store: store.release(commit, owner))

    @rule(commit=COMMITS, owner=OWNERS, error=TEXTS, now=INSTANTS)
    def fail(self, commit: str, owner: str, error: str, now: datetime) -> None:
        self.both(lambda store: store.fail(commit, owner, error, now))

    @rule(commit=COMMITS, result=TEXTS)
    def remove(self, commit: str, result: str) -> None:
        self.both(lambda store: store.remove(commit, result))

    @rule(commit=COMMITS, note=TEXTS, now=INSTANTS, published=st.sampled_from([{}, {"app/b": "[]"}]))
    def abandon(self, commit: str, note: str, now: datetime, published: dict[str, str]) -> None:
        self.both(lambda store: store.abandon(commit, note, now, published))

    @rule(commit=COMMITS, dataset=st.sampled_from(["app/a", "app/b"]), before=TEXTS, body=TEXTS, now=INSTANTS)
    def abandon_output(self, commit: str, dataset: str, before: str, body: str, now: datetime) -> None:
        self.both(
            lambda store: store.abandon_output(commit, dataset, before=before, body=body, note="", now=now)
        )

    @rule(move=MOVES, position=TEXTS, commit=COMMITS)
    def set_watermark(self, move: Any, position: str, commit: str) -> None:
        self.both(lambda store: store.set_watermark(move, position, commit))

    @rule(
        moves=st.lists(MOVES, max_size=3, unique_by=lambda m: m[:3]),
        position=TEXTS,
        commit=COMMITS,
    )
    def set_watermarks(self, moves: list[Any], position: str, commit: str) -> None:
        moved = [NewWatermark(move, position, commit) for move in moves]
        self.both(lambda store: store.set_watermarks(moved))

    @invariant()
    def they_show_the_same(self) -> None:
        self.both(shown)


def shown(store: CommitStepStore) -> Any:
    """Everything that can be asked."""
    return (
        store.attempts(),
        [store.list_unfinished(dataset) for dataset in (None, "app/a", "app/b")],
        [(store.get(commit), store.result(commit), store.recovery_state(commit)) for commit in NAMES],
        [store.was_abandoned(commit) for commit in NAMES],
        [store.withheld(commit) for commit in NAMES],
        [store.list_withheld(dataset) for dataset in (None, "app/a", "app/b")],
        store.put_after(["app/a"], 1),
        store.abandoned(),
        [store.output_records(commit) for commit in NAMES],
        [
            {
                part: (mark.number, mark.position, mark.commit)
                for part, mark in store.watermarks(consumer, "app/s").items()
            }
            for consumer in ("app/p", "app/q")
        ],
    )


def run_machine(url: str, *, examples: int, steps: int) -> None:
    """Runs it against the store at a URL."""
    store = open_sql_store(url)

    class Machine(CommitMachine):
        engine = store.engine

    limits = settings(max_examples=examples, stateful_step_count=steps, deadline=None)
    run_state_machine_as_test(Machine, settings=limits)
    store.close()


@pytest.mark.endurance  # hundreds of histories
def test_sqlite_agrees_with_memory(tmp_path: Path) -> None:
    run_machine(f"sqlite:///{tmp_path}/store.db", examples=much(2), steps=40)


@pytest.mark.store
@pytest.mark.endurance  # a soak plays more of them
def test_postgres_agrees_with_memory(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    run_machine(new_url("postgres", request, tmp_path), examples=much(1), steps=40)
