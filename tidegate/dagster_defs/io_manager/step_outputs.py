"""The outputs of one step: staged one after the other, published by one commit sequence with the last one.

    inputs are loaded ─► output staged ─► output staged ─► … the last one: publish, log materialisations
     token is taken       no event yet     no event yet     (or the end of the code, without an optional one)

If the code fails between two outputs, nothing was published and Dagster shows no materialisation.
An output that an earlier attempt published is reported again at once.

The commit id of the outputs of a step: run, step and partitions. The run is the one whose work is done
(`run.commit_id.origin_of`), so a retried step and a re-execution after a failure find what the first
attempt published. The outputs are part of the id only if an earlier attempt published others of the same
step (`spark_jobs.attempt`).
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dagster import AssetMaterialization, AssetSpec, DagsterInstance, DagsterRun, OutputContext
from pyspark.sql import DataFrame, SparkSession

from tidegate.dagster_defs.deployed.column_schema import column_schema
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.sizes import size_metadata
from tidegate.dagster_defs.deployed.tags import COMMIT, DATA_VERSION_TAG
from tidegate.dagster_defs.io_manager import dagster_step
from tidegate.dagster_defs.io_manager.checks import with_deployed
from tidegate.dagster_defs.io_manager.dagster_step import StepExecutionContext
from tidegate.dagster_defs.run.check_events import evaluation
from tidegate.dagster_defs.run.commit_events import CommitEvents
from tidegate.dagster_defs.run.commit_id import origin_of
from tidegate.domain.published import PublishedPartition
from tidegate.scheduler.store.patience import patiently
from tidegate.spark_jobs.attempt import Output, OutputAttempt, PublishedOutput
from tidegate.spark_jobs.checks.compared import Beside
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.programs.params import Params

ID_CHARACTERS = 200
"""A longer id ends with a digest: it is the primary key of a table, and shown in lists."""
DIGEST_DIGITS = 16


def step_commit_id(
    run: DagsterRun,
    instance: DagsterInstance,
    step: str,
    refs: Iterable[DatasetRef],
    keys: Sequence[str],
) -> str:
    """Return the commit id of a step's outputs.

    Args:
        keys: the partitions that the run writes; empty for outputs without partitions.
    """
    origin = origin_of(run, instance, adds=any(ref.write == "append" for ref in refs))
    return bounded(".".join((origin.run_id, step, *_named(keys))))


def bounded(text: str) -> str:
    """Return an id of at most `ID_CHARACTERS`, different for different texts."""
    return text if len(text) <= ID_CHARACTERS else f"{text[:ID_CHARACTERS]}~{_digest([text])}"


def _named(keys: Sequence[str]) -> tuple[str, ...]:
    """Return the part of the id that names the partitions."""
    if len(keys) < 2:
        return tuple(keys)
    # The exact partitions count: a dynamic partition may have been added between two that are named.
    return (f"{keys[0]}...{keys[-1]}", _digest(keys))


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:DIGEST_DIGITS]


CODE_VERSION_TAG = "dagster/code_version"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asset:
    """An output of the step.

    Attributes:
        partitions: the partitions that the run writes; empty for an asset without partitions.
    """

    spec: AssetSpec
    ref: DatasetRef
    partitions: tuple[str, ...]

    def output(self) -> Output:
        """Return it as an output of an attempt. Keys of several dimensions become plain texts."""
        return Output(ref=self.ref, keys=tuple("".join(key) for key in self.partitions) or ("",))


class StepOutputs:
    """The outputs of one attempt of a step that one IO manager handles.

    Attributes:
        step: the attempt of the step; a retry is another object.
        waiting: the staged outputs, with the metadata that the step's code gave them.
    """

    def __init__(
        self,
        step: StepExecutionContext,
        outputs: Mapping[str, tuple[OutputContext, DatasetRef]],
        location: Location,
        spark: Callable[[], SparkSession],
    ) -> None:
        """Args:
        outputs: the selected outputs that the IO manager will handle, by name.
        spark: starts the session, or returns the one of this process.
        """
        self.step = step
        self.waiting: dict[str, dict[str, Any]] = {}
        self._assets: dict[str, Asset] = {}
        self._attempt: OutputAttempt | None = None
        if not outputs:
            return
        with patiently(location.open_store).reading() as reader:
            refs, beside = with_deployed(reader, [ref for _, ref in outputs.values()])
        for (name, (context, _)), ref in zip(outputs.items(), refs, strict=True):
            self._assets[name] = Asset(spec=context.asset_spec, ref=ref, partitions=_partitions(context))
        self._attempt = self._open(location, spark, beside)

    def begin(self) -> None:
        """Take the token, before the code of the step reads its inputs."""
        if self._attempt is not None:
            self._attempt.begin()

    def take(self, context: OutputContext, frame: DataFrame) -> None:
        """Stage an output, and publish if it is the last one."""
        attempt, name = self._attempt, context.name
        assert attempt is not None, "a handled output is one of the outputs"
        attempt.stage(name, frame)
        if name in attempt.published:
            self._report(context, attempt.published[name])
            return
        self.waiting[name] = dict(context.output_metadata)
        if all(other in self.waiting or other in attempt.published for other in self._assets):
            self._publish(attempt)
            self.waiting.pop(name)
            for event in self._waiting_events(attempt):
                context.log_event(event)
            self._report(context, attempt.published[name])
        else:
            dagster_step.withhold_materialisation(context)

    def end(self) -> None:
        """Publish what has waited for an output that the step has left out."""
        attempt = self._attempt
        assert attempt is not None, "an output waits"
        self._publish(attempt)
        for event in self._waiting_events(attempt):
            dagster_step.log_materialisation(self.step, event)

    def discard(self) -> None:
        """End the attempt; what it has staged and not published is removed."""
        if self._attempt is not None:
            self._attempt.discard()

    def _open(self, location: Location, spark: Callable[[], SparkSession], beside: Beside) -> OutputAttempt:
        step, run = self.step, self.step.dagster_run
        partitioned = [asset.partitions for asset in self._assets.values() if asset.partitions]
        refs = [asset.ref for asset in self._assets.values()]
        keys = partitioned[0] if partitioned else ()
        params = Params(partitions=tuple("".join(key) for key in keys), job=run.run_id)
        return OutputAttempt(
            location.warehouse,
            patiently(location.open_commits),
            commit=step_commit_id(run, step.instance, step.step.key, refs, keys),
            outputs={name: asset.output() for name, asset in self._assets.items()},
            job=run.run_id,
            by=f"step {step.step.key}",
            spark=spark,
            events=lambda commit: CommitEvents(
                location.open_store, location.clock, step.instance, own=commit, run_id=run.run_id
            ),
            beside=replace(beside, params=params),
        )

    def _publish(self, attempt: OutputAttempt) -> None:
        """Publish all outputs of the step, or withhold them, and report what their checks have found.

        The definitions of the assets are not ours, so the results are none of the run's planned checks.
        """
        keys = {asset.ref.id: asset.spec.key for asset in self._assets.values()}
        try:
            attempt.publish()
        finally:
            for verdict in attempt.verdicts:
                event = evaluation(verdict, keys[verdict.dataset])
                self.step.instance.report_runless_asset_event(event)

    def _report(self, context: OutputContext, output: PublishedOutput) -> None:
        """Add the facts of an output to the materialisations that Dagster logs for it."""
        asset = self._assets[context.name]
        schema = column_schema(asset.ref.columns)
        facts = {part.key: facts_of(part, output.commit) | schema for part in output.parts}
        dagster_step.add_facts(context, facts, output.commit, partitions=asset.partitions)

    def _waiting_events(self, attempt: OutputAttempt) -> Iterator[AssetMaterialization]:
        """Yield the materialisations of the outputs that were staged before the last one."""
        waiting, self.waiting = self.waiting, {}
        for name, given in waiting.items():
            asset, output = self._assets[name], attempt.published[name]
            tags = {DATA_VERSION_TAG: output.commit}
            if asset.spec.code_version:
                tags[CODE_VERSION_TAG] = asset.spec.code_version
            for partition, part in zip(asset.partitions or (None,), output.parts, strict=True):
                metadata = dagster_step.metadata_of(self.step, asset.spec.key, partition)
                facts = facts_of(part, output.commit) | column_schema(asset.ref.columns)
                yield AssetMaterialization(
                    asset.spec.key, partition=partition, metadata={**given, **metadata, **facts}, tags=tags
                )


def facts_of(part: PublishedPartition, commit: str) -> dict[str, Any]:
    """Return the metadata of the materialisation of a published partition."""
    return {**size_metadata(part.rows, part.bytes, part.key), "files": part.files, COMMIT: commit}


def _partitions(context: OutputContext) -> tuple[str, ...]:
    if context.has_asset_partitions:
        return tuple(context.asset_partition_keys)
    if context.asset_spec.partitions_def is not None:
        raise OutputError(
            f"{context.asset_key.to_user_string()} has partitions, but the run was launched without any",
            "launch the run for a partition or for a range of partitions",
        )
    return ()
