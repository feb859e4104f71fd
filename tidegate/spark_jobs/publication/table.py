"""The tables that programs read and write, in any format.

`read` returns one consistent state of a dataset. `Publication` stages the outputs
of one run and publishes them as one commit sequence: it moves every folder to its
place, then switches every table and what other readers see of it, then removes the
staging. The dataset's `TableFormat` implements what differs between formats.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import CheckVerdict
from tidegate.domain.published import PartitionFact, PublishedPartition
from tidegate.spark_jobs.checks.compared import NOTHING_BESIDE, Beside
from tidegate.spark_jobs.checks.judge import refuse_unjudged
from tidegate.spark_jobs.commit.context import CommitContext, Events, NoEvents
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.commit.sequence import CommitSequence, watermark_resource
from tidegate.spark_jobs.commit.state import New, look_up
from tidegate.spark_jobs.commit.steps.report_event import ReportEvent
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.datasets.column_names import refuse_names
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, dataset_ref
from tidegate.spark_jobs.datasets.declared_columns import as_declared, refuse_undeclared
from tidegate.spark_jobs.datasets.row_refusal import refused_rows
from tidegate.spark_jobs.datasets.table_state import TableState
from tidegate.spark_jobs.errors import CommitConflict, CommitFenced, PublishWithheld, StoreBehind
from tidegate.spark_jobs.publication.formats import format_of
from tidegate.spark_jobs.publication.table_format import StagedOutput

__all__ = [
    "DatasetRef",
    "Publication",
    "PublishedPartition",
    "Warehouse",
    "dataset_ref",
    "read",
    "read_selected",
]


def read(
    spark: SparkSession, ref: DatasetRef, warehouse: Warehouse, keys: Iterable[str] | None = None
) -> DataFrame | None:
    """Return the rows of a dataset, with its partition columns as strings.

    Args:
        keys: the partitions to read; None reads all. One that does not exist has no rows.

    Returns:
        None when nothing was ever landed or published, since the columns are unknown then.
    """
    wanted = None if keys is None else frozenset(keys)
    return read_selected(spark, ref, warehouse, lambda key: wanted is None or key in wanted)


def read_selected(
    spark: SparkSession,
    ref: DatasetRef,
    warehouse: Warehouse,
    selects: Callable[[str], bool],
    reported: Iterable[str] = (),
) -> DataFrame | None:
    """Return the rows of the partitions whose key `selects` accepts; see `read` and `TableFormat.read`."""
    return format_of(ref).read(spark, ref, warehouse, selects, reported)


def top_token(ref: DatasetRef, warehouse: Warehouse, spark: Callable[[], SparkSession]) -> int:
    """Return the largest fencing token that has written the dataset."""
    return format_of(ref).state(ref, warehouse, spark).token


def states_of(
    refs: Iterable[DatasetRef],
    warehouse: Warehouse,
    store: CommitStepStore,
    spark: Callable[[], SparkSession],
    commit: str = "",
) -> dict[str, TableState]:
    """Return the state of each output by dataset id, for a run that has not read anything yet.

    Args:
        commit: the commit of the run; "" for one that the tables cannot have yet.

    Raises:
        StoreBehind: the store has not given the token of a table, or does not know its newest publish, so it
            may have forgotten commits and watermarks.
    """
    states: dict[str, TableState] = {}
    for ref in refs:
        state = states[ref.id] = format_of(ref).state(ref, warehouse, spark)
        # The store is asked after the table, because tokens only rise.
        given = store.last_token() if state.token else 0
        if state.token > given:
            raise store_behind(ref, state.token, given)
        if state.number:
            # Other datasets may have raised the token since the store was restored.
            _refuse_forgotten(ref, commit, format_of(ref).commits(ref, warehouse, spark), store)
    return states


def largest_token(states: Mapping[str, TableState]) -> int:
    """Return the largest fencing token that has written one of these tables."""
    return max((state.token for state in states.values()), default=0)


def _refuse_forgotten(ref: DatasetRef, commit: str, listed: Sequence[str], store: CommitStepStore) -> None:
    """Refuse an output with a publish that the store has forgotten.

    A backup that was made while a run worked has the run's token, and neither its commit nor its watermarks.
    A run of the same commit would move the watermarks over rows that the table does not have; any other
    run would read again what it has. The tokens of a restored store rise with the runs of every dataset, so
    soon no token of a table is too large.

    Args:
        listed: the newest commits of the table, oldest first.
    """
    for one in {*listed[-1:], commit} & {*listed}:
        if isinstance(look_up(one, store), New):
            raise forgotten(ref, (one,))


def store_behind(ref: DatasetRef, token: int, given: int) -> StoreBehind:
    """Return the error of a dataset whose token the store has not given."""
    return _behind(ref, f"its newest token is {token}, but the schedule store has given only {given}")


def forgotten(ref: DatasetRef, commits: Sequence[str]) -> StoreBehind:
    """Return the error of a dataset with publishes that the store does not know."""
    listed = ", ".join(commits)
    return _behind(ref, f"{listed} has published into it, but the schedule store has no record of that")


def _behind(ref: DatasetRef, fact: str) -> StoreBehind:
    return StoreBehind(
        f"{ref.id}: {fact}: the store is older than the table (a restored backup, a replica that lags), or "
        "another store has written it",
        "use the newest store; if there is none, rows may come twice: compare tables and watermarks "
        "(`tidegate watermarks list`), reset watermarks, and go on with: "
        f"tidegate commits adopt {ref.id}",
    )


def no_checks(staged: Sequence[StagedOutput]) -> tuple[CheckVerdict, ...]:
    """Judge outputs that have no checks."""
    return ()


class Publication:
    """The outputs of one run, published together, whatever their formats.

    Attributes:
        commit: commit id, derived from the cause of the run, so that every attempt has the same.
        token: fencing token, taken before the run read its inputs.
        facts: entries for the table's own history of the publish, beside commit, token and job.
        watermarks: how far the run has read its incremental inputs; set once all outputs are published.
        states: the outputs when the run began, by dataset id (`states_of`); one that is not listed is
            taken as it is when it is staged.
        events: receives the published partitions; None means that they are not reported.
        before: outputs that an abandoned commit of the same work has published, with their partitions; they
            are part of the result, and are not written again.
        by: who makes the outputs, for messages: "program shop/orders".
        judge: returns the verdicts of all checks of the staged outputs; if one blocks, nothing is published.
        beside: what checks compare rows with, as `judge` has it.
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
        states: Mapping[str, TableState] | None = None,
        events: Events | None = None,
        before: Mapping[DatasetRef, Sequence[PublishedPartition]] | None = None,
        by: str = "the run",
        judge: Callable[[Sequence[StagedOutput]], Sequence[CheckVerdict]] = no_checks,
        beside: Beside = NOTHING_BESIDE,
    ) -> None:
        self._by = by
        self.commit = commit
        self.token = token
        self._job = job
        self._facts = dict(facts or {})
        self._watermarks = tuple(watermarks)
        self._states = dict(states or {})
        self._warehouse = warehouse
        self._store = store
        self._reports_events = events is not None
        self._before = dict(before or {})
        self._judge, self._beside = judge, beside
        self._context = CommitContext(
            files=warehouse.files, spark=spark, watermarks=store, events=events or NoEvents()
        )
        self._staged: list[StagedOutput] = []
        self._refs: list[DatasetRef] = []

    def refuse(self, frame: DataFrame, ref: DatasetRef) -> None:
        """Refuse an output by its columns alone; nothing is evaluated.

        Raises:
            OutputError: a column has a name that tables do not have, or is not as it is declared.
            NotJudged: a check of the dataset cannot be judged with these columns.
        """
        refuse_names(ref, frame)
        refuse_undeclared(ref, frame, self._by)
        if ref.checks:
            refuse_unjudged(self._context.spark(), ref, frame.schema, self._beside)

    def stage(self, frame: DataFrame, ref: DatasetRef, keys: tuple[str, ...], *, reads: bool = False) -> None:
        """Run the plan of an output that `refuse` has let pass, and write its rows where no reader sees them.

        Args:
            keys: the partitions that the run writes; ("",) for a dataset without any.
            reads: whether the program also reads this dataset.

        Raises:
            OutputError: the rows do not fit the dataset or its partitions.
        """
        frame, format = as_declared(frame, ref, keys), format_of(ref)
        self._refs.append(ref)
        with refused_rows(ref.name):
            staged = format.stage(
                frame,
                ref,
                keys,
                self._warehouse,
                commit=self.commit,
                token=self.token,
                job=self._job,
                facts=self._facts,
                state=self._states.get(ref.id),
                reads=reads,
            )
        self._staged.append(staged)

    def publish(self) -> tuple[PublishedPartition, ...]:
        """Publish all staged outputs; see `commit.publish.publish` for the errors it raises.

        Raises:
            SparkJobError: a check cannot be judged. Nothing is published.
        """
        try:
            verdicts = self._judge(self._staged)
        except Exception:
            self.discard()
            raise
        blocked = any(each.blocks for each in verdicts)
        replaced = self._store.withheld(self.commit) if blocked else None
        try:
            published = self._put_and_finish(verdicts)
        except PublishWithheld:
            if replaced is not None:
                # It took the place of an earlier attempt's, whose rows can never be released now.
                self._discard(replaced.token)
            raise
        except (CommitConflict, CommitFenced):
            # After these two failures alone, the staged outputs can never be published.
            self.discard()
            raise
        # Staging is left only when another attempt of the same commit was first; then nothing refers to it.
        self.discard()
        return published

    def _put_and_finish(self, verdicts: Sequence[CheckVerdict]) -> tuple[PublishedPartition, ...]:
        for staged in self._staged:
            # The step looks again at the moment of its effect. Here nothing is promised yet.
            conflict = staged.version_step().conflict(self._context)
            if conflict is not None:
                raise conflict
        sequence = sequence_of(
            self.commit, self.token, self._staged, self._watermarks,
            reports_events=self._reports_events, before=self._before,
        )  # fmt: skip
        return publish(sequence, self._store, self._context, verdicts=verdicts)

    def discard(self) -> None:
        """Remove the staging of this publication. Only for a commit that was never put or is finished."""
        self._discard(self.token)

    def _discard(self, token: int) -> None:
        for ref in self._refs:
            format_of(ref).discard(ref, self._warehouse, self._context.spark, commit=self.commit, token=token)


def sequence_of(
    commit: str,
    token: int,
    tables: Sequence[StagedOutput],
    watermarks: Sequence[SetWatermark] = (),
    *,
    reports_events: bool = False,
    before: Mapping[DatasetRef, Sequence[PublishedPartition]] | None = None,
) -> CommitSequence:
    """Return the steps that publish staged tables: data, watermarks, events, and then the cleaning.

    What would be published twice if the work were repeated comes last: a conflict in another table is
    found before it (`commit.withdraw`).

    Args:
        reports_events: report the published partitions to the scheduler.
        before: see `Publication`.
    """
    parts = [*(before or {}).items(), *((staged.ref, staged.result()) for staged in tables)]
    facts = tuple(
        PartitionFact(ref.id, one.key, one.rows, one.bytes, ref.asset)
        for ref, found in parts
        for one in found
    )
    in_order = sorted(tables, key=lambda staged: not staged.version_step().repeatable)
    return CommitSequence(
        id=commit,
        datasets=(
            *(staged.ref.id for staged in in_order),
            *dict.fromkeys(watermark_resource(step.consumer, step.source) for step in watermarks),
        ),
        token=token,
        steps=(
            *(step for staged in tables for step in staged.folder_steps()),
            *(staged.version_step() for staged in in_order),
            *(step for staged in tables for step in staged.view_steps()),
            *watermarks,
            *((ReportEvent(commit=commit, partitions=facts),) if reports_events and facts else ()),
            *(staged.cleaning_step() for staged in tables),
        ),
        result=tuple(one for _, found in parts for one in found),
    )


def prune_table(ref: DatasetRef, warehouse: Warehouse, store: CommitStepStore) -> None:
    """Remove old versions of a table when enough have accumulated."""
    format_of(ref).prune(ref, warehouse, store)
