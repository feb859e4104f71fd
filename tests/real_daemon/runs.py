"""The runs of the real daemon, executed in a thread of the test: the product's op with a program that waits.

A run goes through Dagster's own execution: its events, its partitions and the op with claim, parameters and
reports are real. Only `run_program`, below which Spark would start, is another one here: it keeps what it was
called with, waits until the scenario ends the run, and then fails, is cancelled, or has written its outputs.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pytest
from dagster import (
    AssetKey,
    DagsterExecutionInterruptedError,
    DagsterInstance,
    DagsterRun,
    RepositoryDefinition,
)
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.execution import context_creation_job
from dagster._core.execution.api import execute_run_iterator

from tests.real_daemon import scripted_time
from tidegate.dagster_defs.definitions.shown_schedules import ALL_ASSETS_JOB
from tidegate.dagster_defs.deployed.asset_plan import ProgramAssets
from tidegate.dagster_defs.run.commit_events import CommitEvents
from tidegate.domain.model import Dataset, Program
from tidegate.domain.published import PartitionFact, PublishedPartition
from tidegate.scheduler.model.run import RunStatus
from tidegate.spark_jobs import runner as spark_runner
from tidegate.spark_jobs.programs.params import Params

WAIT_SECONDS = 240

_here = threading.local()
"""The run that this thread executes."""


class LiveRun:
    """One run in a thread.

    Attributes:
        assets: what it materialises, as it was deployed when the run began.
        params: what its program was called with; None for a run that did not come so far.
    """

    def __init__(
        self,
        instance: DagsterInstance,
        repository: RepositoryDefinition,
        run: DagsterRun,
        assets: ProgramAssets,
        clock: Callable[[], datetime],
    ) -> None:
        self.run = run
        self.assets = assets
        self.params: Params | None = None
        self._instance = instance
        self._repository = repository
        self._clock = clock
        self._ends = RunStatus.SUCCEEDED
        self._died = False
        self._begun = threading.Event()
        self._may_end = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._execute, daemon=True)

    def start(self) -> None:
        """Execute the run up to the call of its program, or to its end if it does not come so far."""
        self._thread.start()
        assert self._begun.wait(WAIT_SECONDS), f"run {self.run.run_id} does not begin"
        self._raise()

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return not self._thread.is_alive()

    def end(self, status: RunStatus, died: bool = False) -> DagsterRun:
        """Let the program end, and return the run as Dagster has it then.

        Args:
            died: the run's process was killed, so that its program raises nothing that the op could note.
        """
        self._ends, self._died = status, died
        if status is RunStatus.CANCELLED:
            # As "Terminate" of the UI does, before it interrupts the process.
            with scripted_time.scripted(self._clock):
                self._instance.report_run_canceling(self.run)
        self._may_end.set()
        self._thread.join(WAIT_SECONDS)
        assert not self._thread.is_alive(), f"run {self.run.run_id} does not end"
        self._raise()
        found = self._instance.get_run_by_id(self.run.run_id)
        assert found is not None
        return found

    def program(
        self, params: Params, program: Program, datasets: Mapping[str, Dataset]
    ) -> list[PublishedPartition]:
        """What happens in place of the program."""
        self.params = params
        self._begun.set()
        assert self._may_end.wait(WAIT_SECONDS), "nothing ends the run"
        if self._ends is RunStatus.FAILED and not self._died:
            raise RuntimeError("the scenario lets this run fail")
        if self._ends is not RunStatus.SUCCEEDED:
            # Dagster counts it as a failure unless a person has asked for the end of the run.
            raise DagsterExecutionInterruptedError
        return [
            PublishedPartition(dataset=name, key=key, rows=0, bytes=0, files=1)
            for name in program.writes
            for key in (params.partitions if datasets[name].partitions is not None else ("",))
        ]

    def _execute(self) -> None:
        _here.run = self
        job = InMemoryJob(self._repository.get_job(ALL_ASSETS_JOB))
        try:
            with scripted_time.scripted(self._clock):
                for _ in execute_run_iterator(job, self.run, self._instance):
                    pass
        except DagsterExecutionInterruptedError:
            pass
        except BaseException as error:  # noqa: BLE001 -- raised again in the thread that waits
            self._error = error
        finally:
            self._begun.set()

    def _raise(self) -> None:
        if self._error is not None:
            raise AssertionError(f"run {self.run.run_id} is broken") from self._error


def install(patch: pytest.MonkeyPatch) -> None:
    """Let the op call the program of the run of its thread, and let runs log nothing but their events."""
    patch.setattr(spark_runner, "run_program", _run_program)
    # Dagster configures logging for each run, by which two runs in one process lock each other out.
    patch.setattr(DagsterInstance, "get_yaml_python_handlers", _nothing)
    patch.setattr(context_creation_job, "default_system_loggers", _nothing)


def _nothing(_: DagsterInstance | None) -> list[Any]:
    return []


def _run_program(
    spark: object,
    warehouse: object,
    commits: object,
    *,
    app: str,
    program: Program,
    datasets: Mapping[str, Dataset],
    params: Params,
    commit: str,
    events: CommitEvents,
    **_: Any,
) -> tuple[PublishedPartition, ...]:
    live: LiveRun = _here.run
    published = live.program(params, program, datasets)
    facts = [
        PartitionFact(dataset=f"{app}/{part.dataset}", key=part.key, rows=part.rows, bytes=part.bytes)
        for part in published
    ]
    events.report(commit, facts)
    return tuple(published)


def new_run(
    instance: DagsterInstance,
    repository: RepositoryDefinition,
    assets: Sequence[AssetKey],
    tags: Mapping[str, str],
    config: Mapping[str, Any],
) -> DagsterRun:
    """A run that a person starts in Dagster."""
    chosen = frozenset(assets)
    job = repository.get_job(ALL_ASSETS_JOB).get_subset(asset_selection=chosen)
    return instance.create_run_for_job(job, tags=tags, run_config=config, asset_selection=chosen)
