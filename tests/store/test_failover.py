"""PostgreSQL is away for a moment: a run that claims its job, and one that publishes, wait for it."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.databases import control
from tidegate.scheduler.launch.owners import RunOwner, own, owners
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.error import StoreAway
from tidegate.scheduler.store.patience import patient_commits, patiently
from tidegate.scheduler.store.sql import store as stores
from tidegate.scheduler.store.sql.connection import engine
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import ServerClock, clock_difference

pytestmark = pytest.mark.store  # a server of its own, which is stopped

AWAY_SECONDS = 1.5
NOW = datetime(2026, 3, 10, tzinfo=UTC)


def test_a_failover_of_seconds_is_waited_for(own_postgres_server: Any) -> None:
    server = own_postgres_server
    store = open_sql_store(server.get_uri())
    commits = patient_commits(SqlCommitStepStore(store.engine))
    token = commits.begin("c1", ["a/out"], until=NOW + timedelta(minutes=2))

    control(server, "stop")
    with pytest.raises(StoreAway):
        SqlCommitStepStore(store.engine).last_token()
    back = threading.Timer(AWAY_SECONDS, lambda: control(server, "restart"))
    back.start()
    assert commits.put("c1", ["a/out"], token, "steps") == "stored"
    back.join()

    control(server, "restart")
    owner = RunOwner(instance="i", process="p", until=NOW)
    patiently(lambda: own(store, "run-1", owner))
    with store.reading() as reader:
        assert owners(reader) == {"run-1": owner}
    store.close()


def test_a_writer_that_hangs_in_its_transaction_loses_it(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a host that is stopped, or whose machine is suspended, in the middle of a tick."""
    monkeypatch.setattr(engine, "HUNG_SECONDS", 0.3)
    store = open_sql_store(postgres_url)
    with pytest.raises(StoreAway, match="closed the connection"), store.transaction() as hangs:
        hangs.set_cursor("lost", 1)
        with store.transaction() as other:
            other.set_cursor("kept", 2)
    with store.reading() as reader:
        assert [reader.cursor(name) for name in ("lost", "kept")] == [None, 2]
    store.close()


def test_both_sides_notice_a_machine_that_is_away(postgres_url: str) -> None:
    """The limits of TCP are those of the connection, unless the URL names its own."""
    store = open_sql_store(f"{postgres_url}{'&' if '?' in postgres_url else '?'}keepalives_idle=7")
    with store.engine.connect() as connection:
        raw: Any = connection.connection.driver_connection
        assert {
            name: raw.get_dsn_parameters().get(name) for name in ("keepalives_idle", "keepalives_count")
        } == {
            "keepalives_idle": "7",
            "keepalives_count": "3",
        }
        assert raw.get_dsn_parameters()["tcp_user_timeout"] == str(engine.UNANSWERED_MILLISECONDS)
    store.close()


def test_the_clock_of_the_server_is_compared(postgres_url: str, tmp_path: Path) -> None:
    """Two machines may disagree about the time, and the store's server is asked by both."""
    minutes, second = timedelta(minutes=5), timedelta(seconds=1)
    in_postgres, here = open_sql_store(postgres_url), open_sql_store(f"sqlite:///{tmp_path}/store.db")
    for apart in (minutes, -minutes, timedelta(0)):
        assert abs(clock_difference(in_postgres, datetime.now(UTC) + apart) - apart) < second
    assert clock_difference(here, datetime.now(UTC) + minutes) == timedelta(0)
    in_postgres.close()
    here.close()


def test_the_clock_of_the_server_is_asked_once_a_minute_and_after_a_step(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, asked, clock = open_sql_store(postgres_url), list[datetime](), ServerClock()

    def ask(_: Any, now: datetime) -> timedelta:
        asked.append(now)
        return timedelta(minutes=5) if len(asked) in (2, 3) else timedelta(0)

    monkeypatch.setattr(stores, "clock_difference", ask)
    now = datetime.now(UTC)
    assert [clock.difference(store, now) for _ in range(3)] == [timedelta(0)] * 3
    assert len(asked) == 1
    ahead = now + timedelta(minutes=5)
    assert [clock.difference(store, ahead) for _ in range(2)] == [timedelta(minutes=5)] * 2
    assert len(asked) == 3
    assert [clock.difference(store, now) for _ in range(2)] == [timedelta(0)] * 2
    assert len(asked) == 4
    monkeypatch.setattr(stores, "CLOCK_SECONDS", 0)
    clock.difference(store, now)
    assert len(asked) == 5
    store.close()
