"""The first run of the queue, and the daemon's turn at it.

Dagster's daemon takes runs from the queue as if no other process did. Where runs also start when another one
ends, it decides about each run in the submitters' turn:

    my turn ─► a place is free, the run is still queued ─► STARTING ─► end of the turn ─► launcher
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import sqlalchemy as sa
from dagster import DagsterInstance, DagsterRun, DagsterRunStatus

from tidegate.dagster_defs.deployed.tags import DAGSTER_PRIORITY
from tidegate.dagster_defs.internals.sql_storages import RunsTable, RunTagsTable, SqlRunStorage, runs_of

NO_PRIORITY = 0

_TAG = sa.and_(RunTagsTable.c.run_id == RunsTable.c.run_id, RunTagsTable.c.key == DAGSTER_PRIORITY)
_QUEUED = RunsTable.outerjoin(RunTagsTable, _TAG)
_IS_QUEUED = RunsTable.c.status == DagsterRunStatus.QUEUED.value

PRIORITIES = sa.select(RunTagsTable.c.value).distinct().select_from(_QUEUED).where(_IS_QUEUED)
FIRST = sa.select(RunsTable.c.run_id).select_from(_QUEUED).where(_IS_QUEUED).order_by(RunsTable.c.id).limit(1)


def first_queued(instance: DagsterInstance) -> DagsterRun | None:
    """Return the oldest run of the highest priority that is queued, as Dagster's daemon orders them."""
    storage = runs_of(instance)
    if not isinstance(storage, SqlRunStorage):
        return None
    with storage.connect() as connection:
        values: list[str | None] = list(connection.execute(PRIORITIES).scalars())
        if not values:
            return None
        highest = max(map(_priority, values))
        wanted = [value for value in values if _priority(value) == highest]
        among = RunTagsTable.c.value.in_([value for value in wanted if value is not None])
        run_id = connection.scalar(
            FIRST.where(sa.or_(among, RunTagsTable.c.value.is_(None)) if None in wanted else among)
        )
    return None if run_id is None else instance.get_run_by_id(run_id)


def _priority(value: str | None) -> int:
    try:
        return NO_PRIORITY if value is None else int(value)
    except ValueError:
        return NO_PRIORITY


Turn = Callable[[DagsterInstance], AbstractContextManager[bool]]
"""Waits for the turn of this thread, and yields whether a place is free."""


class _DequeuesInTurn:
    """What the daemon does with a run of the queue, in its turn."""

    def __init__(self, dequeue: Callable[..., bool], turn: Turn) -> None:
        self._dequeue = dequeue
        self._turn = turn

    def __get__(self, daemon: object, _owner: type) -> Callable[..., bool]:
        def dequeue(instance: DagsterInstance, *given: Any, **named: Any) -> bool:
            with ExitStack() as turn:
                if not turn.enter_context(self._turn(instance)):
                    return False
                return self._dequeue(daemon, _UntilStarting(instance, turn), *given, **named)

        return dequeue


class _UntilStarting:
    """Dagster's instance; with its first event, the start of the run, the turn is over."""

    def __init__(self, instance: DagsterInstance, turn: ExitStack) -> None:
        self._instance = instance
        self._turn = turn

    def __getattr__(self, name: str) -> Any:
        return getattr(self._instance, name)

    def report_dagster_event(self, *given: Any, **named: Any) -> None:
        """Report an event; see `DagsterInstance.report_dagster_event`."""
        self._instance.report_dagster_event(*given, **named)
        self._turn.close()


def dequeue_in_turn(turn: Turn) -> None:
    """Let Dagster's daemon, which is in this process, take each run from the queue in its turn."""
    # Only its process loads it.
    from tidegate.dagster_defs.internals.queue_daemon import QueuedRunCoordinatorDaemon

    daemon: Any = QueuedRunCoordinatorDaemon
    if not isinstance(daemon.__dict__["_dequeue_run"], _DequeuesInTurn):
        daemon._dequeue_run = _DequeuesInTurn(daemon._dequeue_run, turn)
