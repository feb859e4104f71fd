"""What Dagster's catalog shows of an asset beside its graph: owners, tags, its table, and what triggers it.

Dagster does not load a location with an owner or a tag that it refuses, so each is made one that it takes, or
left out.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any
from urllib.parse import quote

from dagster import AssetSpec, DagsterInvalidDefinitionError, MetadataValue

from tidegate.dagster_defs.deployed.location import Location
from tidegate.domain.model import Dataset, Schedule
from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref

TABLE_NAME = "dagster/table_name"
URI = "dagster/uri"
TRIGGER = "trigger"


@cache
def owner_of(name: str) -> str:
    """Return an owner as Dagster takes it: an e-mail or a team as it is, anything else as a team."""
    return name if _takes(owners=[name]) else f"team:{name}"


def owners_of(owner: str, schedules: Iterable[Schedule] = ()) -> list[str]:
    """Return the owners of an asset: its own, else those of the schedules whose runs make it."""
    names = [owner] if owner else sorted({each.owner for each in schedules if each.owner})
    return [owner_of(name) for name in names]


def tags_of(tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of runs that an asset can have too: Dagster asks for shorter and plainer ones there."""
    return {name: value for name, value in tags.items() if _takes_tag(name, value)}


@cache
def _takes_tag(name: str, value: str) -> bool:
    # Those of Dagster say how a run is executed, or what kind an asset is: it refuses one with eleven kinds.
    return not name.startswith("dagster/") and _takes(tags={name: value})


def _takes(**what: Any) -> bool:
    try:
        AssetSpec("any", **what)
    except DagsterInvalidDefinitionError:
        return False
    return True


def table_facts(app: str, dataset: Dataset, location: Location) -> dict[str, MetadataValue[Any]]:
    """Return where a dataset is: its table, as SQL names it, and its folder.

    A table of a catalog with settings of its own is where that catalog says, so its folder is not named.
    """
    ref, iceberg = dataset_ref(app, dataset), location.spark.iceberg
    found: dict[str, MetadataValue[Any]] = {}
    if dataset.format == "iceberg":
        found[TABLE_NAME] = MetadataValue.text(dataset.table(app))
        if iceberg is None or iceberg.catalog:
            return found
    root = ref.root(location.warehouse)
    return {**found, URI: MetadataValue.text(root if "://" in root else f"file://{quote(root)}")}


def trigger_facts(schedules: Iterable[Schedule]) -> dict[str, str]:
    """Return what triggers the runs of an asset, a line for each schedule."""
    lines = [f"{each.name}: {each.trigger.one_line()}" for each in schedules]
    return {TRIGGER: "\n".join(lines)} if lines else {}
