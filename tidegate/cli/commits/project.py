"""The project of a command for commits: its store, tables and file systems.

Spark starts when a step needs it, and Dagster is loaded when a publish is reported to it. Errors
that a user can fix are raised as a `UserError`.
"""

from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tidegate.cli.by_hand import by_hand
from tidegate.cli.printing import print_line
from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.domain.model import App
from tidegate.domain.part_name import app_of
from tidegate.processes.commit_context import commit_context, own_apps, own_datasets, spark_session
from tidegate.project.local_time import use_zone
from tidegate.project.settings.settings import Settings, load_settings
from tidegate.scheduler.explain.names import in_namespace
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.store.commits.noted import Note, NotedAction, NotedCommitStepStore
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.finish import read_sequence
from tidegate.spark_jobs.commit.sequence import CommitSequence
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.errors import CommitUnknown

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
    note: Note | None = None
    """What the journal has of what is changed; None for a command that only looks, or a run."""

    @property
    def commits(self) -> SqlCommitStepStore:
        """The store of commit sequences."""
        if self.note is None:
            return SqlCommitStepStore(self.store.engine)
        return NotedCommitStepStore(self.store.engine, self.note, now)

    def noting(
        self,
        action: NotedAction,
        reason: str,
        data: Mapping[str, Any] | None = None,
        programs: Collection[str] = (),
    ) -> "CommitsProject":
        """Return the project with a journal of what is changed from now on.

        Args:
            programs: "app/program" each; the history of their schedules has what is of no job.
        """
        with self.store.reading() as reader:
            schedules = tuple(
                each.ref
                for app in sorted({app_of(program) for program in programs})
                for each in reader.schedules(app=app)
                if f"{app}/{each.spec.program}" in programs
            )
        note = Note(action=action, by=by_hand(reason), schedules=schedules, data=data or {})
        return replace(self, note=note)

    @property
    def warehouse(self) -> Warehouse:
        """The location of its tables."""
        from tidegate.project.spark import warehouse

        return warehouse(self.settings)

    @property
    def context(self) -> CommitContext:
        """The resources that commit steps use."""
        return commit_context(
            self.settings, self.store, self.commits, now, lambda text: print_line(text, err=True)
        )

    def spark(self) -> "SparkSession":
        """Return the Spark session; start it on first use."""
        return spark_session(self.settings)

    def apps(self) -> tuple[App, ...]:
        """Return the deployed apps of the project; other projects have their tables elsewhere."""
        with self.store.reading() as reader:
            return own_apps(reader, self.settings)

    def datasets(self) -> dict[str, DatasetRef]:
        """Return the deployed datasets of the project, by "app/dataset"."""
        with self.store.reading() as reader:
            return own_datasets(reader, self.settings)

    def others(self) -> frozenset[str]:
        """Return the names of the apps that belong to other projects."""
        own = (self.settings.name, NO_PROJECT)
        with self.store.reading() as reader:
            return frozenset(
                deployed.name for deployed in reader.records(APPS) if deployed.project not in own
            )

    def named(self, name: str) -> str:
        """Return the name of a dataset or program without the namespace that it may begin with.

        Raises:
            UserError: its app is in another namespace.
        """
        with self.store.reading() as reader:
            return in_namespace(reader, name)

    def own_unfinished(self) -> list[str] | None:
        """Return the datasets with unfinished sequences of this project; None if it is alone in the store.

        Beside other projects, a sequence that this version cannot read is left out.
        """
        others = self.others()
        if not others:
            return None
        found: set[str] = set()
        for commit in self.commits.list_unfinished():
            try:
                sequence = self.sequence(commit)
            except CommitUnknown:
                continue
            found.update(() if sequence is None else sequence.datasets)
        return sorted(name for name in found if app_of(name) not in others)

    def sequence(self, commit: str) -> CommitSequence | None:
        """Return the unfinished sequence of this id; None when it is finished or does not exist.

        Raises:
            CommitUnknown: another version wrote it.
        """
        body = self.commits.get(commit)
        if body is None:
            return None
        return read_sequence(commit, body)


@contextmanager
def opened_project() -> Generator[CommitsProject, None, None]:
    """Open the project of the working folder.

    Raises:
        StoreError: the store does not exist or cannot be used.
    """
    settings = load_settings()
    use_zone(settings.timezone)
    store = open_sql_store(settings.store_url, create=False)
    try:
        yield CommitsProject(settings=settings, store=store)
    finally:
        store.close()
