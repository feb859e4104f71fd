"""Who is told of a publish: the engine, and for the publish of a run that is gone, Dagster too.

A run that finishes its own commit speaks to Dagster itself (`dagster_defs.run.program_op`). What it
finishes for another, dead run would never be seen in the UI: that is reported as a
materialisation without a run. The engine hears of each publish at least once from here and
once more from Dagster's log, and counts it once (`scheduler.model.event.publish_event_id`).
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime

from dagster import AssetKey, AssetMaterialization, DagsterInstance

from tidegate.dagster_defs.definitions.names import asset_key
from tidegate.dagster_defs.run.tags import COMMIT, DATA_VERSION_TAG
from tidegate.domain.published import PartitionFact
from tidegate.scheduler.intake.published import PublishedEvents
from tidegate.scheduler.store.protocol import Store

log = logging.getLogger(__name__)


class CommitEvents:
    """Fulfils `spark_jobs.commit.context.Events` in a process that has a Dagster instance."""

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
        own: the commit that this process reports to Dagster in another way.
        run_id: the run that publishes it.
        """
        self._own = own
        self._instance = instance
        self._ours = PublishedEvents(open_store, clock, run_id)
        self._others = PublishedEvents(open_store, clock)

    def reported(self, commit: str, partitions: Sequence[PartitionFact]) -> bool:
        """See `Events.reported`: what counts is whether the engine knows."""
        return self._ours.reported(commit, partitions)

    def report(self, commit: str, partitions: Sequence[PartitionFact]) -> None:
        """See `Events.report`."""
        if commit == self._own:
            self._ours.report(commit, partitions)
            return
        # First Dagster: a death in between leaves a second report in the UI instead of none.
        for part in partitions:
            self._report(commit, part)
        self._others.report(commit, partitions)

    def _report(self, commit: str, part: PartitionFact) -> None:
        try:
            self._instance.report_runless_asset_event(materialisation(commit, part))
        except Exception:
            # Dagster only shows it. What is started by it is started by the engine, which is told next.
            log.warning("could not report %s %s to Dagster", part.dataset, part.key, exc_info=True)


def materialisation(commit: str, part: PartitionFact) -> AssetMaterialization:
    """What Dagster is told of a partition whose run is gone."""
    return AssetMaterialization(
        key_of(part.dataset),
        partition=part.key or None,
        description="published by a run that ended before it could say so",
        metadata={"rows": part.rows, "bytes": part.bytes, COMMIT: commit},
        tags={DATA_VERSION_TAG: commit},
    )


def key_of(dataset: str) -> AssetKey:
    """The asset of a dataset "app/name"."""
    app, _, name = dataset.partition("/")
    return asset_key(app, name)
