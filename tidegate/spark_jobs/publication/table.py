"""The tables that programs read and write, whatever their format.

`read` gives one consistent state of a dataset. `Publication` stages any number of outputs
of one run and publishes them as one commit sequence: first every folder is brought to its
place, then every table is switched, then staging is removed. What differs between
formats is asked of the dataset's `TableFormat`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.published import PartitionFact, PublishedPartition
from tidegate.spark_jobs.commit.context import CommitContext, Events, NoEvents
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.commit.sequence import CommitSequence, watermark_resource
from tidegate.spark_jobs.commit.steps.report_event import ReportEvent
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, dataset_ref
from tidegate.spark_jobs.publication.formats import format_of
from tidegate.spark_jobs.publication.table_format import StagedOutput

__all__ = [
    "DatasetRef",
    "Publication",
    "PublishedPartition",
    "Warehouse",
    "dataset_ref",
    "read",
    "read_taken",
]


def read(
    spark: SparkSession, ref: DatasetRef, warehouse: Warehouse, keys: Iterable[str] | None = None
) -> DataFrame | None:
    """The rows of a dataset, with its partition columns as strings.

    Args:
        keys: the partitions to read; None reads all. One that does not exist has no rows.

    Returns:
        None when nothing was ever landed or published, since then no one knows the columns.
    """
    wanted = None if keys is None else frozenset(keys)
    return read_taken(spark, ref, warehouse, lambda key: wanted is None or key in wanted)


def read_taken(
    spark: SparkSession, ref: DatasetRef, warehouse: Warehouse, takes: Callable[[str], bool]
) -> DataFrame | None:
    """Like `read`, for the partitions whose key the function takes."""
    return format_of(ref).read(spark, ref, warehouse, takes)


def top_token(ref: DatasetRef, warehouse: Warehouse, spark: Callable[[], SparkSession]) -> int:
    """The largest fencing token that has written the dataset."""
    return format_of(ref).top_token(ref, warehouse, spark)


class Publication:
    """The outputs of one run, published together, whatever their formats.

    Attributes:
        commit: commit id, from the cause of the run, so that a retry meets itself.
        token: fencing token, taken before the run read its inputs.
        facts: what the table's own history is to say of the publish, beside commit, token and job.
        watermarks: how far the run has read its incremental inputs; set once all outputs are published.
        events: who is told of the published partitions; None: nobody is.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        store: CommitStepStore,
        *,
        commit: str,
        token: int,
        job: str = "",
        spark: Callable[[], SparkSession] = SparkSession.active,
        facts: Mapping[str, str] | None = None,
        watermarks: Sequence[SetWatermark] = (),
        events: Events | None = None,
    ) -> None:
        self.commit = commit
        self.token = token
        self._job = job
        self._facts = dict(facts or {})
        self._watermarks = tuple(watermarks)
        self._warehouse = warehouse
        self._store = store
        self._tells = events is not None
        self._context = CommitContext(
            files=warehouse.files, spark=spark, watermarks=store, events=events or NoEvents()
        )
        self._staged: list[StagedOutput] = []
        self._refs: list[DatasetRef] = []

    def stage(self, frame: DataFrame, ref: DatasetRef, keys: tuple[str, ...]) -> None:
        """Runs the plan of one output and writes its rows where no reader sees them.

        Args:
            keys: the partitions that the run writes; ("",) for a dataset without any.

        Raises:
            OutputError: the rows do not fit the dataset or its partitions.
        """
        format = format_of(ref)
        self._refs.append(ref)
        self._staged.append(
            format.stage(
                frame,
                ref,
                keys,
                self._warehouse,
                commit=self.commit,
                token=self.token,
                job=self._job,
                facts=self._facts,
            )
        )

    def publish(self) -> tuple[PublishedPartition, ...]:
        """Publishes all that was staged; see `commit.publish.publish` for what it raises."""
        sequence = sequence_of(self.commit, self.token, self._staged, self._watermarks, tells=self._tells)
        published = publish(sequence, self._store, self._context)
        # Left only where another attempt of the same commit was first: then nothing names it.
        self.discard()
        return published

    def discard(self) -> None:
        """Removes what this publication has staged. Only for one that was never put, or is finished."""
        for ref in self._refs:
            format_of(ref).discard(
                ref, self._warehouse, self._context.spark, commit=self.commit, token=self.token
            )


def sequence_of(
    commit: str,
    token: int,
    tables: Sequence[StagedOutput],
    watermarks: Sequence[SetWatermark] = (),
    *,
    tells: bool = False,
) -> CommitSequence:
    """Everything that has to happen to publish staged tables: data, watermarks, events, and then the broom.

    Args:
        tells: the scheduler is told of the published partitions.
    """
    facts = tuple(
        PartitionFact(staged.ref.id, one.key, one.rows, one.bytes)
        for staged in tables
        for one in staged.result()
    )
    return CommitSequence(
        id=commit,
        datasets=(
            *(staged.ref.id for staged in tables),
            *dict.fromkeys(watermark_resource(step.consumer, step.source) for step in watermarks),
        ),
        token=token,
        steps=(
            *(step for staged in tables for step in staged.folder_steps()),
            *(staged.version_step() for staged in tables),
            *watermarks,
            *((ReportEvent(commit=commit, partitions=facts),) if tells and facts else ()),
            *(staged.cleaning_step() for staged in tables),
        ),
        result=tuple(one for staged in tables for one in staged.result()),
    )


def prune_table(ref: DatasetRef, warehouse: Warehouse, store: CommitStepStore) -> None:
    """Remove old versions of a table when enough have gathered."""
    format_of(ref).prune(ref, warehouse, store)
