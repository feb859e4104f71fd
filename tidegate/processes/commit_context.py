"""What commit steps act on in a process that is not a run: a command, or the server.

The tables of the project, its Spark session where a step needs one, and who hears of a publish: the store,
and Dagster if the project has an instance, to which it is reported without a run.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.model import App
from tidegate.domain.published import PartitionFact
from tidegate.project.settings.settings import Settings
from tidegate.scheduler.intake.published import PublishedEvents
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import Store
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, dataset_ref

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def commit_context(
    settings: Settings,
    store: Store,
    commits: CommitStepStore,
    clock: Callable[[], datetime],
    warn: Callable[[str], None],
) -> CommitContext:
    """Return what commit steps act on in this process.

    Args:
        warn: says that a publish could not be reported to Dagster, which only displays it.
    """
    from tidegate.project.spark import files

    return CommitContext(
        files=files(settings),
        spark=lambda: spark_session(settings),
        watermarks=commits,
        events=_Events(settings, store, clock, warn),
    )


def spark_session(settings: Settings) -> "SparkSession":
    """Return the Spark session of a project; start it on first use."""
    from tidegate.project.spark import spark_settings
    from tidegate.spark_jobs.session.session import session

    return session(spark_settings(settings))


def own_apps(reader: EngineReader, settings: Settings) -> tuple[App, ...]:
    """Return the deployed apps of a project; other projects have their tables elsewhere."""
    own = (settings.name, NO_PROJECT)
    return tuple(deployed.app for deployed in reader.records(APPS) if deployed.project in own)


def own_datasets(reader: EngineReader, settings: Settings) -> dict[str, DatasetRef]:
    """Return the deployed datasets of a project, by "app/dataset"."""
    apps = own_apps(reader, settings)
    refs = (dataset_ref(app.name, each) for app in apps for each in app.datasets.values())
    return {ref.id: ref for ref in refs}


class _Events:
    """Reports publishes to the store, and to Dagster if the project has an instance."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        clock: Callable[[], datetime],
        warn: Callable[[str], None],
    ) -> None:
        self._settings, self._store, self._clock, self._warn = settings, store, clock, warn
        self._engine = PublishedEvents(lambda: store, clock)

    def reported(self, commit: str, partitions: Sequence[PartitionFact]) -> bool:
        return self._engine.reported(commit, partitions)

    def report(self, commit: str, partitions: Sequence[PartitionFact]) -> None:
        if not self._settings.dagster_home.is_dir():
            self._engine.report(commit, partitions)
            return
        from dagster import DagsterInstance

        from tidegate.dagster_defs.run.commit_events import CommitEvents
        from tidegate.processes.home import prepare_home

        try:
            instance = DagsterInstance.from_config(str(prepare_home(self._settings)))
        except Exception as error:  # noqa: BLE001 -- Dagster only displays it, and may be down
            self._warn(f"commit {commit} could not be reported to Dagster: {error}")
            self._engine.report(commit, partitions)
            return
        with instance:
            CommitEvents(lambda: self._store, self._clock, instance).report(commit, partitions)

    def record_finished(self, commit: str) -> None:
        self._engine.record_finished(commit)
