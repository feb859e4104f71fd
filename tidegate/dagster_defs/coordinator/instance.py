"""Dagster's instance in the host, the daemon and runs: it keeps connections, and does not ask the same again.

At each run Dagster reads which columns its tables have and whether a snapshot is stored; on PostgreSQL it
opens a connection for each statement. A migration only adds columns, and only a wipe removes a snapshot, so
that an answer "yes" holds for a while.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import sqlalchemy as sa
from dagster import DagsterInstance

from tidegate.dagster_defs.internals.sql_storages import (
    SqlEventLogStorage,
    SqlRunStorage,
    SqlScheduleStorage,
    events_of,
    runs_of,
)
from tidegate.scheduler.store.sql.connection.kept import look_at_kept

KEPT_SECONDS = 10.0
"""How long an answer holds: a wipe of all runs while the host works is noticed after this."""

ANSWERS_MAX = 10_000

STATEMENT_MILLISECONDS = 60_000
RECYCLE_SECONDS = 3_600
OVERFLOW = 20
"""Connections to PostgreSQL beyond those that are kept."""

CONNECTIONS_KEPT = 2
"""The turn of a submitter has one, and what it asks and writes meanwhile the other."""

UNLIMITED = 0

RUN_QUESTIONS = (
    "has_backfill_id_column",
    "has_execution_plan_snapshot",
    "has_job_snapshot",
    "has_run_stats_index_cols",
)
SCHEDULE_QUESTIONS = ("has_built_index", "has_instigators_table")
EVENT_QUESTIONS = ("has_asset_key_index_cols", "has_secondary_index", "has_table")


@contextmanager
def host_instance(home: Path) -> Generator[DagsterInstance]:
    """Open the instance in a DAGSTER_HOME for a host."""
    with DagsterInstance.from_config(str(home)) as instance:
        prepare(instance)
        yield instance


def prepare(instance: DagsterInstance) -> None:
    """Let an instance keep its connections and answers."""
    keep_connections(instance, STATEMENT_MILLISECONDS)
    keep_answers(instance)


def keep_connections(instance: DagsterInstance, statement_milliseconds: int = UNLIMITED) -> None:
    """Let an instance keep its connections to PostgreSQL: Dagster opens one for each statement.

    Args:
        statement_milliseconds: what a statement may take.
    """
    # Dagster has this for its webserver; it only concerns PostgreSQL and MySQL.
    instance.optimize_for_webserver(
        statement_timeout=statement_milliseconds, pool_recycle=RECYCLE_SECONDS, max_overflow=OVERFLOW
    )
    engines: dict[sa.URL, sa.Engine] = {}
    storages: list[Any] = [runs_of(instance), events_of(instance), instance.schedule_storage]
    for storage in storages:
        engine = getattr(storage, "_engine", None)
        if not isinstance(engine, sa.Engine) or not isinstance(engine.pool, sa.QueuePool):
            continue
        # Storages in one database have one pool: a server has a hundred connections for all processes.
        storage._engine = engines.setdefault(engine.url, engine)
        if storage._engine is engine:
            # Dagster keeps one connection, and does not notice that the server has ended it.
            look_at_kept(engine)
            pool: Any = engine.pool
            pool._pool.maxsize = CONNECTIONS_KEPT


def keep_answers(instance: DagsterInstance) -> None:
    """Let an instance keep its answers."""
    for storage, kind, questions in (
        (runs_of(instance), SqlRunStorage, RUN_QUESTIONS),
        (events_of(instance), SqlEventLogStorage, EVENT_QUESTIONS),
        (instance.schedule_storage, SqlScheduleStorage, SCHEDULE_QUESTIONS),
    ):
        if isinstance(storage, kind):
            for name in questions:
                setattr(storage, name, Answers(getattr(storage, name)))


class Answers:
    """A question to a storage whose answer "yes" is kept."""

    def __init__(self, ask: Callable[..., bool], clock: Callable[[], float] = monotonic) -> None:
        self._ask = ask
        self._clock = clock
        self._until: dict[tuple[object, ...], float] = {}

    def __call__(self, *about: object) -> bool:
        """Return the answer."""
        now = self._clock()
        if self._until.get(about, now) > now:
            return True
        answer = self._ask(*about)
        if answer:
            if len(self._until) >= ANSWERS_MAX:
                self._until.clear()
            self._until[about] = now + KEPT_SECONDS
        return answer
