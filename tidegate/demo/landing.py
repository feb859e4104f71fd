"""Landing: put a delivery of the feeds into the project and tell Dagster that it is there.

The file comes first, then the event: a crash in between leaves a file that nobody heard of,
and landing it again writes the same file and reports it. A delivery reported twice is one
partition that came twice, which the triggers know how to count.
"""

from collections.abc import Sequence
from pathlib import Path

from dagster import AssetKey, AssetMaterialization, DagsterInstance

from tidegate.demo.feed import Chunk, Landed, chunk_key, land
from tidegate.project.settings import Settings

APP = "flights"
FOLDER = "landing"


class Landing:
    """The landing place of a project, and the Dagster instance that hears of it."""

    def __init__(self, settings: Settings, instance: DagsterInstance) -> None:
        self._root: Path = settings.project / FOLDER
        self._instance = instance

    def deliver(self, chunk: Chunk) -> Landed:
        """Land one delivery and report it.

        Raises:
            FeedError: there is nothing to land for it.
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
        """The deliveries of a plan that Dagster has not heard of yet, in the order of the plan."""
        known = {dataset: self._known(dataset) for dataset in {chunk_key(chunk)[0] for chunk in plan}}
        return tuple(chunk for chunk in plan if chunk_key(chunk)[1] not in known[chunk_key(chunk)[0]])

    def _known(self, dataset: str) -> set[str]:
        """The partitions of a dataset that were reported; "" for one without partitions."""
        asset = AssetKey([APP, dataset])
        if self._instance.get_latest_materialization_event(asset) is None:
            return set()
        return {"", *self._instance.get_materialized_partitions(asset)}
