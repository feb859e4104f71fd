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
from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.model import Dataset, PartitionScheme, Program
from tidegate.domain.model.table_format import format_facts
from tidegate.domain.partition_key import validate_key
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.commit.context import CommitContext, Events, NoEvents
from tidegate.spark_jobs.commit.lease import AttemptLease
from tidegate.spark_jobs.commit.outputs import published_before
from tidegate.spark_jobs.commit.publish import id_to_publish, recover, resolve
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, dataset_ref
from tidegate.spark_jobs.datasets.key_selection import UpstreamSelection
from tidegate.spark_jobs.datasets.row_refusal import refused_rows
from tidegate.spark_jobs.datasets.table_state import TableState
from tidegate.spark_jobs.errors import CommitConflict, CommitFenced, OutputError, ProgramError
from tidegate.spark_jobs.incremental.lost_rows import refuse_lost_rows
from tidegate.spark_jobs.incremental.reads import IncrementalReads, manifest_facts
from tidegate.spark_jobs.programs.calling import call_program
from tidegate.spark_jobs.programs.loading import load_program
from tidegate.spark_jobs.programs.own_session import (
    frame_in,
    program_session,
    refuse_stopped,
    settings_of,
)
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.programs.program import outputs_of
from tidegate.spark_jobs.publication.evaluate_once import evaluated_once
from tidegate.spark_jobs.publication.table import (
    Publication,
    largest_token,
    prune_table,
    read_selected,
    states_of,
)

log = logging.getLogger(__name__)

ALL_OF_IT = ("",)
"""The keys of a dataset without partitions."""

Called = tuple[Mapping[str, DataFrame], AbstractContextManager[None]]
"""The outputs of a program, and what gives the session the other settings of the program."""
NOT_CALLED: Called = ({}, nullcontext())

NO_UPSTREAM: Mapping[str, tuple[str, ...]] = {}


def run_program(
    spark: SparkSession | Callable[[], SparkSession],
    warehouse: Warehouse,
    commit_store: CommitStepStore,
    *,
    app: str,
    program: Program,
    datasets: Mapping[str, Dataset],
    params: Params,
    commit_id: str,
    events: Events | None = None,
    elsewhere: Collection[str] = (),
    upstream: Mapping[str, tuple[str, ...]] = NO_UPSTREAM,
) -> tuple[PublishedPartition, ...]:
    """Run a program and publish its outputs exactly once.

    An input holds what `UpstreamSelection` says, an incremental one what is new since its last run. A missing
    partition is an error only if it is landed and was reported. A dataset that never had data is None.

    Args:
        spark: the session, or a function that starts it; it is not started to return a known result.
        datasets: the app's datasets by name, and those of other apps that it reads by "app/name".
        params: what the run was launched for; `params.partitions` are the keys it writes.
        commit_id: the same for every attempt of one job, and unique to that job; see `id_to_publish`.
        events: receives the published partitions; None means that they are not reported.
        elsewhere: inputs that belong to other projects; where they have no data here, the run fails.
        upstream: what the upstream instances of an instance of a task are about, by input.

    Returns:
        One entry for each published partition; a repeated call returns the same.

    Raises:
        SparkJobError: a failure that a user can act upon, see `errors.py`.
    """
    writes = [_ref(app, datasets, name, program) for name in program.writes]
    keys = {ref.name: _keys(ref, params) for ref in writes}
    start = spark if callable(spark) else lambda: spark
    context = CommitContext(files=warehouse.files, spark=start, events=events or NoEvents())
    reads = {name: _ref(app, datasets, name, program) for name in program.reads}
    new = _new_rows(app, program, reads, warehouse, commit_store, params)
    touched = [ref.id for ref in writes] + [new.resource(reads[name]) for name in program.incremental]
    recover(touched, commit_store, context)
    before = _before(commit_id, program, writes, keys, commit_store)
    commit_id = id_to_publish(commit_id, commit_store)
    already = partial(_published, commit_id, program, commit_store, context)
    published = already()
    if published is not None:
        return published
    scheme, writes = _output_scheme(writes, program), [ref for ref in writes if ref not in before]
    # The token is taken before the inputs are read: a run with a larger token reads at least the same rows.
    states = _states(writes, warehouse, commit_store, start, commit_id, new)
    with AttemptLease(commit_store, commit_id, touched, at_least=largest_token(states)) as token:
        outputs, settings = NOT_CALLED
        # Not called where an abandoned commit has published every output; one without outputs always is.
        if writes or not program.writes:
            selection = UpstreamSelection(scheme, params.partitions, upstream, own=program.writes)
            inputs = _Inputs(program, reads, selection, warehouse, new, params, elsewhere)
            outputs, settings = _call(inputs, start())
        publication = Publication(
            warehouse, commit_store, commit=commit_id, token=token, states=states, spark=start, events=events,
            job=params.job, facts=manifest_facts(params) | new.facts(), watermarks=new.steps(commit_id),
            before=before,
        )  # fmt: skip
        staged = [(outputs[ref.name], ref, keys[ref.name], ref in reads.values()) for ref in writes]
        with evaluated_once(start(), outputs, program.evaluate_once, warehouse, token):
            published = _publish(publication, staged, settings, new, already)
    for ref in writes:
        prune_table(ref, warehouse, commit_store)
    return published


def _new_rows(
    app: str,
    program: Program,
    reads: Mapping[str, DatasetRef],
    warehouse: Warehouse,
    store: CommitStepStore,
    params: Params,
) -> IncrementalReads:
    sources = [reads[name].id for name in program.incremental]
    return IncrementalReads(
        store, warehouse, consumer=f"{app}/{program.name}", params=params, sources=sources
    )


def _states(
    writes: Sequence[DatasetRef],
    warehouse: Warehouse,
    store: CommitStepStore,
    start: Callable[[], SparkSession],
    commit: str,
    new: IncrementalReads,
) -> dict[str, TableState]:
    """Return the state of each output, unless a table is newer than the store, or older than a watermark."""
    states = states_of(writes, warehouse, store, start, commit)
    refuse_lost_rows(store, warehouse, start, consumer=new.consumer, sources=new.sources, outputs=writes)
    return states


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What a program receives.

    Attributes:
        elsewhere: see `run_program`.
    """

    program: Program
    reads: Mapping[str, DatasetRef]
    selection: UpstreamSelection
    warehouse: Warehouse
    new: IncrementalReads
    params: Params
    elsewhere: Collection[str]

    def of_tables(self, spark: SparkSession) -> dict[str, DataFrame | None]:
        """Return the rows of the inputs that table formats read."""
        found: dict[str, DataFrame | None] = {}
        for name, ref in self.reads.items():
            how = self.program.incremental.get(name, False)
            if how is True:
                found[name] = self.new.read(spark, ref, how, self.selection)
            elif not how:
                reported = self.params.manifest.get(name, ())
                selects = _selects(self.selection, name, ref)
                found[name] = read_selected(spark, ref, self.warehouse, selects, reported)
        missing = [self.reads[name] for name in self.elsewhere if found.get(name, 0) is None]
        _refuse_missing(missing, self.warehouse)
        return found

    def of_sources(self, spark: SparkSession) -> dict[str, DataFrame | None]:
        """Return the rows of the inputs that a user's own sources read."""
        sources = ((name, how) for name, how in self.program.incremental.items() if isinstance(how, str))
        return {name: self.new.read(spark, self.reads[name], how, self.selection) for name, how in sources}


def _call(inputs: _Inputs, spark: SparkSession) -> Called:
    """Call the program in a session of its own, and return its outputs as frames of the given session."""
    program, tables = inputs.program, inputs.of_tables(spark)
    with program_session(spark) as own:
        found = tables | inputs.of_sources(own)
        given = {name: None if (frame := found[name]) is None else frame_in(own, frame) for name in found}
        in_order = {name: given[name] for name in program.reads}
        with refused_rows(program.name):
            returned = call_program(
                program.run, lambda: load_program(program.run)(own, in_order, inputs.params)
            )
        outputs = outputs_of(program, returned)
    if outputs:
        refuse_stopped(spark)
    return {name: frame_in(spark, frame) for name, frame in outputs.items()}, settings_of(own, spark)


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


def _before(
    commit: str,
    program: Program,
    writes: Sequence[DatasetRef],
    keys: Mapping[str, tuple[str, ...]],
    commit_store: CommitStepStore,
) -> dict[DatasetRef, tuple[PublishedPartition, ...]]:
    """Return the outputs that an abandoned commit of the same work has published; they are not repeated.

    None for a program that reads only what is new: it may read more rows than the abandoned commit did.
    """
    published = {} if program.incremental else published_before(commit, commit_store)
    found: dict[DatasetRef, tuple[PublishedPartition, ...]] = {}
    for ref in writes:
        parts = published.get(ref.id, ())
        if {part.key for part in parts} >= {*keys[ref.name]}:
            found[ref] = parts
            log.warning(
                "%s: %s has the rows of the abandoned commit %s already, and is not written again",
                program.name, ref.id, commit,
            )  # fmt: skip
    return found


def _publish(
    publication: Publication,
    outputs: Sequence[tuple[DataFrame, DatasetRef, tuple[str, ...], bool]],
    settings: AbstractContextManager[None],
    new: IncrementalReads,
    already: Callable[[], tuple[PublishedPartition, ...] | None],
) -> tuple[PublishedPartition, ...]:
    """Stage and publish the outputs, unless another attempt has published them meanwhile.

    Args:
        outputs: the rows of each, its dataset and partitions, and whether the program reads that dataset too.
        settings: gives the session the settings of the program while its plans are executed.
    """
    try:
        with settings:
            for frame, ref, keys, reads in outputs:
                publication.stage(frame, ref, keys, reads=reads)
        new.check()
    except Exception:
        publication.discard()
        # Another attempt that publishes removes the staging of all: then the work is done.
        published = already()
        if published is None:
            raise
        return published
    try:
        return publication.publish()
    except (CommitConflict, CommitFenced):
        # After these two failures alone, the staged output can never be published.
        publication.discard()
        raise


def _published(
    commit: str, program: Program, commit_store: CommitStepStore, context: CommitContext
) -> tuple[PublishedPartition, ...] | None:
    """Return what any attempt published under this commit id; None when nothing was published."""
    published = resolve(commit, commit_store, context)
    if published is not None:
        log.warning("%s: commit %s is already published; skipping the run", program.name, commit)
    return published


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
        fault = validate_key(ref.scheme, key)
        if fault is not None:
            raise OutputError(
                f"{ref.name} has no partition {key!r}: {fault}", "launch the run for partitions that exist"
            )
    return tuple(dict.fromkeys(params.partitions))


def _output_scheme(writes: list[DatasetRef], program: Program) -> PartitionScheme | None:
    schemes = {ref.name: ref.scheme for ref in writes if ref.scheme is not None}
    first = next(iter(schemes.values()), None)
    for scheme in schemes.values():
        if first is not None and scheme.dimension_names() != first.dimension_names():
            raise OutputError(
                f"program {program.name}: the outputs {', '.join(schemes)} have different partitions",
                "let one program write datasets with the same partitions, or without partitions",
            )
    return first


def _selects(selection: UpstreamSelection, name: str, ref: DatasetRef) -> Callable[[str], bool]:
    return lambda key: selection.reads(name, ref.scheme, key)
