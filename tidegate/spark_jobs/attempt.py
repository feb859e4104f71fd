"""Publishes outputs that arrive one after the other: recover, begin, stage each, then publish all of them.

    recover ─► published already? ─► begin ─► stage ─► stage ─► … ─► publish ─► prune
                     └──► the recorded result of those outputs

`runner` does the same for a program, which returns all of its outputs at once. Here the caller runs the code
that makes them, and calls `begin` before that code reads its inputs. The commit id comes from the caller, so
every attempt of the same work has the same. If an earlier attempt published only some of the outputs,
the others have a commit id of their own. This module knows neither Dagster nor the scheduler.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import TracebackType

from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import CheckVerdict
from tidegate.spark_jobs.checks.compared import NOTHING_BESIDE, Beside
from tidegate.spark_jobs.checks.judge import judge_staged
from tidegate.spark_jobs.commit.context import CommitContext, Events
from tidegate.spark_jobs.commit.lease import AttemptLease
from tidegate.spark_jobs.commit.publish import state_of
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.commit.state import New, Parts, Published, commit_to_publish, commits_of
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.errors import CommitConflict, OutputError
from tidegate.spark_jobs.publication.table import (
    Publication,
    largest_token,
    prune_table,
    read_selected,
    states_of,
)
from tidegate.spark_jobs.publication.table_format import StagedOutput

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    """An output: its dataset, and the partitions that the run writes; ("",) without partitions."""

    ref: DatasetRef
    keys: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedOutput:
    """An output that was published: the commit, and its partitions."""

    commit: str
    parts: Parts


class OutputAttempt:
    """One attempt to publish some outputs by one commit sequence.

    Attributes:
        published: the outputs that are published, by name: by earlier attempts, and by `publish`.
        verdicts: of the checks of what this attempt has staged, once `publish` has judged it.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        store: CommitStepStore,
        *,
        commit: str,
        outputs: Mapping[str, Output],
        job: str,
        by: str,
        spark: Callable[[], SparkSession],
        events: Callable[[str], Events],
        beside: Beside = NOTHING_BESIDE,
    ) -> None:
        """Args:
        commit: the same for every attempt of the same work.
        outputs: all outputs of the work, by name.
        job: for the table's own history.
        by: who makes them, for messages.
        events: returns the receiver of the events for a commit id of this work.
        beside: the inputs of the work, and what it is about; the store and the tables are added to it.
        """
        names = [output.ref.name for output in outputs.values()]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise OutputError(
                f"two outputs of one step are datasets of the name {', '.join(twice)}",
                "name another dataset in the metadata of one of them, under tidegate/dataset",
            )
        self.published: dict[str, PublishedOutput] = {}
        self.verdicts: tuple[CheckVerdict, ...] = ()
        self._warehouse, self._store, self._commit = warehouse, store, commit
        self._outputs, self._spark, self._events = dict(outputs), spark, events
        self._job, self._by = job, by
        self._beside = replace(
            beside,
            reported=store.reported_rows,
            read=lambda ref: read_selected(spark(), ref, warehouse, lambda _: True),
        )
        self._lease = ExitStack()
        self._publication: Publication | None = None
        self._staged: list[str] = []

    def begin(self) -> None:
        """Finish what earlier runs left, look up what is published, and take a fencing token for the rest.

        Raises:
            CommitBlocked, CommitUnknown, CommitFailed, CommitBusy: the datasets must not be written.
        """
        commit = commit_to_publish(self._commit, self._store)
        recover([output.ref.id for output in self._outputs.values()], self._store, self._context(commit))
        state = self._look_up(commit)
        if isinstance(state, Published) and self._missing():
            # Another selection of the outputs was published under this id.
            state = self._look_up(f"{self._commit}.{'+'.join(self._missing())}")
        commit = state.commit
        refs = [self._outputs[name].ref for name in self._missing()]
        if not refs:
            return
        states = states_of(refs, self._warehouse, self._store, self._spark, commit)
        at_least = largest_token(states)
        lease = AttemptLease(self._store, commit, [ref.id for ref in refs], at_least=at_least)
        token = self._lease.enter_context(lease)
        self._publication = Publication(
            self._warehouse, self._store, commit=commit, token=token, job=self._job, by=self._by,
            spark=self._spark, states=states, events=self._events(commit), judge=self._judge,
            beside=self._beside,
        )  # fmt: skip

    def stage(self, name: str, frame: DataFrame) -> None:
        """Run the plan of an output and write its rows where no reader sees them.

        Do nothing if it is published: `published` has it then.

        Raises:
            OutputError: the rows do not fit the dataset or its partitions.
            CommitFenced: the lease of this attempt expired.
        """
        if name in self.published:
            return
        publication, output = self._open(), self._outputs[name]
        try:
            publication.refuse(frame, output.ref)
            publication.stage(frame, output.ref, output.keys)
        except Exception as error:
            publication.discard()
            # Another attempt of this commit may have published and removed the staging of all attempts.
            self._look_up(publication.commit)
            if name in self.published:
                return
            self._close(type(error), error, error.__traceback__)
            raise
        self._staged.append(name)

    def publish(self) -> None:
        """Publish all staged outputs; `published` has them then.

        Raises:
            PublishWithheld: a check failed. Nothing is published until a person releases it.
            NotJudged: a check cannot be judged. Nothing is published.
            CommitFenced: the lease of this attempt expired. Nothing is published.
            CommitConflict: another attempt published other outputs under this id, or others have changed
                what the outputs replace.
            CommitUnknown, CommitFailed, CommitBusy: the sequence is put, and recovery finishes it.
        """
        staged = [name for name in self._staged if name not in self.published]
        publication = self._open()
        try:
            parts = publication.publish()
        finally:
            self._close(None, None, None)
        self._keep(publication.commit, parts)
        lost = [name for name in staged if name not in self.published]
        if lost:
            raise CommitConflict(
                f"commit {publication.commit}: another attempt has published it without {', '.join(lost)}",
                "run it again; the outputs that are published stay",
            )
        for name in staged:
            prune_table(self._outputs[name].ref, self._warehouse, self._store)

    def discard(self) -> None:
        """Remove the staging and end the attempt, unless it has published."""
        publication, self._publication = self._publication, None
        if publication is None:
            return
        try:
            publication.discard()
        finally:
            self._lease.close()

    def _judge(self, staged: Sequence[StagedOutput]) -> Sequence[CheckVerdict]:
        self.verdicts = judge_staged(staged, self._spark, self._beside)
        return self.verdicts

    def _open(self) -> Publication:
        if self._publication is None:
            raise OutputError(
                f"commit {self._commit}: this attempt is closed, so nothing more can be published",
                "run it again",
            )
        return self._publication

    def _close(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._publication = None
        self._lease.__exit__(kind, error, trace)

    def _missing(self) -> list[str]:
        return [name for name in self._outputs if name not in self.published]

    def _look_up(self, commit: str) -> New | Published:
        """Return what has become of a commit, and keep what it, or an abandoned one before it, published."""
        state = state_of(commit, self._store, self._context(commit))
        first = next(commits_of(commit))
        for dataset, parts in state.before.items():
            log.warning(
                "%s has the rows of the abandoned commit %s, and is not written again", dataset, first
            )
            self._keep(first, parts)
        if isinstance(state, Published):
            log.warning("commit %s is already published; it is not written again", state.commit)
            self._keep(state.commit, state.parts)
        return state

    def _keep(self, commit: str, parts: Parts) -> None:
        for name in self._missing():
            output = self._outputs[name]
            mine = {part.key: part for part in parts if part.dataset == output.ref.name}
            if all(key in mine for key in output.keys):
                found = tuple(mine[key] for key in output.keys)
                self.published[name] = PublishedOutput(commit=commit, parts=found)

    def _context(self, commit: str) -> CommitContext:
        return CommitContext(
            files=self._warehouse.files,
            spark=self._spark,
            watermarks=self._store,
            events=self._events(commit),
        )
