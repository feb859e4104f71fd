"""Landing: write a delivery of the feeds into the project and report it to Dagster.

The file is written first, then the event: a crash in between leaves an unreported file, and
landing it again writes the same file and reports it. A delivery reported twice is the same
partition twice, which triggers count once.
"""

from collections.abc import Sequence
from pathlib import Path

from dagster import AssetKey, AssetMaterialization, DagsterInstance

from tidegate.demo.feed import Chunk, Landed, chunk_key, land
from tidegate.project.settings.settings import Settings

APP = "flights"
FOLDER = "landing"


class Landing:
    """The landing folder of a project, and the Dagster instance that receives the reports."""

    def __init__(self, settings: Settings, instance: DagsterInstance) -> None:
        self._root: Path = settings.project / FOLDER
        self._instance = instance

    def deliver(self, chunk: Chunk) -> Landed:
        """Land one delivery and report it.

        Raises:
            FeedError: the source has no data for it.
        """
        landed = land(self._root, chunk)
        self._instance.report_runless_asset_event(
            AssetMaterialization(
                asset_key=AssetKey([APP, landed.dataset]),
                partition=landed.key or None,
                metadata={"rows": landed.rows, "bytes": landed.bytes},
            )
        )
        return landed

    def missing(self, plan: Sequence[Chunk]) -> tuple[Chunk, ...]:
        """Return the deliveries of a plan that are not reported to Dagster, in the order of the plan."""
        reported = {dataset: self._reported(dataset) for dataset in {chunk_key(chunk)[0] for chunk in plan}}
        return tuple(chunk for chunk in plan if chunk_key(chunk)[1] not in reported[chunk_key(chunk)[0]])

    def _reported(self, dataset: str) -> set[str]:
        """Return the reported partitions of a dataset; "" for a dataset without partitions."""
        asset = AssetKey([APP, dataset])
        if self._instance.get_latest_materialization_event(asset) is None:
            return set()
        return {"", *self._instance.get_materialized_partitions(asset)}
