"""A queue for runs that is passed by where nothing is queued and a place is free.

    submit ─► my turn ─► not submitted yet? ──no──► nothing
                              │ yes
               queue empty, fewer than max_concurrent_runs in progress, no limit of tags or pools concerns it?
                    ├── yes ──► note of the launcher ─► STARTING ─► end of the turn ─► launcher
                    └── no ───► QUEUED
    a run ends ─► its process: my turn ─► the first run of the queue ─► STARTING, and so on

Dagster's daemon takes from the queue once a second at most, so that a run waits half a second for nothing.
So the process of a run that has ended starts the next one; the daemon starts what is left: after a process
that was killed at its end, runs of others, runs that limits of tags or pools concern.
Each process that starts a run decides in turn (`submitters_turn`), the daemon too (`coordinator.queue`):
they neither launch a run twice nor exceed the limit together. While a run is queued, no submitter launches,
so that none passes another one. A process that is killed after STARTING leaves a run that is found dead
within seconds, since the launcher's note names that process (`run.dead_runs`).

The turn of one submitter: of all processes that start runs of an instance, one at a time decides. A lock
of the operating system or of PostgreSQL, so that it ends with the process, however that ends. SQLite files
are on one machine, and so are the processes that use them.

No process waits for long: one that hangs in its turn (it is stopped, or its machine is) costs the others a
few seconds, and then they leave the decision to the queue. PostgreSQL ends its session after `HUNG_SECONDS`.
"""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

import sqlalchemy as sa
from dagster import (
    DagsterEvent,
    DagsterEventType,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    QueuedRunCoordinator,
    RunsFilter,
)
from sqlalchemy.exc import DBAPIError

from tidegate.dagster_defs.coordinator.daemon import note_daemon, noted_daemon
from tidegate.dagster_defs.coordinator.instance import keep_answers, keep_connections
from tidegate.dagster_defs.coordinator.queue import dequeue_in_turn, first_queued
from tidegate.dagster_defs.coordinator.run_rows import RunRows
from tidegate.dagster_defs.internals.errors import (
    DagsterCodeLocationLoadError,
    DagsterUserCodeUnreachableError,
)
from tidegate.dagster_defs.internals.launching import LaunchRunContext
from tidegate.dagster_defs.internals.run_queue import ConcurrencyConfig, SubmitRunContext
from tidegate.dagster_defs.internals.sql_storages import SqliteRunStorage, SqlRunStorage, runs_of
from tidegate.release import release
from tidegate.scheduler.model.places import Noted
from tidegate.scheduler.store.lock_holder import try_lock

LOCK_FILE = "submitting.lock"
ADVISORY_LOCK = 0x7375626D69747321
"""The key of PostgreSQL's lock: "submits!" in ASCII."""

WAIT_SECONDS = 5.0
"""How long a submitter waits for its turn: a turn takes some ten milliseconds."""

LOOK_SECONDS = 0.02

HUNG_SECONDS = 20
"""How long PostgreSQL lets a submitter keep its turn: a launch asks the database several times."""

SESSION_LIMITS = (14,)
"""The version of PostgreSQL from which an idle session outside of a transaction has a limit."""


@contextmanager
def submitters_turn(instance: DagsterInstance) -> Generator[bool]:
    """Wait a few seconds for the turn of this thread, and yield whether it has it.

    There are no turns where the runs are in a database that is neither SQLite nor PostgreSQL.
    """
    storage = runs_of(instance)
    if isinstance(storage, SqliteRunStorage):
        with Path(instance.root_directory, LOCK_FILE).open("a") as file:
            yield _is_soon(lambda: try_lock(file))
    elif isinstance(storage, SqlRunStorage):
        with storage.connect() as connection, _turn_in_database(connection) as exclusive:
            yield exclusive
    else:
        yield False


def _is_soon(take: Callable[[], bool]) -> bool:
    """Try until a lock is taken, or for `WAIT_SECONDS`; return whether it is."""
    until = time.monotonic() + WAIT_SECONDS
    while not take():
        if time.monotonic() > until:
            return False
        time.sleep(LOOK_SECONDS)
    return True


@contextmanager
def _turn_in_database(connection: sa.Connection) -> Generator[bool]:
    if connection.dialect.name != "postgresql":
        yield False
        return
    take = sa.select(sa.func.pg_try_advisory_lock(ADVISORY_LOCK))
    if not _is_soon(lambda: bool(connection.scalar(take))):
        yield False
        return
    limited = (connection.dialect.server_version_info or ()) >= SESSION_LIMITS
    if limited:
        connection.exec_driver_sql(f"SET idle_session_timeout = '{HUNG_SECONDS}s'")
    try:
        yield True
    finally:
        # The server may have ended a session that was idle for too long, and with it the turn.
        with suppress(DBAPIError):
            connection.execute(sa.select(sa.func.pg_advisory_unlock(ADVISORY_LOCK)))
            if limited:
                connection.exec_driver_sql("RESET idle_session_timeout")


DEQUEUE_SECONDS = 0.5
"""From one look of Dagster's daemon into the queue to the next, unless the configuration says more. It waits
in steps of this length."""

UNLIMITED = -1

IN_PROGRESS = [DagsterRunStatus.STARTING, DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING]
"""The statuses in which Dagster's queue counts a run; its own list has had other names before 1.13.26."""


@runtime_checkable
class NotingLauncher(Protocol):
    """A launcher that notes on a run who launches it."""

    def note_launch(self, run: DagsterRun) -> None:
        """Note on a run that this process is about to launch it."""
        ...


@runtime_checkable
class LoneLauncher(Protocol):
    """A launcher that may launch a run from any process."""

    def launches_alone(self, run: DagsterRun) -> bool:
        """Return whether it launches a run without the server of its code location."""
        ...


class LaunchingCoordinator(QueuedRunCoordinator[DagsterInstance]):
    """Dagster's queue, with runs that are launched at once where a place is free.

    Its configuration is that of Dagster's `QueuedRunCoordinator`.
    """

    @property
    def dequeue_interval_seconds(self) -> int:
        """How often Dagster's daemon looks into the queue, which it does not have to for most runs."""
        # Only the daemon asks this, once when it begins; nothing else of ours is called in its process then.
        if self.has_instance:
            keep_connections(self._instance)
            keep_answers(self._instance)
            note_daemon(self._instance)
            dequeue_in_turn(_daemons_turn)
        configured = super().dequeue_interval_seconds
        # The daemon takes any number, and Dagster's configuration only whole ones.
        return configured if configured > 1 else cast(int, DEQUEUE_SECONDS)

    def submit_run(self, context: SubmitRunContext) -> DagsterRun:
        """Launch the run or put it into the queue; do nothing if it was submitted before."""
        instance, run_id = self._instance, context.dagster_run.run_id
        with submitters_turn(instance) as exclusive:
            run = _run(instance, run_id)
            if run.status is not DagsterRunStatus.NOT_STARTED:
                return run
            if not exclusive or not _has_place(instance, run):
                instance.report_dagster_event(DagsterEvent.job_enqueue(run), run_id)
                return run.with_status(DagsterRunStatus.QUEUED)
            run = _started(instance, run)
        try:
            instance.run_launcher.launch_run(LaunchRunContext(run, context.workspace))
        except (DagsterUserCodeUnreachableError, DagsterCodeLocationLoadError):
            if not self.get_run_queue_config().max_user_code_failure_retries:
                raise
            # The daemon tries again, after its pause and as often as configured.
            instance.report_dagster_event(DagsterEvent.job_enqueue(run), run_id)
        return _run(instance, run_id)

    def enqueue(self, runs: Sequence[DagsterRun]) -> bool:
        """Put runs of an instance whose rows are written together into the queue, in one turn.

        Nothing is done where the first may be launched at once, which is for `submit_run`.

        Returns:
            Whether none of them is to be submitted any more.
        """
        with submitters_turn(self._instance) as exclusive:
            if exclusive and _has_place(self._instance, runs[0]):
                return False
            RunRows(self._instance).enqueue(runs)
        return True

    def start_next(self, began: datetime) -> None:
        """Start the first run of the queue, since the run of this process has ended and its place is free.

        Runs that this process cannot launch, and limits of tags and pools, are left to Dagster's daemon. So
        is everything once that has started again: it may have another version, or other settings.

        Args:
            began: when the run of this process began.
        """
        instance = self._instance
        daemon = noted_daemon(instance)
        if daemon is None or daemon.version != release() or daemon.since > began:
            return
        with submitters_turn(instance) as exclusive:
            run = first_queued(instance) if exclusive and _are_places_all(instance) else None
            if run is None or not _may_start(instance, run):
                return
            run = _started(instance, run)
        try:
            instance.run_launcher.launch_run(LaunchRunContext(run, workspace=None))
        except Exception as error:  # noqa: BLE001 -- of the next run, not of the one that has ended
            instance.report_run_failed(run, f"the run could not be launched: {type(error).__name__}: {error}")


def _started(instance: DagsterInstance, run: DagsterRun) -> DagsterRun:
    """Write that a run is launched by this process."""
    launcher = instance.run_launcher
    if isinstance(launcher, NotingLauncher):
        # Before STARTING: without the note a run holds its slots for minutes if this process dies.
        launcher.note_launch(run)
    starting = DagsterEvent(DagsterEventType.PIPELINE_STARTING.value, run.job_name)
    instance.report_dagster_event(starting, run.run_id)
    return _run(instance, run.run_id)


def _are_places_all(instance: DagsterInstance) -> bool:
    """Return whether the places are all that runs wait for; limits of tags are for the daemon."""
    queue = instance.get_concurrency_config().run_queue_config
    return queue is not None and not queue.tag_concurrency_limits


def _may_start(instance: DagsterInstance, run: DagsterRun) -> bool:
    """Return whether a run of the queue has a place, and this process can launch it."""
    launcher = instance.run_launcher
    return (
        isinstance(launcher, LoneLauncher)
        and launcher.launches_alone(run)
        and not _is_limited_by_pools(run, instance.get_concurrency_config())
        and _is_place_free(instance)
    )


@contextmanager
def _daemons_turn(instance: DagsterInstance) -> Generator[bool]:
    """Wait for the turn of the daemon, and yield whether a place is free.

    Where there are no turns, or the one that has it hangs, the daemon decides as it does without them.
    """
    with submitters_turn(instance) as exclusive:
        yield not exclusive or _is_place_free(instance)


def _has_place(instance: DagsterInstance, run: DagsterRun) -> bool:
    """Return whether a run may be launched at once."""
    config = instance.get_concurrency_config()
    queue = config.run_queue_config
    if queue is None or queue.tag_concurrency_limits or _is_limited_by_pools(run, config):
        return False
    # A run that the daemon takes meanwhile is found in the queue, or counted.
    if instance.get_run_ids(RunsFilter(statuses=[DagsterRunStatus.QUEUED]), limit=1):
        return False
    return _is_place_free(instance)


def _is_place_free(instance: DagsterInstance) -> bool:
    queue = instance.get_concurrency_config().run_queue_config
    most = UNLIMITED if queue is None else queue.max_concurrent_runs
    if most == UNLIMITED:
        return True
    return bool(most) and instance.get_runs_count(RunsFilter(statuses=IN_PROGRESS)) < most


def _is_limited_by_pools(run: DagsterRun, config: ConcurrencyConfig) -> bool:
    """Return whether a run has steps in pools, whose free places only the daemon counts."""
    queue = config.run_queue_config
    return (
        queue is not None and queue.should_block_op_concurrency_limited_runs and bool(run.run_op_concurrency)
    )


def _run(instance: DagsterInstance, run_id: str) -> DagsterRun:
    run = instance.get_run_by_id(run_id)
    if run is None:
        raise LookupError(f"run {run_id} has been deleted")
    return run


def places_of(instance: DagsterInstance) -> Noted | None:
    """Return the places of an instance; None where runs pass no queue, or one without a limit."""
    queue = instance.get_concurrency_config().run_queue_config
    if queue is None or queue.max_concurrent_runs == UNLIMITED:
        return None
    in_progress = instance.get_runs_count(RunsFilter(statuses=IN_PROGRESS))
    return Noted(most=queue.max_concurrent_runs, in_progress=in_progress)
