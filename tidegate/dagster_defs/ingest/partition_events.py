"""From a materialisation in Dagster's log to a partition event of the engine.

Reports from outside (`raw_flights` has landed) and outputs of runs are alike here: an asset of
ours was materialised, so its partition is new data. What one of our commits has published, the
engine may have been told of already (`scheduler.intake.published`): then this is the same event. A
report for a partition that the dataset cannot have is not passed on, since Dagster's report API
checks nothing; it is told in the tick.
"""

from datetime import datetime

from dagster import AssetMaterialization, EventLogEntry, IntMetadataValue, MetadataValue, TextMetadataValue

from tidegate.dagster_defs.definitions.asset_plan import AssetPlan
from tidegate.dagster_defs.ingest.event_log import instant_of
from tidegate.dagster_defs.ingest.position import content_id
from tidegate.dagster_defs.run.tags import COMMIT
from tidegate.domain.model import Dataset
from tidegate.domain.partition_key import validate_key
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key, publish_event_id

BYTES_KEYS = ("bytes", "dagster/size_bytes", "size_bytes")
ROWS_KEYS = ("rows", "dagster/row_count", "row_count")


class Unusable(Exception):
    """A report that names no partition of its dataset."""


def partition_event(entry: EventLogEntry, body: str, plan: AssetPlan, now: datetime) -> Event | None:
    """The event of a materialisation; None for an asset that is none of our datasets.

    Raises:
        Unusable: the partition is not one of the dataset.
    """
    materialization = entry.asset_materialization
    if materialization is None or materialization.asset_key not in plan.datasets:
        return None
    app, dataset = plan.datasets[materialization.asset_key]
    partition = _partition(materialization, app, dataset)
    commit = materialization.metadata.get(COMMIT)
    at = instant_of(entry, now)
    # A log stamped ahead of our clock must not make the event wait until then.
    arrived = min(at, now)
    return Event(
        id=(
            publish_event_id(commit.text or "", f"{app}/{dataset.name}", partition)
            if isinstance(commit, TextMetadataValue)
            else content_id(body)
        ),
        kind=EventKind.PARTITION,
        key=partition_event_key(app, dataset.name),
        time=at,
        arrived=arrived,
        partition=partition,
        bytes=_number(materialization, BYTES_KEYS),
        rows=_number(materialization, ROWS_KEYS),
        run_id=entry.run_id or None,
        detail=materialization.description or "",
    )


def _partition(materialization: AssetMaterialization, app: str, dataset: Dataset) -> str:
    key = materialization.partition
    name = f"{app}/{dataset.name}"
    if dataset.partitions is None:
        if key is not None:
            raise Unusable(f"{name} has no partitions, but one was reported: {key}")
        return ""
    if key is None:
        raise Unusable(f"{name} has partitions, but it was reported without one")
    wrong = validate_key(dataset.partitions, str(key))
    if wrong is not None:
        raise Unusable(f"{name}: {wrong}")
    return str(key)


def _number(materialization: AssetMaterialization, names: tuple[str, ...]) -> int | None:
    for name in names:
        value: MetadataValue | None = materialization.metadata.get(name)
        if isinstance(value, IntMetadataValue) and value.value is not None:
            return value.value
    return None
