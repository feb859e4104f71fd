"""A commit store that dies between any two statements has done all of a method or nothing of it.

Each method is interrupted before its n-th statement, and before its COMMIT, for every n. Then
the tables are what they were, and the method can be called again as if for the first time.
"""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Engine, event

from tests.crashes.statements import until_it_survives
from tests.store.commits.sequences import FAILED, LEASE, NOON, begin, content, put
from tests.store.test_transactions import end_connections
from tidegate.domain.commits import NewWatermark, WatermarkMove
from tidegate.scheduler.store.commits import attempts as commit_attempts
from tidegate.scheduler.store.commits import transaction as commit_transaction
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.commits.withheld import WithheldRows
from tidegate.scheduler.store.error import StoreError
from tidegate.scheduler.store.sql.store import SqlStore

MOVES: list[WatermarkMove] = [("app/p", "app/s", "JFK", 1), ("app/p", "app/s", "", 1)]
MOST_STATEMENTS = 40

Method = Callable[[SqlCommitStepStore], Any]

METHODS: list[tuple[str, Method]] = [
    ("begin", lambda store: store.begin("c9", ["app/a", "app/b"], until=NOON, at_least=50)),
    ("renew", lambda store: store.renew(1, NOON + 2 * LEASE)),
    ("end", lambda store: store.end(1)),
    ("expire", lambda store: store.expire(1, NOON + LEASE)),
    ("put", lambda store: store.put("open", ["app/a", "app/b"], 1, "steps", MOVES)),
    ("put over a torn one", lambda store: store.put("torn", ["app/a"], 2, "steps", MOVES)),
    ("withhold", lambda store: store.withhold("open", ["app/a"], 1, "steps", MOVES, [FAILED], NOON)),
    ("withhold again", lambda store: store.withhold("withheld", ["app/a"], 8, "new", (), [FAILED], NOON)),
    ("put withheld", lambda store: store.put_withheld("withheld", ["app/a"], 8, "steps", MOVES, [])),
    ("abandon withheld", lambda store: store.abandon_withheld("withheld")),
    ("put over a withheld one", lambda store: store.put("withheld", ["app/a"], 8, "steps", MOVES)),
    ("take", lambda store: store.take("free", "me", now=NOON, until=NOON + LEASE)),
    ("take from a dead one", lambda store: store.take("taken", "me", now=NOON + LEASE, until=NOON + LEASE)),
    ("release", lambda store: store.release("taken", "owner")),
    ("fail", lambda store: store.fail("taken", "owner", "error", NOON)),
    ("remove", lambda store: store.remove("taken", "result")),
    ("abandon", lambda store: store.abandon("taken", "by hand", NOON + LEASE)),
    (
        "abandon with published outputs",
        lambda store: store.abandon("taken", "", NOON + LEASE, {"app/a": "[]", "app/b": "[]"}),
    ),
    (
        "abandon output",
        lambda store: store.abandon_output(
            "failed", "app/b", before="steps", body="fewer", note="", now=NOON
        ),
    ),
    ("raise token", lambda store: store.raise_token("app/a", 9, NOON)),
    ("forget watermarks", lambda store: store.forget_watermarks("app/r", "app/s")),
    ("first move", lambda store: store.set_watermark(("app/q", "app/s", "", 1), "p1", "c1")),
    (
        "set watermarks",
        lambda store: store.set_watermarks(
            [
                NewWatermark(("app/q", "app/s", "", 1), "p1", "c2"),
                NewWatermark(("app/q", "app/s", "JFK", 1), "p1", "c2"),
                NewWatermark(("app/r", "app/s", "", 2), "p2", "c2"),
            ]
        ),
    ),
    ("next move", lambda store: store.set_watermark(("app/r", "app/s", "", 2), "p2", "c2")),
]


@pytest.fixture
def engine(sql_store: SqlStore) -> Engine:
    """A store with an attempt, a torn, a free, a taken and a withheld sequence, and a watermark at move 1."""
    engine = sql_store.engine
    store = SqlCommitStepStore(engine)
    assert [begin(store, commit) for commit in ("open", "torn", "torn")] == [1, 2, 3]
    store.put("torn", ["app/t"], 3, "steps", [("app/p", "app/s", "JFK", 1)])
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE commit_sequences SET body = ''")
    put(store, "free")
    put(store, "taken", "steps", ["app/a"], [("app/q", "app/s", "LGA", 1)])
    store.take("taken", "owner", now=NOON, until=NOON + LEASE)
    store.set_watermark(("app/r", "app/s", "", 1), "p1", "c1")
    put(store, "failed", "steps", ["app/a", "app/b"])
    store.take("failed", "owner", now=NOON, until=NOON + LEASE)
    store.fail("failed", "owner", "app/b is gone", NOON)
    moves: list[WatermarkMove] = [("app/w", "app/s", "", 1)]
    store.withhold("withheld", ["app/a"], begin(store, "withheld"), "steps", moves, [FAILED], NOON)
    assert begin(store, "withheld") == 8
    return engine


@pytest.mark.store  # each method again and again, on tables of its own
@pytest.mark.parametrize(("name", "method"), METHODS, ids=[name for name, _ in METHODS])
def test_a_method_that_dies_has_done_nothing(engine: Engine, name: str, method: Method) -> None:
    store = SqlCommitStepStore(engine)
    before = content(engine)

    def died(point: int) -> None:
        assert content(engine) == before, f"{name} died before statement {point}"

    answer, statements = until_it_survives(engine, lambda: method(store), most=MOST_STATEMENTS, died=died)
    assert statements >= 2
    assert content(engine) != before
    assert answer not in (False, "known", "fenced", "moved")


def test_every_method_that_writes_is_killed() -> None:
    """A new method gets its line above."""
    reads = {
        "create",
        "was_abandoned",
        "attempts",
        "exists",
        "get",
        "last_token",
        "list_unfinished",
        "recovery_state",
        "result",
    }
    reads |= {
        "abandoned",
        "output_records",
        "tokens",
        "torn",
        "withheld",
        "list_withheld",
        "put_after",
        "reported_rows",
    }
    named = {name.replace(" ", "_").removesuffix("_over_a_torn_one") for name, _ in METHODS}
    parts = (SqlCommitStepStore, WithheldRows)
    methods = {name for part in parts for name in vars(part) if not name.startswith("_")}
    assert methods - reads - {"watermarks", "followers", "set_watermark"} <= named


@pytest.mark.store
def test_a_connection_cut_at_the_commit_is_told_and_settled_by_closing_the_attempt(
    postgres: SqlStore,
) -> None:
    store = SqlCommitStepStore(postgres.engine)
    token = begin(store)

    event.listen(postgres.engine, "commit", lambda _: end_connections(postgres), once=True)
    with pytest.raises(StoreError, match="kept whole or not at all"):
        store.put("c1", ["app/a"], token, "steps")

    store.end(token)
    assert store.get("c1") is None
    assert store.put("c1", ["app/a"], token, "steps") == "fenced"
    assert put(store, "c1") == "stored"


@pytest.mark.store
def test_a_client_that_hangs_in_the_middle_does_not_stop_the_others(
    postgres: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a driver whose machine is suspended. The server ends its transaction, and the next one gets in."""
    monkeypatch.setattr(commit_transaction, "COMMIT_HUNG_SECONDS", 0.2)
    store = SqlCommitStepStore(postgres.engine)
    with (
        pytest.raises(StoreError, match="failed"),
        commit_transaction.writing(postgres.engine) as hangs,
    ):
        commit_attempts.open_attempt(hangs, "hangs", [], NOON, 0)
        assert begin(store) == 1
    assert [one.commit for one in store.attempts()] == ["c1"]
