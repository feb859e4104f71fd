"""The project of a command for commits: its store, tables and file systems.

Spark starts when a step needs it, and Dagster is loaded when a publish is reported to it. Errors
that a user can fix are raised as a `UserError`.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

from tidegate.domain.model import App
from tidegate.domain.published import PartitionFact
from tidegate.project.settings import Settings, load_settings
from tidegate.scheduler.intake.published import PublishedEvents
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.finish import read_sequence
from tidegate.spark_jobs.commit.sequence import CommitSequence
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def now() -> datetime:
    """Return the current time, aware, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class CommitsProject:
    """An open project of a command for commits."""

    settings: Settings
    store: SqlStore

    @property
    def commits(self) -> SqlCommitStepStore:
        """The store of commit sequences."""
        return SqlCommitStepStore(self.store.engine)

    @property
    def warehouse(self) -> Warehouse:
        """The location of its tables."""
        from tidegate.project.spark import warehouse

        return warehouse(self.settings)

    @property
    def context(self) -> CommitContext:
        """The resources that commit steps use."""
        return CommitContext(
            files=self.warehouse.files,
            spark=self.spark,
            watermarks=self.commits,
            events=_Events(self),
        )

    def spark(self) -> "SparkSession":
        """Return the Spark session; start it on first use."""
        from tidegate.project.spark import spark_settings
        from tidegate.spark_jobs.session.session import session

        return session(spark_settings(self.settings))

    def apps(self) -> tuple[App, ...]:
        """Return the deployed apps."""
        with self.store.reading() as reader:
            return tuple(deployed.app for deployed in reader.apps())

    def sequence(self, commit: str) -> CommitSequence | None:
        """Return the unfinished sequence of this id; None when it is finished or does not exist.

        Raises:
            CommitUnknown: another version wrote it.
        """
        body = self.commits.get(commit)
        if body is None:
            return None
        return read_sequence(commit, body)


class _Events:
    """Reports publishes to the store, and to Dagster if the project has an instance."""

    def __init__(self, project: CommitsProject) -> None:
        self._project = project
        self._engine = PublishedEvents(lambda: project.store, now)

    def reported(self, commit: str, partitions: Sequence[PartitionFact]) -> bool:
        """See `Events.reported`."""
        return self._engine.reported(commit, partitions)

    def report(self, commit: str, partitions: Sequence[PartitionFact]) -> None:
        """See `Events.report`."""
        if not self._project.settings.dagster_home.is_dir():
            self._engine.report(commit, partitions)
            return
        from dagster import DagsterInstance

        from tidegate.dagster_defs.run.commit_events import CommitEvents
        from tidegate.processes.home import prepare_home

        try:
            instance = DagsterInstance.from_config(str(prepare_home(self._project.settings)))
        except Exception as error:  # noqa: BLE001 -- Dagster only displays it, and may be down
            typer.echo(f"commit {commit} could not be reported to Dagster: {error}", err=True)
            self._engine.report(commit, partitions)
            return
        with instance:
            CommitEvents(lambda: self._project.store, now, instance).report(commit, partitions)


@contextmanager
def opened_project() -> Generator[CommitsProject, None, None]:
    """Open the project of the working folder.

    Raises:
        StoreError: the store does not exist or cannot be used.
    """
    settings = load_settings()
    store = open_sql_store(settings.store_url, create=False)
    try:
        yield CommitsProject(settings=settings, store=store)
    finally:
        store.close()
