"""What the commands about commits work on: the project's store, tables and file systems.

Spark starts when a step asks for it, and Dagster is loaded when something is to be reported to it.
What a person can put right leaves here as a `UserError`.
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
    """This instant, aware, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class CommitsProject:
    """A project, opened for a command about commits."""

    settings: Settings
    store: SqlStore

    @property
    def commits(self) -> SqlCommitStepStore:
        """The store of commit sequences."""
        return SqlCommitStepStore(self.store.engine)

    @property
    def warehouse(self) -> Warehouse:
        """Where its tables are kept."""
        from tidegate.project.spark import warehouse

        return warehouse(self.settings)

    @property
    def context(self) -> CommitContext:
        """Where steps act."""
        return CommitContext(
            files=self.warehouse.files,
            spark=self.spark,
            watermarks=self.commits,
            events=_Events(self),
        )

    def spark(self) -> "SparkSession":
        """The session, started when first asked for."""
        from tidegate.project.spark import spark_settings
        from tidegate.spark_jobs.session.session import session

        return session(spark_settings(self.settings))

    def apps(self) -> tuple[App, ...]:
        """The apps that are deployed."""
        with self.store.reading() as reader:
            return tuple(deployed.app for deployed in reader.apps())

    def sequence(self, commit: str) -> CommitSequence | None:
        """The unfinished sequence of this id, or None when it is finished or never was.

        Raises:
            CommitUnknown: another version has written it.
        """
        body = self.commits.get(commit)
        if body is None:
            return None
        return read_sequence(commit, body)


class _Events:
    """Tells the store, and shows it in Dagster where the project has one."""

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
        except Exception as error:  # noqa: BLE001 -- Dagster only shows it, and may be down or elsewhere
            typer.echo(f"commit {commit} is not shown in Dagster: {error}", err=True)
            self._engine.report(commit, partitions)
            return
        with instance:
            CommitEvents(lambda: self._project.store, now, instance).report(commit, partitions)


@contextmanager
def opened_project() -> Generator[CommitsProject, None, None]:
    """The project around the working folder.

    Raises:
        StoreError: it has no store yet, or the store cannot be used.
    """
    settings = load_settings()
    store = open_sql_store(settings.store_url, create=False)
    try:
        yield CommitsProject(settings=settings, store=store)
    finally:
        store.close()
