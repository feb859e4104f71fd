"""What the process of a run does: as much as one that Dagster's default launcher starts, with less to load.

Only the definitions of the run's own program are built, of the plan that was shipped with the run. So a
deployment in between changes nothing for a run, and needs no other server.

What a run prints goes into the files that Dagster shows, line by line, and into no other: until its step
begins and after its end that is the server's log. So no process copies from one to the other, and the last
words of a process that crashes are beside what its program has printed.
"""

import faulthandler
import io
import os
import sys
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

from dagster import (
    DagsterEventType,
    DagsterExecutionInterruptedError,
    DagsterInstance,
    DagsterRunStatus,
    deserialize_value,
)

from tidegate.dagster_defs.coordinator.coordinator import LaunchingCoordinator
from tidegate.dagster_defs.coordinator.instance import keep_answers, keep_connections
from tidegate.dagster_defs.definitions.run_scope import run_scope, scope_of
from tidegate.dagster_defs.internals.execution import (
    EngineEventData,
    capture_interrupts,
    compute_logs,
    core_execute_run,
    recon_job_from_origin,
)
from tidegate.dagster_defs.internals.instance import InstanceRef
from tidegate.launcher.kept_definitions import KEPT_MAX, forget_definitions, is_kept, keep_definitions
from tidegate.launcher.launcher import TidegateRunLauncher

ENDS = {DagsterEventType.RUN_SUCCESS, DagsterEventType.RUN_FAILURE, DagsterEventType.RUN_CANCELED}


COPY = "tail_to_stream"
"""The function of Dagster that starts a process, and another one to watch it, to copy a captured stream."""


class Outcome(StrEnum):
    """How a run has ended, as far as its process is concerned.

    `CALM`: by itself, also by a failure of its program. `HARD`: it was cancelled, or the failure was not its
    program's. `UNFINISHED`: Dagster has no end of it.
    """

    CALM = "calm"
    HARD = "hard"
    UNFINISHED = "unfinished"


def prepare_process() -> None:
    """Let this process, and its forks, execute runs."""
    keep_definitions()
    _capture_alone()


def _capture_alone() -> None:
    """Let what is printed from now on be in the files that Dagster shows, at once, and copied nowhere."""
    if hasattr(compute_logs, COPY):
        setattr(compute_logs, COPY, _no_copy)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    # Where a library crashes, its place in the program.
    faulthandler.enable()


@contextmanager
def _no_copy(_path: str, _stream: object) -> Generator[tuple[None, None]]:
    yield None, None


def open_instance(instance_ref: str) -> DagsterInstance:
    """Open the instance of a run."""
    instance = DagsterInstance.from_ref(deserialize_value(instance_ref, InstanceRef))
    keep_connections(instance)
    keep_answers(instance)
    runs: Any = instance.run_storage
    # The id of a plan comes from its content, which can be that of ten thousand programs.
    runs.get_execution_plan_snapshot = lru_cache(KEPT_MAX)(runs.get_execution_plan_snapshot)
    return instance


def execute(run_id: str, instance: DagsterInstance, over: Callable[[], None] = lambda: None) -> Outcome:
    """Execute a run in this process.

    Args:
        over: called when Dagster has the end of the run, and others may launch the next one.
    """
    with capture_interrupts():
        run = instance.get_run_by_id(run_id)
        if run is None or run.is_finished or run.job_code_origin is None:
            return Outcome.CALM
        began = datetime.now(UTC)
        if isinstance(instance.run_launcher, TidegateRunLauncher):
            instance.run_launcher.keep_environment()
        process = EngineEventData.in_process(os.getpid())
        instance.report_engine_event(f"Started process for run (pid: {os.getpid()}).", run, process)
        if not is_kept(run):
            forget_definitions()
        job, calm, end = recon_job_from_origin(run.job_code_origin), False, None
        # Dagster has written a failure into the run's log before it raises it.
        with (
            suppress(Exception, KeyboardInterrupt, DagsterExecutionInterruptedError),
            run_scope(scope_of(run.job_name, run.asset_selection)),
        ):
            for event in core_execute_run(job, run, instance, inject_env_vars=True):
                if event.event_type in ENDS:
                    end = event.event_type
                    over()
                    _start_next(instance, began)
            calm = True
        instance.report_engine_event(f"Process for run exited (pid: {os.getpid()}).", run)
        cancelled = end is DagsterEventType.RUN_CANCELED
        if end is None:
            ended = instance.get_run_by_id(run_id)
            if ended is not None and not ended.is_finished:
                return Outcome.UNFINISHED
            cancelled = ended is None or ended.status is DagsterRunStatus.CANCELED
        return Outcome.CALM if calm and not cancelled else Outcome.HARD


def _start_next(instance: DagsterInstance, began: datetime) -> None:
    """Start the next run of the queue; where that fails, Dagster's daemon does it."""
    if isinstance(instance.run_coordinator, LaunchingCoordinator):
        try:
            instance.run_coordinator.start_next(began)
        except Exception:  # noqa: BLE001 -- the run that has ended is not concerned
            traceback.print_exc()
