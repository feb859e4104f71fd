"""The machine that ran the scheduler froze inside a transaction, and no other one could go on.

A lock on the store has a limit for its holder, and a connection one for a machine that does not answer.
`tests/store/test_failover.py` hangs real processes on a real server; here is what they rely on.
"""

from datetime import timedelta
from typing import Any
from unittest.mock import MagicMock

from tidegate.scheduler.store.sql.connection.engine import BUSY_SECONDS, CONNECTING, lock_within_limits

PROMISED = timedelta(seconds=60)


def said_to(dialect: str) -> list[Any]:
    """What a writer of a database says to get its lock."""
    connection = MagicMock()
    connection.dialect.name = dialect
    lock_within_limits(connection, "SELECT pg_advisory_xact_lock(7)", 20)
    return [call.args[0] for call in connection.exec_driver_sql.call_args_list]


def test_a_transaction_that_hangs_is_ended_by_the_server() -> None:
    (said,) = said_to("postgresql")
    assert "idle_in_transaction_session_timeout = '20s'" in said
    assert f"lock_timeout = '{BUSY_SECONDS}s'" in said
    assert said.endswith("; SELECT pg_advisory_xact_lock(7)")


def test_a_machine_that_does_not_answer_loses_its_connection_within_the_promised_time() -> None:
    alive = CONNECTING["keepalives_idle"] + CONNECTING["keepalives_interval"] * CONNECTING["keepalives_count"]
    assert timedelta(seconds=alive) < PROMISED
    assert timedelta(milliseconds=CONNECTING["tcp_user_timeout"]) < PROMISED
