"""Runs one program: recover, read, call, stage, publish.

    recover ─► published already? ─► begin ─► read inputs ─► call ─► stage ─► publish ─► prune
                     └──► the recorded result      └──► watermarks, then new rows ─────┘

Exactly-once publishing depends on the commit id: it comes from the cause of the run
(the job, or the id of a run started by hand), so a second attempt after any crash finds
what the first one did. This module depends on neither Dagster nor the scheduler.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import CheckVerdict
from tidegate.domain.model import Dataset, Program
from tidegate.domain.model.table_format import format_facts
from tidegate.domain.nearest_key import read_key
from tidegate.spark_jobs.checks.compared import Beside
from tidegate.spark_jobs.checks.judge import judge_staged
from tidegate.spark_jobs.commit.context import CommitContext, Events, NoEvents
from tidegate.spark_jobs.commit.lease import AttemptLease
from tidegate.spark_jobs.commit.publish import state_of
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.commit.state import New, Parts, Published
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, dataset_ref
from tidegate.spark_jobs.datasets.declared_columns import declared_schema
from tidegate.spark_jobs.datasets.key_selection import UpstreamSelection, common_scheme
from tidegate.spark_jobs.datasets.row_refusal import refused_rows
from tidegate.spark_jobs.errors import OutputError, ProgramError
from tidegate.spark_jobs.incremental.lost_rows import refuse_lost_rows
from tidegate.spark_jobs.incremental.reads import IncrementalReads, manifest_facts
from tidegate.spark_jobs.programs.arrow_frames import ArrowFrames
from tidegate.spark_jobs.programs.loading import load_program
from tidegate.spark_jobs.programs.own_session import (
    frame_in,
    program_session,
    refuse_stopped,
    settings_of,
)
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.programs.program import call_program, outputs_of
from tidegate.spark_jobs.programs.sql_program import run_queries
from tidegate.spark_jobs.publication.evaluate_once import evaluated_once
from tidegate.spark_jobs.publication.table import (
    Publication,
    largest_token,
    prune_table,
    read_selected,
    states_of,
)
from tidegate.spark_jobs.publication.table_format import StagedOutput

log = logging.getLogger(__name__)

ALL_OF_IT = ("",)
"""The keys of a dataset without partitions."""

Called = tuple[Mapping[str, DataFrame], AbstractContextManager[None]]
"""The outputs of a program, and what gives the session the other settings of the program."""
NOT_CALLED: Called = ({}, nullcontext())

NO_UPSTREAM: Mapping[str, tuple[str, ...]] = {}

Judged = Callable[[Sequence[CheckVerdict]], None]
"""Receives the verdicts of all checks of a run, before it publishes or withholds."""


def run_program(
    spark: SparkSession | Callable[[], SparkSession],
    warehouse: Warehouse,
    commit_store: CommitStepStore,
    *,
    app: str,
    program: Program,
    datasets: Mapping[str, Dataset],
    params: Params,
    commit: str,
    events: Events | None = None,
    elsewhere: Collection[str] = (),
    upstream: Mapping[str, tuple[str, ...]] = NO_UPSTREAM,
    judged: Judged = lambda _: None,
) -> Parts:
    """Run a program and publish its outputs exactly once.

    An input holds what `UpstreamSelection` says, an incremental one what is new since its last run. A missing
    partition is an error only if it is landed and was reported. A dataset that never had data is None.

    Args:
        spark: the session, or a function that starts it; it is not started to return a known result.
        datasets: the app's datasets by name, and those of other apps that it reads by "app/name".
        params: what the run was launched for; `params.partitions` are the keys it writes.
        commit: the same for every attempt of one job, and unique to that job; see `commit.state.commits_of`.
        events: receives the published partitions; None means that they are not reported.
        elsewhere: inputs that belong to other projects; where they have no data here, the run fails.
        upstream: what the upstream instances of an instance of a task are about, by input.
        judged: receives the verdicts of the checks of what this call stages.

    Returns:
        One entry for each published partition; a repeated call returns the same.

    Raises:
        SparkJobError: a failure that a user can act upon, see `errors.py`.
    """
    writes = [_ref(app, datasets, name, program) for name in program.writes]
    keys = {ref.name: _keys(ref, params) for ref in writes}
    reads = {name: _ref(app, datasets, name, program) for name in program.reads}
    incremental = [reads[name].id for name in program.incremental]
    consumer = f"{app}/{program.name}"
    run = _Run(
        program=program,
        params=params,
        outputs=[(ref, keys[ref.name]) for ref in writes],
        reads=reads,
        new=IncrementalReads(commit_store, warehouse, consumer=consumer, params=params, sources=incremental),
        elsewhere=elsewhere,
        upstream=upstream,
        warehouse=warehouse,
        store=commit_store,
        start=spark if callable(spark) else lambda: spark,
        events=events,
        judged=judged,
    )
    recover(run.touched, run.store, run.context)
    state = run.state_of(commit)
    return state.parts if isinstance(state, Published) else _attempt(run, state)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Run:
    """What a run works with, the same for every step of it.

    Attributes:
        outputs: the datasets that it writes, and their partitions.
        elsewhere, upstream, judged: see `run_program`.
        inputs: what the program was given of its inputs, once it is called.
    """

    program: Program
    params: Params
    outputs: Sequence[tuple[DatasetRef, tuple[str, ...]]]
    reads: Mapping[str, DatasetRef]
    new: IncrementalReads
    elsewhere: Collection[str]
    upstream: Mapping[str, tuple[str, ...]]
    warehouse: Warehouse
    store: CommitStepStore
    start: Callable[[], SparkSession]
    events: Events | None
    judged: Judged
    inputs: dict[str, DataFrame | None] = field(default_factory=dict[str, DataFrame | None])

    @property
    def context(self) -> CommitContext:
        """Return what the steps of commits act on."""
        return CommitContext(
            files=self.warehouse.files,
            spark=self.start,
            events=self.events or NoEvents(),
            watermarks=self.store,
        )

    @property
    def touched(self) -> list[str]:
        """Return what other runs must not publish meanwhile: outputs, and watermarks that it moves."""
        return [ref.id for ref, _ in self.outputs] + [
            self.new.resource(self.reads[name]) for name in self.program.incremental
        ]

    def state_of(self, commit: str) -> New | Published:
        """Return what has become of the work of a commit, by whichever attempt."""
        state = state_of(commit, self.store, self.context)
        if isinstance(state, Published):
            log.warning(
                "%s: commit %s is already published; skipping the run", self.program.name, state.commit
            )
        return state

    def judge(self, staged: Sequence[StagedOutput]) -> Sequence[CheckVerdict]:
        """Return the verdicts of all checks of the staged outputs."""
        verdicts = judge_staged(staged, self.start, self.beside)
        self.judged(verdicts)
        return verdicts

    @property
    def beside(self) -> Beside:
        """Return what checks compare the staged rows with."""
        return Beside(
            reported=self.store.reported_rows, reads=self.reads, inputs=self.inputs, params=self.params,
            read=lambda ref: read_selected(self.start(), ref, self.warehouse, lambda _: True),
        )  # fmt: skip

    def left_from(self, state: New) -> dict[DatasetRef, Parts]:
        """Return the outputs that abandoned commits of the same work have published; they are not repeated.

        None for a program that reads only what is new: it may read more rows than those commits did.
        """
        found: dict[DatasetRef, Parts] = {}
        for ref, keys in () if self.program.incremental else self.outputs:
            parts = state.before.get(ref.id, ())
            if {part.key for part in parts} >= {*keys}:
                found[ref] = parts
                log.warning(
                    "%s: %s has the rows of an abandoned commit before %s already, and is not written again",
                    self.program.name, ref.id, state.commit,
                )  # fmt: skip
        return found

    def tables(self, spark: SparkSession) -> dict[str, DataFrame | None]:
        """Return the rows of the inputs that table formats read."""
        selection = self._selection
        found: dict[str, DataFrame | None] = {}
        for name, ref in self.reads.items():
            how = self.program.incremental.get(name, False)
            if how is True:
                found[name] = self.new.read(spark, ref, how, selection)
            elif not how:
                reported = self.params.manifest.get(name, ())
                selects = _selects(selection, name, ref)
                found[name] = read_selected(spark, ref, self.warehouse, selects, reported)
        missing = [self.reads[name] for name in self.elsewhere if found.get(name, 0) is None]
        _refuse_missing(missing, self.warehouse)
        return found

    def sources(self, spark: SparkSession) -> dict[str, DataFrame | None]:
        """Return the rows of the inputs that a user's own sources read."""
        own = ((name, how) for name, how in self.program.incremental.items() if isinstance(how, str))
        return {name: self.new.read(spark, self.reads[name], how, self._selection) for name, how in own}

    @property
    def _selection(self) -> UpstreamSelection:
        schemes = {ref.name: ref.scheme for ref, _ in self.outputs if ref.scheme is not None}
        scheme = common_scheme(self.program.name, schemes)
        return UpstreamSelection(scheme, self.params.partitions, self.upstream, own=self.program.writes)


def _attempt(run: _Run, state: New) -> Parts:
    """Read, call, stage and publish, under a lease."""
    before = run.left_from(state)
    outputs = [(ref, keys) for ref, keys in run.outputs if ref not in before]
    writes = [ref for ref, _ in outputs]
    # The token is taken before the inputs are read: a run with a larger token reads at least the same rows.
    tables = states_of(writes, run.warehouse, run.store, run.start, state.commit)
    refuse_lost_rows(
        run.store, run.warehouse, run.start,
        consumer=run.new.consumer, sources=run.new.sources, outputs=writes,
    )  # fmt: skip
    with (
        AttemptLease(run.store, state.commit, run.touched, at_least=largest_token(tables)) as token,
        ArrowFrames(run.start, run.warehouse.files, run.warehouse.checkpoints(token)) as arrow,
    ):
        # Not called where an abandoned commit has published every output; one without outputs always is.
        called = outputs or not run.program.writes
        frames, settings = _call(run, run.start(), arrow) if called else NOT_CALLED
        publication = Publication(
            run.warehouse, run.store, commit=state.commit, token=token, states=tables, spark=run.start,
            events=run.events, job=run.params.job, facts=manifest_facts(run.params) | run.new.facts(),
            watermarks=run.new.steps(state.commit), before=before, by=f"program {run.new.consumer}",
            judge=run.judge, beside=run.beside,
        )  # fmt: skip
        with evaluated_once(run.start(), frames, run.program.evaluate_once, run.warehouse, token):
            try:
                with settings:
                    # All are looked at before the first one is written.
                    for ref, _ in outputs:
                        publication.refuse(frames[ref.name], ref)
                    for ref, keys in outputs:
                        publication.stage(frames[ref.name], ref, keys, reads=ref in run.reads.values())
                run.new.check()
            except Exception:
                publication.discard()
                # Another attempt that publishes removes the staging of all: then the work is done.
                now = run.state_of(state.commit)
                if isinstance(now, New):
                    raise
                return now.parts
            published = publication.publish()
    for ref in writes:
        prune_table(ref, run.warehouse, run.store)
    return published


def _call(run: _Run, spark: SparkSession, arrow: ArrowFrames) -> Called:
    """Call the program in a session of its own, and return its outputs as frames of the given session."""
    program, tables = run.program, run.tables(spark)
    with program_session(spark) as own:
        found = tables | run.sources(own)
        run.inputs.update(found)
        given = {name: None if (frame := found[name]) is None else frame_in(own, frame) for name in found}
        in_order = {name: given[name] for name in program.reads}
        if program.sql:
            declared = {name: ref.columns for name, ref in run.reads.items() if ref.columns}
            columns = {name: declared_schema(each) for name, each in declared.items()}
            outputs = run_queries(own, program, in_order, run.params, columns)
            settings = nullcontext()
        else:
            with refused_rows(program.name):
                returned = call_program(
                    program.run, lambda: load_program(program.run)(own, in_order, run.params)
                )
            outputs, settings = outputs_of(program, returned, arrow.frame), settings_of(own, spark)
    if outputs:
        refuse_stopped(spark)
    return {name: frame_in(spark, frame) for name, frame in outputs.items()}, settings


def _refuse_missing(missing: Sequence[DatasetRef], warehouse: Warehouse) -> None:
    """Refuse inputs of other projects without data: they may have it where this project does not look."""
    for ref in missing:
        facts = format_facts(ref.format)
        place = f"the {facts.title} catalog" if facts.in_catalog else str(ref.root(warehouse))
        raise ProgramError(
            f"{ref.id} belongs to another project, and no data of it is in {place}",
            "give both projects the same [warehouse] path and paths_from, and the same [iceberg.catalog];"
            " if it has no data yet, start the run again later",
        )


def _ref(app: str, datasets: Mapping[str, Dataset], name: str, program: Program) -> DatasetRef:
    if name not in datasets:
        raise ProgramError(
            f"program {program.name} uses the dataset {name}, which app {app} does not declare",
            "check the app with: tidegate lint",
        )
    return dataset_ref(app, datasets[name])


def _keys(ref: DatasetRef, params: Params) -> tuple[str, ...]:
    if ref.scheme is None:
        return ALL_OF_IT
    if not params.partitions:
        raise OutputError(
            f"{ref.name} has partitions, but the run was launched without partitions to write",
            "set output_partition of the schedule, or choose partitions when launching by hand",
        )
    for key in params.partitions:
        read = read_key(ref.scheme, key)
        if not isinstance(read, str):
            raise OutputError(f"{ref.name} has no partition {key!r}: {read.summary}", read.hint)
    return tuple(dict.fromkeys(params.partitions))


def _selects(selection: UpstreamSelection, name: str, ref: DatasetRef) -> Callable[[str], bool]:
    return lambda key: selection.reads(name, ref.scheme, key)
