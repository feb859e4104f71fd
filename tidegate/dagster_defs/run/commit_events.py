"""Reports of a publish to the engine, and to Dagster when the run that began it is dead.

A run reports its own commit to Dagster as its output (`dagster_defs.run.program_op`). A commit
that it finishes for a dead run is reported as a materialisation without a run, otherwise the UI
would never show it. The engine receives each publish at least once from here and once more from
Dagster's log, and counts it once (`scheduler.model.event.publish_event_id`).
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime

from dagster import AssetKey, AssetMaterialization, DagsterInstance

from tidegate.dagster_defs.deployed.names import asset_key
from tidegate.dagster_defs.deployed.sizes import size_metadata
from tidegate.dagster_defs.deployed.tags import COMMIT, DATA_VERSION_TAG, PROVISIONAL, REPAIRS
from tidegate.domain.launch_input import without_text
from tidegate.domain.part_name import Ref
from tidegate.domain.published import PartitionFact
from tidegate.scheduler.intake.published import PublishedEvents
from tidegate.scheduler.model.job import LaunchPlan
from tidegate.scheduler.store.patience import patiently
from tidegate.scheduler.store.protocol import Store

log = logging.getLogger(__name__)


class CommitEvents:
    """An implementation of `spark_jobs.commit.context.Events` for a process with a Dagster instance."""

    def __init__(
        self,
        open_store: Callable[[], Store],
        clock: Callable[[], datetime],
        instance: DagsterInstance,
        *,
        own: str | None = None,
        run_id: str | None = None,
    ) -> None:
        """Args:
        own: the commit that this process reports to Dagster as its output.
        run_id: the run that publishes it.
        """
        self._own = own
        self._instance = instance
        self._ours = PublishedEvents(open_store, clock, run_id)
        self._others = PublishedEvents(open_store, clock)

    def reported(self, commit: str, partitions: Sequence[PartitionFact]) -> bool:
        """What counts is whether the engine knows."""
        return patiently(lambda: self._ours.reported(commit, partitions))

    def report(self, commit: str, partitions: Sequence[PartitionFact]) -> None:
        if commit == self._own:
            patiently(lambda: self._ours.report(commit, partitions))
            return
        # Dagster first: a crash in between causes a second report in the UI instead of none.
        launch = patiently(lambda: self._others.launch_of(commit))
        for part in partitions:
            self._report(materialisation(commit, part, launch))
        patiently(lambda: self._others.report(commit, partitions))

    def record_finished(self, commit: str) -> None:
        """The run that publishes its own commit says so by its end."""
        if commit != self._own:
            patiently(lambda: self._others.record_finished(commit))

    def _report(self, event: AssetMaterialization) -> None:
        try:
            self._instance.report_runless_asset_event(event)
        except Exception:
            # Dagster only displays it; the engine, which is notified next, starts the downstream jobs.
            log.warning("could not report %s to Dagster", event.asset_key.to_user_string(), exc_info=True)


def early_metadata(launch: LaunchPlan) -> dict[str, str]:
    """Return the metadata of what a run was launched without, and of the job that it repairs."""
    found = {PROVISIONAL: without_text(launch.provisional), REPAIRS: launch.repairs or ""}
    return {name: text for name, text in found.items() if text}


def materialisation(commit: str, part: PartitionFact, launch: LaunchPlan | None) -> AssetMaterialization:
    """Return the materialisation of a partition whose run is dead.

    Args:
        launch: of the job that published it; None for an external run.
    """
    early = {} if launch is None else early_metadata(launch)
    return AssetMaterialization(
        key_of(part),
        partition=part.key or None,
        description="published by a run that ended before it reported the partition",
        metadata={**size_metadata(part.rows, part.bytes, part.key), COMMIT: commit, **early},
        tags={DATA_VERSION_TAG: commit},
    )


def key_of(part: PartitionFact) -> AssetKey:
    """Return the asset key of a partition's dataset: the named one, or the one of a dataset "app/name"."""
    if part.asset:
        return AssetKey.from_escaped_user_string(part.asset)
    app, name = Ref.of(part.dataset)
    return asset_key(app, name)
