"""A store that is away for seconds: what a run does is repeated, and what cannot pass is not."""

from collections.abc import Callable

import pytest
from sqlalchemy.exc import DBAPIError, OperationalError

from tests.doubles.clock import Clock
from tests.doubles.commit_store import MemoryCommitStepStore
from tests.doubles.wired import wired
from tidegate.scheduler.store.error import StoreAway, StoreError
from tidegate.scheduler.store.patience import PATIENCE_SECONDS, patient_commits, patiently
from tidegate.scheduler.store.sql.connection.lock import is_away

REFUSED = """connection to server at "127.0.0.1", port 5432 failed: Connection refused
	Is the server running on that host and accepting TCP/IP connections?"""
SAID = [
    (REFUSED, True),
    ("server closed the connection unexpectedly\n\tThis probably means the server terminated", True),
    ("FATAL:  the database system is starting up", True),
    ("terminating connection due to administrator command", True),
    ("could not receive data from server: Connection reset by peer", True),
    ('connection to server at "db", port 5432 failed: FATAL:  password authentication failed', False),
    ('could not translate host name "db" to address', False),
    ("database or disk is full", False),
    ("canceling statement due to lock timeout", False),
]


def away_for(times: int, kind: type[StoreError] = StoreAway) -> Callable[[], str]:
    """A deed that is done after so many failures."""
    failures = iter(range(times))

    def deed() -> str:
        if next(failures, None) is not None:
            raise kind("the server is away")
        return "done"

    return deed


@pytest.mark.parametrize(("said", "away"), SAID)
def test_what_may_pass_is_told_from_what_does_not(said: str, away: bool) -> None:
    assert is_away(OperationalError("SELECT 1", None, Exception(said))) is away


def test_a_broken_connection_may_pass_whatever_the_driver_says() -> None:
    broken = DBAPIError("SELECT 1", None, Exception("?"), connection_invalidated=True)
    assert is_away(broken)


def test_a_deed_is_repeated_with_growing_pauses_until_the_store_is_back() -> None:
    clock = Clock()
    assert patiently(away_for(6), clock=clock, pause=clock.let_pass) == "done"
    assert clock.pauses == [0.5, 1, 2, 4, 5, 5]


def test_patience_ends() -> None:
    clock = Clock()
    with pytest.raises(StoreAway):
        patiently(away_for(1000), clock=clock, pause=clock.let_pass)
    assert PATIENCE_SECONDS - 5 <= clock.now <= PATIENCE_SECONDS


def test_what_does_not_pass_is_not_repeated() -> None:
    clock = Clock()
    with pytest.raises(StoreError):
        patiently(away_for(1, StoreError), clock=clock, pause=clock.let_pass)
    assert clock.pauses == []


def test_every_call_of_a_run_on_its_commits_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidegate.scheduler.store.patience.FIRST_PAUSE_SECONDS", 0.001)
    calls: list[str] = []

    def lost_at_first(method: str) -> None:
        calls.append(method)
        if calls.count(method) == 1:
            raise StoreAway("the answer is lost")

    commits = patient_commits(wired(MemoryCommitStepStore(), before=lost_at_first))
    commits.remove("c1", "[]")
    assert commits.list_unfinished() == ()
    assert calls == ["remove", "remove", "list_unfinished", "list_unfinished"]
