"""PostgreSQL is away for a moment: a run that claims its job, and one that publishes, wait for it."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.databases import control
from tidegate.scheduler.launch.owners import RunOwner, own, owners
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.error import StoreAway
from tidegate.scheduler.store.patience import patient_commits, patiently
from tidegate.scheduler.store.sql.open import open_sql_store

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
