"""The work of `TidegateIOManager`: publishes the outputs of steps, and reads one snapshot for an input.

It lives as long as the resource: for a run, or for a step in a process of its own.
"""

import logging
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from dagster import (
    AssetKey,
    Failure,
    InputContext,
    IOManager,
    OutputContext,
    PartitionsDefinition,
    RetryRequested,
)
from pyspark.sql import DataFrame, SparkSession

from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.io_manager import dagster_step
from tidegate.dagster_defs.io_manager.dagster_step import StepExecutionContext
from tidegate.dagster_defs.io_manager.pyspark_resource import renew
from tidegate.dagster_defs.io_manager.step_outputs import StepOutputs
from tidegate.dagster_defs.run import cleaning
from tidegate.dagster_defs.run.program_op import RETRY_WAIT_SECONDS, STEP_RETRIES
from tidegate.dagster_defs.run.spark_loss import spark_loss
from tidegate.domain.error import UserError
from tidegate.domain.wording import full_name
from tidegate.scheduler.store.error import StoreAway, StoreError
from tidegate.scheduler.store.patience import patiently
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import CommitConflict, CommitFenced, OutputError, SparkLost
from tidegate.spark_jobs.java import jvm
from tidegate.spark_jobs.publication.table import read
from tidegate.spark_jobs.session.table_settings import table_settings

log = logging.getLogger(__name__)

ALLOW_MISSING = "allow_missing_partitions"
"""Dagster's own metadata of an input: reading partitions that were never materialised is legal."""


RefOf = Callable[[AssetKey, Mapping[str, Any], PartitionsDefinition | None], DatasetRef]
"""Returns the dataset of an asset, from its key, metadata and partitions."""


class AssetTables:
    """The tables of the assets of one IO manager.

    Args:
        manager: the IO manager as Dagster knows it.
        spark: starts the session, or returns the one of this process.
    """

    def __init__(
        self, manager: IOManager, ref_of: RefOf, location: Location, spark: Callable[[], SparkSession]
    ) -> None:
        self._manager, self._ref_of, self._location, self._spark = manager, ref_of, location, spark
        self._steps: dict[str, StepOutputs] = {}

    def handle_output(self, context: OutputContext, value: object) -> None:
        """Stage an output of a step; with the last one, publish all of them."""
        step = dagster_step.step_of(context)
        if step is None or not context.has_asset_key:
            raise OutputError(
                f"output {context.name} is not the output of an asset in a run",
                "use TidegateIOManager for assets, and another IO manager for the outputs of ops",
            )
        with self._acting(step):
            frame = _frame(context.asset_key, value)
            with table_settings(frame.sparkSession):
                self._outputs_of(step).take(context, frame)

    def load_input(self, context: InputContext) -> DataFrame | None:
        """Return the rows of the input's partitions from one published snapshot.

        Return None if the asset was never published: its columns are not known.
        """
        step = dagster_step.step_of(context)
        with self._acting(step):
            if step is not None:
                # The JVM may have ended in the code of an earlier try.
                self._renew_resources(step)
            ref, keys = self._input(context), _keys(context)
            with table_settings(self._spark()):
                if step is not None:
                    # A run with a larger token has read at least the same rows.
                    self._outputs_of(step)
                rows = read(self._spark(), ref, self._location.warehouse, keys)
                # Another instance of Dagster, or one that `dagster asset materialize` has forgotten, may have
                # published them.
                if step is not None and _none_known(context, keys) and (rows is None or rows.isEmpty()):
                    raise _missing(context, keys)
        if rows is None:
            log.warning("%s was never published, so its reader gets None", ref.id)
        return rows

    def close(self) -> None:
        """End all attempts; what was staged and not published is removed."""
        for outputs in self._steps.values():
            try:
                outputs.discard()
            except (UserError, OSError) as error:
                log.warning("the staging of step %s is left to recovery: %s", outputs.step.step.key, error)
        self._steps.clear()

    def _outputs_of(self, step: StepExecutionContext) -> StepOutputs:
        known = self._steps.get(step.step.key)
        if known is not None and known.step is step:
            return known
        if known is not None:
            # The step is tried again.
            known.discard()
        made = StepOutputs(
            step,
            {
                name: (output, self._ref_of(*dagster_step.asset_of(output)))
                for name, output in dagster_step.handled_outputs(step, self._manager).items()
            },
            self._location,
            self._spark,
        )
        self._steps[step.step.key] = made
        made.begin()
        dagster_step.at_end(step, lambda: self._end(made))
        return made

    def _end(self, outputs: StepOutputs) -> None:
        """Publish what has waited for an output that a step has left out."""
        if outputs.waiting:
            with self._acting(outputs.step), table_settings(self._spark()):
                outputs.end()

    def _input(self, context: InputContext) -> DatasetRef:
        if not context.has_asset_key or context.upstream_output is None:
            raise OutputError(
                f"input {context.name} is not an asset",
                "use TidegateIOManager for assets, and another IO manager for the outputs of ops",
            )
        metadata = context.upstream_output.definition_metadata
        return self._ref_of(context.asset_key, metadata, dagster_step.partitions_def_of(context))

    @contextmanager
    def _acting(self, step: StepExecutionContext | None) -> Generator[None, None, None]:
        """Turn an expected failure of a step into Dagster's result: a retry if the failure is transient."""
        since = jvm.ends()
        try:
            yield
        except Exception as error:
            expected = spark_loss(error, since) or error
            if step is None or not isinstance(expected, UserError | OSError):
                raise
            raise self._failure(step, expected) from error

    def _failure(self, step: StepExecutionContext, error: UserError | OSError) -> Failure | RetryRequested:
        if isinstance(error, OSError | SparkLost):
            # If the staging was unreachable, the run could not remove it.
            self._request_cleaning()
        transient = isinstance(error, OSError | CommitConflict | CommitFenced | SparkLost | StoreAway)
        if transient and step.previous_attempt_count < STEP_RETRIES:
            if isinstance(error, SparkLost):
                self._replace_session(step)
            step.log.warning(f"retry in {RETRY_WAIT_SECONDS} s with the same commit id: {error}")
            return RetryRequested(max_retries=STEP_RETRIES, seconds_to_wait=RETRY_WAIT_SECONDS)
        return Failure(description=str(error), allow_retries=False)

    def _request_cleaning(self) -> None:
        try:
            patiently(lambda: cleaning.request(self._location.open_store(), self._location.project))
        except StoreError as error:
            log.warning("the staging of a failed step is left to `tidegate commits fsck`: %s", error)

    def _replace_session(self, step: StepExecutionContext) -> None:
        """Start another session now: a further try in this process may begin with the code of the asset."""
        try:
            self._renew_resources(step)
            self._spark()
        except Exception as error:  # noqa: BLE001 -- the failure of the step is what has to be seen
            log.warning("no other session was started: %s", error)

    def _renew_resources(self, step: StepExecutionContext) -> None:
        """Give the step's resources a session that works, before the first session starts the JVM without
        their settings."""
        for resource in dagster_step.resources_of(step):
            renew(resource)


def _frame(key: AssetKey, value: object) -> DataFrame:
    if isinstance(value, DataFrame):
        return value
    raise OutputError(
        f"{key.to_user_string()}: the asset must return a Spark DataFrame, got {full_name(value)}",
        "convert it with spark.createDataFrame; an asset that writes its data itself has the annotation"
        " `-> None`, and no IO manager is called",
    )


def _keys(context: InputContext) -> tuple[str, ...] | None:
    """Return the partitions to read; None for an asset without partitions, or for all of them."""
    if not context.has_asset_partitions:
        return None
    return tuple("".join(key) for key in context.asset_partition_keys)


def _none_known(context: InputContext, keys: tuple[str, ...] | None) -> bool:
    """Return whether this instance has materialised none of the partitions, and that is not allowed."""
    if not keys or (context.definition_metadata or {}).get(ALLOW_MISSING):
        return False
    return context.instance.get_materialized_partitions(context.asset_key).isdisjoint(keys)


def _missing(context: InputContext, keys: tuple[str, ...] | None) -> OutputError:
    keys = keys or ()
    shown = ", ".join(keys[:3]) + (", …" if len(keys) > 3 else "")
    return OutputError(
        f"{context.asset_key.to_user_string()}: partition {shown} was never materialised",
        f'materialise it first, or give the input the metadata {{"{ALLOW_MISSING}": True}}',
    )
