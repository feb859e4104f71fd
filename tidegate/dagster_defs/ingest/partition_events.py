"""The conversion of a materialisation in Dagster's log to a partition event of the engine.

External reports (`raw_flights` has landed) and outputs of runs are handled alike: an asset of the
project was materialised, so its partition has new data. The engine may already have the event of a
publish (`scheduler.intake.published`): then both have the same id. A report for a partition that
the dataset cannot have is refused and logged in the tick, since Dagster's report API does not
validate partitions.
"""

from collections.abc import Mapping
from datetime import datetime

from dagster import AssetMaterialization, EventLogEntry, IntMetadataValue, MetadataValue, TextMetadataValue

from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.names import asset_key
from tidegate.dagster_defs.deployed.tags import COMMIT, EVENT
from tidegate.dagster_defs.ingest.event_log import instant_of
from tidegate.dagster_defs.ingest.position import content_id
from tidegate.domain.model import Dataset
from tidegate.domain.partition_key import validate_key
from tidegate.scheduler.intake.report import RefusedReport
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key, publish_event_id

BYTES_KEYS = ("bytes", "dagster/size_bytes", "size_bytes")
ROWS_KEYS = ("rows", "dagster/row_count", "row_count")


NO_FORMER_NAMES: Mapping[str, str] = {}


class Unusable(Exception):
    """A report whose partition is not valid for its dataset."""


def partition_event(
    entry: EventLogEntry,
    body: str,
    plan: AssetPlan,
    now: datetime,
    former: Mapping[str, str] = NO_FORMER_NAMES,
) -> Event | RefusedReport | None:
    """Return the event of a materialisation, or the refused report; None for an asset of others.

    Args:
        former: the present name of each former name of a dataset, "app/name".
    """
    materialization = entry.asset_materialization
    if materialization is None:
        return None
    try:
        return _event(entry, materialization, body, plan, now, former)
    except Unusable as error:
        app, *rest = materialization.asset_key.path
        return RefusedReport(
            id=content_id(body),
            at=instant_of(entry, now),
            key=partition_event_key(app, "/".join(rest)),
            partition=str(materialization.partition or ""),
            reason=str(error),
        )


def _event(
    entry: EventLogEntry,
    materialization: AssetMaterialization,
    body: str,
    plan: AssetPlan,
    now: datetime,
    former: Mapping[str, str],
) -> Event | None:
    key, reported = materialization.asset_key, "/".join(materialization.asset_key.path)
    if key not in plan.datasets and reported in former:
        key = asset_key(*former[reported].split("/"))
    if key not in plan.datasets:
        # Other code locations have assets too; what is named after one of our apps is meant for it.
        if len(key.path) == 2 and plan.revision(key.path[0]) is not None and key not in plan.program_of:
            raise Unusable(f"app {key.path[0]} has no dataset {key.path[1]}")
        return None
    app, dataset = plan.datasets[key]
    partition = _partition(materialization, app, dataset)
    at = instant_of(entry, now)
    # A log time ahead of this clock must not delay the event.
    arrived = min(at, now)
    return Event(
        id=_id(materialization, body, reported, partition),
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


def _id(materialization: AssetMaterialization, body: str, dataset: str, partition: str) -> str:
    """Return the id of the event: that which the engine has given it, if it knows of it already."""
    known, commit = materialization.metadata.get(EVENT), materialization.metadata.get(COMMIT)
    if isinstance(known, TextMetadataValue) and known.text:
        return known.text
    if isinstance(commit, TextMetadataValue):
        return publish_event_id(commit.text or "", dataset, partition)
    return content_id(body)


def _partition(materialization: AssetMaterialization, app: str, dataset: Dataset) -> str:
    key = materialization.partition
    name = f"{app}/{dataset.name}"
    if dataset.partitions is None:
        if key is not None:
            raise Unusable(f"{name} has no partitions, but the report has partition {key}")
        return ""
    if key is None:
        raise Unusable(f"{name} has partitions, but the report has none")
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
