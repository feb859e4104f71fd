"""A rename is one transaction: a process that dies before any of its statements has renamed nothing."""

from collections.abc import Mapping
from functools import partial
from itertools import count
from typing import Any

import pytest

from tests.crashes.processes import SIGKILL, in_child, kill_self
from tests.crashes.statements import BOTH, listening, until_it_survives
from tests.databases import SQL_KINDS
from tests.doubles.dump import dump
from tests.effort import only
from tests.scheduler.commands.renaming import DAYS, EVERYTHING, app, arrive, put, read_once, waiting
from tests.store.commits.sequences import content
from tests.tally import reach
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore

pytestmark = pytest.mark.store  # each statement of a long transaction

MOST_STATEMENTS = 200
KILL_EACH = 10
"""Every n-th statement is also one before which a real process is killed."""


def everything(store: SqlStore) -> tuple[Mapping[str, Any], object]:
    return dump(store), content(store.engine)


def rename(store: SqlStore) -> None:
    put(store, "10:00", app(**EVERYTHING))


def killed_before(url: str, point: int) -> None:
    """Rename in this process, which is killed before its n-th statement or COMMIT."""
    store = open_sql_store(url)
    numbers = count(1)
    with listening(store.engine, lambda *_: next(numbers) == point and kill_self(), BOTH):
        rename(store)


@pytest.mark.parametrize("sql_url", only(SQL_KINDS, "sqlite"), indirect=True)
def test_a_rename_that_dies_at_any_statement_has_renamed_nothing(sql_store: SqlStore, sql_url: str) -> None:
    put(sql_store, "08:00", app())
    arrive(sql_store, "09:00", *DAYS)
    commits = read_once(sql_store)
    before = everything(sql_store)

    def died(point: int) -> None:
        assert everything(sql_store) == before, f"died before statement {point}"
        if point % KILL_EACH == 0:
            assert in_child(partial(killed_before, sql_url, point)) == SIGKILL
            reach("real processes killed")
            assert everything(sql_store) == before, f"killed before statement {point}"

    _, statements = until_it_survives(
        sql_store.engine, lambda: rename(sql_store), most=MOST_STATEMENTS, died=died
    )
    assert statements > KILL_EACH

    assert waiting(sql_store) == [("b/daily", [f"partition:b/landed {day}" for day in DAYS])]
    assert commits.followers() == (("b/l", "b/landed"),)
    assert sorted(commits.watermarks("b/l", "b/landed")) == list(DAYS)
    assert (commits.torn(), '"dataset":"o"' in (commits.result("c1") or "")) == ((), True)
