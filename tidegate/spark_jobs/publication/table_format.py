"""The contract of a table format, which publishing, reading and repair use.

A format is a folder beside `parquet/` and `iceberg/` whose `format.py` implements `TableFormat`, with its own
kinds of commit steps in `steps/`, and one line in `formats.py`. No other module refers to a format by name.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.commit.step import CommitStep, PublishStep
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.increment import Increment, IncrementalRead
from tidegate.spark_jobs.datasets.table_report import Orphan, TableReport
from tidegate.spark_jobs.datasets.table_state import TableState


class StagedOutput(Protocol):
    """The staged output of one dataset: the steps that publish it, and the result."""

    @property
    def ref(self) -> DatasetRef: ...

    def folder_steps(self) -> tuple[CommitStep, ...]:
        """Return the steps that move the data files to their final place, which no reader uses yet."""
        ...

    def version_step(self) -> PublishStep:
        """Return the step that shows them to readers, all at once."""
        ...

    def view_steps(self) -> tuple[CommitStep, ...]:
        """Return the steps that then show them to readers that do not use the format's own log."""
        ...

    def cleaning_step(self) -> CommitStep:
        """Return the step that removes the rest of the staging."""
        ...

    def result(self) -> tuple[PublishedPartition, ...]:
        """Return the partitions that are reported once all steps are done."""
        ...

    def files(self, spark: SparkSession) -> tuple[str, ...]:
        """Return all its Parquet files; none where they are not known, or some have another format."""
        ...

    def rows(self, spark: SparkSession) -> AbstractContextManager[DataFrame]:
        """Return its rows, read from the staged files; the frame is valid inside the context."""
        ...


class TableFormat(Protocol):
    """How tables of one format are read, written and repaired.

    `spark` starts the session where a format needs one; a format that needs none never calls it.

    Attributes:
        steps: the format's own kinds of commit steps.
    """

    @property
    def steps(self) -> tuple[type[CommitStep], ...]: ...

    def read(
        self,
        spark: SparkSession,
        ref: DatasetRef,
        warehouse: Warehouse,
        selects: Callable[[str], bool],
        reported: Iterable[str] = (),
    ) -> DataFrame | None:
        """Return the rows of the selected partitions, in one consistent state.

        None when nothing was ever landed or published: the columns are unknown then.

        Args:
            reported: the partitions that the run was launched for; landed files of each must exist.

        Raises:
            SourceError: a reported partition of landed files has none.
        """
        ...

    def read_new(self, spark: SparkSession, request: IncrementalRead) -> Increment:
        """Return the rows that are new since the watermarks.

        Raises:
            SourceError: the new rows cannot be determined.
        """
        ...

    def state(self, ref: DatasetRef, warehouse: Warehouse, spark: Callable[[], SparkSession]) -> TableState:
        """Return the current state of the table, which a run remembers before it reads its inputs."""
        ...

    def stage(
        self,
        frame: DataFrame,
        ref: DatasetRef,
        keys: tuple[str, ...],
        warehouse: Warehouse,
        *,
        commit: str,
        token: int,
        job: str,
        facts: Mapping[str, str],
        state: TableState | None,
        reads: bool,
    ) -> StagedOutput:
        """Run the plan of an output and write its rows where no reader sees them.

        Args:
            keys: the partitions that the run writes.
            facts: entries for the table's own history of the publish, where it has one.
            state: the table when the run began; None for its current state.
            reads: whether the program reads the table that it writes.

        Raises:
            OutputError: the rows do not fit the dataset or its partitions.
        """
        ...

    def discard(
        self,
        ref: DatasetRef,
        warehouse: Warehouse,
        spark: Callable[[], SparkSession],
        *,
        commit: str,
        token: int,
    ) -> None:
        """Remove the staging of one attempt. Only for a commit that was never put or is finished."""
        ...

    def unfit(
        self,
        step: PublishStep,
        ref: DatasetRef,
        warehouse: Warehouse,
        spark: Callable[[], SparkSession],
    ) -> str | None:
        """Return why a staged output no longer fits its dataset or table; None if it does.

        Args:
            step: publishes the output.
            ref: the dataset as it is declared now.
        """
        ...

    def prune(self, ref: DatasetRef, warehouse: Warehouse, store: CommitStepStore) -> None:
        """Remove old versions of a table when enough have accumulated."""
        ...

    def staged(
        self, refs: Sequence[DatasetRef], warehouse: Warehouse, spark: Callable[[], SparkSession]
    ) -> Iterable[Orphan]:
        """Return all staging of datasets of this format, needed or not."""
        ...

    def remove(
        self,
        orphans: Sequence[Orphan],
        refs: Mapping[str, DatasetRef],
        warehouse: Warehouse,
        spark: Callable[[], SparkSession],
    ) -> None:
        """Remove staging that `staged` has returned.

        Args:
            refs: the known datasets by id.
        """
        ...

    def show(self, ref: DatasetRef, warehouse: Warehouse) -> bool:
        """Show the newest state to readers that do not use the format's own log.

        Returns:
            Whether something was changed.
        """
        ...

    def report(self, ref: DatasetRef, warehouse: Warehouse, spark: Callable[[], SparkSession]) -> TableReport:
        """Return the state of the table."""
        ...

    def commits(
        self, ref: DatasetRef, warehouse: Warehouse, spark: Callable[[], SparkSession]
    ) -> tuple[str, ...]:
        """Return the newest commits that have published into the table, oldest first."""
        ...

    def is_empty(self, ref: DatasetRef, warehouse: Warehouse, spark: Callable[[], SparkSession]) -> bool:
        """Return whether the table has no rows, or does not exist."""
        ...

    def withdrawn(
        self,
        ref: DatasetRef,
        warehouse: Warehouse,
        commits: Collection[str],
        spark: Callable[[], SparkSession],
    ) -> Mapping[str, str]:
        """Return those of these commits whose rows are gone, with what has happened.

        Args:
            commits: what the store says has published into the table. One that is older than all that the
                table lists is left out.
        """
        ...

    def read_positions(
        self, ref: DatasetRef, spark: Callable[[], SparkSession]
    ) -> Mapping[str, Mapping[str, Any]]:
        """Return, by commit, how far it has read each source, according to the table's history."""
        ...
